//! A disk that fails: nothing more leaves, the loop ends, and a restart finds what was promised.

use runtime::LiveExit;

use crate::fixture::{LiveFixture, PendingReply, RunningLoop};

/// The loop has ended by itself, and with it everything that leaves or enters.
fn check_failed(fixture: &LiveFixture, live: RunningLoop, expected: &str) {
    let (exit, mut ended) = live.wait_ended();
    let LiveExit::JournalFailed(error) = exit else { panic!("{exit:?}") };
    assert_eq!(fixture.text(&error), expected);
    assert_eq!((ended.released(), ended.stored.clone(), ended.is_closed()), (vec![], vec![], true));
}

#[test]
fn after_a_failed_sync_nothing_leaves_and_the_outcome_is_what_the_restart_finds() {
    // A snapshot is always due, and must never know more than the journal.
    let mut fixture = LiveFixture { snapshot_every_inputs: 1, ..Default::default() };
    let live = fixture.start_trading();
    let hold = fixture.disk.hold_syncs();
    let (first, second) = (live.place("A-1"), live.place("B-1"));
    hold.wait_begun();
    fixture.disk.fail_syncs();
    drop(hold);
    assert_eq!([first.wait(), second.wait()], ["no reply", "no reply"]);
    let expected = "cannot sync journal/00000000000000000001.journal: Input/output error (os error 5)";
    check_failed(&fixture, live, expected);
    // The first order reached the file, of the second only the disk knows.
    let found = fixture.restart().open_orders();
    assert!(found == "A-1" || found == "A-1 B-1", "{found}");
}

#[test]
fn after_a_failed_write_the_order_does_not_exist() {
    let mut fixture = LiveFixture::default();
    let live = fixture.start_trading();
    fixture.disk.fail_writes();
    assert_eq!(live.place("A-1").wait(), "no reply");
    let expected = "cannot write journal/00000000000000000001.journal: Input/output error (os error 5)";
    check_failed(&fixture, live, expected);
    assert_eq!(fixture.restart().open_orders(), "");
}

#[test]
fn a_report_that_could_not_be_journalled_is_told_to_nobody() {
    let mut fixture = LiveFixture::default();
    let mut live = fixture.start_trading();
    live.place("A-1").wait();
    assert_eq!(live.released(), ["event A-1 PendingNew", "venue: submit A-1"]);
    fixture.disk.fail_writes();
    live.accept(1);
    assert_eq!(live.next_order_event(), "the feed ended");
    let (_, ended) = live.wait_ended();
    assert_eq!(ended.stored, ["event A-1 PendingNew"]);
    assert_eq!(fixture.restart().open_orders(), "A-1");
}

#[test]
fn on_a_full_disk_every_order_that_was_answered_is_there_after_the_restart() {
    let mut fixture = LiveFixture::default();
    fixture.journal.segment_bytes = 8 << 10;
    let live = fixture.start_trading();
    fixture.disk.fill_up();
    let is_placed = |number: &u32| {
        let reply = live.try_place(&format!("A-{number}")).map(PendingReply::wait);
        reply.is_ok_and(|reply| reply.starts_with("placed"))
    };
    let answered: Vec<_> = (1..10_000).take_while(is_placed).map(|number| format!("A-{number}")).collect();
    let (exit, _) = live.wait_ended();
    let LiveExit::JournalFailed(error) = exit else { panic!("{exit:?}") };
    let expected = "the disk is full: cannot prepare the next segment journal/next.filling: \
                    No space left on device (os error 28)";
    assert_eq!(fixture.text(&error), expected);
    assert_eq!(fixture.restart().open_orders(), answered.join(" "));
}

#[test]
fn a_record_that_the_journal_refuses_ends_the_loop_and_had_no_effect() {
    let mut fixture = LiveFixture::default();
    let live = fixture.start_trading();
    let record = live.inbox.append_ledger_record(vec![0; 16 << 20], None).unwrap();
    assert_eq!(PendingReply::new(record).wait(), "no reply");
    check_failed(&fixture, live, "the journal refused a batch: a record has 16777237 bytes, the limit is 16777152");
    assert_eq!(fixture.restart().open_orders(), "");
}

#[test]
fn a_snapshot_that_cannot_be_written_costs_only_time() {
    let mut fixture = LiveFixture { snapshot_every_inputs: 1, ..Default::default() };
    fixture.snapshot_disk.fill_up();
    let live = fixture.start_trading();
    assert_eq!(live.place("A-1").wait(), "placed A-1");
    let (exit, _) = live.stop();
    assert!(matches!(exit, LiveExit::Stopped(_)), "{exit:?}");
    let again = fixture.restart();
    assert_eq!((again.recovered.snapshot, again.open_orders()), (0, "A-1".into()));
}

#[test]
fn a_journal_that_fails_between_two_inputs_ends_the_loop_too() {
    let mut fixture = LiveFixture::default();
    fixture.journal.sync = "interval:1".parse().unwrap();
    let mut live = fixture.start_trading();
    assert_eq!(live.place("A-1").wait(), "placed A-1");
    live.released();
    fixture.disk.fail_syncs();
    // Written is enough in this mode, so this order may still be answered; the sync that follows fails.
    let _ = live.try_place("A-2");
    let (exit, ended) = live.wait_ended();
    assert!(matches!(&exit, LiveExit::JournalFailed(error) if error.contains("cannot sync")), "{exit:?}");
    assert!(ended.is_closed());
}
