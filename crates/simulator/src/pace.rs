//! How much may happen in one simulated second. What goes round in circles without end is a broken promise, and not a run that hangs.

use std::collections::BTreeMap;

use domain::{Instruction, OrderId};

use crate::invariants::broken_invariant::{InvariantResult, ensure};
use crate::schedule::SECOND;

/// A loop that turns more often in a simulated second than this does not sleep.
const TURNS_PER_SECOND_MAX: u32 = 20_000;
/// All parts together take no more steps than this in a simulated second.
const STEPS_PER_SECOND_MAX: u32 = 40_000;
/// What is sent to a venue about one order in a simulated second. Clients do not ask for so much, and a venue that does not answer is
/// asked with pauses.
const INSTRUCTIONS_PER_ORDER_MAX: u32 = 25;

/// The counts of the newest simulated second, and the highest of all seconds before.
#[derive(Default)]
pub(crate) struct Pace {
    second: i64,
    turns: u32,
    steps: u32,
    instructions: BTreeMap<OrderId, u32>,
    /// The order that was instructed most often in one second, with how often.
    busiest_order: Option<(OrderId, u32)>,
    pub(crate) peaks: PacePeaks,
}

/// The most of a simulated second.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PacePeaks {
    pub(crate) turns: u32,
    pub(crate) steps: u32,
    pub(crate) instructions: u32,
}

impl PacePeaks {
    pub(crate) fn raise_to(&mut self, other: &Self) {
        self.turns = self.turns.max(other.turns);
        self.steps = self.steps.max(other.steps);
        self.instructions = self.instructions.max(other.instructions);
    }
}

impl Pace {
    /// Some part has its turn.
    pub(crate) fn on_step(&mut self, now: i64) -> InvariantResult {
        self.enter_second(now);
        self.steps += 1;
        self.peaks.steps = self.peaks.steps.max(self.steps);
        ensure(self.steps <= STEPS_PER_SECOND_MAX, "the run does not come to an end", || {
            format!("{} steps in one simulated second", self.steps)
        })
    }

    /// The live loop has its turn.
    pub(crate) fn on_turn(&mut self, now: i64) -> InvariantResult {
        self.enter_second(now);
        self.turns += 1;
        self.peaks.turns = self.peaks.turns.max(self.turns);
        ensure(self.turns <= TURNS_PER_SECOND_MAX, "the loop does not sleep", || {
            format!("{} turns in one second", self.turns)
        })
    }

    /// An adapter takes this for its venue.
    pub(crate) fn on_instruction(&mut self, now: i64, instruction: &Instruction) {
        self.enter_second(now);
        let Some(order) = named_order(instruction) else { return };
        let count = self.instructions.entry(order).or_default();
        *count += 1;
        if *count > self.peaks.instructions {
            self.peaks.instructions = *count;
            self.busiest_order = Some((order, *count));
        }
    }

    pub(crate) fn no_storm(&self) -> InvariantResult {
        let Some((order, count)) = self.busiest_order else { return Ok(()) };
        ensure(count <= INSTRUCTIONS_PER_ORDER_MAX, "a storm", || {
            format!("{count} instructions about order number {order} in one second")
        })
    }

    fn enter_second(&mut self, now: i64) {
        let second = now / SECOND;
        if self.second != second {
            (self.second, self.turns, self.steps) = (second, 0, 0);
            self.instructions.clear();
        }
    }
}

fn named_order(instruction: &Instruction) -> Option<OrderId> {
    match instruction {
        Instruction::Submit(order)
        | Instruction::Replace(order, _)
        | Instruction::Cancel(order)
        | Instruction::CancelLeg(order, _)
        | Instruction::Inquire(order) => Some(order.id),
        Instruction::LogOn
        | Instruction::AskStatement(_)
        | Instruction::ListOpenOrders
        | Instruction::ListFills { .. }
        | Instruction::Subscribe(_)
        | Instruction::Unsubscribe(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_without_end_are_a_broken_promise_and_each_second_counts_anew() {
        let mut pace = Pace::default();
        for second in 0..3 {
            for _ in 0..STEPS_PER_SECOND_MAX {
                pace.on_step(second * SECOND).unwrap();
            }
        }
        let broken = pace.on_step(2 * SECOND).unwrap_err();
        assert_eq!(broken.invariant, "the run does not come to an end");
        assert_eq!(pace.on_turn(2 * SECOND), Ok(()));
    }
}
