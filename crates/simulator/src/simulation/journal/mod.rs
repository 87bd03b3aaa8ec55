//! The turns of the journal: its commits, as fast as the disk is, and looks at whether it stalls.

use storage::journal::StallDetector;

use super::{MICRO, NEVER, SimulatedRun};
use crate::error_codes::StallSeen;
use crate::invariants::broken_invariant::InvariantResult;
use crate::schedule::{MILLI, SECOND};

/// What was refused while the journal stalled is answered so long after it at the latest.
const ANSWERED_WITHIN: i64 = SECOND;

impl SimulatedRun {
    pub(super) fn schedule_commit(&mut self) {
        let Some(platform) = &mut self.platform else { return };
        if !platform.has_unwritten() || self.disk_at != NEVER {
            return;
        }
        let now = self.machine.clock.steady();
        let latency = match now {
            now if now < self.hanging_until => self.hanging_until - now,
            now if now < self.slow_until => self.delays.between(20 * MILLI, 900 * MILLI),
            _ => self.delays.between(50 * MICRO, 4 * MILLI),
        };
        self.disk_at = now + latency;
        // A commit that ends before the first look needs none.
        if latency > look_every() {
            platform.begin_watch();
            self.look_at = now + look_every();
        }
    }

    pub(super) fn commit(&mut self) -> InvariantResult {
        (self.disk_at, self.look_at) = (NEVER, NEVER);
        if self.is_stalled() {
            self.trace.line("the journal's disk answers again");
        }
        self.platform.iter_mut().for_each(|platform| platform.commit());
        self.wake_loop();
        if self.machine.disk.has_ended() {
            return self.end_at_disk();
        }
        self.schedule_commit();
        Ok(())
    }

    /// Those who wait are told at once.
    pub(super) fn look_at_journal(&mut self) {
        let now = self.now();
        self.look_at = now + look_every();
        if self.platform.as_mut().is_some_and(|platform| platform.look_at_journal()) {
            self.trace.line("the journal's disk does not answer: it has stalled");
            self.wake_http(now);
        }
        if self.is_stalled() {
            self.stalled_at = Some(now);
        }
    }

    /// What an answer may say of the journal's disk by now.
    pub(super) fn stall_seen(&self) -> StallSeen {
        StallSeen { is_recent: self.stalled_at.is_some_and(|at| self.now() - at <= ANSWERED_WITHIN) }
    }

    pub(super) fn is_stalled(&self) -> bool {
        self.platform.as_ref().is_some_and(|platform| platform.is_stalled())
    }
}

fn look_every() -> i64 {
    i64::try_from(StallDetector::LOOK_EVERY.as_nanos()).unwrap_or(NEVER)
}
