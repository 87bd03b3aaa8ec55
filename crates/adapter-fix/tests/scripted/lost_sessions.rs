//! Sessions that end: what the engine may lack comes again, and what did not leave is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use adapters::{SendLease, SendOutcome};
use domain::{Order, Side};

use crate::scripted_venue::ScriptedVenue;
use crate::test_adapter::{TestAdapter, order};

const FILL: &str = "11=R7-1-0|37=V1|17=E1|150=F|39=2|38=100|14=100|151=0|32=100|31=10.5";

#[test]
fn a_fill_right_before_a_loss_is_asked_for_again_by_the_next_process() {
    let (mut venue, folder) = (ScriptedVenue::start(), tempfile::tempdir().unwrap());
    let mut desk = TestAdapter::open(&folder, "generic-44", &venue.address());
    desk.connect_while(|| drop(venue.log_on()));
    desk.submit(&order(1, Side::Buy));
    venue.expect("D");
    let number = venue.next;
    venue.send("8", FILL);
    assert_eq!(desk.reports(1), ["1 filled 100 @ 10.5 (E1)"]);
    venue.hang_up();
    desk.lose();
    // The engine has written nothing of it when the process ends.
    drop(desk);

    let mut desk = TestAdapter::open(&folder, "generic-44", &venue.address());
    desk.connect_while(|| drop(venue.log_on()));
    assert_eq!(venue.expect("2")[&7], "1");
    venue.send_as(1, "4", &format!("43=Y|123=Y|36={number}"));
    venue.send_again(number, "8", FILL);
    venue.send_as(number + 1, "4", &format!("43=Y|123=Y|36={}", venue.next));
    assert_eq!(desk.reports(1), ["1 filled 100 @ 10.5 (E1)"]);
}

#[test]
fn a_report_is_confirmed_when_the_journal_has_it_and_not_before() {
    let (mut venue, folder) = (ScriptedVenue::start(), tempfile::tempdir().unwrap());
    let mut desk = TestAdapter::open(&folder, "generic-44", &venue.address());
    desk.connect_while(|| drop(venue.log_on()));
    desk.submit(&order(1, Side::Buy));
    venue.expect("D");
    desk.advance(10);
    desk.advance(10);
    let number = venue.next;
    venue.send("8", FILL);
    assert_eq!(desk.reports(1), ["1 filled 100 @ 10.5 (E1)"]);
    for _ in 0..10 {
        desk.advance(3_600);
    }
    assert!(desk.confirmed() <= number, "the journal stands still, and {} is confirmed", desk.confirmed());
    desk.make_durable();
    desk.advance(10);
    desk.advance(10);
    assert_eq!(desk.confirmed(), number + 1);
}

/// 141=Y in the venue's Logon asks for a Logon of ours that begins anew, too.
#[test]
fn a_venue_that_asks_for_numbers_from_1_is_answered_and_what_it_reported_before_is_said_to_be_lost() {
    let (mut venue, folder) = (ScriptedVenue::start(), tempfile::tempdir().unwrap());
    let mut desk = TestAdapter::open(&folder, "generic-44", &venue.address());
    desk.connect_while(|| drop(venue.log_on()));
    desk.submit(&order(1, Side::Buy));
    venue.expect("D");
    venue.send("8", FILL);
    assert_eq!(desk.reports(1), ["1 filled 100 @ 10.5 (E1)"]);
    venue.hang_up();
    desk.lose();

    venue.next = 1;
    desk.connect_while(|| {
        let asked = venue.log_on_with("98=0|108=30|141=Y");
        assert_eq!((asked[&34].as_str(), asked.get(&141)), ("3", None));
        let answer = venue.expect("A");
        assert_eq!((answer[&34].as_str(), answer[&141].as_str()), ("1", "Y"));
    });
    assert_eq!(desk.reports(1), ["ReportsLost"]);
    // Both go on from there.
    desk.submit(&order(2, Side::Buy));
    assert_eq!(venue.expect("D")[&34], "2");
    venue.send("8", "11=R7-2-0|37=V2|17=E1|150=0|39=0|38=100|14=0|151=100");
    assert_eq!(desk.reports(1), ["2 accepted"]);
}

#[test]
fn what_a_venue_sent_under_its_new_numbers_before_the_log_on_comes_again() {
    let (mut venue, folder) = (ScriptedVenue::start(), tempfile::tempdir().unwrap());
    let mut desk = TestAdapter::open(&folder, "generic-44", &venue.address());
    desk.connect_while(|| drop(venue.log_on()));
    desk.submit(&order(1, Side::Buy));
    venue.expect("D");
    venue.send("8", "11=R7-1-0|37=V1|17=E0|150=0|39=0|38=100|14=0|151=100");
    assert_eq!(desk.reports(1), ["1 accepted"]);
    venue.hang_up();
    desk.lose();

    // It begins anew, and fills the order while nothing is connected.
    venue.next = 2;
    desk.connect_while(|| drop(venue.log_on()));
    assert_eq!(venue.expect("2")[&7], "1");
    venue.send_again(1, "8", FILL);
    assert_eq!(desk.reports(2), ["ReportsLost", "1 filled 100 @ 10.5 (E1)"]);
    venue.send_as(2, "4", &format!("43=Y|123=Y|36={}", venue.next));
    desk.submit(&order(2, Side::Buy));
    venue.expect("D");
    venue.send("8", "11=R7-2-0|37=V2|17=E2|150=0|39=0|38=100|14=0|151=100");
    assert_eq!(desk.reports(1), ["2 accepted"]);
}

