//! Venue ledger records. Each is written before the client is told.

use domain::order::OrderTerms;
use domain::{
    AccountId, Amount, ExchangeId, OrderId, OrderProperties, Price, Quantity, SecurityId, Side, Text, Timestamp,
};
use minicbor::{Decode, Encode};

/// A change of clients' orders. Trades among the participants are not recorded.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum VenueRecord {
    /// It has reached the venue; it may still be on its way to the book.
    #[n(0)]
    Submitted(#[n(0)] SubmittedOrder),
    #[n(1)]
    Accepted {
        #[n(0)]
        at: Timestamp,
        #[n(1)]
        order: OrderId,
        #[n(2)]
        ext_id: Text,
    },
    #[n(2)]
    Rejected {
        #[n(0)]
        at: Timestamp,
        #[n(1)]
        order: OrderId,
        #[n(2)]
        reason: Text,
    },
    /// It has new terms; it keeps its queue position if only its quantity decreased.
    #[n(3)]
    Replaced {
        #[n(0)]
        at: Timestamp,
        #[n(1)]
        order: OrderId,
        #[n(2)]
        terms: OrderTerms,
    },
    /// A stop was triggered, or an order for the closing auction joined it: at the end of the queue.
    #[n(4)]
    Activated {
        #[n(0)]
        at: Timestamp,
        #[n(1)]
        order: OrderId,
    },
    /// One trade, with one or both clients in it, so that a crash cannot separate them.
    #[n(5)]
    Traded(#[n(0)] VenueTrade),
    #[n(6)]
    Canceled {
        #[n(0)]
        at: Timestamp,
        #[n(1)]
        order: OrderId,
        #[n(2)]
        reason: Option<Text>,
    },
    #[n(7)]
    Expired {
        #[n(0)]
        at: Timestamp,
        #[n(1)]
        order: OrderId,
        #[n(2)]
        reason: Text,
    },
}

impl VenueRecord {
    /// The orders of the record: two where clients traded with each other.
    pub fn orders(&self) -> impl Iterator<Item = OrderId> {
        let (one, executions) = match self {
            Self::Submitted(submission) => (Some(submission.order), &[][..]),
            Self::Traded(trade) => (None, &trade.executions[..]),
            Self::Accepted { order, .. }
            | Self::Rejected { order, .. }
            | Self::Replaced { order, .. }
            | Self::Activated { order, .. }
            | Self::Canceled { order, .. }
            | Self::Expired { order, .. } => (Some(*order), &[][..]),
        };
        one.into_iter().chain(executions.iter().map(|execution| execution.order))
    }
}

/// An order as submitted.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct SubmittedOrder {
    #[n(0)]
    pub at: Timestamp,
    #[n(1)]
    pub order: OrderId,
    #[n(2)]
    pub account: AccountId,
    #[n(3)]
    pub exchange: ExchangeId,
    #[n(4)]
    pub security: SecurityId,
    #[n(5)]
    pub side: Side,
    #[n(6)]
    pub terms: OrderTerms,
    #[n(7)]
    pub properties: OrderProperties,
}

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct VenueTrade {
    #[n(0)]
    pub at: Timestamp,
    #[n(1)]
    pub security: SecurityId,
    #[n(2)]
    pub price: Price,
    #[n(3)]
    pub quantity: Quantity,
    /// None in an auction.
    #[n(4)]
    pub aggressor: Option<Side>,
    /// One, or two where both sides are clients.
    #[n(5)]
    pub executions: Vec<VenueExecution>,
}

/// One client's side of a trade; the id is unique for ever.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct VenueExecution {
    #[n(0)]
    pub order: OrderId,
    #[n(1)]
    pub exec_id: Text,
    /// The client's fee.
    #[n(2)]
    pub fee: Option<Amount>,
}
