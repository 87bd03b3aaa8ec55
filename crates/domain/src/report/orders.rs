//! Orders and executions, as the venue shows them.

use minicbor::{Decode, Encode};

use crate::amount::{Amount, Price, Quantity};
use crate::ids::{OrderId, Text};
use crate::order::OrderTerms;
use crate::order::liquidity::Liquidity;
use crate::portfolio::Charge;
use crate::time::Timestamp;

/// An order of ours, as the venue lists it.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct VenueOrder {
    /// Our number of the order.
    #[n(0)]
    pub order: OrderId,
    /// The venue's id of the order; absent where it gives none.
    #[n(1)]
    pub ext_id: Option<Text>,
    /// The terms that apply at the venue. Of an order with legs those of this leg, with its quantity alone: what other legs
    /// have traded is not part of it.
    #[n(2)]
    pub terms: OrderTerms,
    /// Whether it is in the market, and how it left it.
    #[n(3)]
    pub state: VenueOrderState,
    /// The venue's text; absent where it gives none.
    #[n(4)]
    pub reason: Option<Text>,
}

/// What became of the two halves of a cancel-replace: the order's leg was to be cancelled, and a new one placed.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct CancelReplaceReport {
    /// Our number of the order.
    #[n(0)]
    pub order: OrderId,
    /// The venue's id of the leg that was to be cancelled; absent: the one that the order works by.
    #[n(1)]
    pub old_leg: Option<Text>,
    /// Whether it was cancelled.
    #[n(2)]
    pub canceled: HalfOutcome,
    /// The venue's id of the new leg, where it was placed.
    #[n(3)]
    pub new_leg: Option<Text>,
    /// Whether it was placed.
    #[n(4)]
    pub placed: HalfOutcome,
    /// The venue's text; absent where it gives none.
    #[n(5)]
    pub reason: Option<Text>,
    /// Where a half is unknown: after it the request can no longer take effect.
    #[n(6)]
    pub dead_after: Option<Timestamp>,
}

/// What became of one half of a cancel-replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum HalfOutcome {
    /// The venue did it.
    #[n(0)]
    Done,
    /// The venue refused it, or did not try.
    #[n(1)]
    Refused,
    /// It may have taken effect, or may still.
    #[n(2)]
    Unknown,
}

impl HalfOutcome {
    /// All outcomes.
    pub const ALL: [Self; 3] = [Self::Done, Self::Refused, Self::Unknown];
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

/// An execution of one of our orders.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct VenueFill {
    /// Our number of the order.
    #[n(0)]
    pub order: OrderId,
    /// The venue's id of the execution: a second report with it is not booked again.
    #[n(1)]
    pub exec_id: Text,
    /// How much was traded by this execution, always positive.
    #[n(2)]
    pub quantity: Quantity,
    /// Per unit, in the security's currency.
    #[n(3)]
    pub price: Price,
    /// The venue's trade time.
    #[n(4)]
    pub at: Option<Timestamp>,
    /// The venue's fee in the security's currency; below zero it is a rebate. Without one the fee of the security's
    /// family applies.
    #[n(5)]
    pub fee: Option<Amount>,
    /// Charges by kind, where the venue reports more than a fee: a kind listed here replaces the family's, in any
    /// currency.
    #[n(6)]
    #[cbor(default)]
    pub charges: Vec<Charge>,
    /// The venue's order: it tells the legs of one order apart. Either all fills of an adapter have it, or none.
    #[n(7)]
    pub ext_order: Option<Text>,
    /// Whether it was maker or taker; absent where the venue did not tell.
    #[n(8)]
    pub liquidity: Option<Liquidity>,
}
