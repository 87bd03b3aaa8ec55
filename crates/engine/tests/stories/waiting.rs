//! Orders that wait until the venue has cancelled orders of the same account that they would trade with.

use domain::risk::SelfTradePrevention;
use domain::{RiskLimits, RiskScope};
use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    world.limits(
        RiskScope::Platform,
        RiskLimits { self_trade: Some(SelfTradePrevention::CancelResting), ..RiskLimits::default() },
    );
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn the_resting_order_is_cancelled_before_the_new_one_leaves() {
    check(
        "place 1 buy 1 AAPL @ 10
         venue accepts 1
         place 2 buy 1 AAPL @ 9.98
         place 3 buy 1 AAPL @ 10.01
         venue accepts 3
         check sell 5 AAPL @ 10
         place 4 sell 5 AAPL @ 10
         open
         modify 4 to 6 @ 10
         venue cancels 3
         venue cancels 1
         venue accepts 4
         order 2",
        expect![[r#"
            place 1 buy 1 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            place 2 buy 1 AAPL @ 9.98
                2 OPEN
                to SIM-A: submit 2
            place 3 buy 1 AAPL @ 10.01
                3 OPEN
                to SIM-A: submit 3
            venue accepts 3
                3 SUBMITTED
            check sell 5 AAPL @ 10
                would pass, notional 50, fee 0.025
            place 4 sell 5 AAPL @ 10
                4 OPEN (waits for the venue to cancel orders 3, 1)
                3 PENDING_CANCEL (self-trade: order 4 of the same account meets it)
                1 PENDING_CANCEL (self-trade: order 4 of the same account meets it)
                to SIM-A: cancel 3
                to SIM-A: cancel 1
            open
                1 PENDING_CANCEL 0 of 1 LimitOrder
                2 OPEN 0 of 1 LimitOrder
                3 PENDING_CANCEL 0 of 1 LimitOrder
                4 OPEN 0 of 5 LimitOrder
            modify 4 to 6 @ 10
                refused order-waiting: order 4 waits for the cancel of others and is not at the venue yet; it can only be cancelled
            venue cancels 3
                3 CANCELED (self-trade: order 4 of the same account meets it)
            venue cancels 1
                1 CANCELED (self-trade: order 4 of the same account meets it)
                4 OPEN
                to SIM-A: submit 4
            venue accepts 4
                4 SUBMITTED
            order 2
                2 OPEN 0 of 1 LimitOrder
        "#]],
    );
}

#[test]
fn a_fill_ends_the_resting_order_as_well_as_a_cancel() {
    check(
        "place 1 buy 1 AAPL @ 10
         venue accepts 1
         place 2 sell 5 AAPL market
         venue fills 1 1 @ 10 x1
         venue refuses-cancel 1",
        expect![[r#"
            place 1 buy 1 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            place 2 sell 5 AAPL market
                2 OPEN (waits for the venue to cancel order 1)
                1 PENDING_CANCEL (self-trade: order 2 of the same account meets it)
                to SIM-A: cancel 1
            venue fills 1 1 @ 10 x1
                fill 1 1 @ 10
                booked BUY 1 @ 10
                position 1 of 1 cost 10 realised 0
                cash USD 99989.995
                1 PENDING_CANCEL filled 1 (self-trade: order 2 of the same account meets it)
                2 OPEN
                to SIM-A: submit 2
            venue refuses-cancel 1
                1 EXECUTED filled 1 (too late)
        "#]],
    );
}

#[test]
fn without_an_answer_in_five_seconds_the_new_order_is_rejected() {
    check(
        "place 1 buy 1 AAPL @ 10
         venue accepts 1
         place 2 sell 5 AAPL market
         venue refuses-cancel 1
         wait 4
         clock
         wait 1
         clock
         venue cancels 1
         order 2",
        expect![[r#"
            place 1 buy 1 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            place 2 sell 5 AAPL market
                2 OPEN (waits for the venue to cancel order 1)
                1 PENDING_CANCEL (self-trade: order 2 of the same account meets it)
                to SIM-A: cancel 1
            venue refuses-cancel 1
                1 SUBMITTED (too late)
            wait 4
            clock
            wait 1
            clock
                2 REJECTED (self-trade: the venue has not cancelled or reduced order 1 within 5 s)
            venue cancels 1
                1 CANCELED
            order 2
                2 REJECTED 0 of 5 MarketOrder
        "#]],
    );
}

#[test]
fn an_order_that_waits_can_be_cancelled_without_the_venue() {
    check(
        "place 1 buy 1 AAPL @ 10
         venue accepts 1
         place 2 sell 5 AAPL market
         cancel 2
         venue cancels 1
         cancel 2",
        expect![[r#"
            place 1 buy 1 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            place 2 sell 5 AAPL market
                2 OPEN (waits for the venue to cancel order 1)
                1 PENDING_CANCEL (self-trade: order 2 of the same account meets it)
                to SIM-A: cancel 1
            cancel 2
                2 PENDING_CANCEL
                2 CANCELED
            venue cancels 1
                1 CANCELED (self-trade: order 2 of the same account meets it)
            cancel 2
                refused order-closed: order 2 is finished
        "#]],
    );
}

#[test]
fn the_kill_switch_ends_what_waits() {
    check(
        "place 1 buy 1 AAPL @ 10
         venue accepts 1
         place 2 sell 5 AAPL market
         kill
         venue cancels 1",
        expect![[r#"
            place 1 buy 1 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            place 2 sell 5 AAPL market
                2 OPEN (waits for the venue to cancel order 1)
                1 PENDING_CANCEL (self-trade: order 2 of the same account meets it)
                to SIM-A: cancel 1
            kill
                PLATFORM is HALTED
                2 PENDING_CANCEL
                2 CANCELED
                killed, 1 cancels
            venue cancels 1
                1 CANCELED (self-trade: order 2 of the same account meets it)
        "#]],
    );
}

#[test]
fn what_waits_is_checked_again_before_it_leaves() {
    check(
        "place 1 buy 1 AAPL @ 10
         venue accepts 1
         place 2 sell 5 AAPL market
         set ACCOUNT-1 HALTED
         venue cancels 1",
        expect![[r#"
            place 1 buy 1 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            place 2 sell 5 AAPL market
                2 OPEN (waits for the venue to cancel order 1)
                1 PENDING_CANCEL (self-trade: order 2 of the same account meets it)
                to SIM-A: cancel 1
            set ACCOUNT-1 HALTED
                ACCOUNT-1 is HALTED
            venue cancels 1
                1 CANCELED (self-trade: order 2 of the same account meets it)
                2 REJECTED (trading-halted: trading is HALTED for ACCOUNT-1)
        "#]],
    );
}

#[test]
fn what_waits_outlives_a_lost_connection_but_not_five_seconds() {
    check(
        "place 1 buy 1 AAPL @ 10
         venue accepts 1
         place 2 sell 5 AAPL market
         place 3 buy 1 AAPL @ 9
         venue disconnects
         venue connects
         venue shows 1:canceled 3:live
         venue logs-on
         place 4 buy 1 AAPL @ 10
         venue accepts 2
         place 5 sell 5 AAPL @ 10 GTC
         venue disconnects
         wait 5
         clock
         venue connects
         venue shows 2:live 3:live 4:live",
        expect![[r#"
            place 1 buy 1 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            place 2 sell 5 AAPL market
                2 OPEN (waits for the venue to cancel order 1)
                1 PENDING_CANCEL (self-trade: order 2 of the same account meets it)
                to SIM-A: cancel 1
            place 3 buy 1 AAPL @ 9
                3 OPEN
                to SIM-A: submit 3
            venue disconnects
                SIM-A DISCONNECTED
                1 PENDING_CANCEL (the connection was lost before the venue answered)
                3 OPEN (the connection was lost before the venue answered)
            venue connects
                SIM-A CONNECTED
            venue shows 1:canceled 3:live
                3 SUBMITTED
                1 CANCELED (self-trade: order 2 of the same account meets it)
            venue logs-on
                SIM-A LOGGED_ON
                2 OPEN
                to SIM-A: submit 2
            place 4 buy 1 AAPL @ 10
                4 OPEN
                to SIM-A: submit 4
            venue accepts 2
                2 SUBMITTED
            place 5 sell 5 AAPL @ 10 GTC
                5 OPEN (waits for the venue to cancel order 4)
                4 PENDING_CANCEL (self-trade: order 5 of the same account meets it)
                to SIM-A: cancel 4
            venue disconnects
                SIM-A DISCONNECTED
                4 PENDING_CANCEL (the connection was lost before the venue answered)
            wait 5
            clock
                5 REJECTED (self-trade: the venue has not cancelled or reduced order 4 within 5 s)
            venue connects
                SIM-A CONNECTED
            venue shows 2:live 3:live 4:live
                4 PENDING_CANCEL
                4 PENDING_CANCEL
                to SIM-A: cancel 4
        "#]],
    );
}

#[test]
fn a_waiting_order_is_withdrawn_at_once() {
    check(
        "place 1 buy 1 AAPL @ 10
         venue accepts 1
         place 2 sell 5 AAPL @ 10
         place 3 buy 5 AAPL market
         venue cancels 1",
        expect![[r#"
            place 1 buy 1 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            place 2 sell 5 AAPL @ 10
                2 OPEN (waits for the venue to cancel order 1)
                1 PENDING_CANCEL (self-trade: order 2 of the same account meets it)
                to SIM-A: cancel 1
            place 3 buy 5 AAPL market
                3 OPEN (waits for the venue to cancel order 2)
                2 PENDING_CANCEL (self-trade: order 3 of the same account meets it)
                2 CANCELED (self-trade: order 3 of the same account meets it)
                3 OPEN
                to SIM-A: submit 3
            venue cancels 1
                1 CANCELED (self-trade: order 2 of the same account meets it)
        "#]],
    );
}

#[test]
fn new_terms_are_refused_whatever_the_policy() {
    check(
        "place 1 buy 1 AAPL @ 10
         venue accepts 1
         place 2 sell 1 AAPL @ 11
         venue accepts 2
         modify 2 to 1 @ 10",
        expect![[r#"
            place 1 buy 1 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            place 2 sell 1 AAPL @ 11
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            modify 2 to 1 @ 10
                refused self-trade: would trade with the account's own order 1
        "#]],
    );
}
