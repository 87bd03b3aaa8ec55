//! What one turn of the loop takes in, and how long the loop sleeps before it.

use std::time::Duration;

use crossbeam_channel::{Select, TryRecvError};
use domain::Timestamp;
use storage::journal::DurabilityEvent;

use super::LiveLoop;
use super::stamped_batch::{InputBatch, LoopWake, StopCause};

/// Requests of each lane that one turn of the loop takes: whatever comes meanwhile, a cancel too, waits for its end.
const REQUESTS_PER_TURN_MAX: usize = 128;
/// Reports of venues that one turn takes: more than requests, since an order has several.
const REPORTS_PER_TURN_MAX: usize = 256;
/// Batches that one turn hands to the journal: prices where they are journalled, then inputs.
const BATCHES_PER_CYCLE: usize = 2;
/// How often changed prices are passed to trading.
const MARK_INTERVAL: Duration = Duration::from_secs(1);
/// How often an adapter's full queue is checked while cancels wait for it.
const QUEUE_RETRY_INTERVAL: Duration = Duration::from_millis(1);

impl LiveLoop {
    /// Sleeps until there is work. While the journal is behind, nothing is taken in.
    pub(super) fn wait(&self) {
        let lanes = &self.parts.inbox;
        let mut wakers = Select::new();
        let has_room = self.journal_has_room();
        if has_room {
            wakers.recv(lanes.requests.wake());
            wakers.recv(&lanes.reports);
        }
        wakers.recv(&lanes.wake);
        wakers.recv(self.parts.journal.durability_events());
        wakers.recv(&self.parts.stop);
        // All of them are looked at afterwards, so a timeout needs no special case.
        let _ = wakers.ready_timeout(self.sleep_time());
    }

    /// What is there now, or why the loop ends.
    pub(super) fn take(&mut self) -> LoopWake {
        let news = self.parts.journal.durability_events().try_recv();
        if let Ok(DurabilityEvent::Failed { error }) = news {
            return LoopWake::Failed(error);
        }
        if let Some(error) = self.parts.journal.monitor().failure() {
            return LoopWake::Failed(error);
        }
        let _ = self.parts.inbox.wake.try_recv();
        let requests = &self.parts.inbox.requests;
        // All senders are dropped: no request can come any more.
        let is_closed = self.journal_has_room()
            && requests.wake().try_recv() == Err(TryRecvError::Disconnected)
            && requests.is_empty();
        match self.parts.stop.try_recv() {
            Ok(()) => return LoopWake::Stop(StopCause::Asked),
            Err(TryRecvError::Empty) if !is_closed => {}
            Err(_) => return LoopWake::Stop(StopCause::Abandoned),
        }
        let mut taken = InputBatch::default();
        if self.journal_has_room() {
            self.drain(&mut taken);
        }
        LoopWake::Work(taken)
    }

    pub(super) fn journal_has_room(&self) -> bool {
        self.parts.journal.free_batches() >= BATCHES_PER_CYCLE
    }

    /// Takes what else waits, so that one commit carries it all.
    fn drain(&mut self, taken: &mut InputBatch) {
        let lanes = &self.parts.inbox;
        taken.requests = std::mem::take(&mut self.carried_over);
        if taken.requests.is_empty() {
            let engine = &self.parts.engine;
            let taken_now = lanes.requests.take_batch(REQUESTS_PER_TURN_MAX, |asked| engine.knows_order(asked));
            taken.requests = taken_now.into();
        }
        taken.reports.extend(self.unsent.drain());
        let own = taken.reports.len();
        taken.reports.extend(lanes.reports.try_iter().take(REPORTS_PER_TURN_MAX));
        taken.venue_reports = (taken.reports.len() - own) as u64;
        taken.prices = lanes.drain_prices();
        let now = (self.parts.clock)();
        taken.mark_due = now >= self.next_mark_at;
        if taken.mark_due {
            self.next_mark_at = now.plus_seconds(1);
        }
    }

    /// How long the loop may sleep where nothing comes in; the clock may say sooner, the journal and the inbox too.
    pub fn sleep_time(&self) -> Duration {
        let longest = if self.parts.instructions.has_waiting() { QUEUE_RETRY_INTERVAL } else { MARK_INTERVAL };
        // No deadline counts while nothing can be journalled: the journal wakes the loop when it has room.
        if !self.journal_has_room() {
            return longest;
        }
        if !(self.unsent.is_empty() && self.carried_over.is_empty() && self.parts.inbox.requests.is_empty()) {
            return Duration::ZERO;
        }
        let now = (self.parts.clock)();
        let deadlines = [self.parts.engine.next_deadline(), self.next_pulse_at()];
        let deadline = deadlines.into_iter().flatten().fold(self.next_mark_at, Timestamp::min);
        let nanos = u64::try_from(deadline.nanos_since(now)).unwrap_or(0);
        Duration::from_nanos(nanos).min(longest)
    }
}
