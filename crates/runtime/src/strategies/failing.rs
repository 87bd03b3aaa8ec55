//! Strategy failures: panic, hang, flood, disconnect. The same texts in the log, the alarm, the journal and a
//! simulation's report.

use std::any::Any;
use std::collections::VecDeque;

use domain::command::{Failure, FailureKind};
use domain::refusal::Control;
use domain::risk::Scope;
use domain::{Refusal, StrategyId, Timestamp};

/// Orders that the risk gate refuses a strategy within [`FLOOD_WINDOW_NANOS`] before it is stopped.
const FLOOD_REFUSALS: usize = 20;
const FLOOD_WINDOW_NANOS: i64 = 1_000_000_000;

pub(crate) fn panicked(message: &str) -> Failure {
    failure(FailureKind::Panicked, format!("panicked: {message}"))
}

pub(crate) fn hangs() -> Failure {
    failure(FailureKind::Hung, "hangs: a callback does not return, so it gets no more events")
}

/// The risk gate refuses its orders; or one callback or one instant has more commands than can be checked.
pub(crate) fn floods(how: &str) -> Failure {
    failure(FailureKind::Flooded, format!("floods: {how}"))
}

pub(crate) const BEYOND_ITS_RATE: &str = "the risk gate refuses its orders";
pub(crate) const TOO_MUCH_IN_A_CALL: &str = "one callback sent more than 1,024 commands";
pub(crate) const NEVER_CONTENT: &str = "it sends commands without end at one instant";

/// The connection to its process is lost.
pub(crate) fn lost(how: impl Into<String>) -> Failure {
    failure(FailureKind::Lost, how.into())
}

fn failure(kind: FailureKind, text: impl Into<String>) -> Failure {
    Failure { kind, text: text.into().into() }
}

/// The message of a panic.
pub(crate) fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "it panicked without a message".to_owned())
}

/// The risk gate refused the strategy itself for its rate, not its account or the platform.
pub(crate) fn is_too_fast(refusal: &Refusal, strategy: StrategyId) -> bool {
    matches!(refusal, Refusal::Limit { control: Control::OrderRate, scope: Scope::Strategy(id), .. } if *id == strategy)
}

/// When the risk gate refused a strategy for its rate.
#[derive(Debug, Clone, Default)]
pub(crate) struct Haste(VecDeque<Timestamp>);

impl Haste {
    /// Counts a refusal and returns whether the strategy floods.
    pub(crate) fn is_flood(&mut self, now: Timestamp) -> bool {
        while self.0.front().is_some_and(|first| now.nanos_since(*first) >= FLOOD_WINDOW_NANOS) {
            self.0.pop_front();
        }
        self.0.push_back(now);
        self.0.len() >= FLOOD_REFUSALS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_refusals_within_a_second_are_a_flood_and_twenty_over_two_are_none() {
        let spread = |nanos: i64| {
            let mut haste = Haste::default();
            (1..=20).filter(|number| haste.is_flood(Timestamp(number * nanos))).collect::<Vec<_>>()
        };
        assert_eq!((spread(50_000_000), spread(100_000_000)), (vec![20], vec![]));
    }
}
