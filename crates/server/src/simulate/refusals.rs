//! Refused orders and commands, with strategy and rule.

use domain::{Command, ReferenceData, Refusal, RiskScope, Text, Timestamp};
use results::RefusalSummary;
use tracing::warn;

/// Refusals of a kind that are logged one by one; further ones are only counted.
const REFUSALS_LOGGED_MAX: u64 = 5;

/// Counts a refusal, and logs the first ones of its kind.
pub(super) fn record(
    refusals: &mut RefusalSummary,
    (at, strategy): (Timestamp, &Text),
    command: &Command,
    refusal: &Refusal,
    reference: Option<&ReferenceData>,
) {
    let told = format!("{at} {strategy}: {}", reason(refusal, reference));
    refusals.orders += u64::from(matches!(command, Command::Place(_)));
    let count = refusals.by_code.entry(refusal.code()).or_default();
    *count += 1;
    if *count <= REFUSALS_LOGGED_MAX {
        warn!("{told}");
    }
    refusals.first.get_or_insert(told);
}

/// The rule and the reason; a scope by its name, since the ids of strategies in a plan are not known to the user.
fn reason(refusal: &Refusal, reference: Option<&ReferenceData>) -> String {
    let code = refusal.code();
    match refusal {
        Refusal::Limit { scope, value, limit, .. } => {
            let (value, limit) = (value.normalize(), limit.normalize());
            format!("{code}: {value} is above the limit of {limit} for {}", scope_name(*scope, reference))
        }
        Refusal::TradingState { scope, state } => {
            format!("{code}: trading is {} for {}", state.name(), scope_name(*scope, reference))
        }
        other => format!("{code}: {other}"),
    }
}

fn scope_name(scope: RiskScope, reference: Option<&ReferenceData>) -> String {
    let name = reference.and_then(|data| match scope {
        RiskScope::Platform => None,
        RiskScope::Account(id) => Some(format!("account {}", data.accounts.get(&id)?.name)),
        RiskScope::Strategy(id) => Some(format!("strategy {}", data.strategies.get(&id)?.name)),
        RiskScope::Security(id) => Some(format!("security {}", data.securities.get(&id)?.symbol)),
    });
    name.unwrap_or_else(|| if scope == RiskScope::Platform { "the platform".into() } else { scope.to_string() })
}
