//! Event queue of the read model. The engine never waits for it: what finds no room is left out, and from then on everything, until
//! the thread that catches up has read what is missing from the journal. A replay of the journal waits when the queue is full.
//!
//! The queue is attached to a store while the store is connected. Each attachment begins at the sequence that the store has;
//! what a catch-up reads for an earlier one is refused, because it would leave a gap.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use domain::PublishedEvent;

use super::payload;
use super::store::EventBatch;

/// The attachment of a store that was open before its queue was made. One that connects by itself never has it.
const FIRST_ATTACHMENT: u64 = 0;
/// Events of one transaction, besides the rest of its last input, so that queries do not wait long.
const TRANSACTION_EVENTS: usize = 8_192;

pub(crate) struct EventQueue {
    limit: usize,
    /// How long after the end what waits is still given out. None: all of it is.
    end_wait: Option<Duration>,
    state: Mutex<EventQueueState>,
    /// Something waits, or the queue is closed.
    filled: Condvar,
    /// There is room, or the queue is closed.
    emptied: Condvar,
    /// Something was left out, or the queue is closed.
    fell_behind: Condvar,
}

struct EventQueueState {
    events: VecDeque<PublishedEvent>,
    /// Everything up to here was offered.
    offered: u64,
    /// Everything up to here was taken.
    taken: u64,
    /// The sequence of the newest event that the store has or is to get. `offered` may be that of a price, which no journal has.
    newest: u64,
    left_out: Option<LeftOut>,
    is_attached: bool,
    /// Counts attachments and their ends.
    attachment: u64,
    closed_at: Option<Instant>,
}

/// What the engine offered and the queue did not take: it must come from the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LeftOut {
    /// The sequence of the newest event.
    newest: u64,
    /// Everything up to here was offered.
    through: u64,
}

/// Events that a read model lacks, from a sequence on, and for which connection of its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissedEvents {
    /// Everything up to this sequence is there.
    pub after: u64,
    attachment: u64,
}

/// How far a catch-up has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CatchUpStep {
    /// Nothing is missing: the engine's events are taken again.
    Complete,
    /// More was left out meanwhile.
    Incomplete,
    /// The store was lost, or the read model was stopped: this catch-up is over.
    Interrupted,
}

impl EventQueue {
    /// Attached to a store that is complete up to a sequence.
    pub(crate) fn new(limit: usize, applied: u64) -> Self {
        Self::with_state(limit, None, applied, None)
    }

    /// Of a store that is not connected yet. The journal ends at a sequence, and the store may lack all of it. What waits longer than
    /// `end_wait` after the end is left to the journal.
    pub(crate) fn detached(limit: usize, journal_end: u64, end_wait: Duration) -> Self {
        Self::with_state(limit, Some(end_wait), 0, Some(LeftOut { newest: journal_end, through: journal_end }))
    }

    fn with_state(limit: usize, end_wait: Option<Duration>, applied: u64, left_out: Option<LeftOut>) -> Self {
        let (is_attached, attachment, closed_at) = (left_out.is_none(), FIRST_ATTACHMENT, None);
        let (events, offered, taken, newest) = (VecDeque::new(), applied, applied, applied);
        let waiting = EventQueueState { events, offered, taken, newest, left_out, is_attached, attachment, closed_at };
        let (filled, emptied, fell_behind) = (Condvar::new(), Condvar::new(), Condvar::new());
        Self { limit, end_wait, state: Mutex::new(waiting), filled, emptied, fell_behind }
    }

