//! Risk checks at their limits.

use domain::risk::{BurstLimit, RiskLimits, RiskScope, SelfTradePrevention};
use domain::{AccountId, StrategyId};
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

#[test]
fn cash_is_reserved_by_open_orders_and_freed_when_they_end() {
    check(
        RiskScope::Platform,
        none(),
        "place 1 buy 9000 AAPL @ 10
         place 2 buy 1000 AAPL @ 10
         place 3 sell 1000 AAPL @ 10
         venue accepts 1
         cancel 1
         venue cancels 1
         place 4 buy 9000 AAPL @ 10",
        expect![[r#"
            place 1 buy 9000 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            place 2 buy 1000 AAPL @ 10
                refused insufficient-cash: needs 10005 USD, available are 9955 USD
            place 3 sell 1000 AAPL @ 10
                3 OPEN
                to SIM-A: submit 3
            venue accepts 1
                1 SUBMITTED
            cancel 1
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            venue cancels 1
                1 CANCELED
            place 4 buy 9000 AAPL @ 10
                4 OPEN
                to SIM-A: submit 4
        "#]],
    );
}

#[test]
fn a_future_needs_its_margin() {
    check(
        RiskScope::Platform,
        none(),
        "check buy 4 ES @ 5000
         check buy 5 ES @ 5000
         check sell 5 ES @ 5000",
        expect![[r#"
            check buy 4 ES @ 5000
                would pass, notional 1000000, fee 0
            check buy 5 ES @ 5000
                refused insufficient-cash, notional 1250000, fee 0
            check sell 5 ES @ 5000
                refused insufficient-cash, notional 1250000, fee 0
        "#]],
    );
}

#[test]
fn a_change_is_tried_on_the_difference_and_leaves_no_trace() {
    check(
        RiskScope::Platform,
        none(),
        "place 1 buy 9000 AAPL @ 10
         check buy 9900 AAPL @ 10
         check modify 1 to 9900 @ 10
         check modify 1 to 10000 @ 10
         check modify 2 to 1 @ 10
         modify 1 to 9900 @ 10
         check modify 1 to 9000 @ 10
         cancel 1",
        expect![[r#"
            place 1 buy 9000 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            check buy 9900 AAPL @ 10
                refused insufficient-cash, notional 99000, fee 49.5
            check modify 1 to 9900 @ 10
                would pass, notional 99000, fee 49.5
            check modify 1 to 10000 @ 10
                refused insufficient-cash, notional 100000, fee 50
            check modify 2 to 1 @ 10
                refused unknown-order, notional -, fee -
            modify 1 to 9900 @ 10
                1 PENDING_REPLACE
                to SIM-A: replace 1 with 9900 @ 10
            check modify 1 to 9000 @ 10
                refused replace-pending, notional 90000, fee 45
            cancel 1
                1 PENDING_CANCEL
                to SIM-A: cancel 1
        "#]],
    );
}

#[test]
fn size_limits_bind_at_the_limit_and_not_before() {
    check(
        RiskScope::Account(AccountId(1)),
        RiskLimits { max_order_quantity: Some(100.into()), max_order_notional: Some(900.into()), ..none() },
        "place 1 buy 90 AAPL @ 10
         place 2 buy 91 AAPL @ 10
         place 3 buy 101 AAPL @ 1
         modify 1 to 91 @ 10
         venue accepts 1
         modify 1 to 89 @ 10",
        expect![[r#"
            place 1 buy 90 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            place 2 buy 91 AAPL @ 10
                refused max-order-notional: ACCOUNT-1: 910 is above the limit of 900
            place 3 buy 101 AAPL @ 1
                refused max-order-quantity: ACCOUNT-1: 101 is above the limit of 100
            modify 1 to 91 @ 10
                refused max-order-notional: ACCOUNT-1: 910 is above the limit of 900
            venue accepts 1
                1 SUBMITTED
            modify 1 to 89 @ 10
                1 PENDING_REPLACE
                to SIM-A: replace 1 with 89 @ 10
        "#]],
    );
}

#[test]
fn the_collar_guards_the_aggressive_side_only() {
    check(
        RiskScope::Platform,
        RiskLimits { price_collar_percent: Some(10.into()), ..none() },
        "place 1 buy 1 AAPL @ 11.01
         place 2 buy 1 AAPL @ 11.02
         place 3 buy 1 AAPL @ 1
         place 4 sell 1 AAPL @ 9
         place 5 sell 1 AAPL @ 100
         place 6 buy 1 AAPL stop 20 @ 21",
        expect![[r#"
            place 1 buy 1 AAPL @ 11.01
                1 OPEN
                to SIM-A: submit 1
            place 2 buy 1 AAPL @ 11.02
                refused price-collar: price 11.02 is more than 10 % through the reference of 10.01
            place 3 buy 1 AAPL @ 1
                3 OPEN
                to SIM-A: submit 3
            place 4 sell 1 AAPL @ 9
                refused price-collar: price 9 is more than 10 % through the reference of 10.01
            place 5 sell 1 AAPL @ 100
                5 OPEN
                to SIM-A: submit 5
            place 6 buy 1 AAPL stop 20 @ 21
                6 OPEN
                to SIM-A: submit 6
        "#]],
    );
}

#[test]
fn the_order_rate_refuses_and_refills() {
    check(
        RiskScope::Strategy(StrategyId::SERVER),
        RiskLimits { orders_per_second: Some(2), ..none() },
        "place 1 buy 1 AAPL @ 10
         place 2 buy 1 AAPL @ 10
         place 3 buy 1 AAPL @ 10
         place 4 buy 1 AAPL @ 10 DAY strategy 2
         wait 1
         place 5 buy 1 AAPL @ 10",
        expect![[r#"
            place 1 buy 1 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            place 2 buy 1 AAPL @ 10
                2 OPEN
                to SIM-A: submit 2
            place 3 buy 1 AAPL @ 10
                refused order-rate: STRATEGY-1: 3 is above the limit of 2
            place 4 buy 1 AAPL @ 10 DAY strategy 2
                4 OPEN
                to SIM-A: submit 4
            wait 1
            place 5 buy 1 AAPL @ 10
                5 OPEN
                to SIM-A: submit 5
        "#]],
    );
}

#[test]
fn the_same_order_again_and_again_is_refused() {
    check(
        RiskScope::Platform,
        RiskLimits { duplicate_guard: Some(BurstLimit { count: 2, millis: 1_000 }), ..none() },
        "place 1 buy 1 AAPL @ 10
         place 2 buy 1 AAPL @ 10
         place 3 buy 1 AAPL @ 10
         place 4 buy 2 AAPL @ 10
         wait 1
         place 5 buy 1 AAPL @ 10",
        expect![[r#"
            place 1 buy 1 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            place 2 buy 1 AAPL @ 10
                2 OPEN
                to SIM-A: submit 2
            place 3 buy 1 AAPL @ 10
                refused duplicate-content: PLATFORM: 3 is above the limit of 2
            place 4 buy 2 AAPL @ 10
                4 OPEN
                to SIM-A: submit 4
            wait 1
            place 5 buy 1 AAPL @ 10
                5 OPEN
                to SIM-A: submit 5
        "#]],
    );
}

#[test]
fn positions_and_open_orders_have_limits_and_reducing_orders_pass() {
    check(
        RiskScope::Platform,
        RiskLimits { max_long: Some(100.into()), max_open_orders: Some(2), ..none() },
        "place 1 buy 100 AAPL @ 10
         place 2 buy 1 AAPL @ 10
         venue fills 1 100 @ 10 x1
         place 3 buy 1 AAPL @ 10
         place 4 sell 60 AAPL @ 10
         place 5 sell 40 AAPL @ 11
         place 6 sell 1 AAPL @ 11
         place 7 sell 1 ES @ 5000",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            place 2 buy 1 AAPL @ 10
                refused max-position: PLATFORM: 101 is above the limit of 100
            venue fills 1 100 @ 10 x1
                fill 1 100 @ 10
                booked BUY 100 @ 10
                position 1 of 100 cost 1000 realised 0
                cash USD 98999.5
                1 EXECUTED filled 100
            place 3 buy 1 AAPL @ 10
                refused max-position: PLATFORM: 101 is above the limit of 100
            place 4 sell 60 AAPL @ 10
                4 OPEN
                to SIM-A: submit 4
            place 5 sell 40 AAPL @ 11
                5 OPEN
                to SIM-A: submit 5
            place 6 sell 1 AAPL @ 11
                refused max-open-orders: PLATFORM: 3 is above the limit of 2
            place 7 sell 1 ES @ 5000
                refused max-open-orders: PLATFORM: 3 is above the limit of 2
        "#]],
    );
}

#[test]
fn own_orders_do_not_meet() {
    check(
        RiskScope::Platform,
        RiskLimits { self_trade: Some(SelfTradePrevention::RejectNewest), ..none() },
        "place 1 buy 1 AAPL @ 10
         place 2 sell 1 AAPL @ 10
         place 3 sell 1 AAPL @ 10.01
         place 4 sell 1 AAPL market",
        expect![[r#"
            place 1 buy 1 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            place 2 sell 1 AAPL @ 10
                refused self-trade: would trade with the account's own order 1
            place 3 sell 1 AAPL @ 10.01
                3 OPEN
                to SIM-A: submit 3
            place 4 sell 1 AAPL market
                refused self-trade: would trade with the account's own order 1
        "#]],
    );
}

#[test]
fn too_many_rejects_halt() {
    check(
        RiskScope::Account(AccountId(1)),
        RiskLimits { reject_breaker: Some(BurstLimit { count: 2, millis: 10_000 }), ..none() },
        "place 1 buy 1 AAPL @ 10
         venue rejects 1
         place 2 buy 1 AAPL @ 10
         venue rejects 2
         place 3 buy 1 AAPL @ 10
         set ACCOUNT-1 ACTIVE
         place 4 buy 1 AAPL @ 10",
        expect![[r#"
            place 1 buy 1 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue rejects 1
                1 REJECTED (not today)
            place 2 buy 1 AAPL @ 10
                2 OPEN
                to SIM-A: submit 2
            venue rejects 2
                2 REJECTED (not today)
                Error trading-restricted: ACCOUNT-1 is HALTED: 2 rejects within 10000 ms
                ACCOUNT-1 is HALTED
            place 3 buy 1 AAPL @ 10
                refused trading-halted: trading is HALTED for ACCOUNT-1
            set ACCOUNT-1 ACTIVE
                ACCOUNT-1 is ACTIVE
            place 4 buy 1 AAPL @ 10
                4 OPEN
                to SIM-A: submit 4
        "#]],
    );
}

#[test]
fn a_day_loss_lets_only_reducing_orders_pass_and_a_drawdown_halts() {
    check(
        RiskScope::Platform,
        RiskLimits { max_day_loss: Some(100.into()), max_drawdown: Some(300.into()), ..none() },
        "place 1 buy 100 AAPL @ 10
         venue fills 1 100 @ 10 x1
         wait 1
         mark AAPL 8.99 9.01
         place 2 buy 1 AAPL @ 9
         place 3 sell 10 AAPL @ 9
         wait 1
         mark AAPL 6.9 7
         place 4 sell 10 AAPL @ 7",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue fills 1 100 @ 10 x1
                fill 1 100 @ 10
                booked BUY 100 @ 10
                position 1 of 100 cost 1000 realised 0
                cash USD 98999.5
                1 EXECUTED filled 100
            wait 1
            mark AAPL 8.99 9.01
                position 1 of 100 cost 1000 realised 0
                Error trading-restricted: PLATFORM is REDUCING: day loss of 101.5 reached the limit of 100
                PLATFORM is REDUCING
            place 2 buy 1 AAPL @ 9
                refused trading-reducing: trading is REDUCING for PLATFORM
            place 3 sell 10 AAPL @ 9
                3 OPEN
                to SIM-A: submit 3
            wait 1
            mark AAPL 6.9 7
                position 1 of 100 cost 1000 realised 0
                Error trading-restricted: PLATFORM is HALTED: fall of 310.5 from the day's high reached the limit of 300
                PLATFORM is HALTED
            place 4 sell 10 AAPL @ 7
                refused trading-halted: trading is HALTED for PLATFORM
        "#]],
    );
}

#[test]
fn the_kill_switch_halts_and_cancels_everything() {
    check(
        RiskScope::Platform,
        none(),
        "place 1 buy 1 AAPL @ 10
         place 2 buy 1 AAPL @ 10
         venue accepts 1
         kill
         place 3 buy 1 AAPL @ 10
         venue cancels 1
         kill",
        expect![[r#"
            place 1 buy 1 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            place 2 buy 1 AAPL @ 10
                2 OPEN
                to SIM-A: submit 2
            venue accepts 1
                1 SUBMITTED
            kill
                PLATFORM is HALTED
                1 PENDING_CANCEL
                2 PENDING_CANCEL
                to SIM-A: cancel 1
                to SIM-A: cancel 2
                killed, 2 cancels
            place 3 buy 1 AAPL @ 10
                refused trading-halted: trading is HALTED for PLATFORM
            venue cancels 1
                1 CANCELED
            kill
                PLATFORM is HALTED
                killed, 0 cancels
        "#]],
    );
}
