//! Commands and engine inputs. An input is stamped once with sequence and time before the engine applies it.

use minicbor::{Decode, Encode};

pub use crate::accepted_loss::AcceptedLoss;
use crate::amount::{Amount, Price, Quantity};
pub use crate::caller::{Caller, MessageOrigin};
use crate::currency::Currency;
use crate::ids::{AccountId, AdapterName, ExchangeId, IntId, PositionId, SecurityId, StrategyId, Text, Uuid};
use crate::market::{Mark, OrderBook, Tick, Trade};
use crate::order::{OrderKind, Side, TimeInForce};
use crate::order_properties::OrderProperties;
pub use crate::phase::StrategyPhase;
use crate::portfolio::TransactionKind;
use crate::reference::{Account, Exchange, Security, SecurityFamily, StrategyRecord};
use crate::report::{Report, SessionState};
pub use crate::restated_fields::RestatedFields;
use crate::risk::{EngineSettings, RiskLimits, RiskLimitsChange, RiskScope, TradingState};
use crate::time::{Date, Timestamp};

/// An input with its sequence and time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequenced<T> {
    pub sequence: u64,
    pub at: Timestamp,
    pub payload: T,
}

/// All inputs of the engine. All but `Market` are journalled; `Market` only where the configuration requires it.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum Input {
    #[n(0)]
    Command(#[n(0)] Box<CommandEnvelope>),
    #[n(1)]
    Report(#[n(0)] Report),
    /// The newest relevant prices that changed: all that trading sees of the market.
    #[n(2)]
    Marks(#[n(0)] Vec<Mark>),
    /// A deadline of the engine has passed: a day ends, an order expires.
    #[n(3)]
    Clock,
    #[n(4)]
    Market(#[n(0)] MarketData),
}

/// A message of a market data feed; the market half of the engine keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum MarketData {
    #[n(0)]
    Tick(#[n(0)] Tick),
    #[n(1)]
    Trade(#[n(0)] Trade),
    #[n(2)]
    Book(#[n(0)] OrderBook),
}

impl MarketData {
    pub fn security(&self) -> SecurityId {
        match self {
            Self::Tick(tick) => tick.security,
            Self::Trade(trade) => trade.security,
            Self::Book(book) => book.security,
        }
    }

    /// The feed that sent it.
    pub fn feed(&self) -> &Text {
        match self {
            Self::Tick(tick) => &tick.feed,
            Self::Trade(trade) => &trade.feed,
            Self::Book(book) => &book.feed,
        }
    }
}

/// A command with its caller.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct CommandEnvelope {
    #[n(0)]
    pub caller: Caller,
    #[n(1)]
    pub command: Command,
}

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum Command {
    #[n(0)]
    Place(#[n(0)] PlaceOrder),
    #[n(1)]
    Modify(#[n(0)] ModifyOrder),
    #[n(2)]
    Cancel(#[n(0)] CancelOrder),
    /// Close (no quantity) or reduce a position.
    #[n(3)]
    Reduce(#[n(0)] ReducePosition),
    #[n(4)]
    Record(#[n(0)] RecordTransaction),
    #[n(5)]
    ResetPositions,
    #[n(6)]
    ResetCash,
    #[n(7)]
    NextOrderId(#[n(0)] AccountId),
    #[n(8)]
    Subscribe(#[n(0)] MarketDataSubscription),
    #[n(9)]
    Unsubscribe(#[n(0)] MarketDataSubscription),
    #[n(10)]
    SetTradingState {
        #[n(0)]
        scope: RiskScope,
        #[n(1)]
        state: TradingState,
        #[n(2)]
        reason: Option<Text>,
    },
    /// Halt the scope and cancel all its open orders.
    #[n(11)]
    Kill {
        #[n(0)]
        scope: RiskScope,
        #[n(1)]
        reason: Option<Text>,
    },
    #[n(12)]
    SetLimits {
        #[n(0)]
        scope: RiskScope,
        #[n(1)]
        limits: RiskLimits,
    },
    /// All of them or none.
    #[n(13)]
    Reference(#[n(0)] Vec<ReferenceChange>),
    #[n(14)]
    EnterPhase {
        #[n(0)]
        strategy: StrategyId,
        #[n(1)]
        mode: Mode,
        #[n(2)]
        phase: StrategyPhase,
        /// With EXIT: why the platform stopped it.
        #[n(3)]
        failure: Option<StrategyFailure>,
    },
    #[n(15)]
    Configure(#[n(0)] EngineSettings),
    #[n(16)]
    Publish(#[n(0)] GenericEvent),
    /// A client session connected or disconnected; the platform only publishes it.
    #[n(17)]
    AnnounceSession {
        #[n(0)]
        adapter: AdapterName,
        #[n(1)]
        state: SessionState,
    },
    /// Cancel all open orders of the caller's session.
    #[n(18)]
    MassCancel(#[n(0)] MassCancelRequest),
    #[n(19)]
    RejectRequest(#[n(0)] RejectedRequest),
    #[n(20)]
    SetSettlementPrice(#[n(0)] SettlementPrice),
    /// Some limits of a scope; the others stay.
    #[n(21)]
    ChangeLimits {
        #[n(0)]
        scope: RiskScope,
        #[n(1)]
        change: RiskLimitsChange,
    },
    /// Arms the dead-man timer of a scope, or renews it: the kill switch fires when it is not renewed within the time.
    #[n(30)]
    ArmDeadMan {
        #[n(0)]
        scope: RiskScope,
        /// Absent: the time of the running timer, else the configured one.
        #[n(1)]
        seconds: Option<u32>,
    },
    #[n(31)]
    DisarmDeadMan {
        #[n(0)]
        scope: RiskScope,
    },
    /// The end of the journal was lost, and somebody has said that it may go on without it.
    #[n(40)]
    AcceptLoss(#[n(0)] AcceptedLoss),
}

/// The settlement price of a security for a day: used when the security itself, or an option on it, expires then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct SettlementPrice {
    #[n(0)]
    pub security: SecurityId,
    #[n(1)]
    pub price: Price,
    /// A day of the exchange; absent = its current one.
    #[n(2)]
    pub date: Option<Date>,
}

/// A new order as requested: the engine sets defaults for absent fields, the same for every interface.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct PlaceOrder {
    #[n(0)]
    pub int_id: Option<IntId>,
    #[n(1)]
    pub cl_ord_id: Option<Text>,
    #[n(2)]
    pub security: SecurityId,
    #[n(3)]
    pub account: Option<AccountId>,
    #[n(4)]
    pub strategy: Option<StrategyId>,
    #[n(5)]
    pub exchange: Option<ExchangeId>,
    #[n(6)]
    pub side: Side,
    #[n(7)]
    pub quantity: Quantity,
    #[n(8)]
    pub kind: OrderKind,
    #[n(9)]
    pub tif: TimeInForce,
    #[n(10)]
    pub exchange_order: bool,
    #[n(11)]
    pub reference: Option<Text>,
    #[n(12)]
    pub properties: OrderProperties,
}

/// New terms for an open order; absent fields keep their value.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct ModifyOrder {
    #[n(0)]
    pub int_id: IntId,
    #[n(1)]
    pub cl_ord_id: Option<Text>,
    #[n(2)]
    pub quantity: Option<Quantity>,
    #[n(3)]
    pub limit: Option<Price>,
    #[n(4)]
    pub stop: Option<Price>,
    #[n(5)]
    pub tif: Option<TimeInForce>,
    /// Restated by the client; refused where it differs.
    #[n(6)]
    pub restated: RestatedFields,
    /// The client's own note; it changes at once, without the venue.
    #[n(7)]
    #[cbor(default)]
    pub reference: Option<Text>,
}

impl ModifyOrder {
    /// Whether only the client's own note is to change.
    pub fn changes_only_reference(&self) -> bool {
        let has_terms = self.quantity.is_some() || self.limit.is_some() || self.stop.is_some() || self.tif.is_some();
        self.reference.is_some() && !has_terms
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct CancelOrder {
    #[n(0)]
    pub int_id: IntId,
    #[n(1)]
    pub cl_ord_id: Option<Text>,
    /// Refused where it differs from the order.
    #[n(2)]
    #[cbor(default)]
    pub restated: RestatedFields,
}

impl CancelOrder {
    /// A cancel without restated fields.
    pub fn new(int_id: IntId) -> Self {
        Self { int_id, cl_ord_id: None, restated: RestatedFields::default() }
    }
}

/// A session request that cannot be carried out as it stands; the engine only answers it with the state of the order.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct RejectedRequest {
    /// As the client named it.
    #[n(0)]
    pub order: Option<Text>,
    /// Stable, kebab-case.
    #[n(1)]
    pub code: Text,
    #[n(2)]
    pub text: Text,
}

/// Mass cancel of a session's own orders.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct MassCancelRequest {
    /// Only orders in this security.
    #[n(0)]
    pub security: Option<SecurityId>,
    /// The id of the request, used once like those of orders.
    #[n(1)]
    pub cl_ord_id: Option<Text>,
}

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct ReducePosition {
    #[n(0)]
    pub position: PositionId,
    /// Absent: all of it.
    #[n(1)]
    pub quantity: Option<Quantity>,
}

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct RecordTransaction {
    #[n(0)]
    pub uuid: Option<Uuid>,
    #[n(1)]
    pub at: Option<Timestamp>,
    #[n(2)]
    pub settlement_date: Option<Date>,
    #[n(3)]
    pub ext_id: Option<Text>,
    #[n(4)]
    pub int_order_id: Option<IntId>,
    #[n(5)]
    pub ext_order_id: Option<Text>,
    #[n(6)]
    pub kind: TransactionKind,
    #[n(7)]
    pub quantity: Option<Quantity>,
    #[n(8)]
    pub price: Price,
    #[n(9)]
    pub execution_commission: Option<Amount>,
    #[n(10)]
    pub clearing_commission: Option<Amount>,
    #[n(11)]
    pub fee: Option<Amount>,
    #[n(12)]
    pub currency: Option<Currency>,
    #[n(13)]
    pub account: Option<AccountId>,
    #[n(14)]
    pub security: Option<SecurityId>,
    #[n(15)]
    pub strategy: Option<StrategyId>,
    #[n(16)]
    pub description: Option<Text>,
}

/// A market data subscription of a strategy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
pub struct MarketDataSubscription {
    #[n(0)]
    pub strategy: StrategyId,
    #[n(1)]
    pub security: SecurityId,
}

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
#[expect(clippy::large_enum_variant, reason = "most changes are securities, so a box would save nothing")]
pub enum ReferenceChange {
    #[n(0)]
    Exchange(#[n(0)] Exchange),
    #[n(1)]
    Family(#[n(0)] SecurityFamily),
    #[n(2)]
    Security(#[n(0)] Security),
    #[n(3)]
    Account(#[n(0)] Account),
    #[n(4)]
    Strategy(#[n(0)] StrategyRecord),
    /// Removed where nothing refers to it, otherwise only made not tradeable.
    #[n(5)]
    RetireSecurity(#[n(0)] SecurityId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum Mode {
    #[n(0)]
    RealTime,
    #[n(1)]
    Simulation,
}

/// Why the platform stopped a strategy.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct StrategyFailure {
    #[n(0)]
    pub kind: StrategyFailureKind,
    /// What it did, as the end of a sentence about it.
    #[n(1)]
    pub text: Text,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum StrategyFailureKind {
    #[n(0)]
    Panicked,
    /// A callback did not return.
    #[n(1)]
    Hung,
    #[n(2)]
    Flooded,
    /// The connection to its process is lost.
    #[n(3)]
    Disconnected,
}

impl StrategyFailureKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Panicked => "panicked",
            Self::Hung => "hung",
            Self::Flooded => "flooded",
            Self::Disconnected => "lost",
        }
    }
}

/// An event that strategies send to each other; the platform only forwards it.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct GenericEvent {
    #[n(0)]
    pub strategy: StrategyId,
    #[n(1)]
    pub name: Text,
    #[n(2)]
    pub body: Text,
}
