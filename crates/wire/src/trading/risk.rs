//! Dry runs and trading states, in both directions.

use domain::query::PreTradeCheck;
use domain::risk::{DeadManTimer, RiskScope};
use domain::{Text, TradingState};

use crate::bodies::fields::{BadBody, FieldError, Fields};
use crate::json::{AsText, ExactDecimal, Millis, exact};
use crate::value_object::value_object;

/// Longest reason text.
pub const REASON_LENGTH_MAX: usize = 256;

const STATES: [(&str, TradingState); 3] =
    [("ACTIVE", TradingState::Active), ("REDUCING", TradingState::Reducing), ("HALTED", TradingState::Halted)];

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

pub(crate) fn scope(fields: &mut Fields) -> Option<RiskScope> {
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
