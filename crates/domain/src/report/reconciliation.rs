//! What a venue answers for reconciliation: the snapshot after a log-on, the answer about one order, and lists while the
//! session is up. A list counts for its scope and as of an instant; what failed, was cut or is incomplete is never an empty
//! list.

use minicbor::{Decode, Encode};

use super::{ExternalOrder, VenueFill, VenueOrder};
use crate::amount::{Price, Quantity};
use crate::ids::{AccountId, OrderId, SecurityId, Text};
use crate::time::Timestamp;

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

/// What a list is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
pub enum ListingScope {
    /// All open orders.
    #[n(0)]
    OpenOrders,
    /// Of all securities, or of one.
    #[n(1)]
    Fills(#[n(0)] Option<SecurityId>),
    /// What an account holds.
    #[n(2)]
    Statement(#[n(0)] AccountId),
}

/// A page of all open orders. The list counts only when all its pages came, in order, with one `as_of`.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct OpenOrdersPage {
    /// When the venue was asked for the first page, by our clock.
    #[n(0)]
    pub as_of: Timestamp,
    /// After it no request that was sent so far can take effect; absent where that is not known. Set by the adapter
    /// host.
    #[n(1)]
    pub dead_after: Option<Timestamp>,
    /// From 0.
    #[n(2)]
    pub page: u32,
    /// No page follows.
    #[n(3)]
    pub last: bool,
    /// The orders of this page.
    #[n(4)]
    pub orders: Vec<VenueOrder>,
}

/// Fills from a cursor on, in the venue's order. The next page is asked for with `next_cursor`.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct FillsPage {
    /// Absent: of all securities.
    #[n(0)]
    pub security: Option<SecurityId>,
    /// The cursor that was asked from; absent at the beginning.
    #[n(1)]
    pub from: Option<Text>,
    /// The fills of this page.
    #[n(2)]
    pub fills: Vec<VenueFill>,
    /// Where the next question begins; absent where nothing was ever filled.
    #[n(4)]
    pub next_cursor: Option<Text>,
    /// No fill is missing after these, as of the question.
    #[n(5)]
    pub last: bool,
    /// When the venue was asked, by our clock.
    #[n(6)]
    pub as_of: Timestamp,
}

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

/// What a venue said about one order that it was asked about.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct InquiryAnswer {
    /// Our number of the order.
    #[n(0)]
    pub order: OrderId,
    /// When the venue was asked, by our clock: the answer is not older.
    #[n(1)]
    pub as_of: Timestamp,
    /// After it no request on the order that was sent so far can take effect; absent where that is not known. Where the
    /// venue does not know the order, only requests that place it count. Set by the adapter host.
    #[n(2)]
    pub dead_after: Option<Timestamp>,
    /// What the venue knows of it.
    #[n(3)]
    pub result: InquiryResult,
    /// The other legs of the order that the venue has, each with its own terms; absent where it has one. The one in
    /// `result` is the newest, with the fills of all.
    #[n(4)]
    pub other_legs: Option<Vec<VenueOrder>>,
    /// What the venue has filled in all, where it cannot tell the single executions: what is not booked of it is booked
    /// as one inferred fill. Absent where `result` has the fills, or nothing may be inferred.
    #[n(5)]
    pub filled: Option<Box<FilledTotal>>,
}

/// What a venue has filled of an order in all, without its executions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct FilledTotal {
    /// Of all executions together.
    #[n(0)]
    pub quantity: Quantity,
    /// Per unit, as the venue rounds it, in the security's currency.
    #[n(1)]
    pub average_price: Price,
    /// The venue's time, which is not before the newest of the executions; absent where it does not tell.
    #[n(2)]
    pub at: Option<Timestamp>,
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
