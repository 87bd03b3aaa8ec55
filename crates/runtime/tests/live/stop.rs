//! Orderly stop: what was taken becomes durable and leaves; what was not taken had no effect.

use runtime::LiveExit;
use storage::journal::SyncMode;

use crate::fixture::{LiveFixture, PendingReply};

#[test]
fn a_stop_waits_for_the_disk_and_releases_everything_that_was_taken() {
    let mut fixture = LiveFixture::default();
    let live = fixture.start_trading();
    let hold = fixture.disk.hold_syncs();
    let placed = live.place("A-1");
    hold.wait_begun();
    live.ask_to_stop();
    drop(hold);
    assert_eq!(placed.wait(), "placed A-1");
    let (exit, mut ended) = live.wait_ended();
    assert!(matches!(exit, LiveExit::Stopped(Some(_))), "{exit:?}");
    assert_eq!(ended.released(), ["event A-1 PendingNew", "venue: submit A-1"]);
    assert_eq!((ended.stored.clone(), ended.is_closed()), (vec!["event A-1 PendingNew".to_owned()], true));
    let again = fixture.restart();
    assert_eq!((again.recovered.replayed, again.open_orders()), (0, "A-1".into()), "its last snapshot has it all");
}

#[test]
fn a_request_that_was_not_taken_when_the_loop_stopped_had_no_effect() {
    let mut fixture = LiveFixture::default();
    fixture.journal.queue_batches = 2;
    let live = fixture.start_trading();
    let hold = fixture.disk.hold_syncs();
    let first = live.place("A-1");
    hold.wait_begun();
    let second = live.place("A-2");
    live.wait_taken();
    // The journal has no room, so this one stays in the inbox.
    let third = live.place("B-1");
    live.ask_to_stop();
    // Only the stop can have come through: the loop takes no request while the syncs hang.
    while !live.is_stopping() {
        std::thread::yield_now();
    }
    drop(hold);
    assert_eq!([first, second, third].map(PendingReply::wait), ["placed A-1", "placed A-2", "no reply"]);
    let (exit, _) = live.wait_ended();
    assert!(matches!(exit, LiveExit::Stopped(Some(_))), "{exit:?}");
    assert_eq!(fixture.restart().open_orders(), "A-1 A-2");
}

#[test]
fn an_order_that_meets_the_stop_is_answered_exactly_if_it_is_there_after_the_restart() {
    for _ in 0..20 {
        let mut fixture = LiveFixture::default();
        let live = fixture.start_trading();
        let reply = live.place("A-1");
        let (exit, _) = live.stop();
        assert!(matches!(exit, LiveExit::Stopped(_)), "{exit:?}");
        let expected = if reply.wait() == "no reply" { "" } else { "A-1" };
        assert_eq!(fixture.restart().open_orders(), expected);
    }
}

#[test]
fn a_sync_that_fails_while_the_loop_stops_is_a_failure() {
    let fixture = LiveFixture::default();
    let live = fixture.start_trading();
    let hold = fixture.disk.hold_syncs();
    let placed = live.place("A-1");
    hold.wait_begun();
    live.ask_to_stop();
    fixture.disk.fail_syncs();
    drop(hold);
    assert_eq!(placed.wait(), "no reply");
    let (exit, mut ended) = live.wait_ended();
    assert!(matches!(&exit, LiveExit::JournalFailed(error) if error.contains("cannot sync")), "{exit:?}");
    assert_eq!((ended.released(), ended.is_closed()), (vec![], true));
}

#[test]
fn the_last_sync_of_a_journal_that_is_left_to_the_system_counts_too() {
    let mut fixture = LiveFixture::default();
    fixture.journal.sync = SyncMode::Os;
    let live = fixture.start_trading();
    assert_eq!(live.place("A-1").wait(), "placed A-1");
    fixture.disk.fail_syncs();
    let (exit, ended) = live.stop();
    assert!(matches!(&exit, LiveExit::JournalFailed(error) if error.contains("cannot sync")), "{exit:?}");
    assert!(ended.is_closed());
}
