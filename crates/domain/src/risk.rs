//! Risk limits and trading states per scope. The strictest scope of an order applies.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use minicbor::{Decode, Encode};
use rust_decimal::Decimal;

use crate::amount::{Amount, Quantity};
use crate::currency::Currency;
use crate::ids::{AccountId, SecurityId, StrategyId, Text};
use crate::time::Timestamp;

/// Scope of a limit or a trading state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub enum RiskScope {
    /// Every order.
    #[n(0)]
    Platform,
    /// Orders of one account.
    #[n(1)]
    Account(#[n(0)] AccountId),
    /// Orders of one strategy.
    #[n(2)]
    Strategy(#[n(0)] StrategyId),
    /// Orders in one security.
    #[n(3)]
    Security(#[n(0)] SecurityId),
}

impl fmt::Display for RiskScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Platform => write!(f, "PLATFORM"),
            Self::Account(id) => write!(f, "ACCOUNT-{id}"),
            Self::Strategy(id) => write!(f, "STRATEGY-{id}"),
            Self::Security(id) => write!(f, "SECURITY-{id}"),
        }
    }
}

impl std::str::FromStr for RiskScope {
    type Err = InvalidRiskScope;

    fn from_str(text: &str) -> Result<Self, InvalidRiskScope> {
        if text == "PLATFORM" {
            return Ok(Self::Platform);
        }
        let (kind, id) = text.split_once('-').ok_or(InvalidRiskScope)?;
        let id = id.parse().map_err(|_| InvalidRiskScope)?;
        match kind {
            "ACCOUNT" => Ok(Self::Account(AccountId(id))),
            "STRATEGY" => Ok(Self::Strategy(StrategyId(id))),
            "SECURITY" => Ok(Self::Security(SecurityId(id))),
            _ => Err(InvalidRiskScope),
        }
    }
}

/// A text that is not `PLATFORM`, `ACCOUNT-<id>`, `STRATEGY-<id>` or `SECURITY-<id>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidRiskScope;

/// What is allowed in a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Encode, Decode)]
#[cbor(index_only)]
pub enum TradingState {
    /// Everything that the limits allow.
    #[n(0)]
    #[default]
    Active,
    /// Only orders that reduce exposure, and cancels.
    #[n(1)]
    Reducing,
    /// Only cancels.
    #[n(2)]
    Halted,
}

impl TradingState {
    /// As clients see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "ACTIVE",
            Self::Reducing => "REDUCING",
            Self::Halted => "HALTED",
        }
    }
}

/// A trading state with its user and reason.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct TradingStateChange {
    /// Where the state applies.
    #[n(0)]
    pub scope: RiskScope,
    /// What is allowed there now.
    #[n(1)]
    pub state: TradingState,
    /// Since when.
    #[n(2)]
    pub at: Timestamp,
    /// For people: why; absent where the caller gave no reason.
    #[n(3)]
    pub reason: Option<Text>,
    /// The user that set it; absent where the platform did, or no login is required.
    #[n(4)]
    pub changed_by: Option<Text>,
}

/// A dead-man timer: the kill switch of a scope that fires unless the timer is renewed in time.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct DeadManTimer {
    /// The scope that is killed.
    #[n(0)]
    pub scope: RiskScope,
    /// How long it runs after each renewal.
    #[n(1)]
    pub seconds: u32,
    /// When the kill switch fires.
    #[n(2)]
    pub expires: Timestamp,
    /// The user who renewed it last; none: the platform, or an anonymous caller.
    #[n(3)]
    pub renewed_by: Option<Text>,
}

/// The longest time of a dead-man timer: a day.
pub const DEAD_MAN_SECONDS_MAX: u32 = 86_400;

