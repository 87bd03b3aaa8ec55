//! Venue ledger records. Each is written before the client is told.

use domain::order::OrderTerms;
use domain::{AccountId, Amount, OrderId, Price, Quantity, SecurityId, Side, Text, Timestamp};
use minicbor::{Decode, Decoder, Encode};

pub use crate::accounts::account::{Deposit, SettledAsset, TradeSettlement, VenueAccount};
use crate::client_orders::client_order::is_internal;
pub use crate::client_orders::client_order::{ClientOrder, SubmittedOrder};

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
    /// The ledger was compacted: it begins with this and with the orders that are kept.
    #[n(8)]
    Compacted(#[n(0)] LedgerSummary),
    /// One order of a compacted ledger, with all its fills.
    #[n(9)]
    Kept(#[n(0)] Box<ClientOrder>),
    /// The accounts were opened: the first record of a ledger.
    #[n(10)]
    Opened {
        #[n(0)]
        at: Timestamp,
        #[n(1)]
        deposits: Vec<Deposit>,
    },
    /// All accounts of a compacted ledger.
    #[n(11)]
    Accounts(#[n(0)] Vec<(AccountId, VenueAccount)>),
    /// An execution was busted or corrected.
    #[n(12)]
    Revised(#[n(0)] Box<ExecutionRevision>),
}

/// What a compacted ledger keeps of the records that it no longer has.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct LedgerSummary {
    /// How many records there were: time priorities are their numbers.
    #[n(0)]
    pub records: u64,
    /// Ids of orders and executions continue from here.
    #[n(1)]
    pub acceptances: u64,
    #[n(2)]
    pub executions: u64,
    /// All ids below are known.
    #[n(3)]
    pub known_below: u64,
    /// Ids of orders that are no longer kept, as runs: the first, and how many.
    #[n(4)]
    pub retired: Vec<(u64, u64)>,
}

impl LedgerSummary {
    fn newest_order(&self) -> Option<OrderId> {
        let below = self.known_below.checked_sub(1).map(OrderId);
        self.retired.last().map(|(first, count)| OrderId(first + count - 1)).max(below)
    }
}

impl VenueRecord {
    /// The records of one write, in their order: after a crash all of them are in the ledger or none.
    pub fn decode_batch(payload: &[u8]) -> Result<Vec<Self>, String> {
        let mut decoder = Decoder::new(payload);
        let mut records = Vec::new();
        while decoder.position() < payload.len() {
            records.push(decoder.decode().map_err(|error| error.to_string())?);
        }
        Ok(records)
    }

    /// The newest order in the record that a client sent.
    pub fn newest_order(&self) -> Option<OrderId> {
        self.orders().filter(|order| !is_internal(*order)).max()
    }

    /// The orders of the record: two where clients traded with each other; of many the newest.
    pub fn orders(&self) -> impl Iterator<Item = OrderId> {
        let (one, executions) = match self {
            Self::Submitted(submission) => (Some(submission.order), &[][..]),
            Self::Kept(held) => (Some(held.submission.order), &[][..]),
            Self::Compacted(summary) => (summary.newest_order(), &[][..]),
            Self::Traded(trade) => (None, &trade.executions[..]),
            Self::Opened { .. } | Self::Accounts(_) => (None, &[][..]),
            Self::Revised(revision) => (Some(revision.order), &[][..]),
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
    /// Absent in ledgers of earlier builds, and where the value does not fit.
    #[n(3)]
    pub settlement: Option<TradeSettlement>,
}

/// An execution of an order that has ended counts no longer.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct ExecutionRevision {
    #[n(0)]
    pub at: Timestamp,
    #[n(1)]
    pub order: OrderId,
    #[n(2)]
    pub security: SecurityId,
    #[n(3)]
    pub exec_id: Text,
    /// Gives back what was settled; absent where the value does not fit.
    #[n(4)]
    pub settlement: Option<TradeSettlement>,
    /// What counts instead, of the same quantity; absent where the trade is busted.
    #[n(5)]
    pub by: Option<CorrectedExecution>,
}

/// The execution that counts instead of another.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct CorrectedExecution {
    #[n(0)]
    pub exec_id: Text,
    #[n(1)]
    pub price: Price,
    #[n(2)]
    pub settlement: Option<TradeSettlement>,
}
