//! Why the platform stops a strategy: the same words in the log, in the alarm, in the journal and in a simulation's report.

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
    failure(FailureKind::Hung, "hangs: a call-back does not return, so its feed is cut")
}

/// The risk gate refuses its orders; one call or one instant may also ask for more than any gate can judge.
pub(crate) fn floods(how: &str) -> Failure {
    failure(FailureKind::Flooded, format!("floods: {how}"))
}

pub(crate) const BEYOND_ITS_RATE: &str = "the risk gate refuses its orders";
pub(crate) const TOO_MUCH_IN_A_CALL: &str = "one call-back asks for more than anybody could carry out";
pub(crate) const NEVER_CONTENT: &str = "it asks again and again at one instant";

/// Nobody hears of it any more, or it no longer hears of us.
pub(crate) fn lost(how: impl Into<String>) -> Failure {
    failure(FailureKind::Lost, how.into())
}

fn failure(kind: FailureKind, text: impl Into<String>) -> Failure {
    Failure { kind, text: text.into().into() }
}

/// What a panic said.
pub(crate) fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it panicked without a word".to_owned())
}

/// The risk gate found the strategy itself too fast, not the desk around it.
pub(crate) fn is_too_fast(refusal: &Refusal, strategy: StrategyId) -> bool {
    matches!(refusal, Refusal::Limit { control: Control::OrderRate, scope: Scope::Strategy(id), .. } if *id == strategy)
}

/// When the risk gate found a strategy too fast.
#[derive(Debug, Clone, Default)]
pub(crate) struct Haste(VecDeque<Timestamp>);

impl Haste {
    /// Notes one more refusal and says whether the strategy floods.
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
