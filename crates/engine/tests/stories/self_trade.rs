//! Self-trade prevention: which orders of one account would trade with each other, and what each policy does.

use domain::risk::SelfTradePrevention;
use domain::{AccountId, RiskLimits, RiskScope};
use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(policy: SelfTradePrevention, story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    world.limits(RiskScope::Platform, RiskLimits { self_trade: Some(policy), ..RiskLimits::default() });
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn orders_that_cannot_rest_block_no_own_order() {
    check(
        SelfTradePrevention::RejectNewest,
        "place 1 buy 1 AAPL market
         place 2 sell 1 AAPL market
         place 3 buy 1 AAPL market strategy 2
         place 4 sell 1 AAPL @ 10 IOC
         place 5 buy 1 AAPL @ 10.02 FOK
         place 6 sell 1 AAPL @ 10.02
         venue accepts 1
         venue accepts 3
         place 7 sell 1 AAPL market",
        expect![[r#"
            place 1 buy 1 AAPL market
                1 OPEN
                to SIM-A: submit 1
            place 2 sell 1 AAPL market
                2 OPEN
                to SIM-A: submit 2
            place 3 buy 1 AAPL market strategy 2
                3 OPEN
                to SIM-A: submit 3
            place 4 sell 1 AAPL @ 10 IOC
                4 OPEN
                to SIM-A: submit 4
            place 5 buy 1 AAPL @ 10.02 FOK
                5 OPEN
                to SIM-A: submit 5
            place 6 sell 1 AAPL @ 10.02
                6 OPEN
                to SIM-A: submit 6
            venue accepts 1
                1 SUBMITTED
            venue accepts 3
                3 SUBMITTED
            place 7 sell 1 AAPL market
                7 OPEN
                to SIM-A: submit 7
        "#]],
    );
}

#[test]
fn a_limit_on_its_way_may_come_to_rest() {
    check(
        SelfTradePrevention::RejectNewest,
        "place 1 buy 1 AAPL @ 10
         place 2 sell 1 AAPL market strategy 2
         check sell 1 AAPL market
         place 3 sell 1 AAPL @ 10 IOC
         place 4 sell 1 AAPL @ 10.01
         place 5 sell 1 AAPL market account 2
         venue cancels 1
         place 6 sell 1 AAPL market",
        expect![[r#"
            place 1 buy 1 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            place 2 sell 1 AAPL market strategy 2
                refused self-trade: would trade with the account's own order 1
            check sell 1 AAPL market
                refused self-trade, notional 10, fee 0.005
            place 3 sell 1 AAPL @ 10 IOC
                refused self-trade: would trade with the account's own order 1
            place 4 sell 1 AAPL @ 10.01
                4 OPEN
                to SIM-A: submit 4
            place 5 sell 1 AAPL market account 2
                refused no-route: account 2 has no route to exchange 1
            venue cancels 1
                1 CANCELED
            place 6 sell 1 AAPL market
                6 OPEN
                to SIM-A: submit 6
        "#]],
    );
}

#[test]
fn an_untriggered_stop_trades_with_no_own_order() {
    check(
        SelfTradePrevention::RejectNewest,
        "place 1 sell 1 AAPL stop 9
         place 2 sell 1 AAPL stop 9 @ 8.9
         place 3 buy 1 AAPL market
         place 4 buy 1 AAPL @ 10
         place 5 sell 1 AAPL stop 9.5",
        expect![[r#"
            place 1 sell 1 AAPL stop 9
                1 OPEN
                to SIM-A: submit 1
            place 2 sell 1 AAPL stop 9 @ 8.9
                2 OPEN
                to SIM-A: submit 2
            place 3 buy 1 AAPL market
                3 OPEN
                to SIM-A: submit 3
            place 4 buy 1 AAPL @ 10
                4 OPEN
                to SIM-A: submit 4
            place 5 sell 1 AAPL stop 9.5
                5 OPEN
                to SIM-A: submit 5
        "#]],
    );
}

#[test]
fn only_orders_for_the_same_auction_meet_in_it() {
    check(
        SelfTradePrevention::RejectNewest,
        "wait 79200
         clock
         mark SAP 100 100.1
         place 1 sell 1 SAP market ATC
         place 2 buy 1 SAP market
         place 3 buy 1 SAP @ 101 IOC
         place 4 buy 1 SAP market ATO
         place 5 buy 1 SAP market ATC
         place 6 buy 1 SAP @ 100 ATC
         place 7 buy 1 SAP @ 99.9 ATC
         place 8 buy 1 SAP @ 100 GTC
         place 9 sell 1 SAP market ATO",
        expect![[r#"
            wait 79200
            clock
            mark SAP 100 100.1
            place 1 sell 1 SAP market ATC
                1 OPEN
                to SIM-B: submit 1
            place 2 buy 1 SAP market
                2 OPEN
                to SIM-B: submit 2
            place 3 buy 1 SAP @ 101 IOC
                3 OPEN
                to SIM-B: submit 3
            place 4 buy 1 SAP market ATO
                4 OPEN
                to SIM-B: submit 4
            place 5 buy 1 SAP market ATC
                refused self-trade: would trade with the account's own order 1
            place 6 buy 1 SAP @ 100 ATC
                refused self-trade: would trade with the account's own order 1
            place 7 buy 1 SAP @ 99.9 ATC
                7 OPEN
                to SIM-B: submit 7
            place 8 buy 1 SAP @ 100 GTC
                refused self-trade: would trade with the account's own order 1
            place 9 sell 1 SAP market ATO
                refused self-trade: would trade with the account's own order 4
        "#]],
    );
}

#[test]
fn market_orders_rest_while_an_auction_is_called() {
    check(
        SelfTradePrevention::RejectNewest,
        "wait 84120
         clock
         mark SAP 100 100.1
         place 1 sell 1 SAP market
         place 2 buy 1 SAP market
         place 3 buy 1 SAP market ATC
         place 4 buy 1 SAP market ATO",
        expect![[r#"
            wait 84120
            clock
            mark SAP 100 100.1
            place 1 sell 1 SAP market
                1 OPEN
                to SIM-B: submit 1
            place 2 buy 1 SAP market
                refused self-trade: would trade with the account's own order 1
            place 3 buy 1 SAP market ATC
                refused self-trade: would trade with the account's own order 1
            place 4 buy 1 SAP market ATO
                4 OPEN
                to SIM-B: submit 4
        "#]],
    );
}

#[test]
fn both_are_cancelled() {
    check(
        SelfTradePrevention::CancelBoth,
        "place 1 buy 1 AAPL @ 10
         venue accepts 1
         check sell 5 AAPL @ 10
         place 2 sell 5 AAPL @ 10
         venue cancels 1
         place 3 sell 5 AAPL @ 10",
        expect![[r#"
            place 1 buy 1 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            check sell 5 AAPL @ 10
                would pass, notional 50, fee 0.025
            place 2 sell 5 AAPL @ 10
                2 OPEN
                1 PENDING_CANCEL (self-trade: order 2 of the same account meets it)
                2 CANCELED (self-trade: would trade with the account's own order 1)
                to SIM-A: cancel 1
            venue cancels 1
                1 CANCELED (self-trade: order 2 of the same account meets it)
            place 3 sell 5 AAPL @ 10
                3 OPEN
                to SIM-A: submit 3
        "#]],
    );
}

#[test]
fn self_trades_are_allowed_by_policy() {
    check(
        SelfTradePrevention::Allow,
        "place 1 buy 1 AAPL @ 10
         place 2 sell 1 AAPL @ 10",
        expect![[r#"
            place 1 buy 1 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            place 2 sell 1 AAPL @ 10
                2 OPEN
                to SIM-A: submit 2
        "#]],
    );
}

#[test]
fn the_policy_of_an_account_comes_before_that_of_the_platform() {
    let mut world = StoryEngine::open();
    let with = |policy| RiskLimits { self_trade: Some(policy), ..RiskLimits::default() };
    world.limits(RiskScope::Platform, with(SelfTradePrevention::RejectNewest));
    world.limits(RiskScope::Account(AccountId(1)), with(SelfTradePrevention::CancelBoth));
    world.limits(RiskScope::Strategy(domain::StrategyId::SERVER), with(SelfTradePrevention::Allow));
    expect![[r#"
        place 1 buy 1 AAPL @ 10
            1 OPEN
            to SIM-A: submit 1
        place 2 sell 1 AAPL @ 10
            2 OPEN
            1 PENDING_CANCEL (self-trade: order 2 of the same account meets it)
            2 CANCELED (self-trade: would trade with the account's own order 1)
            to SIM-A: cancel 1
        wait 79200
        clock
            Warn no-answer: order 1: the venue has not answered for 10 s
            1 PENDING_CANCEL (the venue has not answered for 10 s)
            to SIM-A: ask about 1
        mark SAP 100 100.1
        place 3 buy 1 SAP @ 100
            3 OPEN
            to SIM-B: submit 3
        place 4 sell 1 SAP @ 100
            refused self-trade: would trade with the account's own order 3
    "#]]
    .assert_eq(&world.run(
        "place 1 buy 1 AAPL @ 10
         place 2 sell 1 AAPL @ 10
         wait 79200
         clock
         mark SAP 100 100.1
         place 3 buy 1 SAP @ 100
         place 4 sell 1 SAP @ 100",
    ));
}

#[test]
fn a_waiting_order_is_withdrawn_for_a_reduction_without_a_message_to_the_venue() {
    check(
        SelfTradePrevention::CancelResting,
        "place 1 buy 10 AAPL market
         venue accepts 1
         venue fills 1 10 @ 10 x1
         place 2 buy 1 AAPL @ 9
         venue accepts 2
         place 3 sell 8 AAPL @ 9
         reduce 1 5
         venue cancels 2
         open",
        expect![[r#"
            place 1 buy 10 AAPL market
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 10 @ 10 x1
                fill 1 10 @ 10
                booked BUY 10 @ 10
                position 1 of 10 cost 100 realised 0
                cash USD 99899.95
                1 EXECUTED filled 10
            place 2 buy 1 AAPL @ 9
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            place 3 sell 8 AAPL @ 9
                3 OPEN (waits for the venue to cancel order 2)
                2 PENDING_CANCEL (self-trade: order 3 of the same account meets it)
                to SIM-A: cancel 2
            reduce 1 5
                A-1 OPEN (waits for the venue to cancel order 3)
                3 PENDING_CANCEL (position-closed)
                3 CANCELED (position-closed)
                A-1 OPEN
                to SIM-A: submit A-1
            venue cancels 2
                2 CANCELED (self-trade: order 3 of the same account meets it)
            open
                A-1 OPEN 0 of 5 MarketOrder
        "#]],
    );
}

#[test]
fn an_order_that_is_being_replaced_may_trade_at_either_price() {
    check(
        SelfTradePrevention::RejectNewest,
        "place 1 sell 1 AAPL @ 11
         venue accepts 1
         modify 1 to 1 @ 10.5
         place 2 buy 1 AAPL @ 10.6
         venue refuses-replace 1
         place 3 buy 1 AAPL @ 10.6
         venue cancels 3
         modify 1 to 1 @ 12
         place 4 buy 1 AAPL @ 11
         venue replaces 1
         place 5 buy 1 AAPL @ 11",
        expect![[r#"
            place 1 sell 1 AAPL @ 11
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            modify 1 to 1 @ 10.5
                1 PENDING_REPLACE
                to SIM-A: replace 1 with 1 @ 10.5
            place 2 buy 1 AAPL @ 10.6
                refused self-trade: would trade with the account's own order 1
            venue refuses-replace 1
                1 SUBMITTED (too late)
            place 3 buy 1 AAPL @ 10.6
                3 OPEN
                to SIM-A: submit 3
            venue cancels 3
                3 CANCELED
            modify 1 to 1 @ 12
                1 PENDING_REPLACE
                to SIM-A: replace 1 with 1 @ 12
            place 4 buy 1 AAPL @ 11
                refused self-trade: would trade with the account's own order 1
            venue replaces 1
                1 SUBMITTED
            place 5 buy 1 AAPL @ 11
                5 OPEN
                to SIM-A: submit 5
        "#]],
    );
}
