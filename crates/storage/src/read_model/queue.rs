//! Event queue of the read model. The engine never waits for it: what finds no room is left out, and from then on everything, until
//! the thread that catches up has read what is missing from the journal. A replay of the journal waits when the queue is full.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::PublishedEvent;

use super::payload;

/// Events of one transaction, besides the rest of its last input, so that queries do not wait long.
const TRANSACTION_EVENTS: usize = 8_192;

pub(crate) struct EventQueue {
    limit: usize,
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
    left_out: Option<LeftOut>,
    is_closed: bool,
}

/// What the engine offered and the queue did not take: it must come from the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LeftOut {
    /// The sequence of the newest event.
    newest: u64,
    /// Everything up to here was offered.
    through: u64,
}

/// What one transaction makes of the queue: whole inputs up to and with `through`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EventBatch {
    pub(crate) through: u64,
    pub(crate) events: Vec<PublishedEvent>,
}

impl EventQueue {
    pub(crate) fn new(limit: usize, applied: u64) -> Self {
        let (events, left_out) = (VecDeque::new(), None);
        let waiting = EventQueueState { events, offered: applied, taken: applied, left_out, is_closed: false };
        let (filled, emptied, fell_behind) = (Condvar::new(), Condvar::new(), Condvar::new());
        Self { limit, state: Mutex::new(waiting), filled, emptied, fell_behind }
    }

