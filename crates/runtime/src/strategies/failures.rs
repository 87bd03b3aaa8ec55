//! Strategy failures: panic, hang, flood, disconnect. The same texts in the log, the alarm, the journal and a
//! simulation's report.

use std::any::Any;
use std::collections::VecDeque;

use domain::command::{StrategyFailure, StrategyFailureKind};
use domain::refusal::RiskControl;
use domain::risk::RiskScope;
use domain::{Refusal, StrategyId, Timestamp};

/// Orders that the risk gate refuses a strategy within [`RATE_WINDOW_NANOS`] before it is stopped.
const RATE_REFUSALS_MAX: usize = 20;
const RATE_WINDOW_NANOS: i64 = 1_000_000_000;

pub(crate) fn panicked(message: &str) -> StrategyFailure {
    failure(StrategyFailureKind::Panicked, format!("panicked: {message}"))
}

pub(crate) fn hung() -> StrategyFailure {
    failure(StrategyFailureKind::Hung, "hangs: a callback does not return, so it gets no more events")
}

/// The risk gate refuses its orders; or one callback or one instant has more commands than can be checked.
pub(crate) fn flooded(how: &str) -> StrategyFailure {
    failure(StrategyFailureKind::Flooded, format!("floods: {how}"))
}

pub(crate) const ORDER_RATE_EXCEEDED: &str = "the risk gate refuses its orders";
pub(crate) const CALLBACK_COMMANDS_EXCEEDED: &str = "one callback sent more than 1,024 commands";
pub(crate) const LIVELOCKED: &str = "it sends commands without end at one instant";

/// The connection to its process is lost.
pub(crate) fn disconnected(how: impl Into<String>) -> StrategyFailure {
    failure(StrategyFailureKind::Disconnected, how.into())
}

fn failure(kind: StrategyFailureKind, text: impl Into<String>) -> StrategyFailure {
    StrategyFailure { kind, text: text.into().into() }
}

/// The message of a panic.
pub(crate) fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "it panicked without a message".to_owned())
}

/// The risk gate refused the strategy itself for its rate, not its account or the platform.
pub(crate) fn is_rate_refusal(refusal: &Refusal, strategy: StrategyId) -> bool {
    matches!(refusal, Refusal::Limit { control: RiskControl::OrderRate, scope: RiskScope::Strategy(id), .. } if *id == strategy)
}

/// When the risk gate refused a strategy for its rate.
#[derive(Debug, Clone, Default)]
pub(crate) struct RateWindow(VecDeque<Timestamp>);

impl RateWindow {
    /// Counts a refusal and returns whether the strategy floods.
    pub(crate) fn record_and_check(&mut self, now: Timestamp) -> bool {
        while self.0.front().is_some_and(|first| now.nanos_since(*first) >= RATE_WINDOW_NANOS) {
            self.0.pop_front();
        }
        self.0.push_back(now);
        self.0.len() >= RATE_REFUSALS_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_refusals_within_a_second_are_a_flood_and_twenty_over_two_are_none() {
        let spread = |nanos: i64| {
            let mut haste = RateWindow::default();
            (1..=20).filter(|number| haste.record_and_check(Timestamp(number * nanos))).collect::<Vec<_>>()
        };
        assert_eq!((spread(50_000_000), spread(100_000_000)), (vec![20], vec![]));
    }
}
