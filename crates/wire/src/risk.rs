//! Limits, dry runs and trading states, in both directions.

use std::collections::BTreeSet;

use domain::query::PreTradeCheck;
use domain::risk::{
    BurstLimit, DeadManTimer, RiskLimitName, RiskLimits, RiskLimitsChange, RiskScope, SelfTradePrevention,
};
use domain::{Amount, Decimal, Quantity, SecurityId, Text, TradingState};
use serde_json::Value;

use crate::fields::{BadBody, FieldError, Fields, count_of, decimal_of, ids_of};
use crate::json::{AsText, ExactDecimal, Millis, exact};
use crate::value_object::value_object;

/// Securities of one restricted list.
pub const RESTRICTED_SECURITIES_MAX: usize = 10_000;

/// Longest reason text.
pub const REASON_LENGTH_MAX: usize = 256;

const STATES: [(&str, TradingState); 3] =
    [("ACTIVE", TradingState::Active), ("REDUCING", TradingState::Reducing), ("HALTED", TradingState::Halted)];

const SELF_TRADES: [(&str, SelfTradePrevention); 4] = [
    ("REFUSE_NEWEST", SelfTradePrevention::RejectNewest),
    ("CANCEL_RESTING", SelfTradePrevention::CancelResting),
    ("CANCEL_BOTH", SelfTradePrevention::CancelBoth),
    ("ALLOW", SelfTradePrevention::Allow),
];

value_object! {
    /// The limits of a scope; null does not bind.
    pub struct LimitsVO ("LimitsVO", golden)
    from (scope: RiskScope, limits: &RiskLimits) {
        scope: AsText<RiskScope> = AsText(scope),
        maxOrderQuantity: Option<ExactDecimal> = exact(limits.max_order_quantity),
        maxOrderNotional: Option<ExactDecimal> = exact(limits.max_order_notional),
        priceCollarPercent: Option<ExactDecimal> = exact(limits.price_collar_percent),
        staleAfterSeconds: Option<u32> = limits.stale_after_seconds,
        maxOpenOrders: Option<u32> = limits.max_open_orders,
        maxOpenNotional: Option<ExactDecimal> = exact(limits.max_open_notional),
        maxLong: Option<ExactDecimal> = exact(limits.max_long),
        maxShort: Option<ExactDecimal> = exact(limits.max_short),
        maxGrossExposure: Option<ExactDecimal> = exact(limits.max_gross_exposure),
        cashCheck: Option<bool> = limits.cash_check,
        ordersPerSecond: Option<u32> = limits.orders_per_second,
        duplicateGuard: Option<BurstVO> = limits.duplicate_guard.map(BurstVO::from_domain),
        rejectBreaker: Option<BurstVO> = limits.reject_breaker.map(BurstVO::from_domain),
        maxDayLoss: Option<ExactDecimal> = exact(limits.max_day_loss),
        maxDrawdown: Option<ExactDecimal> = exact(limits.max_drawdown),
        selfTrade: Option<&'static str> [Maybe(&OneOf(SELF_TRADES))] = limits.self_trade.and_then(name_of),
        messagesPerSecond: Option<u32> = limits.messages_per_second,
        executionBreaker: Option<BurstVO> = limits.execution_breaker.map(BurstVO::from_domain),
        restrictedSecurities: Option<Vec<u64>> =
            limits.restricted_securities.as_ref().map(|list| list.iter().map(|id| id.0).collect()),
    }
}

value_object! {
    /// So many in so many milliseconds.
    pub(crate) struct BurstVO ("Burst")
    from (burst: BurstLimit) {
        count: u32 = burst.count,
        millis: u32 = burst.millis,
    }
}

fn name_of(wanted: SelfTradePrevention) -> Option<&'static str> {
    SELF_TRADES.iter().find(|(_, choice)| *choice == wanted).map(|(name, _)| *name)
}

