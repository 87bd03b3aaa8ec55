//! The turns of the HTTP port.

use super::SimulatedRun;
use crate::http_clients::HttpTicket;
use crate::invariants::broken_invariant::InvariantResult;
use crate::platform::Platform;
use crate::schedule::MILLI;
use crate::users::AnswerMoment;

/// Timers of requests are looked at so often.
const IDLE: i64 = 500 * MILLI;
/// One of each kind.
const LAST_READS: [u64; 2] = [0, 1];

impl SimulatedRun {
    pub(super) fn http_due(&self) -> i64 {
        self.http_at.min(self.http_lines.next_due()).max(self.now())
    }

    /// Answers leave when their input is durable: the port is woken then.
    pub(super) fn wake_http(&mut self, at: i64) {
        if self.machine.traits.has_http() {
            self.http_at = self.http_at.min(at);
        }
    }

    pub(super) fn read_over_http(&mut self, draw: u64) {
        let now = self.now();
        let Some(port) = self.platform.as_ref().and_then(|platform| platform.http.as_ref()) else { return };
        self.http_reads.request(draw, |request| self.http_lines.reader.send(now, request, port));
        self.http_at = now;
    }

    /// Positions and open orders, when nothing is a reason not to show them; how many reads must have been answered then.
    pub(super) fn read_last(&mut self) -> u64 {
        let answered = self.http_reads.answered();
        if !self.machine.traits.has_http() {
            return answered;
        }
        LAST_READS.into_iter().for_each(|draw| self.read_over_http(draw));
        answered + LAST_READS.len() as u64
    }

    pub(super) fn administer_users(&mut self, draw: u64) {
        let (now, at) = (self.now(), self.machine.clock.now());
        let Some(port) = self.platform.as_ref().and_then(|platform| platform.http.as_ref()) else { return };
        let sends = |request| self.http_lines.administrator.send(now, request, port);
        let line = self.users.administer(draw, at, sends);
        line.into_iter().for_each(|line| self.trace.line(line));
        self.http_at = now;
    }

    pub(super) fn act_as_user(&mut self, client: usize, draw: u64) {
        let (now, at) = (self.now(), self.machine.clock.now());
        let Some(port) = self.platform.as_ref().and_then(|platform| platform.http.as_ref()) else { return };
        let sends = |request| self.http_lines.users[client].send(now, request, port);
        let line = self.users.act((client, draw), at, sends);
        line.into_iter().for_each(|line| self.trace.line(line));
        self.http_at = now;
    }

    /// Nothing goes wrong any more: who may come in comes in, and nobody else.
    pub(super) fn try_all_users(&mut self) {
        let (now, at) = (self.now(), self.machine.clock.now());
        let Some(port) = self.platform.as_ref().and_then(|platform| platform.http.as_ref()) else { return };
        if self.machine.traits.has_users {
            self.users.try_all(at, |request| HttpTicket::arrived(port.send(request)));
            self.http_at = now;
        }
    }

    pub(super) fn receive_of_users(&mut self, is_running: bool) -> InvariantResult {
        if self.machine.traits.has_users {
            let (at, is_stalled) = (self.machine.clock.now(), self.is_stalled());
            let lines = self.users.receive(AnswerMoment { at, is_running, is_stalled })?;
            lines.into_iter().for_each(|line| self.trace.line(line));
        }
        Ok(())
    }

    /// Requests go in, and answers whose inputs are durable come out.
    pub(super) fn step_http(&mut self) -> InvariantResult {
        let now = self.now();
        self.http_at = now + IDLE;
        let Some(port) = self.platform.as_mut().and_then(|platform| platform.http.as_mut()) else { return Ok(()) };
        self.http_lines.all().for_each(|line| line.deliver_due(now, port));
        port.step(now);
        if self.platform.as_deref_mut().is_some_and(Platform::step_users) {
            // What waited for it goes on.
            self.platform
                .as_mut()
                .and_then(|platform| platform.http.as_mut())
                .into_iter()
                .for_each(|port| port.step(now));
        }
        if self.platform.as_ref().is_some_and(|platform| platform.sleep_nanos() == 0) {
            self.wake_loop();
        }
        self.receive_replies(true)
    }
}
