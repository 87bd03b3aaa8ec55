//! Events: what has happened in the engine. Payloads are shared, so many subscribers cost little.

use std::sync::Arc;

use minicbor::{Decode, Encode};

use crate::breaks::Break;
use crate::command::{
    GenericEvent, MarketDataSubscription, MessageOrigin, Mode, ReferenceChange, StrategyFailure, StrategyPhase,
};
use crate::ids::{AdapterName, SecurityId, StrategyId, Text};
use crate::market::{Bar, OrderBook, Tick, Trade};
use crate::order::{Fill, Order, OrderStatus, Source};
use crate::portfolio::value_sample::ValueSample;
use crate::portfolio::{CashBalance, PortfolioValue, Position, Transaction};
use crate::reference::{ReferenceData, Security};
use crate::report::{LineState, SessionState};
use crate::risk::{RiskLimits, RiskScope, TradingStateChange};
use crate::time::Timestamp;

/// An event with the input that caused it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedEvent {
    /// The sequence of the input that caused it; several events may share one.
    pub sequence: u64,
    /// When that input was sequenced.
    pub at: Timestamp,
    /// What happened.
    pub event: Event,
}

/// Everything that the engine publishes. Payloads are the state after the change, not the difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// New prices of a security, merged with those that were known.
    Tick(Arc<Tick>),
    /// A trade between others in the market.
    Trade(Arc<Trade>),
    /// A new order book of a security.
    Book(Arc<OrderBook>),
    /// A bar that has just closed.
    Bar(Arc<Bar>),
    /// An order with its whole state, on every change.
    Order(Arc<Order>),
    /// A change of an order's status, as an execution report would tell it.
    OrderStatus(Arc<OrderStatus>),
    /// An execution of one of our orders.
    Fill(Arc<Fill>),
    /// A booking.
    Transaction(Arc<Transaction>),
    /// A position after a booking, or at most once a second with new prices.
    Position(Arc<Position>),
    /// A cash balance after a change.
    Cash(Arc<CashBalance>),
    /// The value of a strategy.
    Portfolio(Arc<PortfolioValue>),
    /// A strategy subscribed to prices (`true`) or unsubscribed.
    Subscription(MarketDataSubscription, bool),
    /// A strategy entered a phase.
    LifeCycle(Arc<LifeCycle>),
    /// The connection of an adapter or of a client session changed.
    Session(Arc<SessionChange>),
    /// What is allowed in a scope changed.
    TradingState(Arc<TradingStateChange>),
    /// The limits of a scope changed; all of them are in the event.
    Limits(RiskScope, Arc<RiskLimits>),
    /// The operator should know something.
    Alarm(Arc<Alarm>),
    /// A strategy sent something to others.
    Generic(Arc<GenericEvent>),
    /// Reference data changed; what changed and all of it are in the event.
    Reference(Arc<ReferenceUpdate>),
    /// A command of a session was refused; other callers get the refusal only as the reply.
    Refused(Arc<RefusedCommand>),
    /// A mass cancel of a session was carried out; the outcome of each order follows.
    MassCancel(Arc<MassCancelReport>),
    /// A break was found, or changed.
    Break(Arc<Break>),
    /// What a scope was worth, for the value history.
    ValueSample(Arc<ValueSample>),
    /// A security was added, changed or removed; one event for each.
    Security(Arc<SecurityChange>),
}

/// A change of reference data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReferenceUpdate {
    /// What changed, as far as it took effect: a security that is still used is not removed, but cannot be traded any more.
    pub changes: Vec<ReferenceChange>,
    /// All of it, after the change.
    pub data: Arc<ReferenceData>,
}

/// The state of a security after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecurityChange {
    /// The security that changed.
    pub id: SecurityId,
    /// As it is now; absent where it was removed.
    pub security: Option<Arc<Security>>,
}

/// A refused command of a session. Journalled as an event, so that it can be reported again after a crash.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct RefusedCommand {
    /// The session message that is answered.
    #[n(0)]
    pub origin: MessageOrigin,
    /// The session that sent it.
    #[n(1)]
    pub source: Source,
    /// Of the refusal: stable, kebab-case.
    #[n(2)]
    pub code: Text,
    /// For people: the reason with its numbers.
    #[n(3)]
    pub text: Text,
    /// The order that the command named, or whose id it tried to use again.
    #[n(4)]
    pub order: Option<Box<Order>>,
    /// The same command was carried out before: the state of the order is its answer.
    #[n(5)]
    #[cbor(default)]
    pub is_repeated: bool,
    /// The same request was made before, and the venue rejected it for this reason: that is its answer.
    #[n(6)]
    pub refused_before: Option<Text>,
}