/// The limits by their keys in a body.
const LIMIT_NAMES: [(&str, RiskLimitName); 19] = [
    ("maxOrderQuantity", RiskLimitName::MaxOrderQuantity),
    ("maxOrderNotional", RiskLimitName::MaxOrderNotional),
    ("priceCollarPercent", RiskLimitName::PriceCollarPercent),
    ("staleAfterSeconds", RiskLimitName::StaleAfterSeconds),
    ("maxOpenOrders", RiskLimitName::MaxOpenOrders),
    ("maxOpenNotional", RiskLimitName::MaxOpenNotional),
    ("maxLong", RiskLimitName::MaxLong),
    ("maxShort", RiskLimitName::MaxShort),
    ("maxGrossExposure", RiskLimitName::MaxGrossExposure),
    ("cashCheck", RiskLimitName::CashCheck),
    ("ordersPerSecond", RiskLimitName::OrdersPerSecond),
    ("duplicateGuard", RiskLimitName::DuplicateGuard),
    ("rejectBreaker", RiskLimitName::RejectBreaker),
    ("maxDayLoss", RiskLimitName::MaxDayLoss),
    ("maxDrawdown", RiskLimitName::MaxDrawdown),
    ("selfTrade", RiskLimitName::SelfTrade),
    ("messagesPerSecond", RiskLimitName::MessagesPerSecond),
    ("executionBreaker", RiskLimitName::ExecutionBreaker),
    ("restrictedSecurities", RiskLimitName::RestrictedSecurities),
];

/// Changes of the limits of a scope; `null` removes one, and an absent one is kept. The values obey the rules of the
/// configuration.
pub fn parse_limits(body: &[u8]) -> Result<(RiskScope, RiskLimitsChange), BadBody> {
    let mut fields = Fields::parse(body)?;
    let named = LIMIT_NAMES.iter().filter(|(key, _)| fields.contains(key)).map(|(_, name)| *name).collect();
    let scope = scope(&mut fields);
    let limits = RiskLimits {
        max_order_quantity: positive(&mut fields, "maxOrderQuantity").map(Quantity),
        max_order_notional: positive(&mut fields, "maxOrderNotional").map(Amount),
        price_collar_percent: positive(&mut fields, "priceCollarPercent").map(Amount),
        stale_after_seconds: fields.read("staleAfterSeconds", from_zero),
        max_open_orders: fields.read("maxOpenOrders", from_zero),
        max_open_notional: positive(&mut fields, "maxOpenNotional").map(Amount),
        max_long: positive(&mut fields, "maxLong").map(Quantity),
        max_short: positive(&mut fields, "maxShort").map(Quantity),
        max_gross_exposure: positive(&mut fields, "maxGrossExposure").map(Amount),
        cash_check: fields.flag("cashCheck"),
        orders_per_second: fields.read("ordersPerSecond", from_zero),
        duplicate_guard: fields.read("duplicateGuard", burst_of),
        reject_breaker: fields.read("rejectBreaker", burst_of),
        max_day_loss: positive(&mut fields, "maxDayLoss").map(Amount),
        max_drawdown: positive(&mut fields, "maxDrawdown").map(Amount),
        self_trade: self_trade(&mut fields, scope),
        messages_per_second: fields.read("messagesPerSecond", from_zero),
        execution_breaker: fields.read("executionBreaker", burst_of),
        restricted_securities: restricted(&mut fields, scope),
    };
    let scope = fields.require("scope", scope);
    fields.finish_strict(scope.map(|scope| (scope, RiskLimitsChange { limits, named })))
}

/// A setting of accounts: no other scope has it.
fn self_trade(fields: &mut Fields, scope: Option<RiskScope>) -> Option<SelfTradePrevention> {
    if matches!(scope, Some(RiskScope::Strategy(_) | RiskScope::Security(_))) {
        let foreign = |field, _| Err(FieldError::unexpected(field, "belongs to an account or to the platform"));
        return fields.read("selfTrade", foreign);
    }
    fields.choice("selfTrade", &SELF_TRADES)
}

/// A list of a security itself would be senseless: its trading state does that.
fn restricted(fields: &mut Fields, scope: Option<RiskScope>) -> Option<BTreeSet<SecurityId>> {
    if matches!(scope, Some(RiskScope::Security(_))) {
        let reason = "belongs to an account, a strategy or the platform";
        return fields.read("restrictedSecurities", |field, _| Err(FieldError::unexpected(field, reason)));
    }
    let ids = fields.read("restrictedSecurities", |field, value| ids_of(field, value, RESTRICTED_SECURITIES_MAX));
    ids.map(|ids| ids.into_iter().map(SecurityId).collect())
}

fn positive(fields: &mut Fields, field: &'static str) -> Option<Decimal> {
    fields.read(field, |field, value| {
        let number = decimal_of(field, value)?;
        let is_positive = number > Decimal::ZERO;
        is_positive.then_some(number).ok_or_else(|| FieldError::new(field, "not-positive", "must be more than zero"))
    })
}

