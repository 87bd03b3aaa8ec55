//! Loss of the journal's end that was accepted.

use minicbor::{Decode, Encode};

/// What is known of records that are gone. Numbers up to these may be out in the world, and some beyond them: none of them is
/// given again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct AcceptedLoss {
    /// The last sequence that was left.
    #[n(0)]
    pub end: u64,
    /// The highest order number that anything knew.
    #[n(1)]
    pub order: u64,
    /// The highest number of a transaction that anything knew.
    #[n(2)]
    pub transaction: u64,
}
