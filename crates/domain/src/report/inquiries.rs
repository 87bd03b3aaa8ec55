//! The answer to a question about one order.

use minicbor::{Decode, Encode};

use super::{VenueFill, VenueOrder};
use crate::ids::OrderId;
use crate::time::Timestamp;

/// What a venue said about one order that it was asked about.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct InquiryAnswer {
    /// Our number of the order.
    #[n(0)]
    pub order: OrderId,
    /// When the venue was asked, by our clock: the answer is not older.
    #[n(1)]
    pub as_of: Timestamp,
    /// After it no request on the order that was sent so far can take effect; absent where that is not known. Set by
    /// the adapter host.
    #[n(2)]
    pub dead_after: Option<Timestamp>,
    /// What the venue knows of it.
    #[n(3)]
    pub result: InquiryResult,
}

/// Whether a venue knows an order.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum InquiryResult {
    /// The order with all its fills.
    #[n(0)]
    Found(#[n(0)] VenueOrder, #[n(1)] Vec<VenueFill>),
    /// The venue has no such order; by itself no proof that it cannot still arrive.
    #[n(1)]
    NotFound,
}