/// The limits of one scope; an absent limit does not apply.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct RiskLimits {
    /// Quantity of one order, in units of its security.
    #[n(0)]
    pub max_order_quantity: Option<Quantity>,
    /// In base currency, like every notional here.
    #[n(1)]
    pub max_order_notional: Option<Amount>,
    /// How far a price may lie on the aggressive side of the reference, in percent.
    #[n(2)]
    pub price_collar_percent: Option<Amount>,
    /// An order that needs a price is refused when the newest is older.
    #[n(3)]
    pub stale_after_seconds: Option<u32>,
    /// Number of orders that may be open at a time.
    #[n(4)]
    pub max_open_orders: Option<u32>,
    /// Worst case: the position and all open buys, or all open sells.
    #[n(5)]
    pub max_open_notional: Option<Amount>,
    /// Quantity of a long position if everything open were filled.
    #[n(6)]
    pub max_long: Option<Quantity>,
    /// Quantity of a short position if everything open were filled, as a positive number.
    #[n(7)]
    pub max_short: Option<Quantity>,
    /// Value of all positions and open orders without their signs, in base currency.
    #[n(8)]
    pub max_gross_exposure: Option<Amount>,
    /// Whether orders need cash; absent = the platform's setting, there absent = yes.
    #[n(9)]
    pub cash_check: Option<bool>,
    /// New orders and modifications.
    #[n(10)]
    pub orders_per_second: Option<u32>,
    /// Orders of the same content from which the next is refused.
    #[n(11)]
    pub duplicate_guard: Option<BurstLimit>,
    /// Rejects of venues that halt the scope.
    #[n(12)]
    pub reject_breaker: Option<BurstLimit>,
    /// Loss of the platform day, realised and unrealised, from which only reducing orders are allowed.
    #[n(13)]
    pub max_day_loss: Option<Amount>,
    /// Drawdown from the highest net value of the day, from which trading is halted.
    #[n(14)]
    pub max_drawdown: Option<Amount>,
    /// What happens to an order that would trade with one of the same account.
    #[n(15)]
    pub self_trade: Option<SelfTradePrevention>,
    /// New orders, modifications and cancels of one session in a second. Cancels count and always pass.
    #[n(16)]
    pub messages_per_second: Option<u32>,
    /// Executed orders that halt the scope.
    #[n(17)]
    pub execution_breaker: Option<BurstLimit>,
    /// Securities in which only cancels are allowed.
    #[n(18)]
    pub restricted_securities: Option<BTreeSet<SecurityId>>,
}

/// A change of some limits of a scope: the named ones are set to the value in `limits`, or removed; the others keep
/// their value.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct RiskLimitsChange {
    /// The new values; a limit that is named and absent here is removed.
    #[n(0)]
    pub limits: RiskLimits,
    /// The limits that change.
    #[n(1)]
    pub named: Vec<RiskLimitName>,
}

/// Names of the limits, each with the number of its field in [`RiskLimits`].
#[expect(missing_docs, reason = "each is the field of the same name")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
#[cbor(index_only)]
pub enum RiskLimitName {
    #[n(0)]
    MaxOrderQuantity,
    #[n(1)]
    MaxOrderNotional,
    #[n(2)]
    PriceCollarPercent,
    #[n(3)]
    StaleAfterSeconds,
    #[n(4)]
    MaxOpenOrders,
    #[n(5)]
    MaxOpenNotional,
    #[n(6)]
    MaxLong,
    #[n(7)]
    MaxShort,
    #[n(8)]
    MaxGrossExposure,
    #[n(9)]
    CashCheck,
    #[n(10)]
    OrdersPerSecond,
    #[n(11)]
    DuplicateGuard,
    #[n(12)]
    RejectBreaker,
    #[n(13)]
    MaxDayLoss,
    #[n(14)]
    MaxDrawdown,
    #[n(15)]
    SelfTrade,
    #[n(16)]
    MessagesPerSecond,
    #[n(17)]
    ExecutionBreaker,
    #[n(18)]
    RestrictedSecurities,
}

impl RiskLimits {
    /// These limits after a change.
    pub fn changed_by(&self, change: &RiskLimitsChange) -> Self {
        let mut changed = self.clone();
        for name in &change.named {
            changed.set_one(*name, &change.limits);
        }
        changed
    }

    fn set_one(&mut self, name: RiskLimitName, from: &Self) {
        match name {
            RiskLimitName::MaxOrderQuantity => self.max_order_quantity = from.max_order_quantity,
            RiskLimitName::MaxOrderNotional => self.max_order_notional = from.max_order_notional,
            RiskLimitName::PriceCollarPercent => self.price_collar_percent = from.price_collar_percent,
            RiskLimitName::StaleAfterSeconds => self.stale_after_seconds = from.stale_after_seconds,
            RiskLimitName::MaxOpenOrders => self.max_open_orders = from.max_open_orders,
            RiskLimitName::MaxOpenNotional => self.max_open_notional = from.max_open_notional,
            RiskLimitName::MaxLong => self.max_long = from.max_long,
            RiskLimitName::MaxShort => self.max_short = from.max_short,
            RiskLimitName::MaxGrossExposure => self.max_gross_exposure = from.max_gross_exposure,
            RiskLimitName::CashCheck => self.cash_check = from.cash_check,
            RiskLimitName::OrdersPerSecond => self.orders_per_second = from.orders_per_second,
            RiskLimitName::DuplicateGuard => self.duplicate_guard = from.duplicate_guard,
            RiskLimitName::RejectBreaker => self.reject_breaker = from.reject_breaker,
            RiskLimitName::MaxDayLoss => self.max_day_loss = from.max_day_loss,
            RiskLimitName::MaxDrawdown => self.max_drawdown = from.max_drawdown,
            RiskLimitName::SelfTrade => self.self_trade = from.self_trade,
            RiskLimitName::MessagesPerSecond => self.messages_per_second = from.messages_per_second,
            RiskLimitName::ExecutionBreaker => self.execution_breaker = from.execution_breaker,
            RiskLimitName::RestrictedSecurities => {
                self.restricted_securities.clone_from(&from.restricted_securities);
            }
        }
    }
}

