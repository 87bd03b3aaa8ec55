//! Refusals: why a command was not carried out, with a stable code. Each edge maps the code to its own error.

use std::fmt;
use std::sync::Arc;

use rust_decimal::Decimal;

use crate::amount::{Overflow, Price, Quantity};
use crate::currency::Currency;
use crate::ids::{AccountId, AdapterName, ExchangeId, IntId, SecurityId, Text, TransactionId, Uuid};
use crate::order::Order;
use crate::phase::StrategyPhase;
use crate::report::LineKind;
use crate::rights::TradingInterface;
use crate::risk::{RiskScope, TradingState};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    UnknownSecurity(SecurityId),
    UnknownAccount(Text),
    UnknownStrategy(Text),
    UnknownExchange(ExchangeId),
    UnknownOrder(Text),
    UnknownPosition(u64),
    UnknownTransaction(TransactionId),
    NotTradeable(SecurityId),
    Expired(SecurityId),
    AccountInactive(AccountId),
    /// No active account has a route to the security's exchange.
    NoAccount(ExchangeId),
    /// Several do; the client must choose.
    AccountAmbiguous(Vec<AccountId>),
    /// Several accounts are active, and a booking must name one.
    BookingAccountAmbiguous(Vec<AccountId>),
    /// The account's adapter does not serve that exchange.
    NoRoute {
        account: AccountId,
        exchange: ExchangeId,
    },
    NotListed {
        security: SecurityId,
        exchange: ExchangeId,
        listed_on: ExchangeId,
    },
    NotPositive {
        field: &'static str,
        value: Decimal,
    },
    NotAMultiple {
        field: &'static str,
        value: Decimal,
        step: Decimal,
    },
    TooSmall {
        field: &'static str,
        value: Decimal,
        limit: Decimal,
    },
    TooLarge {
        field: &'static str,
        value: Decimal,
        limit: Decimal,
    },
    DateInThePast,
    /// The exchange has no such auction.
    NoAuction {
        tif: &'static str,
    },
    MarketClosed(ExchangeId),
    AdapterDown(AdapterName),
    AdapterReconciling(AdapterName),
    /// A line of the adapter is down: only cancels pass, and orders that reduce a position.
    LineDown {
        adapter: AdapterName,
        line: LineKind,
    },
    /// An order with this id exists; it is unchanged.
    DuplicateOrder(DuplicateOrder),
    /// A session has used this ClOrdID, and not for an order that is still kept.
    ClOrdIdUsed(Text),
    DuplicateTransaction(Uuid),
    OrderClosed(IntId),
    CancelPending(IntId),
    ReplacePending(IntId),
    OrderWaiting(IntId),
    /// A modification cannot change this.
    FieldFixed(&'static str),
    /// No venue gives an open order this time in force.
    TifFixed {
        now: &'static str,
        wanted: &'static str,
    },
    /// A booking of a security is in the security's own currency.
    BookingCurrency {
        security: SecurityId,
        currency: Currency,
    },
    /// A restated field is that of another order.
    OtherOrder {
        int_id: IntId,
        field: &'static str,
    },
    NotNeeded {
        field: &'static str,
    },
    /// A property of the order and a type or time in force that exclude each other.
    PropertyNotAllowed {
        property: &'static str,
        with: &'static str,
    },
    /// The venue does not have this property.
    PropertyNotOffered {
        property: &'static str,
        adapter: AdapterName,
    },
    /// More of this order could turn the position round together with one that may only reduce it.
    ReduceOnlyOrderOpen(IntId),
    Missing {
        field: &'static str,
    },
    PositionClosed(u64),
    /// An EXPIRATION that would not reduce the position.
    NotHeld {
        held: Quantity,
        change: Quantity,
    },
    WrongSign {
        field: &'static str,
        value: Decimal,
    },
    NoRate {
        from: Currency,
        to: Currency,
    },
    /// The account has a currency without a rate, so its cash in base currency is unknown.
    CashUnknown(AccountId),
    /// A position of the scope is in a currency without a rate.
    ExposureUnknown(RiskScope),
    TradingState {
        scope: RiskScope,
        state: TradingState,
    },
    Limit {
        control: RiskControl,
        scope: RiskScope,
        value: Decimal,
        limit: Decimal,
    },
    /// The user or token lacks the right.
    NotPermitted(MissingRight),
    /// The security is on a restricted list of the scope.
    Restricted {
        scope: RiskScope,
        security: SecurityId,
    },
    /// No dead-man timer of the scope runs.
    NoDeadMan(RiskScope),
    /// The configuration arms the timer of the platform, so it cannot be disarmed.
    DeadManConfigured,
    PriceCollar {
        price: Price,
        reference: Price,
        percent: Decimal,
    },
    NoReferencePrice(SecurityId),
    StalePrice {
        security: SecurityId,
        age_seconds: i64,
        limit_seconds: u32,
    },
    InsufficientCash {
        needed: Decimal,
        available: Decimal,
        currency: Currency,
    },
    SelfTrade(IntId),
    WouldFlip {
        open: Quantity,
    },
    AmountTooLarge,
    UnknownZone(Text),
    /// A strategy's phases come in order.
    PhaseOrder {
        strategy: Text,
        now: Option<StrategyPhase>,
        wanted: StrategyPhase,
    },
}

