//! Every field of an order, valid and invalid.

use expect_test::{Expect, expect};

use super::harness::GatewayHarness;

/// A good order, with some fields changed, added or, where they are blank, left out.
fn with(changes: &str) -> String {
    let good = "35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1";
    let changes: Vec<(&str, &str)> = changes.split('|').filter_map(|field| field.split_once('=')).collect();
    let changed = |tag: &str| changes.iter().any(|(known, _)| *known == tag);
    let kept = good.split('|').filter(|field| !changed(field.split_once('=').unwrap().0)).map(str::to_owned);
    let added = changes.iter().filter(|(_, value)| !value.is_empty()).map(|(tag, value)| format!("{tag}={value}"));
    kept.chain(added).collect::<Vec<_>>().join("|")
}

/// What each change of a good order leads to.
fn check(changes: &[&str], expected: &Expect) {
    let outcome = |change: &&str| {
        let told = GatewayHarness::literal().run(&with(change));
        format!("{change} => {}\n", told.lines().nth(1).unwrap_or_default().trim())
    };
    expected.assert_eq(&changes.iter().map(outcome).collect::<String>());
}

#[test]
fn every_order_type_has_its_prices() {
    let changes =
        ["40=1|44=", "40=2", "40=3|44=|99=11", "40=4|99=11", "40=1", "40=2|44=", "40=2|99=9", "40=3|44=", "40=5"];
    check(
        &changes,
        &expect![[r#"
        40=1|44= => 8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        40=2 => 8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        40=3|44=|99=11 => 8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        40=4|99=11 => 8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        40=1 => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 99 text not-needed: Price (44) does not belong to this kind of order
        40=2|44= => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 99 text missing-field: Price (44) is needed
        40=2|99=9 => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 99 text not-needed: StopPx (99) does not belong to this kind of order
        40=3|44= => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 99 text missing-field: StopPx (99) is needed
        40=5 => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 99 text bad-field: OrdType (40) 5 is not 1 (market), 2 (limit), 3 (stop) or 4 (stop limit)
    "#]],
    );
}

#[test]
fn a_session_may_offer_fewer_order_types() {
    let told = GatewayHarness::literal().only(&['2']).run(&with("40=1|44="));
    expect![[r#"
        35=D|11=X|54=1|38=100|60=20261116-12:00:00|48=1|40=1
            8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 11 text order-type-not-offered: OrdType (40) 1 is not offered on this session
    "#]].assert_eq(&told);
}

#[test]
fn every_time_in_force() {
    let changes = [
        "59=0",
        "59=1",
        "59=2",
        "59=3",
        "59=4",
        "59=6|126=20261120-16:00:00",
        "59=6|432=20261120",
        "59=7",
        "59=6",
        "59=6|126=tomorrow",
        "59=6|432=2026-11-20",
        "59=5",
    ];
    check(
        &changes,
        &expect![[r#"
        59=0 => 8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        59=1 => 8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        59=2 => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 11 text no-auction: the exchange has no auction for ATO
        59=3 => 8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        59=4 => 8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        59=6|126=20261120-16:00:00 => 8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        59=6|432=20261120 => 8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        59=7 => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 11 text no-auction: the exchange has no auction for ATC
        59=6 => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 99 text missing-field: ExpireTime (126) is needed
        59=6|126=tomorrow => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 99 text bad-field: ExpireTime (126) tomorrow is not a UTC time such as 20260105-14:30:00
        59=6|432=2026-11-20 => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 99 text bad-field: ExpireDate (432) 2026-11-20 is not a date such as 20260105
        59=5 => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 99 text bad-field: TimeInForce (59) 5 is not 0, 1, 2, 3, 4, 6 or 7
    "#]],
    );
}

#[test]
fn a_field_that_is_missing_or_can_not_be_read_is_named() {
    let changes = [
        "54=",
        "38=",
        "40=",
        "60=",
        "48=",
        "54=5",
        "38=ten",
        "38=+5",
        "38=1_000",
        "38=0",
        "44=1,5",
        "60=noon",
        "7003=maybe",
        "11=two words",
    ];
    check(
        &changes,
        &expect![[r#"
            54= => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 99 text missing-field: Side (54) is needed
            38= => 8(X) 8/8 id NONE of 0 cum 0 leaves 0 avg 0 reason 99 text missing-field: OrderQty (38) is needed
            40= => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 99 text missing-field: OrdType (40) is needed
            60= => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 99 text missing-field: TransactTime (60) is needed
            48= => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 99 text missing-field: Symbol (55) is needed
            54=5 => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 99 text bad-field: Side (54) 5 is not 1 (buy) or 2 (sell)
            38=ten => 8(X) 8/8 id NONE of 0 cum 0 leaves 0 avg 0 reason 99 text bad-field: OrderQty (38) ten is not a decimal
            38=+5 => 8(X) 8/8 id NONE of 0 cum 0 leaves 0 avg 0 reason 99 text bad-field: OrderQty (38) +5 is not a decimal
            38=1_000 => 8(X) 8/8 id NONE of 0 cum 0 leaves 0 avg 0 reason 99 text bad-field: OrderQty (38) 1_000 is not a decimal
            38=0 => 8(X) 8/8 id NONE of 0 cum 0 leaves 0 avg 0 reason 13 text not-positive: quantity 0 must be more than zero
            44=1,5 => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 99 text bad-field: Price (44) 1,5 is not a decimal
            60=noon => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 99 text bad-field: TransactTime (60) noon is not a UTC time such as 20260105-14:30:00
            7003=maybe => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 99 text bad-field: ExchangeOrder (7003) maybe is not Y or N
            11=two words => 8(two words) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 99 text bad-field: ClOrdID (11) two words is not 1 to 64 printable characters without a blank
        "#]],
    );
}

#[test]
fn a_security_by_id_isin_ric_or_symbol() {
    let changes = [
        "48=1",
        "48=US0378331005|22=4",
        "48=AAPL.O|22=5",
        "48=|55=IBM",
        "48=|55=AAPL",
        "48=|55=AAPL|207=BET",
        "48=|55=AAPL|100=XALP",
        "48=77",
        "48=US0000000000|22=4",
        "48=|55=NOBODY",
        "207=NOWHERE",
        "48=1|55=AAPL",
        "48=1|55=[N/A]",
        "48=1|55=IBM",
        "48=US0378331005|22=4|55=IBM",
        "48=1|22=8",
    ];
    check(
        &changes,
        &expect![[r#"
            48=1 => 8(X) A/A id X of 100 cum 0 leaves 100 avg 0
            48=US0378331005|22=4 => 8(X) A/A id X of 100 cum 0 leaves 100 avg 0
            48=AAPL.O|22=5 => 8(X) A/A id X of 100 cum 0 leaves 100 avg 0
            48=|55=IBM => 8(X) A/A id X of 100 cum 0 leaves 100 avg 0
            48=|55=AAPL => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 1 text security-ambiguous: Symbol (55) AAPL is listed on several exchanges, say which by 207
            48=|55=AAPL|207=BET => 8(X) A/A id X of 100 cum 0 leaves 100 avg 0
            48=|55=AAPL|100=XALP => 8(X) A/A id X of 100 cum 0 leaves 100 avg 0
            48=77 => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 1 text unknown-security: SecurityID (48) 77 is not known
            48=US0000000000|22=4 => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 1 text unknown-security: SecurityID (48) US0000000000 is not known
            48=|55=NOBODY => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 1 text unknown-security: Symbol (55) NOBODY is not known
            207=NOWHERE => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 99 text unknown-exchange: SecurityExchange (207) NOWHERE is not known
            48=1|55=AAPL => 8(X) A/A id X of 100 cum 0 leaves 100 avg 0
            48=1|55=[N/A] => 8(X) A/A id X of 100 cum 0 leaves 100 avg 0
            48=1|55=IBM => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 1 text security-ambiguous: SecurityID (48) 1 is AAPL, but Symbol (55) is IBM
            48=US0378331005|22=4|55=IBM => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 1 text security-ambiguous: SecurityID (48) US0378331005 is AAPL, but Symbol (55) is IBM
            48=1|22=8 => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 99 text bad-field: SecurityIDSource (22) 8 is not 4 (ISIN) or 5 (RIC)
        "#]],
    );
}

#[test]
fn account_strategy_and_exchange() {
    let changes = [
        "1=1",
        "1=MAIN",
        "1=9",
        "7001=7",
        "7002=MOMENTUM",
        "7001=7|7002=SERVER",
        "7001=8",
        "7002=NOBODY",
        "100=2",
        "7003=Y",
    ];
    check(
        &changes,
        &expect![[r#"
        1=1 => 8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        1=MAIN => 8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        1=9 => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 15 text unknown-account: Account (1) 9 is not known
        7001=7 => 8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        7002=MOMENTUM => 8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        7001=7|7002=SERVER => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 99 text strategy-ambiguous: StrategyID (7001) and StrategyName (7002) mean different strategies
        7001=8 => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 99 text unknown-strategy: StrategyID (7001) 8 is not known
        7002=NOBODY => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 99 text unknown-strategy: strategy NOBODY is not known
        100=2 => 8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 99 text no-route: security 1 is not listed on exchange 2, but on exchange 1
        7003=Y => 8(X) A/A id X of 100 cum 0 leaves 100 avg 0
    "#]],
    );
}

#[test]
fn requests_name_what_is_wrong_too() {
    let story = [
        with(""),
        "35=G|11=Y|41=X|38=100|40=2|44=10|60=20261116-12:00:00".into(),
        "35=G|11=Y|41=X|54=1|40=2|44=10".into(),
        "35=G|11=Y|41=X|54=1|38=100|40=2".into(),
        "35=G|11=Y|41=X|54=2|38=100|40=2|44=10".into(),
        "35=G|11=Y|41=X|54=1|38=100|40=1".into(),
        "35=G|11=Y|41=X|54=1|38=100|40=2|44=10|55=IBM".into(),
        "35=G|11=Y|41=|54=1|38=100|40=2|44=10".into(),
        "35=F|11=Y".into(),
        "35=F|11=Y|41=X|54=9".into(),
        "35=F|11=Y|41=not here".into(),
        "35=F|11=Y|41=X|54=2".into(),
        with("11=Z"),
        "35=F|11=Y|41=X|37=Z".into(),
        "35=F|11=Y|41=X|37=elsewhere".into(),
        "35=G|11=Y|41=X|37=Z|54=1|38=100|40=2|44=10".into(),
        "35=F|11=Y|41=X|37=X|54=1".into(),
    ];
    expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        35=G|11=Y|41=X|38=100|40=2|44=10|60=20261116-12:00:00
            9(Y,X) 39=A id X to 2 reason 99 text missing-field: Side (54) is needed
        35=G|11=Y|41=X|54=1|40=2|44=10
            9(Y,X) 39=A id X to 2 reason 99 text missing-field: OrderQty (38) is needed
        35=G|11=Y|41=X|54=1|38=100|40=2
            9(Y,X) 39=A id X to 2 reason 99 text missing-field: Price (44) is needed
        35=G|11=Y|41=X|54=2|38=100|40=2|44=10
            9(Y,X) 39=A id X to 2 reason 99 text field-fixed: side of an order cannot be changed
        35=G|11=Y|41=X|54=1|38=100|40=1
            9(Y,X) 39=A id X to 2 reason 99 text field-fixed: objectType of an order cannot be changed
        35=G|11=Y|41=X|54=1|38=100|40=2|44=10|55=IBM
            9(Y,X) 39=A id X to 2 reason 99 text field-fixed: securityId of an order cannot be changed
        35=G|11=Y|41=|54=1|38=100|40=2|44=10
            9(Y,NONE) 39=8 id NONE to 2 reason 99 text missing-field: OrigClOrdID (41) is needed
        35=F|11=Y
            9(Y,NONE) 39=8 id NONE to 1 reason 99 text missing-field: OrigClOrdID (41) is needed
        35=F|11=Y|41=X|54=9
            9(Y,X) 39=A id X to 1 reason 99 text bad-field: Side (54) 9 is not 1 (buy) or 2 (sell)
        35=F|11=Y|41=not here
            9(Y,not here) 39=8 id NONE to 1 reason 1 text unknown-order: order not here is not known
        35=F|11=Y|41=X|54=2
            9(Y,X) 39=A id X to 1 reason 99 text other-order: side is not that of order X
        35=D|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1|11=Z
            8(Z) A/A id Z of 100 cum 0 leaves 100 avg 0
        35=F|11=Y|41=X|37=Z
            9(Y,X) 39=A id X to 1 reason 99 text other-order: orderId is not that of order X
        35=F|11=Y|41=X|37=elsewhere
            9(Y,X) 39=A id X to 1 reason 99 text other-order: orderId is not that of order X
        35=G|11=Y|41=X|37=Z|54=1|38=100|40=2|44=10
            9(Y,X) 39=A id X to 2 reason 99 text other-order: orderId is not that of order X
        35=F|11=Y|41=X|37=X|54=1
            8(Y,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
    "#]]
    .assert_eq(&GatewayHarness::literal().run(&story.join("\n")));
}
