//! When the invariants are checked: at every start, at the end of a run, and every few seconds while the platform runs.

pub(super) mod step_news;

use super::SimulatedRun;
use crate::invariants::books::{JournalBooks, read_admin_records};
use crate::invariants::broken_invariant::{BrokenInvariant, InvariantResult, broken};
use crate::invariants::ledgers::read_ledgers;
use crate::invariants::progress::CheckProgress;
use crate::invariants::venue_books::VenueBooks;
use crate::invariants::{Evidence, same_running_state};
use crate::platform::Platform;
use crate::schedule::SECOND;
use step_news::StepNews;

/// A platform that runs is checked so often.
const CHECK_EVERY: i64 = 10 * SECOND;
/// Its state and digest are compared so often, once all that it took in is durable: to encode a state takes long.
const CHECK_STATE_EVERY: i64 = 100 * SECOND;
/// The venues' ledgers, and what users were told, are held against its journal so often.
const CHECK_VENUES_EVERY: i64 = 100 * SECOND;

impl SimulatedRun {
    /// After a step, where every one is checked: all that the checks of a running platform look at, also the ledgers of the venues.
    pub(super) fn check_step(&mut self) -> InvariantResult {
        let Some(before) = self.step_check else { return Ok(()) };
        let durable = self.platform.as_deref().map_or(0, Platform::durable);
        let news = StepNews { durable, told: self.told() };
        if news == before {
            return Ok(());
        }
        self.step_check = Some(news);
        (self.check_state_at, self.check_venues_at) = (0, 0);
        self.check_running()
    }

    fn told(&self) -> u64 {
        let answers: u64 = self.clients.iter().map(|client| client.answers).sum();
        let reports: usize = self.fix_clients.iter().map(|client| client.session.received.len()).sum();
        answers + reports as u64
    }

    /// What these books have beyond what was checked before.
    pub(super) fn check(
        &mut self,
        books: &JournalBooks,
        progress: &mut CheckProgress,
        is_final: bool,
    ) -> InvariantResult {
        let venue = self.read_venues()?;
        self.evidence(books, &venue).check(progress)?;
        self.check_logs(books, is_final.then_some(self.stomp.settled))?;
        if self.machine.traits.has_users {
            self.read_admin_records(books, progress)?;
            self.users.check(&progress.admin)?;
        }
        if is_final { self.check_end(&self.evidence(books, &venue)) } else { Ok(()) }
    }

    /// The platform while it runs: what is durable by now is held against the logs of all clients, and now and then against the venues'
    /// ledgers, which are read from their beginning.
    pub(super) fn check_running(&mut self) -> InvariantResult {
        self.check_at = self.now() + CHECK_EVERY;
        // A damaged file is looked at when a start reads it.
        let is_undisturbed = self.flipped.is_none() && !self.machine.disk.has_ended();
        let platform = self.platform.as_deref().filter(|platform| platform.is_started() && is_undisturbed);
        let Some(end) = platform.map(Platform::durable) else { return Ok(()) };
        let Some((mut books, mut progress)) = self.books.take() else { return Ok(()) };
        let checked = self.check_durable(&mut books, &mut progress, end);
        self.books = Some((books, progress));
        checked
    }

    fn check_durable(&mut self, books: &mut JournalBooks, progress: &mut CheckProgress, end: u64) -> InvariantResult {
        books.read_on(&self.machine, end).map_err(unreadable)?;
        self.check_state(books)?;
        if self.now() < self.check_venues_at {
            self.evidence(books, &VenueBooks::default()).check_journal(progress)?;
        } else {
            self.check_venues_at = self.now() + CHECK_VENUES_EVERY;
            self.evidence(books, &self.read_venues()?).check(progress)?;
            self.check_answers_of_users(books, progress)?;
        }
        self.settle_users(books, progress)?;
        self.check_logs(books, None)
    }

    /// What became of changes whose answers were lost is known when nothing is under way any more and all that was done is durable.
    fn settle_users(&mut self, books: &JournalBooks, progress: &mut CheckProgress) -> InvariantResult {
        let is_durable = self.platform.as_deref().is_some_and(Platform::is_all_durable);
        if !is_durable || !self.users.is_unsure() || !self.http_lines.administrator.is_idle() {
            return Ok(());
        }
        self.read_admin_records(books, progress)?;
        self.users.check_at_rest(&progress.admin)
    }

