//! Events: what has happened in the engine. Payloads are shared, so many subscribers cost little.

use std::sync::Arc;

use minicbor::{Decode, Encode};

use crate::command::{GenericEvent, MarketDataSubscription, MessageOrigin, Mode, StrategyFailure, StrategyPhase};
use crate::ids::{AdapterName, StrategyId, Text};
use crate::market::{Bar, OrderBook, Tick, Trade};
use crate::order::{Fill, Order, OrderStatus, Source};
use crate::portfolio::{CashBalance, PortfolioValue, Position, Transaction};
use crate::reference::ReferenceData;
use crate::report::{LineState, SessionState};
use crate::risk::{RiskLimits, RiskScope, TradingStateChange};
use crate::time::Timestamp;

/// An event with the input that caused it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedEvent {
    pub sequence: u64,
    pub at: Timestamp,
    pub event: Event,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Tick(Arc<Tick>),
    Trade(Arc<Trade>),
    Book(Arc<OrderBook>),
    Bar(Arc<Bar>),
    Order(Arc<Order>),
    OrderStatus(Arc<OrderStatus>),
    Fill(Arc<Fill>),
    Transaction(Arc<Transaction>),
    Position(Arc<Position>),
    Cash(Arc<CashBalance>),
    Portfolio(Arc<PortfolioValue>),
    /// A strategy subscribed to prices (`true`) or unsubscribed.
    Subscription(MarketDataSubscription, bool),
    LifeCycle(Arc<LifeCycle>),
    Session(Arc<SessionChange>),
    TradingState(Arc<TradingStateChange>),
    Limits(RiskScope, Arc<RiskLimits>),
    Alarm(Arc<Alarm>),
    Generic(Arc<GenericEvent>),
    Reference(Arc<ReferenceData>),
    /// A command of a session was refused; other callers get the refusal only as the reply.
    Refused(Arc<RefusedCommand>),
    /// A mass cancel of a session was carried out; the outcome of each order follows.
    MassCancel(Arc<MassCancelReport>),
}

/// A refused command of a session. Journalled as an event, so that it can be reported again after a crash.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct RefusedCommand {
    #[n(0)]
    pub origin: MessageOrigin,
    #[n(1)]
    pub source: Source,
    /// Of the refusal: stable, kebab-case.
    #[n(2)]
    pub code: Text,
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
    #[n(0)]
    pub origin: MessageOrigin,
    #[n(1)]
    pub source: Source,
    /// Orders whose cancel was sent.
    #[n(2)]
    pub affected: u64,
    /// Orders that stay, because their venue is not connected.
    #[n(3)]
    pub not_cancellable: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct LifeCycle {
    #[n(0)]
    pub strategy: StrategyId,
    #[n(1)]
    pub mode: Mode,
    #[n(2)]
    pub phase: StrategyPhase,
    /// With EXIT: why the platform stopped it.
    #[n(3)]
    pub failure: Option<StrategyFailure>,
}

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct SessionChange {
    #[n(0)]
    pub adapter: AdapterName,
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
    #[n(0)]
    pub level: AlarmLevel,
    /// Stable, kebab-case.
    #[n(1)]
    pub code: Text,
    #[n(2)]
    pub text: Text,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
#[cbor(index_only)]
pub enum AlarmLevel {
    #[n(0)]
    Info,
    #[n(1)]
    Warn,
    #[n(2)]
    Error,
}

/// The class of an event, for subscriptions.
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
}

impl EventClass {
    pub const ALL: [Self; 21] = [
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
    ];
}

impl Event {
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
        }
    }

    /// Raw prices are published at once; everything that can show trading state waits until it is durable.
    pub fn is_market_data(&self) -> bool {
        matches!(self, Self::Tick(_) | Self::Trade(_) | Self::Book(_) | Self::Bar(_))
    }
}
