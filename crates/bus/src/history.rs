//! History queries: orders, transactions and events from the read model.

use std::sync::Arc;

use domain::order::OrdStatus;
use domain::query::Filter;
use domain::{
    Event, EventClass, Order, OrderStatus, PublishedEvent, RiskScope, SecurityId, Timestamp, Transaction,
    TransactionId, ValueSample,
};
use minicbor::Decode;

/// A page of a list: entries after a key, up to a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// Only what follows this.
    pub after: u64,
    /// How many at the most.
    pub limit: usize,
}

/// A stretch of what has happened, wherever it begins and ends: events behind a place of a sequence, no more of them and no
/// more octets than wanted, but one at least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Only what follows this sequence and index.
    pub after: (u64, u32),
    /// How many at the most.
    pub limit: usize,
    /// How many octets of payload at the most.
    pub octets: usize,
}

/// What was found of a stretch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Each with its place among those of its sequence.
    pub events: Vec<(u32, StoredEvent)>,
    /// More may lie behind them.
    pub is_cut: bool,
}

/// From which end a list is read; a page continues after its key in that direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortOrder {
    /// The oldest first.
    Oldest,
    /// The newest first.
    Newest,
}

impl SortOrder {
    /// The key before the first entry.
    pub fn start(self) -> u64 {
        match self {
            Self::Oldest => 0,
            Self::Newest => u64::MAX,
        }
    }
}

/// Search criteria for orders; absent or empty ones do not narrow.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OrderSearch {
    /// Strategy, account and security.
    pub filter: Filter,
    /// A text to look for.
    pub text: Option<TextSearch>,
    /// Any of these.
    pub statuses: Vec<OrdStatus>,
    /// Any of these.
    pub sources: Vec<SourceSearch>,
    /// Without the orders of strategies.
    pub exclude_strategies: bool,
    /// Placed at this instant or later.
    pub from: Option<Timestamp>,
    /// Placed before this instant.
    pub to: Option<Timestamp>,
}

/// Search criteria for orders that have executions, of one client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TradedSearch {
    /// Where the orders come from, as they show it.
    pub source: String,
    /// What is traded; absent where any security is wanted.
    pub security: Option<SecurityId>,
}

/// A page of a list by last change: entries after a key, up to a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangePage {
    /// Only what follows this instant and order id. An order that changes meanwhile comes again, behind the others.
    pub after: (Timestamp, u64),
    /// How many at the most.
    pub limit: usize,
}

/// Search criteria for transactions; absent ones do not narrow.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TransactionSearch {
    /// Strategy, account and security.
    pub filter: Filter,
    /// A text to look for.
    pub text: Option<TextSearch>,
}

impl From<Filter> for TransactionSearch {
    fn from(filter: Filter) -> Self {
        Self { filter, text: None }
    }
}

/// A part of an id or of the note, or of the symbol of the security.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextSearch {
    /// In lower case.
    pub part: String,
    /// The securities whose symbol contains it.
    pub securities: Vec<SecurityId>,
}

/// Source of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceSearch {
    /// As the order shows it.
    Exactly(String),
    /// Any client of the FIX gateway.
    AnyFix,
}

impl From<Filter> for OrderSearch {
    fn from(filter: Filter) -> Self {
        Self { filter, ..Self::default() }
    }
}

/// Samples of the value history that are wanted; absent bounds do not narrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueSearch {
    /// What is valued.
    pub scope: RiskScope,
    /// Sampled at this instant or later.
    pub from: Option<Timestamp>,
    /// Sampled before this instant.
    pub to: Option<Timestamp>,
    /// Only up to this sequence.
    pub through: Option<u64>,
    /// All of these, or the last of each day.
    pub rows: ValueRows,
}

/// Which samples of a value history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueRows {
    /// Every sample.
    All,
    /// The last sample of each platform day.
    DayEnds,
}

/// A sample of the value history; of one input each scope has at most one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSample {
    /// The input that caused it, and its key in the list.
    pub sequence: u64,
    /// The values.
    pub sample: ValueSample,
}

/// The read model could not answer.
#[derive(Debug)]
pub enum HistoryError {
    /// It did not reach the caller's sequence in time; retry.
    Behind {
        /// What it has.
        applied: u64,
        /// What was asked for.
        wanted: u64,
    },
    /// Too many ask at the same time; try again.
    Busy,
    /// Its store does not answer, and is connected again as soon as it does; try again. Why it does not.
    Unavailable(String),
    /// Why it failed.
    Failed(String),
}

impl std::fmt::Display for HistoryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Behind { applied, wanted } => write!(f, "history is at {applied} and not yet at {wanted}"),
            Self::Busy => f.write_str("too many ask about the past at the same time"),
            Self::Unavailable(reason) => write!(f, "history is not available for now: {reason}"),
            Self::Failed(reason) => write!(f, "history can't be read: {reason}"),
        }
    }
}

/// Whether history has every event of a class; of the others it has the newest or none.
pub fn is_stored(class: EventClass) -> bool {
    match class {
        EventClass::OrderStatus
        | EventClass::Fill
        | EventClass::Transaction
        | EventClass::Subscription
        | EventClass::LifeCycle
        | EventClass::Session
        | EventClass::TradingState
        | EventClass::Limits
        | EventClass::Alarm
        | EventClass::Generic
        | EventClass::Refused
        | EventClass::MassCancel
        | EventClass::Break => true,
        EventClass::Tick
        | EventClass::Trade
        | EventClass::Book
        | EventClass::Bar
        | EventClass::Order
        | EventClass::Position
        | EventClass::Cash
        | EventClass::Portfolio
        | EventClass::Reference
        | EventClass::Security
        | EventClass::ValueSample => false,
    }
}

