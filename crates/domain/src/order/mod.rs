//! Orders, order status and fills. An order has a base state and, apart from it, a pending request; the status is
//! derived from both.

mod legs;
pub(crate) mod liquidity;
pub(crate) mod order_properties;
pub(crate) mod pass_through;
pub(crate) mod order_terms;
pub(crate) mod order_type;
pub(crate) mod requests;
mod side;

use minicbor::{Decode, Encode};

use crate::amount::{Amount, Overflow, Price, Quantity};
use crate::ids::{AccountId, AdapterName, ExchangeId, IntId, OrderId, SecurityId, StrategyId, Text};
use crate::time::Timestamp;
use liquidity::Liquidity;
use order_properties::OrderProperties;
use pass_through::PassThrough;

pub use legs::{LegState, ORDER_LEGS_MAX, OrderLeg, OrderLegs};
pub use order_terms::{IdPolicy, OrderTerms, Side, Source, TifKind, TimeInForce};
pub use order_type::OrderKind;
pub use requests::{OrderRequest, PendingRequest, ReplaceRequest};

/// State from quantities and venue reports, without pending requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
#[cbor(index_only)]
pub enum BaseState {
    /// Accepted by us, not yet confirmed by the venue.
    #[n(0)]
    PendingNew,
    /// Confirmed by the venue, nothing is filled.
    #[n(1)]
    New,
    /// Confirmed by the venue, a part is filled.
    #[n(2)]
    PartiallyFilled,
    /// All of it is filled; final, unless a fill is busted.
    #[n(3)]
    Filled,
    /// Canceled or expired; see the reason.
    #[n(4)]
    Canceled,
    /// Never accepted by the venue; see the reason.
    #[n(5)]
    Rejected,
}

impl BaseState {
    /// All states, in the order of the enum.
    pub const ALL: [Self; 6] =
        [Self::PendingNew, Self::New, Self::PartiallyFilled, Self::Filled, Self::Canceled, Self::Rejected];

    /// Whether the order can still trade.
    pub fn is_working(self) -> bool {
        matches!(self, Self::PendingNew | Self::New | Self::PartiallyFilled)
    }
}

/// Status as clients see it. In parentheses: FIX OrdStatus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum OrdStatus {
    /// Received, not yet confirmed by the venue (A).
    #[n(0)]
    Open,
    /// Confirmed by the venue (0).
    #[n(1)]
    Submitted,
    /// A part is filled (1).
    #[n(2)]
    PartiallyExecuted,
    /// All of it is filled (2).
    #[n(3)]
    Executed,
    /// Canceled or expired (4); fills from before stay.
    #[n(4)]
    Canceled,
    /// A cancel is on its way to the venue (6); fills may still come.
    #[n(5)]
    PendingCancel,
    /// The venue never accepted it (8).
    #[n(6)]
    Rejected,
    /// New terms are on their way to the venue (E); fills may still come.
    #[n(7)]
    PendingReplace,
}

impl OrdStatus {
    /// All statuses, in the order of the enum.
    pub const ALL: [Self; 8] = [
        Self::Open,
        Self::Submitted,
        Self::PartiallyExecuted,
        Self::Executed,
        Self::Canceled,
        Self::PendingCancel,
        Self::Rejected,
        Self::PendingReplace,
    ];

    /// As clients see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "OPEN",
            Self::Submitted => "SUBMITTED",
            Self::PartiallyExecuted => "PARTIALLY_EXECUTED",
            Self::Executed => "EXECUTED",
            Self::Canceled => "CANCELED",
            Self::PendingCancel => "PENDING_CANCEL",
            Self::Rejected => "REJECTED",
            Self::PendingReplace => "PENDING_REPLACE",
        }
    }

    /// Whether more can happen at the venue.
    pub fn is_open(self) -> bool {
        !matches!(self, Self::Executed | Self::Canceled | Self::Rejected)
    }
}

