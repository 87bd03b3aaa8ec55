//! Refused orders and commands, with strategy and rule.

use domain::{Command, ReferenceData, Refusal, Scope, Text, Timestamp};
use results::Refusals;
use tracing::warn;

/// Refusals of a kind that are logged one by one; further ones are only counted.
const TOLD_MAX: u64 = 5;

/// Counts a refusal, and logs the first ones of its kind.
pub(super) fn note(
    refusals: &mut Refusals,
    (at, strategy): (Timestamp, &Text),
    command: &Command,
    refusal: &Refusal,
    reference: Option<&ReferenceData>,
) {
    let told = format!("{at} {strategy}: {}", reason(refusal, reference));
    refusals.orders += u64::from(matches!(command, Command::Place(_)));
    let count = refusals.by_code.entry(refusal.code()).or_default();
    *count += 1;
    if *count <= TOLD_MAX {
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
            format!("{code}: {value} is above the limit of {limit} for {}", named(*scope, reference))
        }
        Refusal::TradingState { scope, state } => {
            format!("{code}: trading is {} for {}", state.name(), named(*scope, reference))
        }
        other => format!("{code}: {other}"),
    }
}

fn named(scope: Scope, reference: Option<&ReferenceData>) -> String {
    let name = reference.and_then(|data| match scope {
        Scope::Platform => None,
        Scope::Account(id) => Some(format!("account {}", data.accounts.get(&id)?.name)),
        Scope::Strategy(id) => Some(format!("strategy {}", data.strategies.get(&id)?.name)),
        Scope::Security(id) => Some(format!("security {}", data.securities.get(&id)?.symbol)),
    });
    name.unwrap_or_else(|| if scope == Scope::Platform { "the platform".into() } else { scope.to_string() })
}