/// An event as it was published, for clients that catch up: its payload in the journal's encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// The input that caused it.
    pub sequence: u64,
    /// When it happened.
    pub at: Timestamp,
    /// Its event class.
    pub class: u8,
    /// The event in CBOR.
    pub payload: Vec<u8>,
}

impl StoredEvent {
    /// The event as it was published; none where this build cannot decode it.
    pub fn decode_event(&self) -> Option<PublishedEvent> {
        let event = match EventClass::ALL.get(usize::from(self.class))? {
            EventClass::OrderStatus => Event::OrderStatus(Arc::new(self.decode()?)),
            EventClass::Fill => Event::Fill(Arc::new(self.decode()?)),
            EventClass::Transaction => Event::Transaction(Arc::new(self.decode()?)),
            EventClass::Subscription => {
                let (subscription, is_wanted) = self.decode()?;
                Event::Subscription(subscription, is_wanted)
            }
            EventClass::LifeCycle => Event::LifeCycle(Arc::new(self.decode()?)),
            EventClass::Session => Event::Session(Arc::new(self.decode()?)),
            EventClass::TradingState => Event::TradingState(Arc::new(self.decode()?)),
            EventClass::Limits => {
                let (scope, limits) = self.decode()?;
                Event::Limits(scope, Arc::new(limits))
            }
            EventClass::Alarm => Event::Alarm(Arc::new(self.decode()?)),
            EventClass::Generic => Event::Generic(Arc::new(self.decode()?)),
            EventClass::Refused => Event::Refused(Arc::new(self.decode()?)),
            EventClass::MassCancel => Event::MassCancel(Arc::new(self.decode()?)),
            EventClass::Break => Event::Break(Arc::new(self.decode()?)),
            // Snapshots are not kept.
            _ => return None,
        };
        Some(PublishedEvent { sequence: self.sequence, at: self.at, event })
    }

    fn decode<'a, T: Decode<'a, ()>>(&'a self) -> Option<T> {
        minicbor::decode(&self.payload).ok()
    }
}

/// Every call first waits, at most two seconds, until the read model has applied the caller's sequence.
pub trait History: Send + Sync {
    /// Orders that match a search, as of a sequence.
    fn orders(
        &self,
        as_of: u64,
        search: &OrderSearch,
        sort: SortOrder,
        page: PageRequest,
    ) -> Result<Vec<Arc<Order>>, HistoryError>;

    /// Orders that have executions, as of a sequence, by their last change and then by id, oldest first.
    fn traded_orders(
        &self,
        as_of: u64,
        search: &TradedSearch,
        page: ChangePage,
    ) -> Result<Vec<Arc<Order>>, HistoryError>;

    /// The states that an order went through, oldest first.
    fn order_events(&self, as_of: u64, int_id: &str) -> Result<Vec<OrderStatus>, HistoryError>;

    /// Transactions that match a search, as of a sequence.
    fn transactions(
        &self,
        as_of: u64,
        search: &TransactionSearch,
        sort: SortOrder,
        page: PageRequest,
    ) -> Result<Vec<Arc<Transaction>>, HistoryError>;

    /// One transaction by its id.
    fn transaction(&self, as_of: u64, id: TransactionId) -> Result<Option<Arc<Transaction>>, HistoryError>;

    /// Everything that happened, after a sequence.
    fn events(&self, as_of: u64, page: PageRequest) -> Result<Vec<StoredEvent>, HistoryError>;

    /// A stretch of what happened.
    fn events_behind(&self, as_of: u64, stretch: Stretch) -> Result<Found, HistoryError>;

    /// Samples of the value history by sequence, oldest first.
    fn value_samples(
        &self,
        as_of: u64,
        search: &ValueSearch,
        page: PageRequest,
    ) -> Result<Vec<StoredSample>, HistoryError>;

    /// Whether it answers from memory and never waits, so that a thread of a runtime may ask it.
    fn answers_at_once(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use domain::command::MarketDataSubscription;
    use domain::event::{Alarm, AlarmLevel};
    use domain::{SecurityId, StrategyId};

    use super::*;

    fn past(class: EventClass, payload: Vec<u8>) -> StoredEvent {
        StoredEvent { sequence: 7, at: Timestamp(1), class: class as u8, payload }
    }

    #[test]
    fn what_was_kept_comes_back_as_it_was_published() {
        let alarm = Alarm { level: AlarmLevel::Warn, code: "no-rate".into(), text: "EUR has no rate".into() };
        let wish = MarketDataSubscription { strategy: StrategyId(1), security: SecurityId(2) };
        let cases = [
            (past(EventClass::Alarm, minicbor::to_vec(&alarm).unwrap()), Event::Alarm(Arc::new(alarm))),
            (past(EventClass::Subscription, minicbor::to_vec((wish, true)).unwrap()), Event::Subscription(wish, true)),
        ];
        for (past, event) in cases {
            assert_eq!(past.decode_event(), Some(PublishedEvent { sequence: 7, at: Timestamp(1), event }));
        }
    }

    #[test]
    fn what_this_build_cannot_read_is_not_guessed() {
        assert_eq!(past(EventClass::Alarm, vec![0xff]).decode_event(), None);
        assert_eq!(past(EventClass::Tick, vec![]).decode_event(), None);
        assert_eq!(StoredEvent { class: 200, ..past(EventClass::Alarm, vec![]) }.decode_event(), None);
    }
}