fn from_zero(field: &'static str, value: Value) -> Result<u32, FieldError> {
    let is_below = decimal_of(field, value.clone())? < Decimal::ZERO;
    if is_below { Err(FieldError::new(field, "too-small", "must not be below zero")) } else { count_of(field, value) }
}

/// A number in a time span: both keys are required and no others, and the number is greater than zero.
fn burst_of(field: &'static str, value: Value) -> Result<BurstLimit, FieldError> {
    let malformed = || FieldError::malformed(field, "must be an object with whole numbers count and millis");
    let Value::Object(parts) = value else { return Err(malformed()) };
    let part = |key: &str| parts.get(key).and_then(|part| from_zero(field, part.clone()).ok());
    match (part("count"), part("millis"), parts.len()) {
        (Some(count @ 1..), Some(millis @ 1..), 2) => Ok(BurstLimit { count, millis }),
        (Some(_), Some(_), 2) => Err(FieldError::new(field, "not-positive", "count and millis must be more than zero")),
        _ => Err(malformed()),
    }
}

/// A requested trading state of a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateBody {
    pub scope: RiskScope,
    pub state: TradingState,
    pub reason: Option<Text>,
}

impl StateBody {
    pub fn parse(body: &[u8]) -> Result<Self, BadBody> {
        let mut fields = Fields::parse(body)?;
        let scope = scope(&mut fields);
        let state = fields.choice("state", &STATES);
        let reason = fields.text("reason", REASON_LENGTH_MAX).map(Text::from);
        let (scope, state) = (fields.require("scope", scope), fields.require("state", state));
        fields.finish_strict(scope.zip(state).map(|(scope, state)| Self { scope, state, reason }))
    }
}

/// The kill switch. The scope is required, so that an empty body cannot halt the whole platform by mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KillBody {
    pub scope: RiskScope,
    pub reason: Option<Text>,
}

impl KillBody {
    pub fn parse(body: &[u8]) -> Result<Self, BadBody> {
        let mut fields = Fields::parse_optional(body)?;
        let scope = scope(&mut fields);
        let reason = fields.text("reason", REASON_LENGTH_MAX).map(Text::from);
        let scope = fields.require("scope", scope);
        fields.finish_strict(scope.map(|scope| Self { scope, reason }))
    }
}

/// Arms or renews a dead-man timer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadManBody {
    pub scope: RiskScope,
    /// Absent: as before, or as configured.
    pub seconds: Option<u32>,
}

impl DeadManBody {
    pub fn parse(body: &[u8]) -> Result<Self, BadBody> {
        let mut fields = Fields::parse(body)?;
        let scope = scope(&mut fields);
        let seconds = fields.count("seconds");
        let scope = fields.require("scope", scope);
        fields.finish_strict(scope.map(|scope| Self { scope, seconds }))
    }
}

value_object! {
    /// A dead-man timer: unless it is renewed in time, the kill switch of its scope fires.
    pub struct DeadManTimerVO<'a> ("DeadManTimerVO", golden)
    from (timer: &'a DeadManTimer) {
        scope: AsText<RiskScope> = AsText(timer.scope),
        seconds: u32 = timer.seconds,
        expires: Millis = timer.expires.into(),
        renewedBy: Option<&'a str> = timer.renewed_by.as_deref(),
    }
}

fn scope(fields: &mut Fields) -> Option<RiskScope> {
    fields.read("scope", |field, value| {
        let scope = value.as_str().and_then(|text| text.parse().ok());
        scope.ok_or_else(|| {
            FieldError::malformed(field, "must be PLATFORM, ACCOUNT-<id>, STRATEGY-<id> or SECURITY-<id>")
        })
    })
}

value_object! {
    /// What the kill switch did: how many orders were asked to be cancelled.
    pub struct KilledVO ("KilledVO", golden)
    from (scope: RiskScope, cancels: usize) {
        scope: AsText<RiskScope> = AsText(scope),
        // Orders for which a cancel was sent.
        cancels: usize = cancels,
    }
}

value_object! {
    /// What would happen to an order.
    pub struct VerdictVO ("VerdictVO", golden)
    from (verdict: &PreTradeCheck)
    let refusal = verdict.refusal.as_ref(); {
        accepted: bool = refusal.is_none(),
        code: Option<&'static str> = refusal.map(domain::Refusal::code),
        field: Option<&'static str> = refusal.and_then(domain::Refusal::field),
        reason: Option<String> = refusal.map(ToString::to_string),
        notional: Option<ExactDecimal> = exact(verdict.notional),
        fee: Option<ExactDecimal> = exact(verdict.fee),
    }
}
