//! Orders, order status and fills. An order has a base state and, apart from it, a pending request; the status is
//! derived from both.

use minicbor::{Decode, Encode};

use crate::amount::{Amount, Overflow, Price, Quantity};
use crate::ids::{AccountId, AdapterName, ExchangeId, IntId, OrderId, SecurityId, StrategyId, Text};
use crate::order_properties::OrderProperties;
use crate::time::Timestamp;

pub use crate::order_terms::{IdPolicy, OrderKind, OrderTerms, Side, Source, TimeInForce};
pub use crate::pending::{OrderRequest, PendingRequest, ReplaceRequest};

/// State from quantities and venue reports, without pending requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
#[cbor(index_only)]
pub enum BaseState {
    /// Accepted by us, not yet confirmed by the venue.
    #[n(0)]
    PendingNew,
    #[n(1)]
    New,
    #[n(2)]
    PartiallyFilled,
    #[n(3)]
    Filled,
    /// Canceled or expired; see the reason.
    #[n(4)]
    Canceled,
    #[n(5)]
    Rejected,
}

impl BaseState {
    pub const ALL: [Self; 6] =
        [Self::PendingNew, Self::New, Self::PartiallyFilled, Self::Filled, Self::Canceled, Self::Rejected];

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
    #[n(2)]
    PartiallyExecuted,
    #[n(3)]
    Executed,
    #[n(4)]
    Canceled,
    #[n(5)]
    PendingCancel,
    #[n(6)]
    Rejected,
    #[n(7)]
    PendingReplace,
}

impl OrdStatus {
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
}

/// An order with its whole current state.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Order {
    #[n(0)]
    pub id: OrderId,
    #[n(1)]
    pub int_id: IntId,
    #[n(2)]
    pub ext_id: Option<Text>,
    /// The last accepted ClOrdID, for FIX orders.
    #[n(3)]
    pub cl_ord_id: Option<Text>,
    #[n(4)]
    pub at: Timestamp,
    #[n(5)]
    pub side: Side,
    #[n(6)]
    pub terms: OrderTerms,
    #[n(7)]
    pub exchange_order: bool,
    #[n(8)]
    pub exchange: ExchangeId,
    #[n(9)]
    pub security: SecurityId,
    #[n(10)]
    pub account: AccountId,
    #[n(11)]
    pub strategy: StrategyId,
    #[n(12)]
    pub adapter: AdapterName,
    #[n(13)]
    pub properties: OrderProperties,
    #[n(14)]
    pub state: BaseState,
    #[n(15)]
    pub pending: PendingRequest,
    #[n(16)]
    pub filled: Quantity,
    /// Sum of quantity × price over the fills.
    #[n(17)]
    pub turnover: Amount,
    /// How often it was replaced.
    #[n(18)]
    pub revision: u32,
    #[n(19)]
    pub reason: Option<Text>,
    /// Whether the venue has it is unknown; exposure stays reserved until the venue answers.
    #[n(20)]
    pub in_doubt: bool,
    /// The client's own note.
    #[n(21)]
    pub reference: Option<Text>,
    #[n(22)]
    pub source: Source,
    #[n(23)]
    pub submitted_by: Option<Text>,
    #[n(24)]
    pub changed_at: Timestamp,
    /// Number of its newest request to the venue; the submit has 0. See [`crate::WireId`].
    #[n(25)]
    #[cbor(default)]
    pub request: u32,
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
    #[n(2)]
    Rejected,
    #[n(3)]
    PartialFill,
    #[n(4)]
    Fill,
    #[n(5)]
    PendingCancel,
    #[n(6)]
    CancelRejected,
    #[n(7)]
    Canceled,
    #[n(8)]
    Expired,
    #[n(9)]
    PendingReplace,
    #[n(10)]
    ReplaceRejected,
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
    #[n(0)]
    pub order: OrderId,
    #[n(1)]
    pub int_id: IntId,
    #[n(2)]
    pub ext_id: Option<Text>,
    #[n(3)]
    pub strategy: StrategyId,
    #[n(4)]
    pub at: Timestamp,
    #[n(5)]
    pub ext_at: Option<Timestamp>,
    /// Sequence of the input that caused it.
    #[n(6)]
    pub sequence: u64,
    #[n(7)]
    pub status: OrdStatus,
    #[n(8)]
    pub exec_type: ExecType,
    #[n(9)]
    pub filled: Quantity,
    #[n(10)]
    pub remaining: Quantity,
    #[n(11)]
    pub last_quantity: Option<Quantity>,
    #[n(12)]
    pub last_price: Option<Price>,
    #[n(13)]
    pub avg_price: Option<Price>,
    #[n(14)]
    pub reason: Option<Text>,
    /// The ClOrdID of the request that this answers.
    #[n(15)]
    pub request: Option<Text>,
    /// For the FIX client of the order; orders of other interfaces have none.
    #[n(16)]
    pub client: Option<Box<ClientView>>,
}

/// Fields of an order for an execution report, as they were at the change: the report may be sent much later.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct ClientView {
    #[n(0)]
    pub comp_id: Text,
    /// The last ClOrdID that was accepted before this change.
    #[n(1)]
    pub cl_ord_id: Option<Text>,
    #[n(2)]
    pub side: Side,
    #[n(3)]
    pub security: SecurityId,
    #[n(4)]
    pub account: AccountId,
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
    #[n(10)]
    pub properties: OrderProperties,
}

/// An execution.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Fill {
    #[n(0)]
    pub order: OrderId,
    #[n(1)]
    pub int_id: IntId,
    #[n(2)]
    pub strategy: StrategyId,
    #[n(3)]
    pub security: SecurityId,
    #[n(4)]
    pub account: AccountId,
    /// The venue's id of the execution.
    #[n(5)]
    pub ext_id: Text,
    #[n(6)]
    pub at: Timestamp,
    #[n(7)]
    pub ext_at: Option<Timestamp>,
    #[n(8)]
    pub sequence: u64,
    #[n(9)]
    pub side: Side,
    #[n(10)]
    pub quantity: Quantity,
    #[n(11)]
    pub price: Price,
}
