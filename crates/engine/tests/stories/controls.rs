//! Rates of sessions, repeated executions, restricted lists.

use domain::command::{Command, PlaceOrder};
use domain::order::OrderKind;
use domain::risk::{BurstLimit, EngineSettings, RiskLimits, RiskScope};
use domain::{AccountId, Price, SecurityId, Side, Source, StrategyId, TimeInForce};
use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(scope: RiskScope, limits: RiskLimits, story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    world.limits(scope, limits);
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

fn none() -> RiskLimits {
    RiskLimits::default()
}

fn order(id: &str) -> Command {
    Command::Place(PlaceOrder {
        int_id: Some(id.parse().unwrap()),
        cl_ord_id: None,
        security: SecurityId(1),
        account: None,
        strategy: None,
        exchange: None,
        side: Side::Buy,
        quantity: 1.into(),
        kind: OrderKind::Limit { limit: Price::from(10) },
        tif: TimeInForce::Day,
        exchange_order: false,
        reference: None,
        properties: domain::OrderProperties::default(),
        pass_through: None,
    })
}

#[test]
fn a_change_counts_as_an_order_and_a_cancel_does_not() {
    check(
        RiskScope::Platform,
        RiskLimits { orders_per_second: Some(3), ..none() },
        "place 1 buy 1 AAPL @ 10
         venue accepts 1
         modify 1 to 2 @ 10
         venue replaces 1
         modify 1 to 3 @ 10
         venue replaces 1
         check modify 1 to 4 @ 10
         modify 1 to 4 @ 10
         place 2 buy 1 AAPL @ 10
         cancel 1
         wait 1
         place 2 buy 1 AAPL @ 10",
        expect![[r#"
            place 1 buy 1 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            modify 1 to 2 @ 10
                1 PENDING_REPLACE
                to SIM-A: replace 1 with 2 @ 10
            venue replaces 1
                1 SUBMITTED
            modify 1 to 3 @ 10
                1 PENDING_REPLACE
                to SIM-A: replace 1 with 3 @ 10
            venue replaces 1
                1 SUBMITTED
            check modify 1 to 4 @ 10
                refused order-rate, notional 40, fee 0.02
            modify 1 to 4 @ 10
                refused order-rate: PLATFORM: 4 is above the limit of 3
            place 2 buy 1 AAPL @ 10
                refused order-rate: PLATFORM: 4 is above the limit of 3
            cancel 1
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            wait 1
            place 2 buy 1 AAPL @ 10
                2 OPEN
                to SIM-A: submit 2
        "#]],
    );
}

#[test]
fn a_session_that_sends_too_much_may_only_cancel() {
    check(
        RiskScope::Account(AccountId(1)),
        RiskLimits { messages_per_second: Some(3), ..none() },
        "place 1 buy 1 AAPL @ 10
         place 2 buy 1 AAPL @ 10
         cancel 1
         check buy 1 AAPL @ 10
         place 3 buy 1 AAPL @ 10
         venue accepts 2
         modify 2 to 2 @ 10
         cancel 2
         wait 1
         place 4 buy 1 AAPL @ 10",
        expect![[r#"
            place 1 buy 1 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            place 2 buy 1 AAPL @ 10
                2 OPEN
                to SIM-A: submit 2
            cancel 1
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            check buy 1 AAPL @ 10
                refused message-rate, notional 10, fee 0.005
            place 3 buy 1 AAPL @ 10
                refused message-rate: ACCOUNT-1: 4 is above the limit of 3
            venue accepts 2
                2 SUBMITTED
            modify 2 to 2 @ 10
                refused message-rate: ACCOUNT-1: 4 is above the limit of 3
            cancel 2
                2 PENDING_CANCEL
                to SIM-A: cancel 2
            wait 1
            place 4 buy 1 AAPL @ 10
                4 OPEN
                to SIM-A: submit 4
        "#]],
    );
}

#[test]
fn every_session_has_its_own_message_rate() {
    let mut world = StoryEngine::open();
    world.limits(RiskScope::Platform, RiskLimits { messages_per_second: Some(1), ..none() });
    let mut place = |source: Source, id: &str| {
        let placed = world.command_of(source, order(id));
        placed.map_or_else(|refusal| refusal.code(), |_| "accepted")
    };
    let (one, other) = (Source::Fix("ONE".into()), Source::Fix("OTHER".into()));
    assert_eq!(place(one.clone(), "1"), "accepted");
    assert_eq!(place(one, "2"), "message-rate");
    assert_eq!(place(other, "3"), "accepted");
    assert_eq!(place(Source::Rest, "4"), "accepted");
    assert_eq!(place(Source::Ui, "5"), "message-rate", "the screen of a user is a client of REST");
    assert_eq!(place(Source::Platform, "6"), "accepted");
}

#[test]
fn executed_orders_that_repeat_too_fast_halt_the_strategy_until_it_is_resumed() {
    check(
        RiskScope::Strategy(StrategyId::SERVER),
        RiskLimits { execution_breaker: Some(BurstLimit { count: 2, millis: 60_000 }), ..none() },
        "place 1 buy 2 AAPL @ 10
         venue fills 1 1 @ 10 x1
         venue fills 1 1 @ 10 x2
         wait 60
         place 2 buy 1 AAPL @ 10
         venue fills 2 1 @ 10 x3
         place 3 buy 1 AAPL @ 10
         venue fills 3 1 @ 10 x4
         place 4 sell 1 AAPL @ 10
         set STRATEGY-1 ACTIVE
         place 5 buy 1 AAPL @ 10",
        expect![[r#"
            place 1 buy 2 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue fills 1 1 @ 10 x1
                fill 1 1 @ 10
                booked BUY 1 @ 10
                position 1 of 1 cost 10 realised 0
                cash USD 99989.995
                1 PARTIALLY_EXECUTED filled 1
            venue fills 1 1 @ 10 x2
                fill 1 1 @ 10
                booked BUY 1 @ 10
                position 1 of 2 cost 20 realised 0
                cash USD 99979.99
                1 EXECUTED filled 2
            wait 60
            place 2 buy 1 AAPL @ 10
                2 OPEN
                to SIM-A: submit 2
            venue fills 2 1 @ 10 x3
                fill 2 1 @ 10
                booked BUY 1 @ 10
                position 1 of 3 cost 30 realised 0
                cash USD 99969.985
                2 EXECUTED filled 1
            place 3 buy 1 AAPL @ 10
                3 OPEN
                to SIM-A: submit 3
            venue fills 3 1 @ 10 x4
                fill 3 1 @ 10
                booked BUY 1 @ 10
                position 1 of 4 cost 40 realised 0
                cash USD 99959.98
                3 EXECUTED filled 1
                Error trading-restricted: STRATEGY-1 is HALTED: 2 executed orders within 60000 ms
                STRATEGY-1 is HALTED
            place 4 sell 1 AAPL @ 10
                refused trading-halted: trading is HALTED for STRATEGY-1
            set STRATEGY-1 ACTIVE
                STRATEGY-1 is ACTIVE
            place 5 buy 1 AAPL @ 10
                5 OPEN
                to SIM-A: submit 5
        "#]],
    );
}

#[test]
fn a_restricted_security_may_only_be_cancelled() {
    let mut world = StoryEngine::open();
    let mut told = world.run(
        "place 1 buy 10 AAPL @ 10
         venue fills 1 10 @ 10 x1
         place 2 buy 1 AAPL @ 9",
    );
    let limits = RiskLimits { restricted_securities: Some([SecurityId(1)].into()), ..none() };
    world.limits(RiskScope::Account(AccountId(1)), limits);
    told += &world.run(
        "check buy 1 AAPL @ 10
         place 3 buy 1 AAPL @ 10
         place 4 sell 10 AAPL @ 10
         modify 2 to 2 @ 9
         cancel 2
         place 5 buy 1 ES @ 5000",
    );
    expect![[r#"
        place 1 buy 10 AAPL @ 10
            1 OPEN
            to SIM-A: submit 1
        venue fills 1 10 @ 10 x1
            fill 1 10 @ 10
            booked BUY 10 @ 10
            position 1 of 10 cost 100 realised 0
            cash USD 99899.95
            1 EXECUTED filled 10
        place 2 buy 1 AAPL @ 9
            2 OPEN
            to SIM-A: submit 2
        check buy 1 AAPL @ 10
            refused restricted-security, notional 10, fee 0.005
        place 3 buy 1 AAPL @ 10
            refused restricted-security: security 1 is on the restricted list of ACCOUNT-1: only cancels are allowed
        place 4 sell 10 AAPL @ 10
            refused restricted-security: security 1 is on the restricted list of ACCOUNT-1: only cancels are allowed
        modify 2 to 2 @ 9
            refused restricted-security: security 1 is on the restricted list of ACCOUNT-1: only cancels are allowed
        cancel 2
            2 PENDING_CANCEL
            to SIM-A: cancel 2
        place 5 buy 1 ES @ 5000
            5 OPEN
            to SIM-A: submit 5
    "#]]
    .assert_eq(&told);
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn a_short_sale_reserves_half_of_its_notional_for_the_part_that_opens() {
    check(
        RiskScope::Platform,
        none(),
        "check sell 20001 AAPL @ 10
         check sell 20000 AAPL @ 10
         place 1 buy 1000 AAPL @ 10
         venue fills 1 1000 @ 10 x1
         check sell 1000 AAPL @ 10
         place 2 sell 1000 AAPL @ 10
         place 3 sell 17998 AAPL @ 10
         place 4 sell 2 AAPL @ 10
         venue accepts 3
         modify 3 to 18000 @ 10
         cancel 3
         venue cancels 3
         place 5 sell 2 AAPL @ 10",
        expect![[r#"
            check sell 20001 AAPL @ 10
                refused insufficient-cash, notional 200010, fee 100.005
            check sell 20000 AAPL @ 10
                would pass, notional 200000, fee 100
            place 1 buy 1000 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue fills 1 1000 @ 10 x1
                fill 1 1000 @ 10
                booked BUY 1000 @ 10
                position 1 of 1000 cost 10000 realised 0
                cash USD 89995
                1 EXECUTED filled 1000
            check sell 1000 AAPL @ 10
                would pass, notional 10000, fee 5
            place 2 sell 1000 AAPL @ 10
                2 OPEN
                to SIM-A: submit 2
            place 3 sell 17998 AAPL @ 10
                3 OPEN
                to SIM-A: submit 3
            place 4 sell 2 AAPL @ 10
                refused insufficient-cash: needs 10 USD, available are 5 USD
            venue accepts 3
                3 SUBMITTED
            modify 3 to 18000 @ 10
                refused insufficient-cash: needs 10 USD, available are 5 USD
            cancel 3
                3 PENDING_CANCEL
                to SIM-A: cancel 3
            venue cancels 3
                3 CANCELED
            place 5 sell 2 AAPL @ 10
                5 OPEN
                to SIM-A: submit 5
        "#]],
    );
}

#[test]
fn without_a_rate_a_short_sale_needs_nothing_as_in_journals_of_before() {
    let mut world = StoryEngine::open();
    let before = EngineSettings { short_margin_rate: Default::default(), ..EngineSettings::default() };
    world.command(Command::Configure(before)).unwrap();
    expect![[r#"
        check sell 100000 AAPL @ 10
            would pass, notional 1000000, fee 500
    "#]]
    .assert_eq(&world.run("check sell 100000 AAPL @ 10"));
}

#[test]
fn a_journal_of_before_modifications_were_counted_is_replayed_as_it_was() {
    let mut world = StoryEngine::open();
    let before = EngineSettings { counts_modifications: false, ..EngineSettings::default() };
    world.command(Command::Configure(before)).unwrap();
    world.limits(RiskScope::Platform, RiskLimits { orders_per_second: Some(1), ..none() });
    let story = "place 1 buy 1 AAPL @ 10
                 venue accepts 1
                 modify 1 to 2 @ 10";
    expect![[r#"
        place 1 buy 1 AAPL @ 10
            1 OPEN
            to SIM-A: submit 1
        venue accepts 1
            1 SUBMITTED
        modify 1 to 2 @ 10
            1 PENDING_REPLACE
            to SIM-A: replace 1 with 2 @ 10
    "#]]
    .assert_eq(&world.run(story));
}