/// The known order behind a duplicate, where it is still kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuplicateOrder {
    pub int_id: IntId,
    pub order: Option<Arc<Order>>,
}

/// What a user or token may not trade, or not through this interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingRight {
    Account(AccountId),
    Security(SecurityId),
    Interface(TradingInterface),
}

/// A numeric control of the risk gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RiskControl {
    MaxOrderQuantity,
    MaxOrderNotional,
    MaxOpenOrders,
    MaxOpenNotional,
    MaxPosition,
    MaxGrossExposure,
    OrderRate,
    MessageRate,
    DuplicateContent,
}

impl RiskControl {
    fn code(self) -> &'static str {
        match self {
            Self::MaxOrderQuantity => "max-order-quantity",
            Self::MaxOrderNotional => "max-order-notional",
            Self::MaxOpenOrders => "max-open-orders",
            Self::MaxOpenNotional => "max-open-notional",
            Self::MaxPosition => "max-position",
            Self::MaxGrossExposure => "max-gross-exposure",
            Self::OrderRate => "order-rate",
            Self::MessageRate => "message-rate",
            Self::DuplicateContent => "duplicate-content",
        }
    }
}

impl From<Overflow> for Refusal {
    fn from(Overflow: Overflow) -> Self {
        Self::AmountTooLarge
    }
}