/// Result of a session's mass cancel. It can be reported again after a crash.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct MassCancelReport {
    /// The session message that is answered.
    #[n(0)]
    pub origin: MessageOrigin,
    /// The session that sent it.
    #[n(1)]
    pub source: Source,
    /// Orders whose cancel was sent.
    #[n(2)]
    pub affected: u64,
    /// Orders that stay, because their venue is not connected.
    #[n(3)]
    pub not_cancellable: u64,
}

/// A phase that a strategy entered.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct LifeCycle {
    /// The strategy that runs.
    #[n(0)]
    pub strategy: StrategyId,
    /// Whether it runs live or over recorded prices.
    #[n(1)]
    pub mode: Mode,
    /// The phase that began.
    #[n(2)]
    pub phase: StrategyPhase,
    /// With EXIT: why the platform stopped it.
    #[n(3)]
    pub failure: Option<StrategyFailure>,
}

/// The new state of a connection: of an adapter to its venue, or of a client's session to us.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct SessionChange {
    /// The adapter, or the name of the client's session.
    #[n(0)]
    pub adapter: AdapterName,
    /// The state that it has now.
    #[n(1)]
    pub state: SessionState,
    /// The lines of an adapter; none of a client's session.
    #[n(2)]
    #[cbor(default)]
    pub lines: Vec<LineState>,
}

/// A message for the operator.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Alarm {
    /// How urgent it is.
    #[n(0)]
    pub level: AlarmLevel,
    /// Stable, kebab-case.
    #[n(1)]
    pub code: Text,
    /// For people: what happened, with which order, file or venue.
    #[n(2)]
    pub text: Text,
}

/// How urgent an alarm is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
#[cbor(index_only)]
pub enum AlarmLevel {
    /// Nothing has to be done.
    #[n(0)]
    Info,
    /// The platform helped itself, or something needs attention soon.
    #[n(1)]
    Warn,
    /// The operator has to act.
    #[n(2)]
    Error,
}

/// The class of an event, for subscriptions.
#[expect(missing_docs, reason = "each is the class of the event of the same name")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum EventClass {
    Tick,
    Trade,
    Book,
    Bar,
    Order,
    OrderStatus,
    Fill,
    Transaction,
    Position,
    Cash,
    Portfolio,
    Subscription,
    LifeCycle,
    Session,
    TradingState,
    Limits,
    Alarm,
    Generic,
    Reference,
    Refused,
    MassCancel,
    Break,
    ValueSample,
    Security,
}

impl EventClass {
    /// All classes, in the order of the enum.
    pub const ALL: [Self; 24] = [
        Self::Tick,
        Self::Trade,
        Self::Book,
        Self::Bar,
        Self::Order,
        Self::OrderStatus,
        Self::Fill,
        Self::Transaction,
        Self::Position,
        Self::Cash,
        Self::Portfolio,
        Self::Subscription,
        Self::LifeCycle,
        Self::Session,
        Self::TradingState,
        Self::Limits,
        Self::Alarm,
        Self::Generic,
        Self::Reference,
        Self::Refused,
        Self::MassCancel,
        Self::Break,
        Self::ValueSample,
        Self::Security,
    ];
}

impl Event {
    /// The class that subscribers choose it by.
    pub fn class(&self) -> EventClass {
        match self {
            Self::Tick(_) => EventClass::Tick,
            Self::Trade(_) => EventClass::Trade,
            Self::Book(_) => EventClass::Book,
            Self::Bar(_) => EventClass::Bar,
            Self::Order(_) => EventClass::Order,
            Self::OrderStatus(_) => EventClass::OrderStatus,
            Self::Fill(_) => EventClass::Fill,
            Self::Transaction(_) => EventClass::Transaction,
            Self::Position(_) => EventClass::Position,
            Self::Cash(_) => EventClass::Cash,
            Self::Portfolio(_) => EventClass::Portfolio,
            Self::Subscription(..) => EventClass::Subscription,
            Self::LifeCycle(_) => EventClass::LifeCycle,
            Self::Session(_) => EventClass::Session,
            Self::TradingState(_) => EventClass::TradingState,
            Self::Limits(..) => EventClass::Limits,
            Self::Alarm(_) => EventClass::Alarm,
            Self::Generic(_) => EventClass::Generic,
            Self::Reference(_) => EventClass::Reference,
            Self::Refused(_) => EventClass::Refused,
            Self::MassCancel(_) => EventClass::MassCancel,
            Self::Break(_) => EventClass::Break,
            Self::ValueSample(_) => EventClass::ValueSample,
            Self::Security(_) => EventClass::Security,
        }
    }

    /// Raw prices are published at once; everything that can show trading state waits until it is durable.
    pub fn is_market_data(&self) -> bool {
        matches!(self, Self::Tick(_) | Self::Trade(_) | Self::Book(_) | Self::Bar(_))
    }
}