/// An order with its whole current state.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Order {
    /// The number of the order, given by the engine and counted up.
    #[n(0)]
    pub id: OrderId,
    /// The platform's id of the order, which clients name it by.
    #[n(1)]
    pub int_id: IntId,
    /// The venue's id; absent before the venue has given one.
    #[n(2)]
    pub ext_id: Option<Text>,
    /// The last accepted ClOrdID, for FIX orders.
    #[n(3)]
    pub cl_ord_id: Option<Text>,
    /// When the engine accepted it.
    #[n(4)]
    pub at: Timestamp,
    /// Whether it buys or sells.
    #[n(5)]
    pub side: Side,
    /// Quantity, type with prices, time in force, as they apply now; requested ones wait in `pending`.
    #[n(6)]
    pub terms: OrderTerms,
    /// The client's mark that a stop should rest at the exchange. It is kept and shown; every order goes to its venue
    /// at once.
    #[n(7)]
    pub exchange_order: bool,
    /// Where it is routed.
    #[n(8)]
    pub exchange: ExchangeId,
    /// What is traded.
    #[n(9)]
    pub security: SecurityId,
    /// The account that is booked by its fills.
    #[n(10)]
    pub account: AccountId,
    /// The strategy that owns it and its position.
    #[n(11)]
    pub strategy: StrategyId,
    /// The adapter that its requests go through.
    #[n(12)]
    pub adapter: AdapterName,
    /// Conditions such as post-only, for its whole life.
    #[n(13)]
    pub properties: OrderProperties,
    /// The state by quantities and reports alone.
    #[n(14)]
    pub state: BaseState,
    /// The request that the venue has not answered.
    #[n(15)]
    pub pending: PendingRequest,
    /// How much was traded so far, in units of the security.
    #[n(16)]
    pub filled: Quantity,
    /// Sum of quantity × price over the fills.
    #[n(17)]
    pub turnover: Amount,
    /// How often it was replaced.
    #[n(18)]
    pub revision: u32,
    /// Why it was rejected or cancelled, or what was refused last; absent where there is nothing to say.
    #[n(19)]
    pub reason: Option<Text>,
    /// Whether the venue has it is unknown; exposure stays reserved until the venue answers.
    #[n(20)]
    pub in_doubt: bool,
    /// The client's own note.
    #[n(21)]
    pub reference: Option<Text>,
    /// The interface that it came through.
    #[n(22)]
    pub source: Source,
    /// The user that sent it; absent where no login is required.
    #[n(23)]
    pub submitted_by: Option<Text>,
    /// When anything of it changed last.
    #[n(24)]
    pub changed_at: Timestamp,
    /// Number of its newest request to the venue; the submit has 0. See [`crate::WireId`].
    #[n(25)]
    #[cbor(default)]
    pub request: u32,
    /// Its orders at the venue, where there was more than one; `ext_id` is the one that it works by. Boxed, since few orders
    /// have them and every order has the field.
    #[n(26)]
    pub legs: Option<Box<OrderLegs>>,
    /// Fields of its FIX client that go on to a FIX venue, for its whole life. Boxed for the same reason.
    #[n(27)]
    pub pass_through: Option<Box<PassThrough>>,
}

impl Order {
    /// The status of highest precedence: pending cancel, pending replace, then the base state.
    pub fn status(&self) -> OrdStatus {
        match (&self.pending, self.state) {
            (PendingRequest::Cancel(..), _) => OrdStatus::PendingCancel,
            (PendingRequest::Replace(..), _) => OrdStatus::PendingReplace,
            (PendingRequest::Nothing, BaseState::PendingNew) => OrdStatus::Open,
            (PendingRequest::Nothing, BaseState::New) => OrdStatus::Submitted,
            (PendingRequest::Nothing, BaseState::PartiallyFilled) => OrdStatus::PartiallyExecuted,
            (PendingRequest::Nothing, BaseState::Filled) => OrdStatus::Executed,
            (PendingRequest::Nothing, BaseState::Canceled) => OrdStatus::Canceled,
            (PendingRequest::Nothing, BaseState::Rejected) => OrdStatus::Rejected,
        }
    }

    /// Whether more can happen at the venue.
    pub fn is_open(&self) -> bool {
        self.state.is_working() || self.pending != PendingRequest::Nothing
    }

