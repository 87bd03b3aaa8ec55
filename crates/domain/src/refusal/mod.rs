//! Refusals: why a command was not carried out, with a stable code. Each edge maps the code to its own error.

mod refusal_text;

use std::sync::Arc;

use rust_decimal::Decimal;

use crate::amount::currency::Currency;
use crate::amount::{Amount, Overflow, Price, Quantity};
use crate::breaks::{BreakId, BreakState};
use crate::ids::{AccountId, AdapterName, ExchangeId, IntId, SecurityId, Text, TransactionId, Uuid};
use crate::market::price_gap::StaleCause;
use crate::order::Order;
use crate::phase::StrategyPhase;
use crate::report::{LineKind, ListingRefusal};
use crate::risk::{RiskScope, TradingState};

pub use crate::rights::MissingRight;
pub use crate::risk::RiskControl;

/// Why a command was refused. The command has changed nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// No security has this id.
    UnknownSecurity(SecurityId),
    /// No account has this id or name.
    UnknownAccount(Text),
    /// No strategy has this id or name.
    UnknownStrategy(Text),
    /// No exchange has this id.
    UnknownExchange(ExchangeId),
    /// No order that is open, of today or of yesterday has this id.
    UnknownOrder(Text),
    /// No position has this number.
    UnknownPosition(u64),
    /// No booking of today has this number.
    UnknownTransaction(TransactionId),
    /// No break that is kept has this id.
    UnknownBreak(BreakId),
    /// The break is settled in another way already.
    BreakSettled {
        /// The break.
        id: BreakId,
        /// How it is settled.
        state: BreakState,
    },
    /// Only a person can repair it.
    NothingToRepair(BreakId),
    /// Something was booked since the statement that showed the difference.
    BreakOutdated(BreakId),
    /// The security can only be watched.
    NotTradeable(SecurityId),
    /// The last day of the security is over.
    Expired(SecurityId),
    /// The account takes no new orders.
    AccountInactive(AccountId),
    /// No active account has a route to the security's exchange.
    NoAccount(ExchangeId),
    /// Several do; the client must choose.
    AccountAmbiguous(Vec<AccountId>),
    /// Several accounts are active, and a booking must name one.
    BookingAccountAmbiguous(Vec<AccountId>),
    /// The account's adapter does not serve that exchange.
    NoRoute {
        /// The account of the order.
        account: AccountId,
        /// The exchange that its adapter does not serve.
        exchange: ExchangeId,
    },
    /// The security is not listed on the exchange that the order names.
    NotListed {
        /// The security of the order.
        security: SecurityId,
        /// The exchange that the order names.
        exchange: ExchangeId,
        /// The exchange that lists the security.
        listed_on: ExchangeId,
    },
    /// A value must be more than zero, or a price of a booking not less.
    NotPositive {
        /// The field of the request.
        field: &'static str,
        /// As the client sent it.
        value: Decimal,
    },
    /// A quantity is not a multiple of the lot size, or a price not of the tick size.
    NotAMultiple {
        /// The field of the request.
        field: &'static str,
        /// As the client sent it.
        value: Decimal,
        /// The lot or tick size.
        step: Decimal,
    },
    /// A value is below what the security allows.
    TooSmall {
        /// The field of the request.
        field: &'static str,
        /// As the client sent it, or what follows from it.
        value: Decimal,
        /// The smallest value that is allowed.
        limit: Decimal,
    },
    /// A value is above what is allowed or possible.
    TooLarge {
        /// The field of the request.
        field: &'static str,
        /// As the client sent it.
        value: Decimal,
        /// The largest value that is allowed.
        limit: Decimal,
    },
    /// The date of a GTD order is over.
    DateInThePast,
    /// The exchange has no such auction.
    NoAuction {
        /// The time in force that needs the auction.
        tif: &'static str,
    },
    /// The exchange is closed, and the order cannot wait for its open.
    MarketClosed(ExchangeId),
    /// The adapter is not connected to its venue.
    AdapterDown(AdapterName),
    /// The adapter has connected and still compares orders with its venue.
    AdapterReconciling(AdapterName),
    /// A line of the adapter is down: only cancels pass, and orders that reduce a position.
    LineDown {
        /// The adapter of the order.
        adapter: AdapterName,
        /// The line that is down.
        line: LineKind,
    },
    /// An open break is above the limit: only cancels pass, and orders that reduce a position.
    BreakOpen {
        /// The break.
        id: BreakId,
        /// The scope whose limit it is above.
        scope: RiskScope,
        /// In base currency.
        limit: Amount,
    },
    /// An order with this id exists; it is unchanged.
    DuplicateOrder(DuplicateOrder),
    /// A session has used this ClOrdID, and not for an order that is still kept.
    ClOrdIdUsed(Text),
    /// A booking with this id is recorded already.
    DuplicateTransaction(Uuid),
    /// The order is finished.
    OrderClosed(IntId),
    /// A cancel of the order is on its way.
    CancelPending(IntId),
    /// A replace of the order is on its way; one at a time.
    ReplacePending(IntId),
    /// The order waits for the cancel of others and is not at the venue yet: it can only be cancelled.
    OrderWaiting(IntId),
    /// It was not placed here: it can be cancelled and claimed, not changed.
    ExternalOrder(IntId),
    /// It was placed here, or is claimed already.
    NotExternal(IntId),
    /// Only orders that nobody placed here belong to EXTERNAL.
    ReservedStrategy,
    /// A modification cannot change this.
    FieldFixed(&'static str),
    /// No venue gives an open order this time in force.
    TifFixed {
        /// The time in force of the order.
        now: &'static str,
        /// The time in force that was asked for.
        wanted: &'static str,
    },
    /// A booking of a security is in the security's own currency.
    BookingCurrency {
        /// The security that is booked.
        security: SecurityId,
        /// The currency that the booking must have.
        currency: Currency,
    },
    /// A restated field is that of another order.
    OtherOrder {
        /// The order that the request names.
        int_id: IntId,
        /// The field that does not belong to it.
        field: &'static str,
    },
    /// A field does not belong to this kind of order.
    NotNeeded {
        /// The field of the request.
        field: &'static str,
    },
    /// A property of the order and a type or time in force that exclude each other.
    PropertyNotAllowed {
        /// The property that was asked for.
        property: &'static str,
        /// The order type or time in force that excludes it.
        with: &'static str,
    },
    /// The venue does not have this property.
    PropertyNotOffered {
        /// The property that was asked for.
        property: &'static str,
        /// The adapter of the venue.
        adapter: AdapterName,
    },
    /// The venue does not take a field that was to go on to it.
    FieldNotPassed {
        /// Its number in FIX.
        tag: u32,
        /// The adapter of the venue.
        adapter: AdapterName,
    },
    /// The order does not fit what the venue takes of the security at present.
    Listing {
        /// The adapter of the venue.
        adapter: AdapterName,
        /// What does not fit.
        refusal: ListingRefusal,
    },
    /// More of this order could turn the position round together with one that may only reduce it.
    ReduceOnlyOrderOpen(IntId),
    /// A field is needed.
    Missing {
        /// The field of the request.
        field: &'static str,
    },
    /// Nothing of the position is open.
    PositionClosed(u64),
    /// An EXPIRATION that would not reduce the position.
    NotHeld {
        /// What is held; negative for a short.
        held: Quantity,
        /// What the booking would add to it.
        change: Quantity,
    },
    /// The sign of a quantity does not fit the kind of the booking.
    WrongSign {
        /// The field of the request.
        field: &'static str,
        /// As the client sent it.
        value: Decimal,
    },
    /// The value in base currency cannot be computed, and a limit needs it.
    NoRate {
        /// The currency of the security.
        from: Currency,
        /// The base currency.
        to: Currency,
    },
    /// The account has a currency without a rate, so its cash in base currency is unknown.
    CashUnknown(AccountId),
    /// A position of the scope is in a currency without a rate.
    ExposureUnknown(RiskScope),
    /// The trading state of a scope does not allow the order.
    TradingState {
        /// The scope with that state.
        scope: RiskScope,
        /// The state: halted, or reducing.
        state: TradingState,
    },
    /// The order would exceed a limit.
    Limit {
        /// Which control found it.
        control: RiskControl,
        /// The scope whose limit it is.
        scope: RiskScope,
        /// What the order would lead to, in the unit of the limit.
        value: Decimal,
        /// The limit itself.
        limit: Decimal,
    },
    /// The user or token lacks the right.
    NotPermitted(MissingRight),
    /// The security is on a restricted list of the scope.
    Restricted {
        /// The scope whose list it is.
        scope: RiskScope,
        /// The security of the order.
        security: SecurityId,
    },
    /// No dead-man timer of the scope runs.
    NoDeadMan(RiskScope),
    /// The configuration arms the timer of the platform, so it cannot be disarmed.
    DeadManConfigured,
    /// The price is too far on the aggressive side of the market.
    PriceCollar {
        /// The price of the order.
        price: Price,
        /// The price that it is measured from.
        reference: Price,
        /// How far it may be away, in percent of the reference.
        percent: Decimal,
    },
    /// A limit needs a price of the security, and none is known.
    NoReferencePrice(SecurityId),
    /// The prices of the leader have not come to this member of a cluster, so nobody here knows whether there are any.
    PricesUnknown(SecurityId),
    /// A limit needs a fresh price of the security, and the newest is too old.
    StalePrice {
        /// The security of the order.
        security: SecurityId,
        /// How old the newest price is.
        age_seconds: i64,
        /// How old it may be.
        limit_seconds: u32,
    },
    /// The order could open a position, and the prices of its security may no longer be true.
    PriceGap {
        /// The security of the order.
        security: SecurityId,
        /// Why.
        cause: StaleCause,
    },
    /// The account's cash, less what open orders reserve, does not cover the order.
    InsufficientCash {
        /// What the order would reserve.
        needed: Decimal,
        /// What no other order reserves.
        available: Decimal,
        /// The currency of both amounts.
        currency: Currency,
    },
    /// The order could trade with this one of the same account.
    SelfTrade(IntId),
    /// The order may only reduce a position and is larger than what can be closed.
    WouldFlip {
        /// What no other order closes yet.
        open: Quantity,
    },
    /// An amount does not fit into 28 digits.
    AmountTooLarge,
    /// The time zone database has no zone of this name.
    UnknownZone(Text),
    /// A strategy's phases come in order.
    PhaseOrder {
        /// The strategy, by name.
        strategy: Text,
        /// Its phase; absent where it has not started.
        now: Option<StrategyPhase>,
        /// The phase that it cannot enter from there.
        wanted: StrategyPhase,
    },
}