    /// Never waits. Returns whether it began to leave events out.
    pub(crate) fn offer(&self, through: u64, events: &[PublishedEvent]) -> bool {
        let mut waiting = self.lock();
        if waiting.is_closed() {
            return false;
        }
        let newest = events.iter().rev().find(|published| payload::is_stored(&published.event));
        let newest = newest.map(|published| published.sequence);
        if let Some(left_out) = &mut waiting.left_out {
            *left_out = LeftOut { newest: newest.unwrap_or(left_out.newest), through };
            return false;
        }
        let is_full = waiting.events.len() >= self.limit;
        if let Some(newest) = newest.filter(|_| is_full) {
            waiting.left_out = Some(LeftOut { newest, through });
            self.fell_behind.notify_all();
            return true;
        }
        waiting.push(through, events);
        self.filled.notify_one();
        false
    }

    /// Waits until events were left out and can be brought. None when the queue is closed.
    pub(crate) fn wait_behind(&self) -> Option<MissedEvents> {
        let has_no_work = |waiting: &mut EventQueueState| {
            !waiting.is_closed() && (waiting.left_out.is_none() || !waiting.is_attached)
        };
        let waiting = self.fell_behind.wait_while(self.lock(), has_no_work).unwrap_or_else(PoisonError::into_inner);
        let missed = MissedEvents { after: waiting.offered, attachment: waiting.attachment };
        (!waiting.is_closed()).then_some(missed)
    }

    /// Everything up to a sequence was pushed.
    pub(crate) fn rejoin(&self, missed: MissedEvents, through: u64) -> CatchUpStep {
        let mut waiting = self.lock();
        if !waiting.is_current(missed) {
            return CatchUpStep::Interrupted;
        }
        if waiting.left_out.is_some_and(|left_out| left_out.newest > through) {
            return CatchUpStep::Incomplete;
        }
        waiting.offered = waiting.offered.max(through);
        if let Some(left_out) = waiting.left_out.take() {
            waiting.include(left_out);
        }
        self.filled.notify_one();
        CatchUpStep::Complete
    }

    /// The store is connected and complete up to a sequence. What it lacks comes from the journal.
    pub(crate) fn attach(&self, applied: u64) {
        let mut waiting = self.lock();
        waiting.is_attached = true;
        waiting.attachment += 1;
        waiting.events.clear();
        (waiting.offered, waiting.taken) = (applied, applied);
        if let Some(left_out) = waiting.left_out.take_if(|left_out| left_out.newest <= applied) {
            waiting.include(left_out);
        }
        self.filled.notify_all();
        self.fell_behind.notify_all();
    }

    /// The store is lost. What waits counts as left out.
    pub(crate) fn detach(&self) {
        let mut waiting = self.lock();
        waiting.is_attached = false;
        waiting.attachment += 1;
        waiting.events.clear();
        let missing = LeftOut { newest: waiting.newest, through: waiting.offered };
        waiting.left_out.get_or_insert(missing);
        self.emptied.notify_all();
    }

    pub(crate) fn is_attached(&self) -> bool {
        self.lock().is_attached
    }

    /// Whether a store was ever attached.
    pub(crate) fn was_attached(&self) -> bool {
        let waiting = self.lock();
        waiting.is_attached || waiting.attachment != FIRST_ATTACHMENT
    }

    pub(crate) fn is_wanted(&self, missed: MissedEvents) -> bool {
        self.lock().is_current(missed)
    }

    pub(crate) fn is_behind(&self) -> bool {
        self.lock().left_out.is_some()
    }

    /// Whether a replay may push: the store has been attached from the beginning, so that a replay cannot leave a gap.
    pub(crate) fn takes_replay(&self) -> bool {
        self.lock().is_current(MissedEvents { after: 0, attachment: FIRST_ATTACHMENT })
    }

    /// Waits while the queue is full. Only where [`Self::takes_replay`].
    pub(crate) fn push(&self, through: u64, events: &[PublishedEvent]) {
        self.push_missed(MissedEvents { after: 0, attachment: FIRST_ATTACHMENT }, through, events);
    }

