//! Lines of an adapter that fail apart: what may be traded meanwhile, and what happens when they are back.

use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn while_the_private_line_is_down_positions_are_only_reduced_and_when_it_is_back_open_orders_are_asked_about() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue fills 1 100 @ 10 x1
         place 2 buy 10 AAPL @ 9
         venue accepts 2
         venue private down
         check buy 10 AAPL @ 9
         place 3 buy 10 AAPL @ 9
         modify 2 to 20 @ 9
         place 4 sell 150 AAPL @ 10
         place 5 sell 40 AAPL @ 10
         cancel 2
         venue private down
         venue private up
         place 6 buy 10 AAPL @ 9",
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
            place 2 buy 10 AAPL @ 9
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            venue private down
                SIM-A LOGGED_ON, PRIVATE down
                Warn line-down: SIM-A: the PRIVATE line is down (no pong); only cancels and orders that reduce a position pass until it is back
            check buy 10 AAPL @ 9
                refused line-down, notional 90, fee 0.05
            place 3 buy 10 AAPL @ 9
                refused line-down: the PRIVATE line of SIM-A is down: only orders that reduce a position pass
            modify 2 to 20 @ 9
                refused line-down: the PRIVATE line of SIM-A is down: only orders that reduce a position pass
            place 4 sell 150 AAPL @ 10
                refused line-down: the PRIVATE line of SIM-A is down: only orders that reduce a position pass
            place 5 sell 40 AAPL @ 10
                5 OPEN
                to SIM-A: submit 5
            cancel 2
                2 PENDING_CANCEL
                to SIM-A: cancel 2
            venue private down
            venue private up
                SIM-A LOGGED_ON
                Warn report-gap: SIM-A: reports may be lost; 2 open orders are asked about
                to SIM-A: ask about 2
                to SIM-A: ask about 5
            place 6 buy 10 AAPL @ 9
                6 OPEN
                to SIM-A: submit 6
        "#]],
    );
}

#[test]
fn a_kill_that_a_trading_line_did_not_carry_is_carried_out_when_the_line_is_back() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue trading down
         kill
         venue refuses-cancel 1
         venue trading up
         venue cancels 1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue trading down
                SIM-A LOGGED_ON, TRADING down
                Warn line-down: SIM-A: the TRADING line is down (no pong); only cancels and orders that reduce a position pass until it is back
            kill
                PLATFORM is HALTED
                1 PENDING_CANCEL
                to SIM-A: cancel 1
                killed, 1 cancels
            venue refuses-cancel 1
                1 SUBMITTED (too late)
            venue trading up
                SIM-A LOGGED_ON
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            venue cancels 1
                1 CANCELED
        "#]],
    );
}

#[test]
fn prices_that_are_down_stop_no_order_and_a_new_session_has_all_its_lines() {
    check(
        "venue prices down
         place 1 buy 10 AAPL @ 9
         venue private down
         venue disconnects
         venue connects
         venue shows 1:live
         venue logs-on
         place 2 buy 10 AAPL @ 9",
        expect![[r#"
            venue prices down
                SIM-A LOGGED_ON, PRICES down
                Warn line-down: SIM-A: the PRICES line is down (no pong); no prices come until it is back
            place 1 buy 10 AAPL @ 9
                1 OPEN
                to SIM-A: submit 1
            venue private down
                SIM-A LOGGED_ON, PRIVATE down, PRICES down
                Warn line-down: SIM-A: the PRIVATE line is down (no pong); only cancels and orders that reduce a position pass until it is back
            venue disconnects
                SIM-A DISCONNECTED
                1 OPEN (the connection was lost before the venue answered)
            venue connects
                SIM-A CONNECTED
            venue shows 1:live
                1 SUBMITTED
            venue logs-on
                SIM-A LOGGED_ON
            place 2 buy 10 AAPL @ 9
                2 OPEN
                to SIM-A: submit 2
        "#]],
    );
}

#[test]
fn every_line_says_since_when_it_is_up_or_down_and_when_it_was_heard() {
    check(
        "wait 5
         place 1 buy 10 AAPL @ 9
         venue accepts 1
         wait 2
         venue private down
         wait 3
         lines
         venue private up
         venue finds 1:live
         lines
         venue disconnects
         lines",
        expect![[r#"
            wait 5
            place 1 buy 10 AAPL @ 9
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            wait 2
            venue private down
                SIM-A LOGGED_ON, PRIVATE down
                Warn line-down: SIM-A: the PRIVATE line is down (no pong); only cancels and orders that reduce a position pass until it is back
            wait 3
            lines
                REDUCE: TRADING up for 10 s heard 10 s ago, PRIVATE down for 3 s heard 5 s ago, PRICES down for 10 s heard ? s ago
            venue private up
                SIM-A LOGGED_ON
                Warn report-gap: SIM-A: reports may be lost; 1 open orders are asked about
                to SIM-A: ask about 1
            venue finds 1:live
            lines
                ORDERS: TRADING up for 10 s heard 0 s ago, PRIVATE up for 0 s heard 0 s ago, PRICES down for 10 s heard ? s ago
            venue disconnects
                SIM-A DISCONNECTED
            lines
                NOTHING: TRADING down for 0 s heard 0 s ago, PRIVATE down for 0 s heard 0 s ago, PRICES down for 10 s heard ? s ago
        "#]],
    );
}

#[test]
fn nothing_is_listed_while_the_trading_line_is_down() {
    let told = expect![[r#"
        clock
            to SIM-A: list open orders
            to SIM-A: list fills after the beginning
        venue lists
        venue lists-fills from - to 7
        venue trading down
            SIM-A LOGGED_ON, TRADING down
            Warn line-down: SIM-A: the TRADING line is down (no pong); only cancels and orders that reduce a position pass until it is back
        wait 60
        clock
        venue trading up
            SIM-A LOGGED_ON
        wait 9
        clock
        wait 1
        clock
            to SIM-A: list open orders
            to SIM-A: list fills after 7
    "#]];
    let mut world = StoryEngine::listing();
    told.assert_eq(&world.run(
        "clock
         venue lists
         venue lists-fills from - to 7
         venue trading down
         wait 60
         clock
         venue trading up
         wait 9
         clock
         wait 1
         clock",
    ));
}