/// The known order behind a duplicate, where it is still kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuplicateOrder {
    /// The id that was used twice.
    pub int_id: IntId,
    /// The order that has it; absent where it is no longer in memory.
    pub order: Option<Arc<Order>>,
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
            Self::UnknownBreak(_) | Self::BreakSettled { .. } | Self::NothingToRepair(_) => self.break_code(),
            Self::BreakOpen { .. } | Self::BreakOutdated(_) => self.break_code(),
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
            Self::ExternalOrder(_) => "external-order",
            Self::NotExternal(_) => "not-external",
            Self::ReservedStrategy => "reserved-strategy",
            Self::FieldFixed(_) | Self::BookingCurrency { .. } => "field-fixed",
            Self::TifFixed { .. } => "tif-fixed",
            Self::OtherOrder { .. } => "other-order",
            Self::NotNeeded { .. } => "not-needed",
            Self::Missing { .. } => "missing",
            Self::PropertyNotAllowed { .. } => "property-not-allowed",
            Self::PropertyNotOffered { .. } => "property-not-offered",
            Self::FieldNotPassed { .. } => "field-not-passed",
            Self::Listing { refusal, .. } => refusal.code(),
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
            Self::NotPermitted(right) => right.code(),
            Self::Restricted { .. } => "restricted-security",
            Self::NoDeadMan(_) => "no-dead-man-timer",
            Self::DeadManConfigured => "dead-man-configured",
            Self::PriceCollar { .. } => "price-collar",
            Self::NoReferencePrice(_) | Self::PricesUnknown(_) => self.price_code(),
            Self::StalePrice { .. } | Self::PriceGap { .. } => "stale-price",
            Self::InsufficientCash { .. } => "insufficient-cash",
            Self::SelfTrade(_) => "self-trade",
            Self::WouldFlip { .. } => "would-flip",
            Self::AmountTooLarge => "amount-too-large",
            Self::UnknownZone(_) => "unknown-zone",
            Self::PhaseOrder { .. } => "phase-order",
        }
    }

    /// Of what is refused because a price is not known.
    fn price_code(&self) -> &'static str {
        match self {
            Self::PricesUnknown(_) => "prices-unknown",
            _ => "no-reference-price",
        }
    }

    /// Of what is refused because of a break.
    fn break_code(&self) -> &'static str {
        match self {
            Self::UnknownBreak(_) => "unknown-break",
            Self::BreakSettled { .. } => "break-settled",
            Self::NothingToRepair(_) => "nothing-to-repair",
            Self::BreakOutdated(_) => "break-outdated",
            _ => "break-open",
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
            Self::UnknownStrategy(_) | Self::ReservedStrategy => Some("strategyId"),
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
            Self::Listing { refusal, .. } => refusal.field(),
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