    /// Legs that may trade besides the one that the order works by: they have to go.
    pub fn stray_legs(&self) -> impl Iterator<Item = &OrderLeg> {
        let is_stray = |leg: &&OrderLeg| {
            let is_working_leg = self.state.is_working() && self.ext_id.as_ref() == Some(&leg.ext_id);
            leg.state != LegState::Ended && !is_working_leg
        };
        self.legs.iter().flat_map(|legs| &legs.0).filter(is_stray)
    }

    /// The terms that the leg by which it works must get, so that the order has these: what other legs have traded is part of
    /// the order's quantity, and not of the leg's.
    pub fn leg_terms(&self, terms: OrderTerms) -> Result<OrderTerms, Overflow> {
        let Some((legs, working)) = self.legs.as_ref().zip(self.ext_id.as_ref()) else { return Ok(terms) };
        Ok(OrderTerms { quantity: terms.quantity.minus(legs.filled_besides(working)?)?, ..terms })
    }

    /// Whether the venue knows one of its legs by this id.
    pub fn has_leg(&self, ext_id: &Text) -> bool {
        self.ext_id.as_ref() == Some(ext_id) || self.legs.as_ref().is_some_and(|legs| legs.get(ext_id).is_some())
    }

    /// Open quantity.
    pub fn remaining(&self) -> Quantity {
        if !self.state.is_working() {
            return Quantity::ZERO;
        }
        self.terms.quantity.minus(self.filled).unwrap_or(Quantity::ZERO)
    }

    /// The average price of the fills, where there are any.
    pub fn avg_price(&self) -> Option<Price> {
        if self.filled.is_zero() {
            return None;
        }
        self.turnover.over(self.filled.0).ok().map(|amount| Price(amount.0))
    }

    /// Turnover after one more fill.
    pub fn turnover_with(&self, quantity: Quantity, price: Price) -> Result<Amount, Overflow> {
        self.turnover.plus(quantity.value_at(price, rust_decimal::Decimal::ONE)?)
    }
}

/// What just happened to an order (FIX ExecType).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
#[cbor(index_only)]
pub enum ExecType {
    /// Accepted by the engine, not yet confirmed by the venue.
    #[n(0)]
    PendingNew,
    /// The venue confirmed it.
    #[n(1)]
    New,
    /// The venue rejected it: the order never was in the market.
    #[n(2)]
    Rejected,
    /// A fill; more of the order is open.
    #[n(3)]
    PartialFill,
    /// The fill that completed the order.
    #[n(4)]
    Fill,
    /// A cancel was sent to the venue.
    #[n(5)]
    PendingCancel,
    /// The venue keeps the order: the cancel came too late or is not possible.
    #[n(6)]
    CancelRejected,
    /// The order left the market before it was filled.
    #[n(7)]
    Canceled,
    /// Its time in force ended.
    #[n(8)]
    Expired,
    /// New terms were sent to the venue.
    #[n(9)]
    PendingReplace,
    /// The venue keeps the old terms.
    #[n(10)]
    ReplaceRejected,
    /// The new terms apply.
    #[n(11)]
    Replaced,
    /// A fill was busted.
    #[n(12)]
    TradeCancel,
    /// A fill was corrected.
    #[n(13)]
    TradeCorrect,
    /// Whether the venue has the order became unknown.
    #[n(14)]
    InDoubt,
    /// The doubt is resolved; the order is unchanged.
    #[n(15)]
    DoubtResolved,
}

