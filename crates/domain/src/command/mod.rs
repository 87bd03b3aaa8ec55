//! Commands and engine inputs. An input is stamped once with sequence and time before the engine applies it.

mod caller;
mod manual_booking;
pub(crate) mod runtime_inputs;

use minicbor::{Decode, Encode};

use crate::amount::{Price, Quantity};
use crate::breaks::SettleBreak;
use crate::ids::{AccountId, AdapterName, ExchangeId, IntId, PositionId, SecurityId, StrategyId, Text};
use crate::market::price_gap::PriceGap;
use crate::market::{Mark, OrderBook, Tick, Trade};
use crate::order::order_properties::OrderProperties;
use crate::order::pass_through::PassThrough;
pub use crate::order::requests::RestatedFields;
use crate::order::{OrderKind, Side, TimeInForce};
pub use crate::phase::{Mode, StrategyFailure, StrategyFailureKind, StrategyPhase};
use crate::reference::{Account, Exchange, Security, SecurityFamily, StrategyRecord};
use crate::report::{Report, SessionState};
use crate::risk::{EngineSettings, RiskLimits, RiskLimitsChange, RiskScope, TradingState};
use crate::time::Timestamp;
pub use caller::{Caller, MessageOrigin, StrategyRequestKey};
pub use manual_booking::{RecordTransaction, SettlementPrice};
pub use runtime_inputs::AcceptedLoss;
use runtime_inputs::RetiredOrdersInput;

/// An input with its sequence and time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequenced<T> {
    /// The place of the input in the order of all inputs: a later one has a higher number.
    pub sequence: u64,
    /// When the input was sequenced, by the clock of the server: the engine knows no other time.
    pub at: Timestamp,
    /// What the engine applies.
    pub payload: T,
}