    /// As [`Self::push`]; returns false where the store was lost, or the queue is closed.
    pub(crate) fn push_missed(&self, missed: MissedEvents, through: u64, events: &[PublishedEvent]) -> bool {
        let has_no_room =
            |waiting: &mut EventQueueState| waiting.is_current(missed) && waiting.events.len() >= self.limit;
        let mut waiting = self.emptied.wait_while(self.lock(), has_no_room).unwrap_or_else(PoisonError::into_inner);
        if !waiting.is_current(missed) {
            return false;
        }
        waiting.push(through, events);
        self.filled.notify_one();
        true
    }

    /// Waits until something was offered, or no longer than `patience`. None when it is closed and empty, or the end takes too long.
    pub(crate) fn take_batch(&self, patience: Duration) -> Option<EventBatch> {
        let is_idle = |waiting: &mut EventQueueState| !waiting.is_closed() && waiting.taken == waiting.offered;
        let (mut waiting, _) =
            self.filled.wait_timeout_while(self.lock(), patience, is_idle).unwrap_or_else(PoisonError::into_inner);
        if waiting.is_closed() && (waiting.taken == waiting.offered || waiting.is_overdue(self.end_wait)) {
            return None;
        }
        let taken = waiting.take_batch();
        self.emptied.notify_all();
        Some(taken)
    }

    /// Closes the queue for new events; waiting ones can still be taken.
    pub(crate) fn close(&self) {
        self.lock().closed_at.get_or_insert_with(Instant::now);
        self.filled.notify_all();
        self.emptied.notify_all();
        self.fell_behind.notify_all();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().is_closed()
    }

    /// Whether the end has taken so long that what waits is left to the journal.
    pub(crate) fn is_overdue(&self) -> bool {
        self.lock().is_overdue(self.end_wait)
    }

    /// Waits until the queue is closed, or no longer than `patience`.
    pub(crate) fn wait_closed(&self, patience: Duration) {
        let is_open = |waiting: &mut EventQueueState| !waiting.is_closed();
        drop(self.filled.wait_timeout_while(self.lock(), patience, is_open));
    }

    fn lock(&self) -> MutexGuard<'_, EventQueueState> {
        // Every change under the lock is complete.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventQueueState {
    fn is_closed(&self) -> bool {
        self.closed_at.is_some()
    }

    fn is_overdue(&self, end_wait: Option<Duration>) -> bool {
        self.closed_at.zip(end_wait).is_some_and(|(closed_at, wait)| closed_at.elapsed() >= wait)
    }

    fn is_current(&self, missed: MissedEvents) -> bool {
        !self.is_closed() && self.is_attached && self.attachment == missed.attachment
    }

    fn push(&mut self, through: u64, events: &[PublishedEvent]) {
        let seen = self.offered;
        let new = events.iter().filter(|published| published.sequence > seen && payload::is_stored(&published.event));
        self.events.extend(new.cloned());
        self.newest = self.events.back().map_or(self.newest, |published| published.sequence.max(self.newest));
        self.offered = seen.max(through);
    }

    /// What was left out is in the store, or on its way there.
    fn include(&mut self, left_out: LeftOut) {
        self.offered = self.offered.max(left_out.through);
        self.newest = self.newest.max(left_out.newest);
    }

    fn take_batch(&mut self) -> EventBatch {
        let count = self.whole_inputs();
        let events: Vec<_> = self.events.drain(..count).collect();
        let newest = events.last().map(|published| published.sequence);
        // While events are left, nothing is known to be complete beyond the newest that is taken.
        let through = newest.filter(|_| !self.events.is_empty()).unwrap_or(self.offered);
        self.taken = through;
        EventBatch { through, events }
    }

    /// How many events one transaction takes: an input is never split, or a crash could lose half of it.
    fn whole_inputs(&self) -> usize {
        let Some(last) = self.events.get(TRANSACTION_EVENTS - 1).map(|published| published.sequence) else {
            return self.events.len();
        };
        let rest = self.events.range(TRANSACTION_EVENTS..).take_while(|published| published.sequence == last);
        TRANSACTION_EVENTS + rest.count()
    }
}