/// A change of an order, as published.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct OrderStatus {
    /// The number of the order.
    #[n(0)]
    pub order: OrderId,
    /// The platform's id of the order.
    #[n(1)]
    pub int_id: IntId,
    /// The venue's id of the order; absent before the venue has given one.
    #[n(2)]
    pub ext_id: Option<Text>,
    /// The strategy that owns the order.
    #[n(3)]
    pub strategy: StrategyId,
    /// When the change happened here.
    #[n(4)]
    pub at: Timestamp,
    /// When it happened by the venue's clock; absent where the venue did not tell.
    #[n(5)]
    pub ext_at: Option<Timestamp>,
    /// Sequence of the input that caused it.
    #[n(6)]
    pub sequence: u64,
    /// The status after the change.
    #[n(7)]
    pub status: OrdStatus,
    /// What changed.
    #[n(8)]
    pub exec_type: ExecType,
    /// How much was traded so far, in units of the security.
    #[n(9)]
    pub filled: Quantity,
    /// How much can still trade; zero once the order is done.
    #[n(10)]
    pub remaining: Quantity,
    /// With a fill: how much was traded by it.
    #[n(11)]
    pub last_quantity: Option<Quantity>,
    /// With a fill: its price per unit.
    #[n(12)]
    pub last_price: Option<Price>,
    /// Average price of all fills; absent before the first.
    #[n(13)]
    pub avg_price: Option<Price>,
    /// For people; absent where there is nothing to say.
    #[n(14)]
    pub reason: Option<Text>,
    /// The ClOrdID of the request that this answers.
    #[n(15)]
    pub request: Option<Text>,
    /// For the FIX client of the order and for drop copies; absent in events of versions that had it for FIX orders alone.
    #[n(16)]
    pub client: Option<Box<ClientView>>,
}

/// Fields of an order for an execution report, as they were at the change: the report may be sent much later.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct ClientView {
    /// The CompID of the client that the report goes to; orders of other interfaces have none.
    #[n(0)]
    pub comp_id: Option<Text>,
    /// The last ClOrdID that was accepted before this change.
    #[n(1)]
    pub cl_ord_id: Option<Text>,
    /// Whether the order buys or sells.
    #[n(2)]
    pub side: Side,
    /// What is traded.
    #[n(3)]
    pub security: SecurityId,
    /// The account of the order.
    #[n(4)]
    pub account: AccountId,
    /// The terms that applied at the change.
    #[n(5)]
    pub terms: OrderTerms,
    /// The source of the request that this answers, if any.
    #[n(6)]
    pub requested_by: Option<Source>,
    /// The user of that request.
    #[n(7)]
    pub on_behalf_of: Option<Text>,
    /// The venue's id of the execution that this reports.
    #[n(8)]
    pub exec_id: Option<Text>,
    /// The venue's id of the execution that is busted or corrected.
    #[n(9)]
    pub exec_ref_id: Option<Text>,
    /// Conditions such as post-only.
    #[n(10)]
    pub properties: OrderProperties,
    /// With a fill: whether it was maker or taker; absent where the venue did not tell.
    #[n(11)]
    pub liquidity: Option<Liquidity>,
    /// The interface of the order, where that is not a FIX session.
    #[n(12)]
    pub interface: Option<Source>,
}

impl ClientView {
    /// The interface that the order came through.
    pub fn source(&self) -> Option<Source> {
        self.comp_id.clone().map(Source::Fix).or_else(|| self.interface.clone())
    }
}

/// An execution.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Fill {
    /// The number of the order.
    #[n(0)]
    pub order: OrderId,
    /// The platform's id of the order.
    #[n(1)]
    pub int_id: IntId,
    /// The strategy that owns the order.
    #[n(2)]
    pub strategy: StrategyId,
    /// What was traded.
    #[n(3)]
    pub security: SecurityId,
    /// The account that is booked.
    #[n(4)]
    pub account: AccountId,
    /// The venue's id of the execution.
    #[n(5)]
    pub ext_id: Text,
    /// When the report of it was sequenced here.
    #[n(6)]
    pub at: Timestamp,
    /// When it was traded by the venue's clock; absent where the venue did not tell.
    #[n(7)]
    pub ext_at: Option<Timestamp>,
    /// Sequence of the input that caused it.
    #[n(8)]
    pub sequence: u64,
    /// Whether it bought or sold.
    #[n(9)]
    pub side: Side,
    /// How much was traded by this fill, always positive.
    #[n(10)]
    pub quantity: Quantity,
    /// Per unit, in the security's currency.
    #[n(11)]
    pub price: Price,
    /// Whether it was maker or taker; absent where the venue did not tell.
    #[n(12)]
    pub liquidity: Option<Liquidity>,
}