    /// Where something is not durable yet, the state is ahead of the books: the next check has another try.
    fn check_state(&mut self, books: &JournalBooks) -> InvariantResult {
        if self.now() < self.check_state_at {
            return Ok(());
        }
        let Some(found) = self.platform.as_deref().and_then(Platform::durable_state) else { return Ok(()) };
        same_running_state(&found, books)?;
        self.check_state_at = self.now() + CHECK_STATE_EVERY;
        Ok(())
    }

    fn read_venues(&self) -> Result<VenueBooks, BrokenInvariant> {
        let unreadable = |reason| broken("the venue's ledger cannot be read", reason);
        read_ledgers(&self.machine, self.lab.as_ref()).map_err(unreadable)
    }

    fn evidence<'a>(&'a self, books: &'a JournalBooks, venue: &'a VenueBooks) -> Evidence<'a> {
        Evidence {
            books,
            venue,
            clients: &self.clients,
            fix_clients: &self.fix_clients,
            read_model: &self.machine.read_model,
            market: &self.machine.market,
            earlier: self.machine.earlier.as_deref(),
            lab: self.lab.as_ref(),
            submissions: &self.submissions,
            end: books.recovered.last_sequence,
        }
    }

    /// What followers, readers and the strategy were told; all of it up to the given sequence, at the end of a run.
    fn check_logs(&mut self, books: &JournalBooks, complete_through: Option<u64>) -> InvariantResult {
        self.stomp.check(books, complete_through.is_some())?;
        self.http_reads.check(books)?;
        self.machine.strategy.check(books, complete_through)
    }

    /// What users and the administrator were told by now. What became of changes without an answer, and which sessions have ended, only a
    /// start decides.
    fn check_answers_of_users(&mut self, books: &JournalBooks, progress: &mut CheckProgress) -> InvariantResult {
        if !self.machine.traits.has_users {
            return Ok(());
        }
        self.read_admin_records(books, progress)?;
        self.users.check_answers(&progress.admin)
    }

    fn read_admin_records(&self, books: &JournalBooks, progress: &mut CheckProgress) -> InvariantResult {
        let (before, end) = (progress.admin_through, books.recovered.last_sequence);
        read_admin_records(&self.machine, before, end, &mut progress.admin).map_err(unreadable)?;
        progress.admin_through = end;
        Ok(())
    }

    /// Once all is quiet.
    fn check_end(&self, evidence: &Evidence<'_>) -> InvariantResult {
        evidence.no_fill_is_missing()?;
        evidence.no_report_is_missing()?;
        evidence.no_order_is_undecided()?;
        evidence.nothing_stays_in_the_market()?;
        evidence.venue_agrees()?;
        if self.machine.traits.cancels_on_disconnect {
            evidence.no_order_outlives_its_connection(self.rested)?;
        }
        evidence.no_order_outlives_its_day(self.rested)
    }

    /// What the run has come to, whether it kept all promises or not: its journal as far as it was read last.
    pub(super) fn cover(&mut self) {
        let known = self.books.take();
        let venue = self.read_venues().unwrap_or_default();
        if let Some((books, progress)) = &known {
            let inferred = self.evidence(books, &venue).inferred_fills();
            self.coverage.books(books);
            self.coverage.values(progress.values.samples, venue.legs().count());
            self.coverage.lab(self.lab.as_ref().map_or_else(Default::default, |lab| lab.counts(inferred)));
        }
        self.coverage.clients(&self.clients);
        self.coverage.fix_clients(&self.fix_clients);
        self.coverage.stomp_clients(&self.stomp.clients);
        self.coverage.strategy(self.machine.strategy.counts(), &self.machine.strategy.refusals());
        self.coverage.users(self.users.counts(), self.users.refusals());
        self.coverage.http_reads(self.http_reads.counts, &self.http_reads.refusals);
        self.coverage.pace(&self.pace.peaks);
        self.coverage.sent_again(self.submissions.repeated.len());
    }
}

fn unreadable(reason: String) -> BrokenInvariant {
    broken("the journal cannot be read", reason)
}
