//! The turns of FIX clients, their network and the FIX port.

use super::{NEVER, SimulatedRun};
use crate::fix_sessions::{CANCELED_ON_DISCONNECT, Moment};
use crate::invariants::broken_invariant::{InvariantResult, ensure};
use crate::platform::Platform;
use crate::schedule::MILLI;

/// Timers of sessions and clients are looked at so often.
const IDLE: i64 = 250 * MILLI;

impl SimulatedRun {
    fn moment(&self) -> Moment {
        Moment { now: self.now(), wall: self.machine.clock.wall() }
    }

    pub(super) fn fix_due(&self) -> i64 {
        let arrival = self.fix_clients.iter().map(|client| client.network.next_due()).min().unwrap_or(NEVER);
        self.fix_at.min(arrival).max(self.now())
    }

    /// Reports and answers leave the platform when their input is durable: the sessions are woken then.
    pub(super) fn wake_fix(&mut self, at: i64) {
        let durable = self.platform.as_deref().map_or(0, Platform::durable);
        if std::mem::replace(&mut self.fix_woken_at, durable) != durable {
            self.fix_at = self.fix_at.min(at);
        }
    }

    /// What is due on all connections: bytes arrive, sessions work, bytes leave, clients answer.
    pub(super) fn step_fix(&mut self) -> InvariantResult {
        let at = self.moment();
        self.fix_at = at.now + IDLE;
        self.connect_fix_clients(at);
        for client in &mut self.fix_clients {
            client.network.deliver_to_platform(at.now);
        }
        if let Some(port) = self.platform.as_mut().and_then(|platform| platform.fix.as_mut()) {
            port.step(at.now);
        }
        for client in &mut self.fix_clients {
            client.network.collect_from_platform(at.now);
            let stepped = client.step(at);
            client.session.lines.drain(..).for_each(|line| self.trace.line(line));
            stepped?;
        }
        if self.platform.as_ref().is_some_and(|platform| platform.sleep_nanos() == 0) {
            self.wake_loop();
        }
        self.schedule_commit();
        Ok(())
    }

    fn connect_fix_clients(&mut self, at: Moment) {
        let Some(port) = self.platform.as_ref().and_then(|platform| platform.fix.as_ref()) else { return };
        for client in self.fix_clients.iter_mut().filter(|client| client.wants_connection(at.now)) {
            if port.connect(&client.network.open()) {
                client.session.log_on(at);
            }
        }
    }

    pub(super) fn act_over_fix(&mut self, client: usize, draw: u64) {
        let at = self.moment();
        let client = &mut self.fix_clients[client];
        client.act(at, draw);
        client.session.lines.drain(..).for_each(|line| self.trace.line(line));
    }

    /// The connections of a process that is gone.
    pub(super) fn end_fix_connections(&mut self, has_power: bool) {
        let now = self.now();
        for client in &mut self.fix_clients {
            client.network.end_of_process(now, has_power);
        }
    }

    /// The client whose orders are cancelled on disconnect goes, and stays away until then.
    pub(super) fn disconnect_fix_client(&mut self, until: i64) {
        if self.machine.traits.cancels_on_disconnect {
            let at = self.moment();
            self.fix_clients[CANCELED_ON_DISCONNECT].stay_away(at, until);
        }
    }

    pub(super) fn cancel_fix_orders(&mut self) {
        let at = self.moment();
        self.fix_clients.iter_mut().for_each(|client| client.cancel_all(at));
    }

    /// At the end nothing keeps a client away.
    pub(super) fn all_fix_clients_are_logged_on(&self) -> InvariantResult {
        let away = self.fix_clients.iter().find(|client| !client.session.is_logged_on());
        ensure(away.is_none(), "a FIX client is not logged on", || {
            away.map_or_else(String::new, |client| client.session.comp_id.to_owned())
        })
    }

    pub(super) fn heal_fix_connections(&mut self) {
        self.fix_clients.iter_mut().for_each(|client| client.network.heal());
    }
}
