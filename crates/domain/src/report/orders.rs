//! Orders, as the venue shows them.

use minicbor::{Decode, Encode};

use crate::ids::{OrderId, Text};
use crate::order::OrderTerms;

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct VenueOrder {
    #[n(0)]
    pub order: OrderId,
    #[n(1)]
    pub ext_id: Option<Text>,
    #[n(2)]
    pub terms: OrderTerms,
    #[n(3)]
    pub state: VenueOrderState,
    #[n(4)]
    pub reason: Option<Text>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum VenueOrderState {
    /// In the market, or filled according to its fills.
    #[n(0)]
    Live,
    #[n(1)]
    Canceled,
    #[n(2)]
    Expired,
    #[n(3)]
    Rejected,
}
