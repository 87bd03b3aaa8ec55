//! FIX 5.0SP2 over FIXT 1.1: the venue is made with QuickFIX, which checks what we send against its own dictionaries.

use adapters::SendOutcome;
use domain::order::OrderTerms;
use domain::{Order, OrderKind, SecurityId, Side};

use crate::program::QuickfixProgram;
use crate::test_adapter::{TestAdapter, VenueAddress, order};

const DIALECT: &str = "generic-50sp2";

fn address(program: &QuickfixProgram) -> VenueAddress {
    VenueAddress { port: program.port, sender: "RIALTO", target: "VENUE" }
}

/// A buy order of so many that rests, or is filled where its limit is above 100.
fn limit(id: u64, limit: &str) -> Order {
    let kind = OrderKind::Limit { limit: limit.parse().unwrap() };
    let order = order(id, Side::Buy);
    Order { terms: OrderTerms { kind, ..order.terms }, ..order }
}

#[test]
fn orders_are_filled_replaced_cancelled_and_asked_about() {
    let folder = tempfile::tempdir().unwrap();
    let venue = QuickfixProgram::start_50sp2("venue50sp2.py");
    let mut desk = TestAdapter::open(&folder, DIALECT, &address(&venue));
    desk.connect();
    desk.submit(&limit(1, "101"));
    assert_eq!(desk.reports(2), ["1 accepted", "1 filled 100 @ 101 (E2)"]);

    desk.submit(&limit(2, "99"));
    assert_eq!(desk.reports(1), ["2 accepted"]);
    let terms = OrderTerms { quantity: 50.into(), ..limit(2, "98").terms };
    let replacing = Order { request: 1, ..limit(2, "99") };
    assert_eq!(desk.replace(&replacing, terms), SendOutcome::Sent);
    assert_eq!(desk.reports(1), ["2 replaced: 50 Limit { limit: 98 }"]);
    let replaced = Order { terms, ..replacing };
    assert_eq!(desk.inquire(&replaced), SendOutcome::Sent);
    assert_eq!(desk.reports(1), ["2 found: Live 50"]);
    assert_eq!(desk.cancel(&Order { request: 2, ..replaced }), SendOutcome::Sent);
    assert_eq!(desk.reports(1), ["2 cancelled"]);

    assert_eq!(desk.cancel(&Order { request: 1, ..limit(1, "101") }), SendOutcome::Sent);
    let refused = desk.reports(1);
    assert!(refused[0].starts_with("1 cancel refused"), "{refused:?}");
}

#[test]
fn reports_of_a_crash_come_again_and_prices_come_too() {
    let folder = tempfile::tempdir().unwrap();
    let venue = QuickfixProgram::start_50sp2("venue50sp2.py");
    let mut desk = TestAdapter::open(&folder, DIALECT, &address(&venue));
    desk.connect();
    desk.submit(&limit(1, "101"));
    assert_eq!(desk.reports(2), ["1 accepted", "1 filled 100 @ 101 (E2)"]);
    // We crash before the engine is known to have the reports: they come again, the same ones.
    drop(desk);
    let mut desk = TestAdapter::open(&folder, DIALECT, &address(&venue));
    desk.connect();
    assert_eq!(desk.reports(2), ["1 accepted", "1 filled 100 @ 101 (E2)"]);

    desk.subscribe(SecurityId(1));
    let book = desk.book_until(|book| !book.bids.is_empty());
    assert_eq!([book.bids[0].price, book.asks[0].price].map(|price| price.to_string()), ["99", "101"]);
}
