//! The turns of STOMP clients, their network and the STOMP port.

use super::{NEVER, SimulatedRun};
use crate::invariants::broken_invariant::InvariantResult;
use crate::platform::Platform;
use crate::schedule::MILLI;

/// Timers of sessions and clients are looked at so often.
const IDLE: i64 = 400 * MILLI;
/// The port has its turn so long after events could leave: its threads take several at once.
const WAKE_AFTER: i64 = 10 * MILLI;

impl SimulatedRun {
    pub(super) fn stomp_due(&self) -> i64 {
        let arrival = self.stomp.clients.iter().map(|client| client.network.next_due()).min().unwrap_or(NEVER);
        self.stomp.at.min(arrival).max(self.now())
    }

    /// Events leave the platform when their input is durable: the port is woken then. Whether that was now.
    pub(super) fn wake_stomp(&mut self) -> bool {
        let at = self.now() + WAKE_AFTER;
        let durable = self.platform.as_deref().map_or(0, Platform::durable);
        let is_new = std::mem::replace(&mut self.stomp.woken_at, durable) != durable;
        if is_new {
            self.stomp.at = self.stomp.at.min(at);
        }
        is_new
    }

    /// What is due on all connections: bytes arrive, sessions work, bytes leave, clients answer.
    pub(super) fn step_stomp(&mut self) -> InvariantResult {
        let now = self.now();
        self.connect_stomp_clients(now);
        let mut has_turn = now >= self.stomp.at;
        for client in &mut self.stomp.clients {
            has_turn |= client.network.deliver_to_platform(now);
        }
        if has_turn {
            self.stomp.at = now + IDLE;
            self.step_stomp_port(now);
        }
        self.step_stomp_clients(now, has_turn)
    }

    fn step_stomp_port(&mut self, now: i64) {
        let is_hanging = now < self.stomp.hanging_until;
        if let Some(port) = self.platform.as_mut().and_then(|platform| platform.stomp.as_mut()).filter(|_| !is_hanging)
        {
            port.step(now);
        }
        if self.platform.as_ref().is_some_and(|platform| platform.sleep_nanos() == 0) {
            self.wake_loop();
        }
    }

    fn step_stomp_clients(&mut self, now: i64, has_turn: bool) -> InvariantResult {
        for client in &mut self.stomp.clients {
            if has_turn {
                client.network.collect_from_platform(now);
            }
            client.is_row_bad |= self.bad_row_until != 0;
            let stepped = client.step(now);
            client.lines.drain(..).for_each(|line| self.trace.line(line));
            stepped?;
        }
        Ok(())
    }

    fn connect_stomp_clients(&mut self, now: i64) {
        let Some(port) = self.platform.as_ref().and_then(|platform| platform.stomp.as_ref()) else { return };
        for client in self.stomp.clients.iter_mut().filter(|client| client.wants_connection(now)) {
            if port.connect(&client.network.open()) {
                client.connect(now);
            }
        }
    }

    pub(super) fn act_over_stomp(&mut self, client: usize, draw: u64) {
        let now = self.now();
        let client = &mut self.stomp.clients[client];
        client.act(now, draw);
        client.lines.drain(..).for_each(|line| self.trace.line(line));
    }

    pub(super) fn publish_last_events(&mut self) {
        let now = self.now();
        for client in &mut self.stomp.clients {
            client.publish_last(now);
            client.lines.drain(..).for_each(|line| self.trace.line(line));
        }
    }

    /// The connections of a process that is gone.
    pub(super) fn end_stomp_connections(&mut self, has_power: bool) {
        let now = self.now();
        for client in &mut self.stomp.clients {
            client.network.end_of_process(now, has_power);
        }
    }

    pub(super) fn heal_stomp(&mut self) {
        self.stomp.hanging_until = self.stomp.hanging_until.min(self.now());
        self.stomp.clients.iter_mut().for_each(|client| client.network.heal());
    }
}
