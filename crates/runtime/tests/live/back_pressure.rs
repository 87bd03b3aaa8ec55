//! Back-pressure: while the journal or a venue does not keep up, requests wait or are refused, and nothing is lost.

use std::sync::atomic::Ordering;
use std::time::Duration;

use bus::lanes::LaneLimits;
use bus::{InboxError, Ledger};

use crate::fixture::{LiveFixture, NOTHING, PendingReply, RunningLoop};
use crate::test_disk::HeldSyncs;

const MEBIBYTE: usize = 1 << 20;

/// A journal with room for two batches and an inbox with room for four requests.
fn narrow() -> LiveFixture {
    let mut fixture = LiveFixture { lanes: LaneLimits { requests: 4, ..LaneLimits::default() }, ..Default::default() };
    fixture.journal.queue_batches = 2;
    fixture
}

/// One order is being synced, one waits for the writer: the journal has no room for the two batches of a turn.
fn fill_journal(fixture: &LiveFixture, live: &RunningLoop) -> (HeldSyncs, [PendingReply; 2]) {
    let hold = fixture.disk.hold_syncs();
    let first = live.place("A-1");
    hold.wait_begun();
    let second = live.place("A-2");
    live.wait_taken();
    (hold, [first, second])
}

#[test]
fn while_the_journal_is_behind_requests_wait_in_the_inbox_and_one_too_many_is_refused() {
    let fixture = narrow();
    let live = fixture.start_trading();
    let (hold, taken) = fill_journal(&fixture, &live);
    let waiting: Vec<_> = ["B-1", "B-2", "B-3", "B-4"].map(|id| live.place(id)).into();
    assert_eq!(live.try_place("B-5").err(), Some(InboxError::Busy));
    assert_eq!(live.inbox.depth().ordinary, 4);
    drop(hold);
    assert_eq!(taken.map(PendingReply::wait), ["placed A-1", "placed A-2"]);
    let placed: Vec<_> = waiting.into_iter().map(PendingReply::wait).collect();
    assert_eq!(placed, ["placed B-1", "placed B-2", "placed B-3", "placed B-4"]);
    assert_eq!(live.open_orders(), "A-1 A-2 B-1 B-2 B-3 B-4");
}

#[test]
fn while_the_journal_is_behind_reports_wait_and_of_prices_the_newest_stays() {
    let fixture = narrow();
    let mut live = fixture.start_trading();
    live.place("X-1").wait();
    live.released();
    let (hold, taken) = fill_journal(&fixture, &live);
    live.accept(1);
    (11..=13).for_each(|bid| live.quote(bid));
    assert_eq!(live.released(), NOTHING);
    drop(hold);
    assert_eq!(live.next_bid(), "13");
    assert_eq!(taken.map(PendingReply::wait), ["placed A-1", "placed A-2"]);
    let mut events = [(); 3].map(|()| live.next_order_event());
    // The report may be taken together with the second order, and comes before it then.
    events[1..].sort();
    assert_eq!(events, ["event A-1 PendingNew", "event A-2 PendingNew", "event X-1 New"]);
}

#[test]
fn deadlines_that_pass_while_the_journal_is_behind_wait_for_room() {
    let fixture = narrow();
    let mut live = fixture.start_trading();
    let (hold, taken) = fill_journal(&fixture, &live);
    for day in 1..=5 {
        // Each quote wakes the loop, and each day has deadlines.
        fixture.days.store(day, Ordering::Relaxed);
        live.quote(10 + day);
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(hold);
    assert_eq!(taken.map(PendingReply::wait), ["placed A-1", "placed A-2"]);
    assert_eq!(live.next_bid(), "15");
}

#[test]
fn requests_of_more_bytes_than_one_batch_takes_are_carried_over_and_all_answered() {
    let mut fixture = narrow();
    fixture.journal.segment_bytes = 32 << 20;
    let live = fixture.start_trading();
    let (hold, taken) = fill_journal(&fixture, &live);
    let record = vec![7; MEBIBYTE / 2];
    let records: Vec<_> =
        (1..=40).map(|key| PendingReply::new(live.ledger.append("fix:ALPHA", key, &record).unwrap())).collect();
    let last = live.place("Z-1");
    drop(hold);
    assert_eq!(taken.map(PendingReply::wait), ["placed A-1", "placed A-2"]);
    assert!(records.into_iter().all(|record| record.wait() == "answered"));
    assert_eq!(last.wait(), "placed Z-1");
}

#[test]
fn an_order_for_a_venue_that_is_gone_is_rejected() {
    let fixture = LiveFixture::default();
    let mut live = fixture.start_trading();
    live.venue = crossbeam_channel::never();
    assert_eq!(live.place("A-1").wait(), "placed A-1");
    assert_eq!(live.next_order_event(), "event A-1 PendingNew");
    assert_eq!(live.next_order_event(), "event A-1 Rejected: not handed to the adapter: it has stopped");
}
