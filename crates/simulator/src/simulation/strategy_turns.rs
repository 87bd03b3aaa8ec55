//! The turns of the strategy host.

use super::SimulatedRun;
use crate::invariants::broken_invariant::{InvariantResult, broken};
use crate::schedule::MILLI;

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
        if self.platform.as_ref().is_some_and(|platform| platform.sleep_nanos() == 0) {
            self.wake_loop();
        }
        Ok(())
    }
}
