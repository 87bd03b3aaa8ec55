//! The end of a run: nothing goes wrong any more, and nothing may stay open.

use super::{NEVER, SimulatedRun};
use crate::http_clients::HttpLine;
use crate::invariants::books::JournalBooks;
use crate::invariants::broken_invariant::{BrokenInvariant, InvariantResult, broken, ensure};
use crate::invariants::progress::CheckProgress;
use crate::invariants::same_state;
use crate::platform::Platform;
use crate::schedule::{MILLI, OPERATOR, SECOND, TRADERS};

/// After the last fault the platform has so long to come to rest before the last orders are cancelled, and so long behind that.
const REST: i64 = 90 * SECOND;
const LAST_REST: i64 = 40 * SECOND;
/// What was published by then has so long to reach its subscribers.
const SETTLE: i64 = 2 * SECOND;

impl SimulatedRun {
    /// Nothing goes wrong any more: what can be answered is answered, and nothing stays open.
    pub(super) fn come_to_rest(&mut self) -> InvariantResult {
        self.trace.line("from now on nothing goes wrong");
        self.machine.disk.heal();
        self.machine.clock.drift(0, 0);
        let now = self.now();
        (self.full_until, self.slow_until, self.hanging_until) = (0, 0, 0);
        // The line stays as it is: what was lost on it is found by asking.
        self.end_venue_faults();
        self.delete_read_model()?;
        self.links.heal();
        self.http_lines.all().for_each(HttpLine::heal);
        self.heal_fix_connections();
        self.heal_stomp();
        self.heal_lab();
        self.disconnect_fix_client(now + REST);
        // A commit that hangs is made now.
        self.disk_at = if self.disk_at == NEVER { NEVER } else { now };
        self.run_until(now + REST)?;
        self.rested = self.durable_at_rest()?;
        self.repeat_revisions();
        for (intent, envelope) in self.clients[OPERATOR].resume_all() {
            self.send(OPERATOR, intent, envelope);
        }
        self.run_until(self.now() + SECOND)?;
        for trader in 0..TRADERS {
            for (intent, envelope) in self.clients[trader].cancel_all() {
                self.send(trader, intent, envelope);
                self.run_until(self.now() + MILLI)?;
            }
        }
        self.cancel_fix_orders();
        self.machine.strategy.end();
        self.try_all_users();
        self.publish_last_events();
        self.run_until(self.now() + LAST_REST)?;
        let reads = self.read_last();
        self.stomp.settled = self.durable_at_rest()?;
        self.run_until(self.now() + SETTLE)?;
        self.all_interfaces_serve(reads)?;
        self.end_of_run()
    }

    /// What can be answered is answered, over every interface.
    fn all_interfaces_serve(&self, reads: u64) -> InvariantResult {
        self.all_fix_clients_are_logged_on()?;
        self.strategy_runs()?;
        let answered = self.http_reads.answered();
        ensure(answered == reads, "a request was never answered", || {
            format!("of reads over HTTP {answered} were shown what they asked for, {reads} are due")
        })
    }

    /// How far the journal is durable of a platform that must be there. Without it the checks of the end would look at nothing.
    fn durable_at_rest(&self) -> Result<u64, BrokenInvariant> {
        let platform = self.platform.as_deref().filter(|platform| platform.is_started());
        let absent = || broken("the platform does not start", "it is not there though nothing is wrong any more");
        platform.map(Platform::durable).ok_or_else(absent)
    }

    fn end_of_run(&mut self) -> InvariantResult {
        if let Some(client) = self.clients.iter().find(|client| client.is_waiting()) {
            return Err(broken("a request was never answered", client.name()));
        }
        if self.http_reads.is_waiting() {
            return Err(broken("a request was never answered", "a read over HTTP"));
        }
        if self.users.is_waiting() {
            return Err(broken("a request was never answered", "of a user or the administrator"));
        }
        self.durable_at_rest()?;
        self.stop()?;
        self.start_at = NEVER;
        let (platform, found) =
            Platform::start(&self.machine).map_err(|reason| broken("the platform does not start", reason))?;
        let end = found.recovered.last_sequence;
        let books =
            JournalBooks::read(&self.machine, end).map_err(|reason| broken("the journal cannot be read", reason))?;
        drop(platform);
        same_state(&found, &books)?;
        // What was read start by start is what the whole journal gives.
        let (piecewise, _) = self.read_books(end)?;
        same_state(&found, &piecewise)?;
        let mut progress = CheckProgress::default();
        let checked = self.check(&books, &mut progress, true);
        self.books = Some((books, progress));
        checked?;
        let state = blake3::hash(&found.state).to_hex();
        self.trace.line(format_args!("the run ends: journal to {end}, state {}", &state[..16]));
        Ok(())
    }
}
