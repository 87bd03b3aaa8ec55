//! The snapshot of a venue after a log-on.

use minicbor::{Decode, Encode};

use super::{ExternalOrder, VenueFill, VenueOrder};
use crate::time::Timestamp;

/// The venue's orders and fills, for reconciliation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct VenueSnapshot {
    /// Every order at the venue that is open or changed recently.
    #[n(0)]
    pub orders: Vec<VenueOrder>,
    /// The executions of these orders; those that are known already are not booked again.
    #[n(1)]
    pub fills: Vec<VenueFill>,
    /// Whether every order is here that had reached the venue.
    #[n(2)]
    pub complete: bool,
    /// When the venue was asked, by our clock. Journals of earlier builds have none: then no request was on its way.
    #[n(3)]
    pub as_of: Option<Timestamp>,
    /// After it no request that was sent so far can take effect; absent where that is not known. Set by the adapter
    /// host.
    #[n(4)]
    pub dead_after: Option<Timestamp>,
    /// Orders at the venue that we did not place, open or changed recently, with all their fills.
    #[n(5)]
    #[cbor(default)]
    pub external: Vec<ExternalOrder>,
}
