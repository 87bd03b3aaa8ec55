//! Limits, dry runs and trading states, both ways.

use domain::query::Verdict;
use domain::risk::{Burst, Limits, Scope, SelfTrade};
use domain::{Amount, Quantity, Text, TradingState};
use serde::Serialize;
use serde_json::Value;

use crate::fields::{BadBody, FieldError, Fields, count_of};
use crate::json::{Exact, Shown, exact};

/// A reason may be this long.
pub const REASON_LENGTH_MAX: usize = 256;

const STATES: [(&str, TradingState); 3] =
    [("ACTIVE", TradingState::Active), ("REDUCING", TradingState::Reducing), ("HALTED", TradingState::Halted)];

const SELF_TRADES: [(&str, SelfTrade); 4] = [
    ("REFUSE_NEWEST", SelfTrade::RefuseNewest),
    ("CANCEL_RESTING", SelfTrade::CancelResting),
    ("CANCEL_BOTH", SelfTrade::CancelBoth),
    ("ALLOW", SelfTrade::Allow),
];

/// The limits of one scope; `null` does not bind.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitsVO {
    scope: Shown<Scope>,
    max_order_quantity: Option<Exact>,
    max_order_notional: Option<Exact>,
    price_collar_percent: Option<Exact>,
    stale_after_seconds: Option<u32>,
    max_open_orders: Option<u32>,
    max_open_notional: Option<Exact>,
    max_long: Option<Exact>,
    max_short: Option<Exact>,
    max_gross_exposure: Option<Exact>,
    cash_check: Option<bool>,
    orders_per_second: Option<u32>,
    duplicate_guard: Option<BurstVO>,
    reject_breaker: Option<BurstVO>,
    max_day_loss: Option<Exact>,
    max_drawdown: Option<Exact>,
    self_trade: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct BurstVO {
    count: u32,
    millis: u32,
}

impl LimitsVO {
    pub fn from_domain(scope: Scope, limits: &Limits) -> Self {
        Self {
            scope: Shown(scope),
            max_order_quantity: exact(limits.max_order_quantity),
            max_order_notional: exact(limits.max_order_notional),
            price_collar_percent: exact(limits.price_collar_percent),
            stale_after_seconds: limits.stale_after_seconds,
            max_open_orders: limits.max_open_orders,
            max_open_notional: exact(limits.max_open_notional),
            max_long: exact(limits.max_long),
            max_short: exact(limits.max_short),
            max_gross_exposure: exact(limits.max_gross_exposure),
            cash_check: limits.cash_check,
            orders_per_second: limits.orders_per_second,
            duplicate_guard: limits.duplicate_guard.map(BurstVO::from_domain),
            reject_breaker: limits.reject_breaker.map(BurstVO::from_domain),
            max_day_loss: exact(limits.max_day_loss),
            max_drawdown: exact(limits.max_drawdown),
            self_trade: limits.self_trade.and_then(name_of),
        }
    }
}

fn name_of(wanted: SelfTrade) -> Option<&'static str> {
    SELF_TRADES.iter().find(|(_, choice)| *choice == wanted).map(|(name, _)| *name)
}

impl BurstVO {
    fn from_domain(burst: Burst) -> Self {
        Self { count: burst.count, millis: burst.millis }
    }
}

