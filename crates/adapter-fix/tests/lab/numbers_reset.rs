//! A venue that begins its sequence numbers anew without notice: the adapter follows, and what was lost is noticed by the status of its order.

use domain::order::OrderTerms;
use domain::{Order, OrderKind, SecurityId, Side, TimeInForce};

use crate::lab::Lab;
use crate::proxy::Proxy;
use crate::test_adapter::{TestAdapter, VenueAddress, order};

fn bitcoin(id: u64, quantity: &str, limit: &str) -> Order {
    let kind = OrderKind::Limit { limit: limit.parse().unwrap() };
    let terms = OrderTerms { quantity: quantity.parse().unwrap(), kind, tif: TimeInForce::Gtc };
    Order { terms, security: SecurityId(2), ..order(id, Side::Buy) }
}

#[test]
fn a_venue_that_begins_at_1_again_is_followed_and_what_it_reported_before_is_said_to_be_lost() {
    let (lab, folder) = (Lab::start(), tempfile::tempdir().unwrap());
    let mut desk = TestAdapter::open(&folder, "generic-44", &lab.address("fix44"));
    desk.connect();
    for id in 1..=5 {
        desk.submit(&bitcoin(id, "0.01", "59000"));
        assert_eq!(desk.reports(1), [format!("{id} accepted")]);
    }
    lab.arm("fix-numbers-reset");
    desk.submit(&bitcoin(6, "0.01", "59000"));
    desk.lose();
    desk.connect();
    assert!(desk.reports(1).contains(&"ReportsLost".to_owned()));
    // The session works as before.
    desk.submit(&bitcoin(7, "0.01", "59000"));
    while desk.reports(1).last().unwrap() != "7 accepted" {}
}

#[test]
fn a_reset_is_noticed_again_after_a_crash_before_the_journal_has_it() {
    let (lab, folder) = (Lab::start(), tempfile::tempdir().unwrap());
    let mut desk = TestAdapter::open(&folder, "generic-44", &lab.address("fix44"));
    desk.connect();
    desk.submit(&bitcoin(1, "0.01", "59000"));
    assert_eq!(desk.reports(1), ["1 accepted"]);
    lab.arm("fix-numbers-reset");
    desk.submit(&bitcoin(2, "0.01", "59000"));
    desk.lose();
    desk.connect();
    assert!(desk.reports(1).contains(&"ReportsLost".to_owned()));
    drop(desk);
    let mut desk = TestAdapter::open(&folder, "generic-44", &lab.address("fix44"));
    desk.connect();
    assert!(desk.reports(1).contains(&"ReportsLost".to_owned()));
    assert_eq!(desk.inquire(&bitcoin(1, "0.01", "59000")), adapters::SendOutcome::Sent);
    // What the venue sent under its new numbers comes again.
    while desk.reports(1).last().unwrap() != "1 found: Live 0.01" {}
    desk.make_durable();
    desk.advance(2);
    desk.advance(2);
    drop(desk);
    let mut desk = TestAdapter::open(&folder, "generic-44", &lab.address("fix44"));
    desk.connect();
    assert_eq!(desk.inquire(&bitcoin(1, "0.01", "59000")), adapters::SendOutcome::Sent);
    assert_eq!(desk.reports(1), ["1 found: Live 0.01"]);
}

#[test]
fn a_fill_that_was_lost_with_the_old_numbers_is_told_as_a_total_of_its_order() {
    let (lab, folder) = (Lab::start(), tempfile::tempdir().unwrap());
    let proxy = Proxy::start(lab.port("fix44"));
    let address = VenueAddress { port: proxy.port(), ..lab.address("fix44") };
    let mut desk = TestAdapter::open(&folder, "generic-44", &address);
    desk.connect();
    desk.submit(&bitcoin(1, "0.01", "65000"));
    desk.reports(2);
    lab.arm("fix-numbers-reset");
    desk.submit(&bitcoin(2, "0.02", "65000"));
    desk.lose();
    // A new adapter has heard of nothing, as after a crash; the engine has booked nothing of the first order.
    drop(desk);
    let folder = tempfile::tempdir().unwrap();
    let mut desk = TestAdapter::open(&folder, "generic-44", &address);
    desk.connect();
    assert_eq!(desk.inquire(&bitcoin(1, "0.01", "65000")), adapters::SendOutcome::Sent);
    // The second order's reports wait at the venue, and come first.
    let mut told = Vec::new();
    while !told.last().is_some_and(|line: &String| line.starts_with("1 found")) {
        told.extend(desk.reports(1));
    }
    assert_eq!(told.last().unwrap(), "1 found: Live 0.01, 0.01 filled @ 60000.01 in all");
}
