//! Order of release: nothing leaves before it is durable, and what leaves does so in the order of the sequences.

use bus::Ledger;
use domain::Query;
use domain::query::Filter;

use crate::fixture::{LiveFixture, NOTHING, PendingReply, RunningLoop};

#[test]
fn nothing_of_an_order_leaves_before_it_is_durable() {
    let fixture = LiveFixture::default();
    let mut live = fixture.start_trading();
    let hold = fixture.disk.hold_syncs();
    let mut reply = live.place("A-1");
    hold.wait_begun();
    // Prices pass meanwhile.
    live.pass_price();
    assert_eq!((reply.is_answered(), live.released(), live.stored()), (false, vec![], vec![]));
    drop(hold);
    assert_eq!(reply.wait(), "placed A-1");
    assert_eq!(live.released(), ["event A-1 PendingNew", "venue: submit A-1"], "they leave before the reply");
    let (_, ended) = live.stop();
    assert_eq!(ended.stored, ["event A-1 PendingNew"]);
}

#[test]
fn a_report_of_a_venue_counts_as_durable_when_the_journal_has_it() {
    let fixture = LiveFixture::default();
    let mut live = fixture.start_trading();
    assert_eq!(live.place("A-1").wait(), "placed A-1");
    live.released();
    let waiting = |live: &RunningLoop| {
        let progress = live.inbox.report_progress();
        progress.sent() - progress.durable()
    };
    assert_eq!(waiting(&live), 0);
    let hold = fixture.disk.hold_syncs();
    live.accept(1);
    hold.wait_begun();
    // The loop has gone on meanwhile.
    live.pass_price();
    assert_eq!(waiting(&live), 1);
    drop(hold);
    assert_eq!(live.next_order_event(), "event A-1 New");
    assert_eq!(waiting(&live), 0);
}

#[test]
fn what_is_durable_leaves_while_the_next_sync_hangs() {
    let fixture = LiveFixture::default();
    let mut live = fixture.start_trading();
    let hold = fixture.disk.hold_syncs();
    let first = live.place("A-1");
    hold.wait_begun();
    let mut second = live.place("B-1");
    live.wait_taken();
    hold.permit_one();
    assert_eq!(first.wait(), "placed A-1");
    assert_eq!(live.released(), ["event A-1 PendingNew", "venue: submit A-1"]);
    hold.wait_begun();
    live.pass_price();
    assert_eq!((second.is_answered(), live.released()), (false, vec![]));
    drop(hold);
    assert_eq!(second.wait(), "placed B-1");
    assert_eq!(live.released(), ["event B-1 PendingNew", "venue: submit B-1"]);
}

#[test]
fn outputs_of_one_group_commit_leave_in_the_order_of_arrival() {
    let fixture = LiveFixture::default();
    let mut live = fixture.start_trading();
    let hold = fixture.disk.hold_syncs();
    let first = live.place("A-1");
    hold.wait_begun();
    let (second, orders) = (live.place("B-1"), live.query(Query::OpenOrders(Filter::default())));
    let third = live.place("C-1");
    drop(hold);
    assert_eq!(third.wait(), "placed C-1");
    assert_eq!([first.wait(), second.wait()], ["placed A-1", "placed B-1"]);
    assert_eq!(orders.wait(), "A-1 B-1", "it was asked before the third order came");
    assert_eq!(
        live.released(),
        [
            "event A-1 PendingNew",
            "event B-1 PendingNew",
            "event C-1 PendingNew",
            "venue: submit A-1",
            "venue: submit B-1",
            "venue: submit C-1",
        ]
    );
}

#[test]
fn an_answer_waits_for_the_order_that_it_shows() {
    let fixture = LiveFixture::default();
    let mut live = fixture.start_trading();
    let hold = fixture.disk.hold_syncs();
    let placed = live.place("A-1");
    hold.wait_begun();
    let mut orders = live.query(Query::OpenOrders(Filter::default()));
    live.wait_taken();
    live.pass_price();
    assert!(!orders.is_answered());
    drop(hold);
    assert_eq!([orders.wait(), placed.wait()], ["A-1", "placed A-1"]);
}

#[test]
fn a_report_of_the_venue_is_told_when_it_is_durable() {
    let fixture = LiveFixture::default();
    let mut live = fixture.start_trading();
    live.place("A-1").wait();
    live.released();
    let hold = fixture.disk.hold_syncs();
    live.accept(1);
    hold.wait_begun();
    live.pass_price();
    assert_eq!(live.released(), NOTHING);
    drop(hold);
    assert_eq!(live.next_order_event(), "event A-1 New");
}

#[test]
fn a_ledger_record_is_read_when_it_is_durable() {
    let fixture = LiveFixture::default();
    let mut live = fixture.start_trading();
    let hold = fixture.disk.hold_syncs();
    let mut written = PendingReply::new(live.ledger.append("fix:ALPHA", 7, b"sent").unwrap());
    hold.wait_begun();
    live.pass_price();
    assert_eq!((written.is_answered(), live.ledger.last("fix:ALPHA")), (false, None));
    drop(hold);
    assert_eq!(written.wait(), "answered");
    assert_eq!(live.ledger.last("fix:ALPHA").map(|record| record.bytes), Some(b"sent".to_vec()));
}

/// A kill right after the snapshot: the record was told to a client, and is not replayed.
#[test]
fn a_snapshot_has_ledger_records_that_wait_for_their_sync_when_it_is_taken() {
    let mut fixture = LiveFixture { snapshot_every_inputs: 1, ..Default::default() };
    let mut live = fixture.start_trading();
    fixture.wait_for_snapshot(&mut live);
    let hold = fixture.disk.hold_syncs();
    let written = PendingReply::new(live.ledger.append("fix:ALPHA", 7, b"sent").unwrap());
    hold.wait_begun();
    live.pass_price();
    drop(hold);
    assert_eq!(written.wait(), "answered");
    let snapshot = fixture.wait_for_snapshot(&mut live);
    fixture.disk.fail_syncs();
    let _ = live.try_place("A-1");
    live.wait_ended();
    let again = fixture.restart();
    assert_eq!(again.recovered.snapshot, snapshot);
    assert_eq!(again.ledger.last("fix:ALPHA").map(|record| record.bytes), Some(b"sent".to_vec()));
}

#[test]
fn a_refusal_leaves_when_it_is_durable_and_goes_to_its_caller_alone() {
    let fixture = LiveFixture::default();
    let mut live = fixture.start_trading();
    live.place("A-1").wait();
    live.released();
    let hold = fixture.disk.hold_syncs();
    let mut again = live.place("A-1");
    hold.wait_begun();
    live.pass_price();
    assert!(!again.is_answered());
    drop(hold);
    assert_eq!(again.wait(), "refused duplicate-order");
    assert_eq!(live.released(), NOTHING);
}
