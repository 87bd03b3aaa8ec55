//! The turns of the strategy host.

use super::SimulatedRun;
use crate::invariants::broken_invariant::{InvariantResult, broken, ensure};
use crate::schedule::MILLI;
use crate::strategies::SteppedHost;

/// Timers of the strategy are looked at so often.
const IDLE: i64 = 500 * MILLI;
/// Its thread has its turn so long after events could leave.
const WAKE_AFTER: i64 = 5 * MILLI;

impl SimulatedRun {
    pub(super) fn strategy_due(&self) -> i64 {
        self.strategy_at.max(self.now())
    }

    pub(super) fn wake_strategy(&mut self) {
        self.strategy_at = self.strategy_at.min(self.now() + WAKE_AFTER);
    }

    pub(super) fn step_strategy(&mut self) -> InvariantResult {
        self.strategy_at = self.now() + IDLE;
        let Some(host) = self.platform.as_mut().and_then(|platform| platform.strategies.as_mut()) else {
            return Ok(());
        };
        host.step().map_err(|reason| broken("the strategy stopped", reason))?;
        let unanswered = self.machine.strategy.take_unanswered();
        ensure(unanswered.is_none(), "an answer was dropped", || format!("the strategy's {unanswered:?}"))?;
        if self.platform.as_ref().is_some_and(|platform| platform.sleep_nanos() == 0) {
            self.wake_loop();
        }
        Ok(())
    }

    /// At the end its newest run has come through all phases.
    pub(super) fn strategy_runs(&self) -> InvariantResult {
        let host = self.platform.as_ref().and_then(|platform| platform.strategies.as_ref());
        ensure(host.is_some_and(SteppedHost::is_running), "the strategy does not run", || "at the end".to_owned())
    }
}
