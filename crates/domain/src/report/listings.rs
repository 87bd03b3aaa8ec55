//! Lists that a venue gives while the session is up. A list counts for its scope and as of an instant; what failed, was cut
//! or is incomplete is never an empty list.

use minicbor::{Decode, Encode};

/// What a venue can list while the session is up. The default is nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct ListingCapabilities {
    /// All open orders.
    #[n(0)]
    pub open_orders: bool,
    /// Fills from a cursor on.
    #[n(1)]
    pub fills: Option<FillsScope>,
    /// Cash and positions of an account.
    #[n(2)]
    pub statement: bool,
}

/// How fills are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum FillsScope {
    /// Of all securities in one list.
    #[n(0)]
    All,
    /// Only of one security at a time.
    #[n(1)]
    PerSecurity,
}
