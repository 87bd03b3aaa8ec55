//! Orders, as the venue shows them.

use minicbor::{Decode, Encode};

use crate::ids::{OrderId, Text};
use crate::order::OrderTerms;

/// An order of ours, as the venue lists it.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct VenueOrder {
    /// Our number of the order.
    #[n(0)]
    pub order: OrderId,
    /// The venue's id of the order; absent where it gives none.
    #[n(1)]
    pub ext_id: Option<Text>,
    /// The terms that apply at the venue.
    #[n(2)]
    pub terms: OrderTerms,
    /// Whether it is in the market, and how it left it.
    #[n(3)]
    pub state: VenueOrderState,
    /// The venue's text; absent where it gives none.
    #[n(4)]
    pub reason: Option<Text>,
}

/// Whether an order is in the market. How much of it is filled follows from its fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum VenueOrderState {
    /// In the market, or filled according to its fills.
    #[n(0)]
    Live,
    /// Cancelled by us or by the venue.
    #[n(1)]
    Canceled,
    /// Its time in force ended.
    #[n(2)]
    Expired,
    /// It never was in the market.
    #[n(3)]
    Rejected,
}