/// All inputs of the engine. All but `Market` are journalled; `Market` only where the configuration requires it.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum Input {
    /// A request of a client, a strategy or the platform.
    #[n(0)]
    Command(#[n(0)] Box<CommandEnvelope>),
    /// A message of a venue about orders, fills, cash or the session.
    #[n(1)]
    Report(#[n(0)] Report),
    /// The newest relevant prices that changed: all that trading sees of the market.
    #[n(2)]
    Marks(#[n(0)] Vec<Mark>),
    /// A deadline of the engine has passed: a day ends, an order expires.
    #[n(3)]
    Clock,
    /// A price of a feed.
    #[n(4)]
    Market(#[n(0)] MarketData),
    /// Ids of retired orders go to the index on disk, or come back from it.
    #[n(5)]
    RetiredOrders(#[n(0)] RetiredOrdersInput),
}

/// A message of a market data feed; the market half of the engine keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum MarketData {
    /// A new quote or last price; absent fields keep their value.
    #[n(0)]
    Tick(#[n(0)] Tick),
    /// A trade between others in the market.
    #[n(1)]
    Trade(#[n(0)] Trade),
    /// The whole order book as it is now.
    #[n(2)]
    Book(#[n(0)] OrderBook),
    /// No price: those that are known may no longer be true, until whole ones come.
    #[n(3)]
    Gap(#[n(0)] PriceGap),
}

impl MarketData {
    /// The security that the prices are of.
    pub fn security(&self) -> SecurityId {
        match self {
            Self::Tick(tick) => tick.security,
            Self::Trade(trade) => trade.security,
            Self::Book(book) => book.security,
            Self::Gap(gap) => gap.security,
        }
    }

    /// The feed that sent it.
    pub fn feed(&self) -> &Text {
        match self {
            Self::Tick(tick) => &tick.feed,
            Self::Trade(trade) => &trade.feed,
            Self::Book(book) => &book.feed,
            Self::Gap(gap) => &gap.feed,
        }
    }
}

/// A command with its caller.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct CommandEnvelope {
    /// Who asks, and with which rights.
    #[n(0)]
    pub caller: Caller,
    /// What is asked for.
    #[n(1)]
    pub command: Command,
}

/// Everything that changes trading state on request. A command is carried out whole, or refused and nothing changes.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum Command {
    /// Places a new order.
    #[n(0)]
    Place(#[n(0)] PlaceOrder),
    /// Requests new terms of an open order; the venue decides.
    #[n(1)]
    Modify(#[n(0)] ModifyOrder),
    /// Requests the cancel of an open order; the venue decides.
    #[n(2)]
    Cancel(#[n(0)] CancelOrder),
    /// Close (no quantity) or reduce a position.
    #[n(3)]
    Reduce(#[n(0)] ReducePosition),
    /// Books a transaction by hand.
    #[n(4)]
    Record(#[n(0)] RecordTransaction),
    /// Computes all positions again from the recorded transactions; differences are corrected and published.
    #[n(5)]
    ResetPositions,
    /// Computes all cash again from the recorded transactions; differences are corrected and published.
    #[n(6)]
    ResetCash,
    /// Reserves an id that the client can use for its next order through the account.
    #[n(7)]
    NextOrderId(#[n(0)] AccountId),
    /// Starts market data of a security for a strategy.
    #[n(8)]
    Subscribe(#[n(0)] MarketDataSubscription),
    /// Ends market data of a security for a strategy.
    #[n(9)]
    Unsubscribe(#[n(0)] MarketDataSubscription),
    /// Sets what is allowed in a scope.
    #[n(10)]
    SetTradingState {
        /// Where the state applies.
        #[n(0)]
        scope: RiskScope,
        /// The new state.
        #[n(1)]
        state: TradingState,
        /// Text for people, shown with the state; absent where the caller gave none.
        #[n(2)]
        reason: Option<Text>,
    },
    /// Halt the scope and cancel all its open orders.
    #[n(11)]
    Kill {
        /// Where trading is halted and orders are cancelled.
        #[n(0)]
        scope: RiskScope,
        /// Text for people, shown with the state; absent where the caller gave none.
        #[n(1)]
        reason: Option<Text>,
    },
    /// Replaces all limits of a scope.
    #[n(12)]
    SetLimits {
        /// The scope that the limits are of.
        #[n(0)]
        scope: RiskScope,
        /// The new limits; a limit that is absent here no longer applies.
        #[n(1)]
        limits: RiskLimits,
    },
    /// All of them or none.
    #[n(13)]
    Reference(#[n(0)] Vec<ReferenceChange>),
    /// A strategy enters the next phase of its run.
    #[n(14)]
    EnterPhase {
        /// The strategy that runs.
        #[n(0)]
        strategy: StrategyId,
        /// Whether it runs live or over recorded prices.
        #[n(1)]
        mode: Mode,
        /// The phase that begins.
        #[n(2)]
        phase: StrategyPhase,
        /// With EXIT: why the platform stopped it.
        #[n(3)]
        failure: Option<StrategyFailure>,
    },
    /// Applies the settings of the configuration file.
    #[n(15)]
    Configure(#[n(0)] EngineSettings),
    /// Forwards an event of a strategy to all that listen to its name.
    #[n(16)]
    Publish(#[n(0)] GenericEvent),
    /// A client session connected or disconnected; the platform only publishes it.
    #[n(17)]
    AnnounceSession {
        /// The name under which the session is published.
        #[n(0)]
        adapter: AdapterName,
        /// The state that it has now.
        #[n(1)]
        state: SessionState,
    },
    /// Cancel all open orders of the caller's session.
    #[n(18)]
    MassCancel(#[n(0)] MassCancelRequest),
    /// Answers a session request that cannot be carried out.
    #[n(19)]
    RejectRequest(#[n(0)] RejectedRequest),
    /// Sets the price at which a security is settled on a day.
    #[n(20)]
    SetSettlementPrice(#[n(0)] SettlementPrice),
    /// Some limits of a scope; the others stay.
    #[n(21)]
    ChangeLimits {
        /// The scope that the limits are of.
        #[n(0)]
        scope: RiskScope,
        /// The limits that change, with their new values.
        #[n(1)]
        change: RiskLimitsChange,
    },
    /// Arms the dead-man timer of a scope, or renews it: the kill switch fires when it is not renewed within the time.
    #[n(30)]
    ArmDeadMan {
        /// The scope that is killed when the timer is not renewed.
        #[n(0)]
        scope: RiskScope,
        /// Absent: the time of the running timer, else the configured one.
        #[n(1)]
        seconds: Option<u32>,
    },
    /// Ends the dead-man timer of a scope without a kill.
    #[n(31)]
    DisarmDeadMan {
        /// The scope of the timer.
        #[n(0)]
        scope: RiskScope,
    },
    /// A person settles a break.
    #[n(50)]
    SettleBreak(#[n(0)] SettleBreak),
    /// The end of the journal was lost, and somebody has said that it may go on without it.
    #[n(40)]
    AcceptLoss(#[n(0)] AcceptedLoss),
    /// An order that nobody placed here goes to a strategy.
    #[n(51)]
    Claim(#[n(0)] ClaimOrder),
}

/// Which order goes to which strategy.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct ClaimOrder {
    /// The order.
    #[n(0)]
    pub int_id: IntId,
    /// The strategy that it belongs to.
    #[n(1)]
    pub strategy: StrategyId,
}

/// A new order as requested: the engine sets defaults for absent fields, the same for every interface.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct PlaceOrder {
    /// The id that the client chose for the order; absent: the engine generates one, or uses a ClOrdID that is free.
    #[n(0)]
    pub int_id: Option<IntId>,
    /// The ClOrdID of an order that comes by FIX; absent for other interfaces.
    #[n(1)]
    pub cl_ord_id: Option<Text>,
    /// What is traded.
    #[n(2)]
    pub security: SecurityId,
    /// The account that the order is for; absent: the only active account that reaches the exchange.
    #[n(3)]
    pub account: Option<AccountId>,
    /// The strategy that owns the order and its position; absent: `SERVER`.
    #[n(4)]
    pub strategy: Option<StrategyId>,
    /// Where the order is routed; absent: the exchange on which the security is listed.
    #[n(5)]
    pub exchange: Option<ExchangeId>,
    /// Whether it buys or sells.
    #[n(6)]
    pub side: Side,
    /// How much, in units of the security: positive, a multiple of its lot size.
    #[n(7)]
    pub quantity: Quantity,
    /// The order type with its prices.
    #[n(8)]
    pub kind: OrderKind,
    /// How long the order lives.
    #[n(9)]
    pub tif: TimeInForce,
    /// The client's mark that a stop should rest at the exchange. It is kept and shown; every order goes to its venue
    /// at once.
    #[n(10)]
    pub exchange_order: bool,
    /// The client's own note, returned unchanged.
    #[n(11)]
    pub reference: Option<Text>,
    /// Conditions such as post-only; the venue must offer them.
    #[n(12)]
    pub properties: OrderProperties,
    /// Fields of a FIX order that go on to its venue as they are; the venue must take them.
    #[n(13)]
    pub pass_through: Option<Box<PassThrough>>,
}

/// New terms for an open order; absent fields keep their value.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct ModifyOrder {
    /// The order to change: its platform id, or for a session any ClOrdID of its chain.
    #[n(0)]
    pub int_id: IntId,
    /// The ClOrdID of this request; absent for interfaces other than FIX.
    #[n(1)]
    pub cl_ord_id: Option<Text>,
    /// The new total quantity, what is filled included.
    #[n(2)]
    pub quantity: Option<Quantity>,
    /// The new limit price; refused for an order type without one.
    #[n(3)]
    pub limit: Option<Price>,
    /// The new stop price; refused for an order type without one.
    #[n(4)]
    pub stop: Option<Price>,
    /// The new time in force: DAY, GTC and GTD can change into each other.
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

/// A request to cancel an open order.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct CancelOrder {
    /// The order to cancel: its platform id, or for a session any ClOrdID of its chain.
    #[n(0)]
    pub int_id: IntId,
    /// The ClOrdID of this request; absent for interfaces other than FIX.
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
    /// For people: what is wrong with the request.
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

/// A request to close a position or a part of it by a market order.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct ReducePosition {
    /// The position to reduce.
    #[n(0)]
    pub position: PositionId,
    /// Absent: all of it.
    #[n(1)]
    pub quantity: Option<Quantity>,
}

/// A market data subscription of a strategy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
pub struct MarketDataSubscription {
    /// The strategy that wants the prices.
    #[n(0)]
    pub strategy: StrategyId,
    /// The security whose prices are wanted.
    #[n(1)]
    pub security: SecurityId,
}

/// A change of reference data. A record with a known id replaces the one before.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
#[expect(clippy::large_enum_variant, reason = "most changes are securities, so a box would save nothing")]
pub enum ReferenceChange {
    /// Adds or replaces an exchange.
    #[n(0)]
    Exchange(#[n(0)] Exchange),
    /// Adds or replaces a family.
    #[n(1)]
    Family(#[n(0)] SecurityFamily),
    /// Adds or replaces a security.
    #[n(2)]
    Security(#[n(0)] Security),
    /// Adds or replaces an account.
    #[n(3)]
    Account(#[n(0)] Account),
    /// Adds or replaces a strategy.
    #[n(4)]
    Strategy(#[n(0)] StrategyRecord),
    /// Removed where nothing refers to it, otherwise only made not tradeable.
    #[n(5)]
    RetireSecurity(#[n(0)] SecurityId),
}

/// An event that strategies send to each other; the platform only forwards it.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct GenericEvent {
    /// The strategy that sent it.
    #[n(0)]
    pub strategy: StrategyId,
    /// By which others subscribe to it.
    #[n(1)]
    pub name: Text,
    /// Text of any form.
    #[n(2)]
    pub body: Text,
}