    /// Never waits. Returns whether it began to leave events out.
    pub(crate) fn offer(&self, through: u64, events: &[PublishedEvent]) -> bool {
        let mut waiting = self.lock();
        if waiting.is_closed {
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

    /// Waits until events were left out; returns the sequence after which they are missing. None when the queue is closed.
    pub(crate) fn wait_behind(&self) -> Option<u64> {
        let is_complete = |waiting: &mut EventQueueState| !waiting.is_closed && waiting.left_out.is_none();
        let waiting = self.fell_behind.wait_while(self.lock(), is_complete).unwrap_or_else(PoisonError::into_inner);
        (!waiting.is_closed).then_some(waiting.offered)
    }

    /// Everything up to a sequence was pushed. Returns whether nothing is missing: then the engine's events are taken again.
    pub(crate) fn rejoin(&self, through: u64) -> bool {
        let mut waiting = self.lock();
        let Some(left_out) = waiting.left_out.take_if(|left_out| left_out.newest <= through) else {
            return waiting.left_out.is_none() || waiting.is_closed;
        };
        waiting.offered = waiting.offered.max(left_out.through).max(through);
        self.filled.notify_one();
        true
    }

    pub(crate) fn is_behind(&self) -> bool {
        self.lock().left_out.is_some()
    }

    /// Waits while the queue is full.
    pub(crate) fn push(&self, through: u64, events: &[PublishedEvent]) {
        let has_no_room = |waiting: &mut EventQueueState| !waiting.is_closed && waiting.events.len() >= self.limit;
        let mut waiting = self.emptied.wait_while(self.lock(), has_no_room).unwrap_or_else(PoisonError::into_inner);
        if waiting.is_closed {
            return;
        }
        waiting.push(through, events);
        self.filled.notify_one();
    }

    /// Waits until something was offered, or no longer than `patience`. None when it is closed and empty.
    pub(crate) fn take_batch(&self, patience: Duration) -> Option<EventBatch> {
        let is_idle = |waiting: &mut EventQueueState| !waiting.is_closed && waiting.taken == waiting.offered;
        let (mut waiting, _) =
            self.filled.wait_timeout_while(self.lock(), patience, is_idle).unwrap_or_else(PoisonError::into_inner);
        if waiting.is_closed && waiting.taken == waiting.offered {
            return None;
        }
        let taken = waiting.take_batch();
        self.emptied.notify_all();
        Some(taken)
    }

    /// Closes the queue for new events; waiting ones can still be taken.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.filled.notify_all();
        self.emptied.notify_all();
        self.fell_behind.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, EventQueueState> {
        // Every change under the lock is complete.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventQueueState {
    fn push(&mut self, through: u64, events: &[PublishedEvent]) {
        let seen = self.offered;
        let new = events.iter().filter(|published| published.sequence > seen && payload::is_stored(&published.event));
        self.events.extend(new.cloned());
        self.offered = seen.max(through);
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use domain::event::{Alarm, AlarmLevel};
    use domain::{Event, Timestamp};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    fn alarm(sequence: u64) -> PublishedEvent {
        let alarm = Alarm { level: AlarmLevel::Info, code: "test".into(), text: "test".into() };
        PublishedEvent { sequence, at: Timestamp(0), event: Event::Alarm(Arc::new(alarm)) }
    }

    #[test]
    fn what_was_offered_before_is_skipped() {
        let queue = EventQueue::new(10, 4);
        queue.push(5, &[alarm(3), alarm(4), alarm(5), alarm(5)]);
        queue.push(5, &[alarm(5), alarm(5)]);
        assert_eq!(queue.take_batch(PATIENCE), Some(EventBatch { through: 5, events: vec![alarm(5), alarm(5)] }));
    }

    #[test]
    fn inputs_without_events_count_as_applied_too() {
        let queue = EventQueue::new(10, 0);
        queue.push(7, &[]);
        assert_eq!(queue.take_batch(PATIENCE), Some(EventBatch { through: 7, events: vec![] }));
    }

    #[test]
    fn a_transaction_never_splits_an_input() {
        let queue = EventQueue::new(usize::MAX, 0);
        let events: Vec<_> = (0..TRANSACTION_EVENTS as u64 * 2).map(|n| alarm(1 + n / 10)).collect();
        queue.push(9_999, &events);
        let first = queue.take_batch(PATIENCE).unwrap();
        assert_eq!((first.events.len(), first.through), (8_200, 820));
        let second = queue.take_batch(PATIENCE).unwrap();
        assert_eq!((second.events.len(), second.through), (2 * TRANSACTION_EVENTS - 8_200, 9_999));
        assert_eq!([first.events, second.events].concat(), events);
    }

    #[test]
    fn the_producer_waits_when_the_queue_is_full_and_nothing_is_lost() {
        let queue = EventQueue::new(3, 0);
        thread::scope(|scope| {
            scope.spawn(|| {
                (1..=1_000).for_each(|sequence| queue.push(sequence, &[alarm(sequence), alarm(sequence)]));
                queue.close();
            });
            let mut sequences = Vec::new();
            while let Some(taken) = queue.take_batch(PATIENCE) {
                assert!(taken.events.len() <= 4, "three may wait, and one input is let in before");
                sequences.extend(taken.events.into_iter().map(|published| published.sequence));
            }
            assert_eq!(sequences, (1..=1_000).flat_map(|sequence| [sequence, sequence]).collect::<Vec<_>>());
        });
    }

    #[test]
    fn the_engine_never_waits_and_what_was_left_out_is_taken_once() {
        let queue = EventQueue::new(3, 0);
        let began: Vec<bool> = (1..=9).map(|sequence| queue.offer(sequence, &[alarm(sequence)])).collect();
        assert_eq!(began.iter().position(|began| *began), Some(3));
        assert_eq!((began.iter().filter(|began| **began).count(), queue.wait_behind()), (1, Some(3)));
        let first = queue.take_batch(PATIENCE).unwrap();
        assert_eq!((first.through, first.events.len()), (3, 3), "nothing beyond the gap counts as complete");
        // From the journal, while the engine goes on.
        queue.push(6, &[alarm(4), alarm(5), alarm(6)]);
        assert!(!queue.rejoin(6));
        queue.offer(10, &[alarm(10)]);
        queue.offer(12, &[]);
        assert_eq!(queue.take_batch(PATIENCE).map(|taken| taken.through), Some(6));
        queue.push(10, &[alarm(7), alarm(8), alarm(9), alarm(10)]);
        assert!(queue.rejoin(10) && !queue.is_behind());
        assert!(!queue.offer(13, &[]), "a queue that is full may be offered nothing");
        let rest = queue.take_batch(PATIENCE).unwrap();
        assert_eq!((rest.through, rest.events), (13, (7..=10).map(alarm).collect()));
    }

    #[test]
    fn a_wait_for_a_gap_ends_when_the_queue_is_closed() {
        let queue = EventQueue::new(3, 0);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| queue.wait_behind());
            queue.close();
            assert_eq!(waiting.join().unwrap(), None);
        });
    }

    #[test]
    fn a_closed_queue_gives_out_what_waits_and_takes_nothing() {
        let queue = EventQueue::new(1, 0);
        queue.push(1, &[alarm(1)]);
        queue.close();
        queue.push(2, &[alarm(2)]);
        assert_eq!(queue.take_batch(PATIENCE), Some(EventBatch { through: 1, events: vec![alarm(1)] }));
        assert_eq!(queue.take_batch(PATIENCE), None);
    }
}
