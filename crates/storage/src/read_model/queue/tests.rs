//! The queue with stores that are slow, lost and connected again.

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
    let missed = queue.wait_behind().unwrap();
    assert_eq!((began.iter().filter(|began| **began).count(), missed.after), (1, 3));
    let first = queue.take_batch(PATIENCE).unwrap();
    assert_eq!((first.through, first.events.len()), (3, 3), "nothing beyond the gap counts as complete");
    // From the journal, while the engine goes on.
    assert!(queue.push_missed(missed, 6, &[alarm(4), alarm(5), alarm(6)]));
    assert_eq!(queue.rejoin(missed, 6), CatchUpStep::Incomplete);
    queue.offer(10, &[alarm(10)]);
    queue.offer(12, &[]);
    assert_eq!(queue.take_batch(PATIENCE).map(|taken| taken.through), Some(6));
    assert!(queue.push_missed(missed, 10, &[alarm(7), alarm(8), alarm(9), alarm(10)]));
    assert_eq!((queue.rejoin(missed, 10), queue.is_behind()), (CatchUpStep::Complete, false));
    assert!(!queue.offer(13, &[]), "a queue that is full may be offered nothing");
    let rest = queue.take_batch(PATIENCE).unwrap();
    assert_eq!((rest.through, rest.events), (13, (7..=10).map(alarm).collect()));
}

#[test]
fn a_store_that_was_lost_gets_what_it_lacks_from_the_journal_and_nothing_twice() {
    let queue = EventQueue::new(10, 0);
    assert!((1..=3).all(|sequence| !queue.offer(sequence, &[alarm(sequence)])));
    queue.detach();
    assert!(!queue.offer(4, &[alarm(4)]) && queue.is_behind());
    // Of the three events one was stored before the store was lost.
    queue.attach(1);
    let missed = queue.wait_behind().unwrap();
    assert_eq!(missed.after, 1);
    assert!(queue.push_missed(missed, 2, &[alarm(2)]));
    // It is lost again, and this time nothing was stored.
    queue.detach();
    assert!(!queue.push_missed(missed, 3, &[alarm(3)]), "the events before it may be gone");
    queue.attach(1);
    assert!(!queue.push_missed(missed, 3, &[alarm(3)]));
    assert_eq!(queue.rejoin(missed, 4), CatchUpStep::Interrupted);
    let missed = queue.wait_behind().unwrap();
    assert!(queue.push_missed(missed, 4, &[alarm(2), alarm(3), alarm(4)]));
    assert_eq!(queue.rejoin(missed, 4), CatchUpStep::Complete);
    let all = queue.take_batch(PATIENCE).unwrap();
    assert_eq!((all.through, all.events), (4, (2..=4).map(alarm).collect()));
}

#[test]
fn a_store_that_was_lost_after_a_price_has_caught_up_at_the_newest_event() {
    let queue = EventQueue::new(10, 0);
    assert!(!queue.offer(3, &[alarm(2), alarm(3)]));
    // The numbers of prices are in no journal.
    assert!(!queue.offer(9, &[]));
    queue.detach();
    queue.attach(2);
    let missed = queue.wait_behind().unwrap();
    assert!(queue.push_missed(missed, 3, &[alarm(3)]));
    assert_eq!(queue.rejoin(missed, 3), CatchUpStep::Complete, "the journal ends at 3");
    let rest = queue.take_batch(PATIENCE).unwrap();
    assert_eq!((rest.through, rest.events), (9, vec![alarm(3)]));
    // An older backup of the store lacks the event, although it was there when the store was lost.
    queue.detach();
    queue.attach(2);
    assert!(queue.is_behind());
    queue.attach(3);
    assert!(!queue.is_behind());
    queue.detach();
    queue.attach(2);
    assert!(queue.is_behind(), "what was in the store when it was connected can be missing later");
}

#[test]
fn a_store_that_has_everything_when_it_is_connected_is_not_behind() {
    let queue = EventQueue::detached(10, 7, PATIENCE);
    assert!(queue.is_behind() && !queue.is_attached());
    queue.offer(9, &[]);
    queue.attach(8);
    assert!(!queue.is_behind());
    queue.offer(10, &[alarm(10)]);
    assert_eq!(queue.take_batch(PATIENCE), Some(EventBatch { through: 10, events: vec![alarm(10)] }));
}

#[test]
fn a_store_that_connects_by_itself_takes_no_replay_that_could_leave_a_gap() {
    let queue = EventQueue::detached(10, 3, PATIENCE);
    assert!(!queue.takes_replay());
    queue.push(1, &[alarm(1)]);
    queue.attach(0);
    assert!(!queue.takes_replay());
    queue.push(2, &[alarm(2)]);
    let missed = queue.wait_behind().unwrap();
    assert_eq!(missed.after, 0, "what a replay brought before the connection is missing too");
    assert!(queue.push_missed(missed, 3, &[alarm(1), alarm(2), alarm(3)]));
    assert_eq!(queue.rejoin(missed, 3), CatchUpStep::Complete);
    let all = queue.take_batch(PATIENCE).unwrap();
    assert_eq!((all.through, all.events), (3, (1..=3).map(alarm).collect()));
}

#[test]
fn a_catch_up_does_not_wait_for_a_store_that_is_lost() {
    let queue = EventQueue::new(1, 0);
    queue.offer(1, &[alarm(1)]);
    queue.offer(2, &[alarm(2)]);
    let missed = queue.wait_behind().unwrap();
    thread::scope(|scope| {
        let pushed = scope.spawn(|| queue.push_missed(missed, 2, &[alarm(2)]));
        queue.detach();
        assert!(!pushed.join().unwrap());
    });
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

#[test]
fn what_waits_for_a_slow_store_at_the_end_is_left_to_the_journal() {
    let after_end = |end_wait| {
        let queue = EventQueue::detached(10, 0, end_wait);
        queue.attach(0);
        queue.offer(2, &[alarm(1), alarm(2)]);
        queue.close();
        (queue.take_batch(PATIENCE).map(|taken| taken.through), queue.is_overdue())
    };
    assert_eq!(after_end(PATIENCE), (Some(2), false));
    assert_eq!(after_end(Duration::ZERO), (None, true));
}