/// A number of occurrences within a time window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct BurstLimit {
    /// How many of them trigger it.
    #[n(0)]
    pub count: u32,
    /// The length of the window in milliseconds.
    #[n(1)]
    pub millis: u32,
}

/// Policy for an order that would trade with a resting one of the same account. The account's policy comes before the
/// platform's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum SelfTradePrevention {
    /// Accepted: the venue prevents self-trades, or they may happen.
    #[n(0)]
    Allow,
    /// The new order is refused.
    #[n(1)]
    RejectNewest,
    /// The resting one is cancelled first; the new one is sent when the venue has confirmed that.
    #[n(2)]
    CancelResting,
    /// The resting one is cancelled, and the new one is never sent.
    #[n(3)]
    CancelBoth,
}

/// Pauses between two lists of one kind while the session is up; 0 = never.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct ReconciliationSettings {
    /// Between two lists of open orders.
    #[n(0)]
    pub open_orders_seconds: u32,
    /// Between two lists of fills.
    #[n(1)]
    pub fills_seconds: u32,
}

/// Settings of the engine, given at start and whenever the configuration changes.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct EngineSettings {
    /// Identifies this data folder; generated ids contain it.
    #[n(0)]
    pub instance: u64,
    /// The currency of values and of limits on notionals.
    #[n(1)]
    pub base_currency: Currency,
    /// The platform day begins at midnight of this zone.
    #[n(2)]
    pub trading_zone: Text,
    /// Margin of a future, as a fraction of its notional.
    #[cbor(n(3), with = "crate::amount::decimal")]
    pub margin_rate: Decimal,
    /// Expected cost of a market order beyond the opposite quote, in percent.
    #[cbor(n(4), with = "crate::amount::decimal")]
    pub slippage_percent: Decimal,
    /// An order that certainly did not reach the venue is sent again up to this age; 0 = never.
    #[n(5)]
    pub resend_within_seconds: u32,
    /// A request that the venue has not answered for this long puts its order in doubt; 0 = never.
    #[n(7)]
    pub venue_timeout_seconds: u32,
    /// The configured limits of the platform. They are applied when they change here, so that changes made at run time
    /// survive a restart with the same configuration.
    #[n(6)]
    pub platform_limits: RiskLimits,
    /// Part of its notional that the opening part of a short sale reserves; none in journals that were written before.
    #[cbor(n(8), with = "crate::amount::decimal", default)]
    pub short_margin_rate: Decimal,
    /// The dead-man timer of the platform: always armed, from the start on.
    #[n(9)]
    pub dead_man_seconds: Option<u32>,
    /// Whether `orders_per_second` counts modifications too; not in journals that were written before they were counted.
    #[n(10)]
    #[cbor(default)]
    pub counts_modifications: bool,
    /// Currencies without a market rate that are worth as much as another; none in journals that were written before.
    #[n(12)]
    #[cbor(default)]
    pub pegs: BTreeMap<Currency, Currency>,
    /// How often venues list what they have; never in journals that were written before.
    #[n(11)]
    #[cbor(default)]
    pub reconciliation: ReconciliationSettings,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            instance: 1,
            base_currency: Currency::USD,
            trading_zone: "UTC".into(),
            margin_rate: Decimal::new(1, 1),
            slippage_percent: Decimal::ONE,
            resend_within_seconds: 30,
            venue_timeout_seconds: 10,
            platform_limits: RiskLimits::default(),
            short_margin_rate: Decimal::new(5, 1),
            dead_man_seconds: None,
            counts_modifications: true,
            pegs: [(Currency::USDT, Currency::USD)].into(),
            reconciliation: ReconciliationSettings { open_orders_seconds: 30, fills_seconds: 60 },
        }
    }
}
