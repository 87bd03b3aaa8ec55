//! Reservations of open orders, through every change.

use domain::{RiskLimits, RiskScope};
use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(limits: RiskLimits, story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    world.limits(RiskScope::Platform, limits);
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn an_order_that_was_filled_while_its_cancel_waited_no_longer_counts_as_open() {
    check(
        RiskLimits { max_open_orders: Some(1), ..RiskLimits::default() },
        "place 1 buy 1 AAPL @ 10
         venue accepts 1
         cancel 1
         venue fills 1 1 @ 10 x1
         venue refuses-cancel 1
         place 2 buy 1 AAPL @ 10",
        expect![[r#"
            place 1 buy 1 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            cancel 1
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            venue fills 1 1 @ 10 x1
                fill 1 1 @ 10
                booked BUY 1 @ 10
                position 1 of 1 cost 10 realised 0
                cash USD 99989.995
                1 PENDING_CANCEL filled 1
            venue refuses-cancel 1
                1 EXECUTED filled 1 (too late)
            place 2 buy 1 AAPL @ 10
                2 OPEN
                to SIM-A: submit 2
        "#]],
    );
}

#[test]
fn a_refused_replace_leaves_the_old_price_reserved() {
    check(
        RiskLimits::default(),
        "place 1 buy 9000 AAPL @ 10
         venue accepts 1
         modify 1 to 9000 @ 1
         venue refuses-replace 1
         place 2 buy 1000 AAPL @ 10",
        expect![[r#"
            place 1 buy 9000 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            modify 1 to 9000 @ 1
                1 PENDING_REPLACE
                to SIM-A: replace 1 with 9000 @ 1
            venue refuses-replace 1
                1 SUBMITTED (too late)
            place 2 buy 1000 AAPL @ 10
                refused insufficient-cash: needs 10005 USD, available are 9955 USD
        "#]],
    );
}

#[test]
fn a_busted_fill_reserves_again() {
    check(
        RiskLimits::default(),
        "place 1 buy 9000 AAPL @ 10
         venue fills 1 9000 @ 10 x1
         venue busts 1 x1
         place 2 buy 1000 AAPL @ 10",
        expect![[r#"
            place 1 buy 9000 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue fills 1 9000 @ 10 x1
                fill 1 9000 @ 10
                booked BUY 9000 @ 10
                position 1 of 9000 cost 90000 realised 0
                cash USD 9955
                1 EXECUTED filled 9000
            venue busts 1 x1
                booked SELL -9000 @ 10
                position 1 of 0 cost 0 realised 0
                cash USD 100000
                1 SUBMITTED
            place 2 buy 1000 AAPL @ 10
                refused insufficient-cash: needs 10005 USD, available are 9955 USD
        "#]],
    );
}

#[test]
fn a_modification_needs_cash_only_for_what_is_left() {
    check(
        RiskLimits::default(),
        "place 1 buy 9000 AAPL @ 10
         venue fills 1 5000 @ 10 x1
         modify 1 to 9000 @ 10.01
         venue replaces 1 9000 @ 10.01
         modify 1 to 5000 @ 10.01",
        expect![[r#"
            place 1 buy 9000 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue fills 1 5000 @ 10 x1
                fill 1 5000 @ 10
                booked BUY 5000 @ 10
                position 1 of 5000 cost 50000 realised 0
                cash USD 49975
                1 PARTIALLY_EXECUTED filled 5000
            modify 1 to 9000 @ 10.01
                1 PENDING_REPLACE filled 5000
                to SIM-A: replace 1 with 9000 @ 10.01
            venue replaces 1 9000 @ 10.01
                1 PARTIALLY_EXECUTED filled 5000
            modify 1 to 5000 @ 10.01
                1 PENDING_REPLACE filled 5000
                to SIM-A: replace 1 with 5000 @ 10.01
        "#]],
    );
}

#[test]
fn a_proposed_increase_counts_among_what_will_close() {
    check(
        RiskLimits::default(),
        "place 1 buy 100 AAPL @ 10
         venue fills 1 100 @ 10 x1
         place 2 sell 40 AAPL @ 10
         modify 2 to 100 @ 10
         close 1",
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
            place 2 sell 40 AAPL @ 10
                2 OPEN
                to SIM-A: submit 2
            modify 2 to 100 @ 10
                2 PENDING_REPLACE
                to SIM-A: replace 2 with 100 @ 10
            close 1
                A-1 OPEN (waits for the venue to cancel order 2)
                2 PENDING_CANCEL (position-closed)
                to SIM-A: cancel 2
        "#]],
    );
}

#[test]
fn an_account_may_need_cash_where_the_platform_does_not() {
    let mut world = StoryEngine::open();
    world.limits(RiskScope::Platform, RiskLimits { cash_check: Some(false), ..RiskLimits::default() });
    world.limits(
        RiskScope::Account(domain::AccountId(1)),
        RiskLimits { cash_check: Some(true), ..RiskLimits::default() },
    );
    expect![[r#"
        check buy 100000 AAPL @ 10
            refused insufficient-cash, notional 1000000, fee 500
    "#]]
    .assert_eq(&world.run("check buy 100000 AAPL @ 10"));
}
