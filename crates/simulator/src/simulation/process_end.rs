//! How the process ends: by a fault, because a start was refused, because its journal failed, or in order.

use runtime::LiveExit;

use super::{DOWN, NEVER, SimulatedRun};
use crate::http_clients::HttpLine;
use crate::invariants::broken_invariant::{InvariantResult, broken, ensure};

/// What the system says of a disk that is full, and of an operation that has failed.
const NO_SPACE: &str = "No space left on device";
const FAILED_OPERATION: &str = "Input/output error";

impl SimulatedRun {
    /// Right where the disk is full or has failed since the start began, and that is what is told; otherwise a platform that does not start
    /// is a broken promise.
    pub(super) fn on_start_refused(&mut self, reason: &str) -> InvariantResult {
        self.trace.line(format_args!("the platform does not start: {reason}"));
        if self.machine.disk.has_ended() {
            return self.end_at_disk();
        }
        // Before a flipped bit: a start that fails for another reason has not come to it.
        if self.is_of_disk(reason) {
            return self.end_process("it tries again", false);
        }
        if self.flipped.is_some() {
            return self.on_damage_refused(reason);
        }
        Err(broken("the platform does not start", reason))
    }

    /// Whether the disk did what is told, since the start began.
    fn is_of_disk(&self, reason: &str) -> bool {
        let disk = &self.machine.disk;
        disk.has_run_out() && reason.contains(NO_SPACE) || disk.has_failed() && reason.contains(FAILED_OPERATION)
    }

    /// A journal fails where its disk does, and nowhere else.
    fn journal_may_fail(&self, reason: &str) -> InvariantResult {
        let may_fail = self.machine.disk.has_ended() || self.is_of_disk(reason);
        ensure(may_fail, "the journal failed on a disk that did not", || reason.to_owned())
    }

    pub(super) fn on_exit(&mut self, exit: &LiveExit) -> InvariantResult {
        match exit {
            LiveExit::JournalFailed(reason) => {
                self.journal_may_fail(reason)?;
                let reason = self.machine.text(reason);
                self.end_process(&format!("the journal failed: {reason}"), self.machine.disk.has_lost_power())
            }
            LiveExit::Stopped(_) => Err(broken("the platform stopped by itself", "nobody asked for it")),
        }
    }

    /// An operation of the disk has ended it.
    pub(super) fn end_at_disk(&mut self) -> InvariantResult {
        let power = self.machine.disk.has_lost_power();
        self.end_process(if power { "the power is gone" } else { "killed at an operation of the disk" }, power)
    }

    /// The process is gone; with the power also what was not synced. It starts again after a while.
    pub(super) fn end_process(&mut self, why: &str, power: bool) -> InvariantResult {
        let power = power || self.machine.disk.has_lost_power();
        self.trace.line(format_args!("the process ends: {why}"));
        self.platform = None;
        self.end_fix_connections(!power);
        self.end_stomp_connections(!power);
        self.end_lab_connection(!power);
        self.http_lines.all().for_each(HttpLine::end_of_process);
        self.receive_replies(false)?;
        self.users.on_process_end();
        if power {
            self.machine.disk.power_cut().map_err(|error| broken("the simulator failed", error.to_string()))?;
        } else {
            self.machine.disk.survive_kill();
        }
        (self.loop_at, self.disk_at, self.look_at, self.venue_at) = (NEVER, NEVER, NEVER, NEVER);
        self.start_at = self.now() + DOWN;
        Ok(())
    }

    pub(super) fn stop(&mut self) -> InvariantResult {
        let Some(platform) = self.platform.take() else { return Ok(()) };
        let ended = platform.stop().map_err(|reason| broken("an orderly stop failed", reason))?;
        let told = match ended {
            LiveExit::Stopped(digest) => format!("stopped in order, digest {}", digest.unwrap_or_default()),
            LiveExit::JournalFailed(reason) => {
                self.journal_may_fail(&reason)?;
                format!("the journal failed: {}", self.machine.text(&reason))
            }
        };
        self.end_process(&told, self.machine.disk.has_lost_power())
    }
}
