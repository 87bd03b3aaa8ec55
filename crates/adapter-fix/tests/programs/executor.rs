//! `executor` fills every limit order at once; its ExecIDs begin at 1 when it starts.

use adapters::SendOutcome;
use domain::{Order, Side};

use crate::program::QuickfixProgram;
use crate::test_adapter::{TestAdapter, VenueAddress, order};

fn fills_survive_restarts_of_both_sides(version: &'static str, dialect: &'static str) {
    let folder = tempfile::tempdir().unwrap();
    let mut executor = QuickfixProgram::start("executor", version);
    let mut desk = TestAdapter::open(&folder, dialect, &address(&executor));
    desk.connect();
    desk.submit(&order(1, Side::Buy));
    desk.submit(&order(2, Side::Sell));
    assert_eq!(desk.reports(2), ["1 filled 100 @ 10.5 (1@100)", "2 filled 100 @ 10.5 (2@100)"]);

    // The journal has them, so they do not come again.
    desk.make_durable();
    (0..3).for_each(|_| desk.advance(10));

    // Its first execution after a restart has the ExecID 1 again, and is another one: of another order.
    executor.restart();
    desk.lose();
    desk.connect();
    desk.submit(&order(3, Side::Buy));
    assert_eq!(desk.reports(1), ["3 filled 100 @ 10.5 (1@100)"]);

    // We crash before the engine is known to have the reports: they come again, the same ones.
    drop(desk);
    let mut desk = TestAdapter::open(&folder, dialect, &address(&executor));
    desk.connect();
    assert_eq!(desk.reports(1), ["3 filled 100 @ 10.5 (1@100)"]);
    desk.submit(&order(4, Side::Sell));
    assert_eq!(desk.reports(1), ["4 filled 100 @ 10.5 (2@100)"]);
}

#[test]
fn executor_of_fix_44_fills_and_neither_restart_loses_or_doubles_a_fill() {
    fills_survive_restarts_of_both_sides("FIX.4.4", "quickfix-executor");
}

#[test]
fn executor_of_fix_42_fills_and_neither_restart_loses_or_doubles_a_fill() {
    fills_survive_restarts_of_both_sides("FIX.4.2", "quickfix-executor-42");
}

#[test]
fn what_executor_does_not_take_is_refused_before_it_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let executor = QuickfixProgram::start("executor", "FIX.4.4");
    let mut desk = TestAdapter::open(&folder, "quickfix-executor", &address(&executor));
    desk.connect();
    let refused = |outcome: SendOutcome| match outcome {
        SendOutcome::NotSent(reason) => reason.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        refused(desk.cancel(&Order { request: 1, ..order(1, Side::Buy) })),
        "venue-no-cancel: the venue takes no cancels"
    );
    assert_eq!(refused(desk.inquire(&order(1, Side::Buy))), "venue-no-status: the venue answers no questions");
}

fn address(program: &QuickfixProgram) -> VenueAddress {
    VenueAddress { port: program.port, sender: "RIALTO", target: "VENUE" }
}
