//! Orders at the lab, from their acceptance to a report that is not believed.

use adapters::SendOutcome;
use domain::order::OrderTerms;
use domain::{Order, OrderKind, SecurityId, Side, TimeInForce};
use expect_test::{Expect, expect};

use crate::lab::Lab;
use crate::test_adapter::{TestAdapter, order};

fn terms(quantity: &str, limit: &str) -> OrderTerms {
    let kind = OrderKind::Limit { limit: limit.parse().unwrap() };
    OrderTerms { quantity: quantity.parse().unwrap(), kind, tif: TimeInForce::Gtc }
}

fn bitcoin(id: u64, limit: &str) -> Order {
    Order { terms: terms("0.01", limit), security: SecurityId(2), ..order(id, Side::Buy) }
}

/// What was reported after each step.
fn orders_live_and_end(face: &str, dialect: &'static str, expected: &Expect) {
    let (lab, folder) = (Lab::start(), tempfile::tempdir().unwrap());
    let mut desk = TestAdapter::open(&folder, dialect, &lab.address(face));
    let mut told = String::new();
    let mut tell = |desk: &mut TestAdapter, step: &str, reports: usize| {
        told += &format!("{step}\n");
        desk.reports(reports).iter().for_each(|report| told += &format!("    {report}\n"));
    };
    desk.connect();
    let resting = bitcoin(1, "59000");
    desk.submit(&resting);
    tell(&mut desk, "an order far from the market", 1);
    assert_eq!(desk.inquire(&resting), SendOutcome::Sent);
    tell(&mut desk, "asked about", 1);
    assert_eq!(desk.replace(&Order { request: 1, ..resting.clone() }, terms("0.02", "58000")), SendOutcome::Sent);
    tell(&mut desk, "replaced", 1);
    assert_eq!(desk.cancel(&Order { request: 2, ..resting }), SendOutcome::Sent);
    tell(&mut desk, "cancelled", 1);
    desk.submit(&bitcoin(2, "65000"));
    tell(&mut desk, "an order that takes", 2);
    assert_eq!(desk.inquire(&Order { filled: "0.01".parse().unwrap(), ..bitcoin(2, "65000") }), SendOutcome::Sent);
    tell(&mut desk, "asked about", 1);
    assert_eq!(desk.inquire(&bitcoin(9, "59000")), SendOutcome::Sent);
    tell(&mut desk, "an order that was never sent, asked about", 1);
    assert_eq!(desk.cancel(&Order { request: 1, ..bitcoin(9, "59000") }), SendOutcome::Sent);
    tell(&mut desk, "and cancelled", 1);
    desk.submit(&bitcoin(3, "59000"));
    tell(&mut desk, "another order", 1);
    lab.arm("fix-contradiction");
    assert_eq!(desk.cancel(&Order { request: 1, ..bitcoin(3, "59000") }), SendOutcome::Sent);
    tell(&mut desk, "its cancel is reported as new", 1);
    assert_eq!(desk.inquire(&Order { request: 1, ..bitcoin(3, "59000") }), SendOutcome::Sent);
    tell(&mut desk, "asked about", 1);
    expected.assert_eq(&told);
}

#[test]
fn orders_live_and_end_over_fix_44() {
    orders_live_and_end(
        "fix44",
        "generic-44",
        &expect![[r#"
        an order far from the market
            1 accepted
        asked about
            1 found: Live 0.01
        replaced
            1 replaced: 0.02 Limit { limit: 58000 }
        cancelled
            1 cancelled
        an order that takes
            2 accepted
            2 filled 0.01 @ 60000.01 (BTCUSDT-5)
        asked about
            2 found: Live 0.01, 0.01 filled @ 60000.01 in all
        an order that was never sent, asked about
            9 not found
        and cancelled
            9 cancel refused: Unknown order sent.
            9 in doubt: the venue refused a request about the order, and may not have it as it is here
        another order
            3 accepted
        its cancel is reported as new
            3 unclear: the order was cancelled by ExecType (150), and OrdStatus (39) says new
        asked about
            3 found: Canceled 0.01
    "#]],
    );
}

#[test]
fn orders_live_and_end_over_fix_42() {
    orders_live_and_end(
        "fix42",
        "generic-42",
        &expect![[r#"
        an order far from the market
            1 accepted
        asked about
            1 found: Live 0.01
        replaced
            1 replaced: 0.02 Limit { limit: 58000 }
        cancelled
            1 cancelled
        an order that takes
            2 accepted
            2 filled 0.01 @ 60000.01 (BTCUSDT-5)
        asked about
            2 found: Live 0.01, 0.01 filled @ 60000.01 in all
        an order that was never sent, asked about
            9 not found
        and cancelled
            9 cancel refused: Unknown order sent.
            9 in doubt: the venue refused a request about the order, and may not have it as it is here
        another order
            3 accepted
        its cancel is reported as new
            3 unclear: the order was cancelled by ExecType (150), and OrdStatus (39) says new
        asked about
            3 found: Canceled 0.01
    "#]],
    );
}