/// The next log-on has the number that is expected: it tells nothing of the reset.
#[test]
fn a_reset_that_was_not_told_before_its_session_ended_is_told_in_the_next_one() {
    let (mut venue, folder) = (ScriptedVenue::start(), tempfile::tempdir().unwrap());
    let mut desk = TestAdapter::open(&folder, "generic-44", &venue.address());
    desk.connect_while(|| drop(venue.log_on()));
    desk.submit(&order(1, Side::Buy));
    venue.expect("D");
    venue.send("8", FILL);
    assert_eq!(desk.reports(1), ["1 filled 100 @ 10.5 (E1)"]);
    venue.hang_up();
    desk.lose();

    venue.next = 1;
    desk.connect_while(|| drop(venue.log_on()));
    venue.hang_up();
    desk.disconnect();
    desk.connect_while(|| drop(venue.log_on()));
    assert_eq!(desk.reports(1), ["ReportsLost"]);
}

/// Executions that only the drop copy had may be lost, also of orders that have ended.
#[test]
fn a_drop_copy_that_begins_anew_has_lost_reports() {
    let (mut venue, mut copies) = (ScriptedVenue::start(), ScriptedVenue::start());
    let (folder, port) = (tempfile::tempdir().unwrap(), copies.address().port.to_string());
    let settings = [("dropCopyPort", port.as_str())];
    let mut desk = TestAdapter::open_with(&folder, "generic-44", &venue.address(), &settings);
    desk.connect_while(|| {
        drop(copies.log_on());
        drop(venue.log_on());
    });
    while desk.reports(1).last().unwrap() != "PRIVATE up" {}
    copies.send("8", FILL);
    assert_eq!(desk.reports(1), ["1 filled 100 @ 10.5 (E1)"]);

    copies.hang_up();
    assert_eq!(desk.reports(1), ["PRIVATE down"]);
    copies.next = 1;
    // It connects again by itself.
    std::thread::scope(|scope| {
        scope.spawn(|| drop(copies.log_on()));
        let mut told = desk.reports(2);
        told.sort();
        assert_eq!(told, ["PRIVATE up", "ReportsLost"]);
    });
}

/// Another process may want the sessions, and this one goes on after all.
#[test]
fn a_report_that_a_drop_copy_had_received_when_it_was_ended_is_told_after_the_next_log_on() {
    let (mut venue, mut copies) = (ScriptedVenue::start(), ScriptedVenue::start());
    let (folder, port) = (tempfile::tempdir().unwrap(), copies.address().port.to_string());
    let settings = [("dropCopyPort", port.as_str())];
    let mut desk = TestAdapter::open_with(&folder, "generic-44", &venue.address(), &settings);
    desk.set_lease(SendLease::new(|| true).with_takeover(|| true));
    desk.connect_while(|| {
        drop(copies.log_on());
        drop(venue.log_on());
    });
    while desk.reports(1).last().unwrap() != "PRIVATE up" {}
    desk.wait_for_news(|| copies.send("8", FILL));
    desk.disconnect();
    desk.connect_while(|| drop(venue.log_on()));
    assert_eq!(desk.reports(1)[0], "1 filled 100 @ 10.5 (E1)");
}

#[test]
fn a_request_that_found_the_session_ended_is_reported_as_not_sent() {
    let (mut venue, folder) = (ScriptedVenue::start(), tempfile::tempdir().unwrap());
    let mut desk = TestAdapter::open(&folder, "generic-44", &venue.address());
    desk.connect_while(|| drop(venue.log_on()));
    // The session has ended, and the adapter does not know it yet.
    desk.wait_for_news(|| venue.hang_up());
    desk.submit(&order(1, Side::Buy));
    desk.lose();
    desk.connect_while(|| drop(venue.log_on()));
    assert_eq!(desk.reports(1), ["1 not sent: the session ended before the request left"]);
}

#[test]
fn an_order_that_does_not_leave_without_the_lease_is_reported_as_not_sent() {
    let (mut venue, folder) = (ScriptedVenue::start(), tempfile::tempdir().unwrap());
    let mut desk = TestAdapter::open(&folder, "generic-44", &venue.address());
    let has_lease = Arc::new(AtomicBool::new(true));
    let held = has_lease.clone();
    desk.set_lease(SendLease::new(move || held.load(Ordering::SeqCst)));
    desk.connect_while(|| drop(venue.log_on()));
    has_lease.store(false, Ordering::SeqCst);
    desk.submit(&order(1, Side::Buy));
    desk.lose();
    assert_eq!(desk.reports(1), ["1 not sent: the session ended before the request left"]);
}

#[test]
fn a_replaced_order_whose_cancel_never_left_is_asked_about_by_the_id_before_it() {
    let (mut venue, folder) = (ScriptedVenue::start(), tempfile::tempdir().unwrap());
    let mut desk = TestAdapter::open(&folder, "generic-44", &venue.address());
    desk.connect_while(|| drop(venue.log_on()));
    // Its request 1 was the replace, its request 2 the cancel; the process has started since.
    let held = Order { revision: 1, request: 2, ..order(1, Side::Buy) };
    assert_eq!(desk.inquire(&held), SendOutcome::Sent);
    assert_eq!(venue.expect("H")[&11], "R7-1-2");
    desk.wait_for_news(|| venue.send("8", "11=R7-1-2|37=NONE|17=0|150=I|39=8|14=0|151=0|103=5"));
    desk.deliver();
    assert_eq!(venue.expect("H")[&11], "R7-1-1");
    venue.send("8", "11=R7-1-1|37=V1|17=0|150=I|39=0|38=100|44=10.5|14=0|151=100");
    assert_eq!(desk.reports(1), ["1 found: Live 100"]);
}
