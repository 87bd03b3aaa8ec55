//! The turns of the HTTP port.

use super::SimulatedRun;
use crate::invariants::broken_invariant::InvariantResult;
use crate::schedule::MILLI;

/// Timers of requests are looked at so often.
const IDLE: i64 = 500 * MILLI;

impl SimulatedRun {
    pub(super) fn http_due(&self) -> i64 {
        self.http_at.max(self.now())
    }

    /// Answers leave when their input is durable: the port is woken then.
    pub(super) fn wake_http(&mut self, at: i64) {
        if self.machine.traits.http_trader.is_some() {
            self.http_at = self.http_at.min(at);
        }
    }

    pub(super) fn read_over_http(&mut self, draw: u64) {
        let now = self.now();
        let Some(port) = self.platform.as_ref().and_then(|platform| platform.http.as_ref()) else { return };
        self.http_reads.request(draw, |request| port.send(request));
        self.http_at = now;
    }

    /// Requests go in, and answers whose inputs are durable come out.
    pub(super) fn step_http(&mut self) -> InvariantResult {
        let now = self.now();
        self.http_at = now + IDLE;
        let Some(port) = self.platform.as_mut().and_then(|platform| platform.http.as_mut()) else { return Ok(()) };
        port.step(now);
        if self.platform.as_ref().is_some_and(|platform| platform.sleep_nanos() == 0) {
            self.wake_loop();
        }
        self.receive_replies(true)
    }
}