impl Refusal {
    /// Stable and kebab-case: part of the contract with clients.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownSecurity(_) => "unknown-security",
            Self::UnknownAccount(_) => "unknown-account",
            Self::UnknownStrategy(_) => "unknown-strategy",
            Self::UnknownExchange(_) => "unknown-exchange",
            Self::UnknownOrder(_) => "unknown-order",
            Self::UnknownPosition(_) => "unknown-position",
            Self::UnknownTransaction(_) => "unknown-transaction",
            Self::NotTradeable(_) => "not-tradeable",
            Self::Expired(_) => "security-expired",
            Self::AccountInactive(_) => "account-inactive",
            Self::NoAccount(_) => "no-account",
            Self::AccountAmbiguous(_) | Self::BookingAccountAmbiguous(_) => "account-ambiguous",
            Self::NoRoute { .. } | Self::NotListed { .. } => "no-route",
            Self::NotPositive { .. } => "not-positive",
            Self::NotAMultiple { .. } => "not-a-multiple",
            Self::TooSmall { .. } => "too-small",
            Self::TooLarge { .. } => "too-large",
            Self::DateInThePast => "date-in-the-past",
            Self::NoAuction { .. } => "no-auction",
            Self::MarketClosed(_) => "market-closed",
            Self::AdapterDown(_) => "adapter-down",
            Self::AdapterReconciling(_) => "adapter-reconciling",
            Self::LineDown { .. } => "line-down",
            Self::DuplicateOrder(_) | Self::ClOrdIdUsed(_) => "duplicate-order",
            Self::DuplicateTransaction(_) => "duplicate-transaction",
            Self::OrderClosed(_) => "order-closed",
            Self::CancelPending(_) => "cancel-pending",
            Self::ReplacePending(_) => "replace-pending",
            Self::OrderWaiting(_) => "order-waiting",
            Self::FieldFixed(_) | Self::BookingCurrency { .. } => "field-fixed",
            Self::TifFixed { .. } => "tif-fixed",
            Self::OtherOrder { .. } => "other-order",
            Self::NotNeeded { .. } => "not-needed",
            Self::Missing { .. } => "missing",
            Self::PropertyNotAllowed { .. } => "property-not-allowed",
            Self::PropertyNotOffered { .. } => "property-not-offered",
            Self::ReduceOnlyOrderOpen(_) => "reduce-only-order-open",
            Self::PositionClosed(_) => "position-closed",
            Self::NotHeld { .. } => "not-held",
            Self::WrongSign { .. } => "wrong-sign",
            Self::NoRate { .. } => "no-rate",
            Self::CashUnknown(_) => "cash-unknown",
            Self::ExposureUnknown(_) => "exposure-unknown",
            Self::TradingState { state: TradingState::Halted, .. } => "trading-halted",
            Self::TradingState { .. } => "trading-reducing",
            Self::Limit { control, .. } => control.code(),
            Self::NotPermitted(MissingRight::Account(_)) => "account-not-permitted",
            Self::NotPermitted(MissingRight::Security(_)) => "security-not-permitted",
            Self::NotPermitted(MissingRight::Interface(_)) => "interface-not-permitted",
            Self::Restricted { .. } => "restricted-security",
            Self::NoDeadMan(_) => "no-dead-man-timer",
            Self::DeadManConfigured => "dead-man-configured",
            Self::PriceCollar { .. } => "price-collar",
            Self::NoReferencePrice(_) => "no-reference-price",
            Self::StalePrice { .. } => "stale-price",
            Self::InsufficientCash { .. } => "insufficient-cash",
            Self::SelfTrade(_) => "self-trade",
            Self::WouldFlip { .. } => "would-flip",
            Self::AmountTooLarge => "amount-too-large",
            Self::UnknownZone(_) => "unknown-zone",
            Self::PhaseOrder { .. } => "phase-order",
        }
    }

    /// The field of the request that caused the refusal, if it is one.
    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::UnknownSecurity(_) | Self::NotTradeable(_) | Self::Expired(_) | Self::Restricted { .. } => {
                Some("securityId")
            }
            Self::NotPermitted(MissingRight::Security(_)) => Some("securityId"),
            Self::UnknownAccount(_)
            | Self::NotPermitted(MissingRight::Account(_))
            | Self::AccountInactive(_)
            | Self::NoAccount(_)
            | Self::AccountAmbiguous(_)
            | Self::BookingAccountAmbiguous(_) => Some("accountId"),
            Self::UnknownStrategy(_) => Some("strategyId"),
            Self::UnknownExchange(_) | Self::NoRoute { .. } | Self::NotListed { .. } => Some("exchangeId"),
            Self::BookingCurrency { .. } => Some("currency"),
            Self::NotPositive { field, .. }
            | Self::NotAMultiple { field, .. }
            | Self::TooSmall { field, .. }
            | Self::TooLarge { field, .. }
            | Self::WrongSign { field, .. }
            | Self::NotNeeded { field }
            | Self::Missing { field }
            | Self::OtherOrder { field, .. }
            | Self::PropertyNotAllowed { property: field, .. }
            | Self::PropertyNotOffered { property: field, .. }
            | Self::FieldFixed(field) => Some(field),
            Self::NotHeld { .. } => Some("quantity"),
            Self::DateInThePast => Some("tifDateTime"),
            Self::NoAuction { .. } | Self::TifFixed { .. } => Some("tif"),
            Self::DuplicateOrder(_) => Some("intId"),
            Self::ClOrdIdUsed(_) => Some("clOrdId"),
            Self::DuplicateTransaction(_) => Some("uuid"),
            _ => None,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownSecurity(id) => write!(f, "security {id} is not known"),
            Self::UnknownAccount(name) => write!(f, "account {name} is not known"),
            Self::UnknownStrategy(name) => write!(f, "strategy {name} is not known"),
            Self::UnknownExchange(id) => write!(f, "exchange {id} is not known"),
            Self::UnknownOrder(id) => write!(f, "order {id} is neither open nor of today or yesterday"),
            Self::UnknownPosition(id) => write!(f, "position {id} is not known"),
            Self::UnknownTransaction(id) => write!(f, "transaction {id} is not known"),
            Self::NotTradeable(id) => write!(f, "security {id} cannot be traded"),
            Self::Expired(id) => write!(f, "security {id} has expired"),
            Self::AccountInactive(id) => write!(f, "account {id} is not active"),
            Self::NoAccount(id) => write!(f, "no active account reaches exchange {id}"),
            Self::AccountAmbiguous(ids) => {
                write!(f, "several accounts reach the exchange, choose one of {}", list(ids))
            }
            Self::BookingAccountAmbiguous(ids) => {
                write!(f, "several accounts are active, choose one of {}", list(ids))
            }
            Self::NoRoute { account, exchange } => write!(f, "account {account} has no route to exchange {exchange}"),
            Self::NotListed { security, exchange, listed_on } => {
                write!(f, "security {security} is not listed on exchange {exchange}, but on exchange {listed_on}")
            }
            Self::NotPositive { field, value } => write!(f, "{field} {} must be more than zero", value.normalize()),
            Self::NotAMultiple { field, value, step } => {
                write!(f, "{field} {} is not a multiple of {}", value.normalize(), step.normalize())
            }
            Self::TooSmall { field, value, limit } => {
                write!(f, "{field} {} is below the minimum of {}", value.normalize(), limit.normalize())
            }
            Self::TooLarge { field, value, limit } => {
                write!(f, "{field} {} is above the maximum of {}", value.normalize(), limit.normalize())
            }
            Self::DateInThePast => write!(f, "the good-till date lies in the past"),
            Self::NoAuction { tif } => write!(f, "the exchange has no auction for {tif}"),
            Self::MarketClosed(id) => write!(f, "exchange {id} is closed, and this order needs an open market"),
            Self::AdapterDown(name) => write!(f, "the adapter {name} is not connected, try again later"),
            Self::AdapterReconciling(name) => {
                write!(f, "the adapter {name} is comparing orders with its venue, try again soon")
            }
            Self::LineDown { adapter, line } => {
                write!(f, "the {} line of {adapter} is down: only orders that reduce a position pass", line.name())
            }
            Self::DuplicateOrder(known) => {
                write!(f, "an order with the id {} exists already and was not touched", known.int_id)
            }
            Self::ClOrdIdUsed(id) => write!(f, "the ClOrdID {id} was used before, and nothing was done"),
            Self::DuplicateTransaction(uuid) => write!(f, "transaction {uuid} is recorded already"),
            Self::OrderClosed(id) => write!(f, "order {id} is finished"),
            Self::CancelPending(id) => write!(f, "order {id} is being cancelled already"),
            Self::ReplacePending(id) => write!(f, "order {id} is being replaced already"),
            Self::OrderWaiting(id) => {
                write!(
                    f,
                    "order {id} waits for the cancel of others and is not at the venue yet; it can only be cancelled"
                )
            }
            Self::FieldFixed(field) => write!(f, "{field} of an order cannot be changed"),
            Self::TifFixed { now, wanted } => {
                write!(f, "tif of a live order changes among DAY, GTC and GTD only, not from {now} to {wanted}")
            }
            Self::BookingCurrency { security, currency } => {
                write!(f, "currency of a booking of security {security} must be {currency}, that of the security")
            }
            Self::OtherOrder { int_id, field } => write!(f, "{field} is not that of order {int_id}"),
            Self::NotNeeded { field } => write!(f, "{field} does not belong to this kind of order"),
            Self::Missing { field } => write!(f, "{field} is needed"),
            Self::PropertyNotAllowed { property, with } => write!(f, "{property} is not possible with {with}"),
            Self::PropertyNotOffered { property, adapter } => {
                write!(f, "the venue of {adapter} does not offer {property}")
            }
            Self::ReduceOnlyOrderOpen(id) => {
                write!(f, "order {id} may only reduce the position: cancel or reduce it first")
            }
            Self::PositionClosed(id) => write!(f, "position {id} is closed"),
            Self::NotHeld { held, change } => {
                write!(f, "an EXPIRATION of {change} must lower the position, and {held} are held")
            }
            Self::WrongSign { field, value } => {
                write!(f, "{field} {} has the wrong sign for this type", value.normalize())
            }
            Self::NoRate { from, to } => write!(f, "no rate from {from} to {to} is known"),
            Self::CashUnknown(id) => write!(f, "account {id} holds a currency without a rate, its cash is not known"),
            Self::ExposureUnknown(scope) => {
                write!(f, "{scope} holds a currency without a rate, its exposure is not known")
            }
            Self::TradingState { scope, state } => write!(f, "trading is {} for {scope}", state.name()),
            Self::Limit { scope, value, limit, .. } => {
                write!(f, "{scope}: {} is above the limit of {}", value.normalize(), limit.normalize())
            }
            Self::NotPermitted(MissingRight::Account(id)) => write!(f, "this user may not trade account {id}"),
            Self::NotPermitted(MissingRight::Security(id)) => write!(f, "this user may not trade security {id}"),
            Self::NotPermitted(MissingRight::Interface(interface)) => {
                write!(f, "this user may not trade over {}", interface.name())
            }
            Self::Restricted { scope, security } => {
                write!(f, "security {security} is on the restricted list of {scope}: only cancels are allowed")
            }
            Self::NoDeadMan(scope) => write!(f, "no dead-man timer of {scope} runs; name the seconds to arm one"),
            Self::DeadManConfigured => {
                write!(f, "the configuration (risk.deadManSeconds) arms the dead-man timer of PLATFORM")
            }
            Self::PriceCollar { price, reference, percent } => {
                write!(f, "price {price} is more than {} % through the reference of {reference}", percent.normalize())
            }
            Self::NoReferencePrice(id) => write!(f, "no price of security {id} is known"),
            Self::StalePrice { security, age_seconds, limit_seconds } => {
                write!(f, "the newest price of security {security} is {age_seconds} s old, more than {limit_seconds} s")
            }
            Self::InsufficientCash { needed, available, currency } => {
                write!(f, "needs {} {currency}, available are {} {currency}", needed.normalize(), available.normalize())
            }
            Self::SelfTrade(id) => write!(f, "would trade with the account's own order {id}"),
            Self::WouldFlip { open } => {
                write!(f, "may only reduce the position, of which {open} can be closed beside orders on their way")
            }
            Self::AmountTooLarge => write!(f, "an amount does not fit into 28 digits"),
            Self::UnknownZone(zone) => write!(f, "time zone {zone} is not known"),
            Self::PhaseOrder { strategy, now, wanted } => {
                let now = now.map_or("not started", StrategyPhase::name);
                write!(f, "strategy {strategy} is {now} and cannot enter {}", wanted.name())
            }
        }
    }
}

fn list(ids: &[AccountId]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