/// New limits for a scope: they replace the old ones whole, so what is absent no longer binds.
pub fn parse_limits(body: &[u8]) -> Result<(Scope, Limits), BadBody> {
    let mut fields = Fields::parse(body)?;
    let scope = scope(&mut fields);
    let limits = Limits {
        max_order_quantity: fields.decimal("maxOrderQuantity").map(Quantity),
        max_order_notional: fields.decimal("maxOrderNotional").map(Amount),
        price_collar_percent: fields.decimal("priceCollarPercent").map(Amount),
        stale_after_seconds: fields.count("staleAfterSeconds"),
        max_open_orders: fields.count("maxOpenOrders"),
        max_open_notional: fields.decimal("maxOpenNotional").map(Amount),
        max_long: fields.decimal("maxLong").map(Quantity),
        max_short: fields.decimal("maxShort").map(Quantity),
        max_gross_exposure: fields.decimal("maxGrossExposure").map(Amount),
        cash_check: fields.flag("cashCheck"),
        orders_per_second: fields.count("ordersPerSecond"),
        duplicate_guard: fields.read("duplicateGuard", burst_of),
        reject_breaker: fields.read("rejectBreaker", burst_of),
        max_day_loss: fields.decimal("maxDayLoss").map(Amount),
        max_drawdown: fields.decimal("maxDrawdown").map(Amount),
        self_trade: self_trade(&mut fields, scope),
    };
    let scope = fields.require("scope", scope);
    fields.finish(scope.map(|scope| (scope, limits)))
}

/// A matter of accounts: no other scope can have a word of its own.
fn self_trade(fields: &mut Fields, scope: Option<Scope>) -> Option<SelfTrade> {
    if matches!(scope, Some(Scope::Strategy(_) | Scope::Security(_))) {
        let foreign = |field, _| Err(FieldError::not_needed(field, "belongs to an account or to the platform"));
        return fields.read("selfTrade", foreign);
    }
    fields.choice("selfTrade", &SELF_TRADES)
}

fn burst_of(field: &'static str, value: Value) -> Result<Burst, FieldError> {
    let part = |key: &'static str| count_of(key, value.get(key)?.clone()).ok();
    part("count")
        .zip(part("millis"))
        .map(|(count, millis)| Burst { count, millis })
        .ok_or_else(|| FieldError::malformed(field, "must be an object with whole numbers count and millis"))
}

/// A trading state that somebody wants for a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateBody {
    pub scope: Scope,
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
        fields.finish(scope.zip(state).map(|(scope, state)| Self { scope, state, reason }))
    }
}

/// The kill switch: without a body, or without a scope in it, the whole platform stops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KillBody {
    pub scope: Scope,
    pub reason: Option<Text>,
}

impl KillBody {
    pub fn parse(body: &[u8]) -> Result<Self, BadBody> {
        if body.is_empty() {
            return Ok(Self { scope: Scope::Platform, reason: None });
        }
        let mut fields = Fields::parse(body)?;
        let scope = scope(&mut fields).unwrap_or(Scope::Platform);
        let reason = fields.text("reason", REASON_LENGTH_MAX).map(Text::from);
        fields.finish(Some(Self { scope, reason }))
    }
}

fn scope(fields: &mut Fields) -> Option<Scope> {
    fields.read("scope", |field, value| {
        let scope = value.as_str().and_then(|text| text.parse().ok());
        scope.ok_or_else(|| {
            FieldError::malformed(field, "must be PLATFORM, ACCOUNT-<id>, STRATEGY-<id> or SECURITY-<id>")
        })
    })
}

/// What the kill switch did.
#[derive(Debug, Serialize)]
pub struct KilledVO {
    scope: Shown<Scope>,
    /// Orders that were asked to be cancelled.
    cancels: usize,
}

impl KilledVO {
    pub fn from_domain(scope: Scope, cancels: usize) -> Self {
        Self { scope: Shown(scope), cancels }
    }
}

/// What would happen to an order.
#[derive(Debug, Serialize)]
pub struct VerdictVO {
    accepted: bool,
    code: Option<&'static str>,
    field: Option<&'static str>,
    reason: Option<String>,
    notional: Option<Exact>,
    fee: Option<Exact>,
}

impl VerdictVO {
    pub fn from_domain(verdict: &Verdict) -> Self {
        let refusal = verdict.refusal.as_ref();
        Self {
            accepted: refusal.is_none(),
            code: refusal.map(domain::Refusal::code),
            field: refusal.and_then(domain::Refusal::field),
            reason: refusal.map(ToString::to_string),
            notional: exact(verdict.notional),
            fee: exact(verdict.fee),
        }
    }
}
