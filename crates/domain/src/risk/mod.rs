//! Risk limits and trading states per scope. The strictest scope of an order applies.

mod risk_limits;

use std::collections::BTreeMap;

use minicbor::{Decode, Encode};
use rust_decimal::Decimal;

use crate::amount::currency::Currency;
use crate::ids::Text;
use crate::time::Timestamp;

pub use risk_limits::{
    BurstLimit, InvalidRiskScope, LimitScopes, RiskControl, RiskLimitName, RiskLimits, RiskLimitsChange, RiskScope,
    SelfTradePrevention,
};

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

/// Pauses between two lists of one kind while the session is up; 0 = never.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct ReconciliationSettings {
    /// Between two lists of open orders.
    #[n(0)]
    pub open_orders_seconds: u32,
    /// Between two lists of fills.
    #[n(1)]
    pub fills_seconds: u32,
    /// Between two statements of an account; never in journals that were written before.
    #[n(2)]
    #[cbor(default)]
    pub statements_seconds: u32,
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
    /// Whether a forex pair that nobody quotes has the rate of its last trade; not in journals that were written before.
    #[n(13)]
    #[cbor(default)]
    pub rates_by_trades: bool,
    /// Whether a fill gives an order the venue's id where its acknowledgement was lost; not in journals that were written before.
    #[n(14)]
    #[cbor(default)]
    pub ids_by_fills: bool,
    /// Pause between two samples of the value history, at whole multiples of it; absent: there are none, as in journals that were
    /// written before.
    #[n(16)]
    pub sample_seconds: Option<u32>,
    /// Whether a request that stays unanswered is an alarm where its order is in doubt already; not in journals that were written before.
    #[n(17)]
    #[cbor(default)]
    pub alarms_in_doubt: bool,
    /// Whether the cancel of an order whose time is over is asked for until the order has ended; in journals that were written before it was asked for once.
    #[n(18)]
    #[cbor(default)]
    pub repeats_expiry: bool,
    /// Whether a snapshot of a venue proves nothing of an order that changed after the venue was asked; not in journals that were written before.
    #[n(19)]
    #[cbor(default)]
    pub dates_snapshots: bool,
    /// Whether the second edition of the rules of recovery applies: a correction that names what was corrected before corrects the execution in
    /// its place, questions about many orders leave a hundred a second, and what was taken back of an order of past days stays known. Not in
    /// journals that were written before.
    #[n(20)]
    #[cbor(default)]
    pub recovery_rules_2: bool,
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
            rates_by_trades: true,
            ids_by_fills: true,
            sample_seconds: None,
            alarms_in_doubt: true,
            repeats_expiry: true,
            dates_snapshots: true,
            recovery_rules_2: true,
            reconciliation: ReconciliationSettings {
                open_orders_seconds: 30,
                fills_seconds: 60,
                statements_seconds: 60,
            },
        }
    }
}
