//! `ordermatch` matches orders, and answers a cancel that it cannot carry out with nothing.

use adapters::SendOutcome;
use domain::{Order, Side};

use crate::program::QuickfixProgram;
use crate::test_adapter::{TestAdapter, VenueAddress, order};

#[test]
fn orders_rest_match_and_are_cancelled_and_a_cancel_that_is_not_answered_is_not_taken_for_done() {
    let folder = tempfile::tempdir().unwrap();
    let ordermatch = QuickfixProgram::start("ordermatch", "FIX.4.2");
    let mut desk = TestAdapter::open(&folder, "quickfix-ordermatch", &address(&ordermatch));
    desk.connect();
    desk.submit(&order(1, Side::Buy));
    assert_eq!(desk.reports(1), ["1 accepted"]);
    desk.submit(&order(2, Side::Sell));
    let mut matched = desk.reports(3);
    matched.sort();
    assert_eq!(matched, ["1 filled 100 @ 10.5 (3@100)", "2 accepted", "2 filled 100 @ 10.5 (4@100)"]);

    desk.submit(&order(3, Side::Buy));
    assert_eq!(desk.reports(1), ["3 accepted"]);
    assert_eq!(desk.cancel(&Order { request: 1, ..order(3, Side::Buy) }), SendOutcome::Sent);
    assert_eq!(desk.reports(1), ["3 cancelled"]);

    // The first order is filled: nothing is answered, and nothing is reported. The next order shows that it was read.
    assert_eq!(desk.cancel(&Order { request: 1, ..order(1, Side::Buy) }), SendOutcome::Sent);
    desk.submit(&order(4, Side::Buy));
    assert_eq!(desk.reports(1), ["4 accepted"]);
}

fn address(program: &QuickfixProgram) -> VenueAddress {
    VenueAddress { port: program.port, sender: "RIALTO", target: "VENUE" }
}
