//! Venues change what they take of a security while the platform runs.

use engine::Engine;
use expect_test::{Expect, expect};

use crate::world::StoryEngine;

/// A replay repeats every decision, and so does an engine that starts from a snapshot.
fn check(story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
    let restarted = Engine::from_state(&state).unwrap();
    assert_eq!(restarted.encode_state(), state, "a snapshot gives another state");
}

#[test]
fn an_order_that_does_not_fit_the_venue_s_filters_never_leaves() {
    check(
        "venue takes AAPL trading tick 0.05 lot 10 from 20 to 100 worth 200 up-to 900
         place 1 buy 20 AAPL @ 10.01 GTC
         place 2 buy 20 AAPL stop 10.01 @ 10.05 GTC
         place 3 buy 20 AAPL stop 10.01 GTC
         place 4 buy 25 AAPL @ 10.05 GTC
         place 5 buy 10 AAPL @ 10.05 GTC
         place 6 buy 110 AAPL @ 8 GTC
         place 7 buy 10 AAPL market
         place 8 buy 20 AAPL @ 9.95 GTC
         place 9 buy 90 AAPL @ 10.05 GTC
         check buy 20 AAPL @ 10.01 GTC
         place 10 buy 20 AAPL @ 10 GTC
         place 11 buy 90 AAPL @ 10 GTC
         place 12 buy 100 AAPL @ 9 GTC
         venue accepts 10
         modify 10 to 20 @ 10.06
         check modify 10 to 20 @ 10.06
         check modify 10 to 30 @ 10.05",
        expect![[r#"
            venue takes AAPL trading tick 0.05 lot 10 from 20 to 100 worth 200 up-to 900
            place 1 buy 20 AAPL @ 10.01 GTC
                refused venue-tick: the venue of SIM-A would refuse it: the price 10.01 is no multiple of 0.05
            place 2 buy 20 AAPL stop 10.01 @ 10.05 GTC
                refused venue-tick: the venue of SIM-A would refuse it: the price 10.01 is no multiple of 0.05
            place 3 buy 20 AAPL stop 10.01 GTC
                refused venue-tick: the venue of SIM-A would refuse it: the price 10.01 is no multiple of 0.05
            place 4 buy 25 AAPL @ 10.05 GTC
                refused venue-lot: the venue of SIM-A would refuse it: the quantity 25 is no multiple of 10
            place 5 buy 10 AAPL @ 10.05 GTC
                refused venue-quantity: the venue of SIM-A would refuse it: the quantity 10 is not from 20 to 100
            place 6 buy 110 AAPL @ 8 GTC
                refused venue-quantity: the venue of SIM-A would refuse it: the quantity 110 is not from 20 to 100
            place 7 buy 10 AAPL market
                refused venue-quantity: the venue of SIM-A would refuse it: the quantity 10 is not from 20 to 100
            place 8 buy 20 AAPL @ 9.95 GTC
                refused venue-notional: the venue of SIM-A would refuse it: price times quantity is not from 200 to 900
            place 9 buy 90 AAPL @ 10.05 GTC
                refused venue-notional: the venue of SIM-A would refuse it: price times quantity is not from 200 to 900
            check buy 20 AAPL @ 10.01 GTC
                refused venue-tick, notional 200.2, fee 0.1
            place 10 buy 20 AAPL @ 10 GTC
                10 OPEN
                to SIM-A: submit 10
            place 11 buy 90 AAPL @ 10 GTC
                11 OPEN
                to SIM-A: submit 11
            place 12 buy 100 AAPL @ 9 GTC
                12 OPEN
                to SIM-A: submit 12
            venue accepts 10
                10 SUBMITTED
            modify 10 to 20 @ 10.06
                refused venue-tick: the venue of SIM-A would refuse it: the price 10.06 is no multiple of 0.05
            check modify 10 to 20 @ 10.06
                refused venue-tick, notional 201.2, fee 0.1
            check modify 10 to 30 @ 10.05
                would pass, notional 301.5, fee 0.15
        "#]],
    );
}

#[test]
fn a_symbol_that_is_not_traded_takes_no_order_but_every_cancel() {
    check(
        "venue takes AAPL trading
         place 1 buy 20 AAPL @ 10 GTC
         venue accepts 1
         place 2 buy 20 AAPL @ 10 GTC
         venue accepts 2
         venue takes AAPL halted
         place 3 buy 20 AAPL @ 10 GTC
         modify 1 to 10 @ 10
         cancel 1
         venue cancels 1
         venue takes AAPL cancel-only
         place 4 buy 20 AAPL @ 10 GTC
         check buy 20 AAPL @ 10 GTC
         cancel 2
         venue cancels 2
         venue takes AAPL trading
         place 5 buy 20 AAPL @ 10 GTC",
        expect![[r#"
            venue takes AAPL trading
            place 1 buy 20 AAPL @ 10 GTC
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            place 2 buy 20 AAPL @ 10 GTC
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            venue takes AAPL halted
                Warn listing-changed: SIM-A: S1 has status halted (was trading)
                Warn orders-unfit: SIM-A would not take these open orders any more: 1 (venue-halted), 2 (venue-halted); they stay until the venue or you cancel them
            place 3 buy 20 AAPL @ 10 GTC
                refused venue-halted: the venue of SIM-A would refuse it: the symbol is halted
            modify 1 to 10 @ 10
                refused venue-halted: the venue of SIM-A would refuse it: the symbol is halted
            cancel 1
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            venue cancels 1
                1 CANCELED
            venue takes AAPL cancel-only
                Warn listing-changed: SIM-A: S1 has status cancel-only (was halted)
            place 4 buy 20 AAPL @ 10 GTC
                refused venue-cancel-only: the venue of SIM-A would refuse it: the symbol is cancel-only
            check buy 20 AAPL @ 10 GTC
                refused venue-cancel-only, notional 200, fee 0.1
            cancel 2
                2 PENDING_CANCEL
                to SIM-A: cancel 2
            venue cancels 2
                2 CANCELED
            venue takes AAPL trading
                Warn listing-changed: SIM-A: S1 has status trading (was cancel-only)
            place 5 buy 20 AAPL @ 10 GTC
                5 OPEN
                to SIM-A: submit 5
        "#]],
    );
}

#[test]
fn the_stricter_of_our_steps_and_the_venue_s_applies() {
    check(
        "venue takes AAPL trading tick 0.001
         place 1 buy 1 AAPL @ 10.001 GTC
         place 2 buy 1 AAPL @ 10.01 GTC
         venue takes AAPL trading tick 0.1
         place 3 buy 1 AAPL @ 10.01 GTC",
        expect![[r#"
            venue takes AAPL trading tick 0.001
            place 1 buy 1 AAPL @ 10.001 GTC
                refused not-a-multiple: limit 10.001 is not a multiple of 0.01
            place 2 buy 1 AAPL @ 10.01 GTC
                2 OPEN
                to SIM-A: submit 2
            venue takes AAPL trading tick 0.1
                Warn listing-changed: SIM-A: S1 has tick 0.1 (was 0.001)
                Warn orders-unfit: SIM-A would not take these open orders any more: 2 (venue-tick); they stay until the venue or you cancel them
            place 3 buy 1 AAPL @ 10.01 GTC
                refused venue-tick: the venue of SIM-A would refuse it: the price 10.01 is no multiple of 0.1
        "#]],
    );
}

#[test]
fn open_orders_that_no_longer_fit_are_told_once_and_stay() {
    check(
        "place 1 buy 20 AAPL @ 10.01 GTC
         venue accepts 1
         place 2 buy 20 AAPL @ 10.05 GTC
         venue accepts 2
         venue takes AAPL trading tick 0.01
         venue takes AAPL trading tick 0.01
         venue takes AAPL trading tick 0.05
         venue takes AAPL trading tick 0.05 lot 1
         venue takes AAPL trading tick 0.05 lot 15
         venue takes AAPL trading lot 15
         open
         cancel 1
         venue cancels 1",
        expect![[r#"
            place 1 buy 20 AAPL @ 10.01 GTC
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            place 2 buy 20 AAPL @ 10.05 GTC
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            venue takes AAPL trading tick 0.01
            venue takes AAPL trading tick 0.01
            venue takes AAPL trading tick 0.05
                Warn listing-changed: SIM-A: S1 has tick 0.05 (was 0.01)
                Warn orders-unfit: SIM-A would not take these open orders any more: 1 (venue-tick); they stay until the venue or you cancel them
            venue takes AAPL trading tick 0.05 lot 1
                Warn listing-changed: SIM-A: S1 has lot 1 (was none)
            venue takes AAPL trading tick 0.05 lot 15
                Warn listing-changed: SIM-A: S1 has lot 15 (was 1)
                Warn orders-unfit: SIM-A would not take these open orders any more: 2 (venue-lot); they stay until the venue or you cancel them
            venue takes AAPL trading lot 15
                Warn listing-changed: SIM-A: S1 has tick none (was 0.05)
            open
                1 SUBMITTED 0 of 20 LimitOrder
                2 SUBMITTED 0 of 20 LimitOrder
            cancel 1
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            venue cancels 1
                1 CANCELED
        "#]],
    );
}

#[test]
fn an_alarm_names_five_orders_and_counts_the_others() {
    let mut world = StoryEngine::open();
    for id in 1..=7 {
        world.run(&format!("place {id} buy {id} AAPL @ 10.01 GTC\nvenue accepts {id}"));
    }
    expect![[r#"
        venue takes AAPL trading tick 0.05
            Warn orders-unfit: SIM-A would not take these open orders any more: 1 (venue-tick), 2 (venue-tick), 3 (venue-tick), 4 (venue-tick), 5 (venue-tick) and 2 more; they stay until the venue or you cancel them
    "#]].assert_eq(&world.run("venue takes AAPL trading tick 0.05"));
}

#[test]
fn open_orders_of_a_delisted_symbol_are_asked_about() {
    check(
        "venue takes AAPL trading tick 0.01
         place 1 buy 20 AAPL @ 10 GTC
         venue accepts 1
         place 2 buy 20 EUR.USD @ 1.1 GTC
         venue accepts 2
         venue takes AAPL delisted tick 0.01
         place 3 buy 20 AAPL @ 10 GTC
         wait 1
         clock
         venue finds 1:canceled
         open
         wait 60
         clock",
        expect![[r#"
            venue takes AAPL trading tick 0.01
            place 1 buy 20 AAPL @ 10 GTC
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            place 2 buy 20 EUR.USD @ 1.1 GTC
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            venue takes AAPL delisted tick 0.01
                Warn listing-changed: SIM-A: S1 has status delisted (was trading)
                Warn orders-unfit: SIM-A would not take these open orders any more: 1 (venue-delisted); they stay until the venue or you cancel them
                to SIM-A: ask about 1
            place 3 buy 20 AAPL @ 10 GTC
                refused venue-delisted: the venue of SIM-A would refuse it: the symbol is delisted
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:canceled
                1 CANCELED
            open
                2 SUBMITTED 0 of 20 LimitOrder
            wait 60
            clock
        "#]],
    );
}

#[test]
fn what_was_listed_before_a_restart_is_delisted_and_what_never_was_is_unlisted() {
    check(
        "venue takes ES unlisted
         place 1 buy 1 ES @ 5000 GTC
         venue takes AAPL trading
         venue takes AAPL unlisted
         venue takes AAPL unlisted
         place 2 buy 1 AAPL @ 10 GTC
         venue takes ES trading
         place 3 buy 1 ES @ 5000 GTC",
        expect![[r#"
            venue takes ES unlisted
            place 1 buy 1 ES @ 5000 GTC
                refused venue-unlisted: the venue of SIM-A would refuse it: the venue does not list the symbol
            venue takes AAPL trading
            venue takes AAPL unlisted
                Warn listing-changed: SIM-A: S1 has status delisted (was trading)
            venue takes AAPL unlisted
            place 2 buy 1 AAPL @ 10 GTC
                refused venue-delisted: the venue of SIM-A would refuse it: the symbol is delisted
            venue takes ES trading
                Warn listing-changed: SIM-A: S2 has status trading (was unlisted)
            place 3 buy 1 ES @ 5000 GTC
                3 OPEN
                to SIM-A: submit 3
        "#]],
    );
}

#[test]
fn a_listing_is_of_one_venue_and_of_what_is_traded_there() {
    check(
        "venue-b takes AAPL halted
         venue takes 99 halted
         place 1 buy 1 AAPL @ 10 GTC",
        expect![[r#"
            venue-b takes AAPL halted
                Error foreign-listing: SIM-B tells what it takes of security 1, which is not traded there
            venue takes 99 halted
                Error foreign-listing: SIM-A tells what it takes of security 99, which is not traded there
            place 1 buy 1 AAPL @ 10 GTC
                1 OPEN
                to SIM-A: submit 1
        "#]],
    );
}

#[test]
fn an_order_that_waited_while_the_symbol_was_halted_is_not_sent() {
    check(
        "place 1 buy 100 AAPL @ 10.05 GTC
         venue accepts 1
         venue fills 1 100 @ 10.05 x1
         place 2 sell 100 AAPL stop 9 GTC
         venue accepts 2
         close 1
         venue takes AAPL halted
         venue cancels 2",
        expect![[r#"
            place 1 buy 100 AAPL @ 10.05 GTC
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 100 @ 10.05 x1
                fill 1 100 @ 10.05
                booked BUY 100 @ 10.05
                position 1 of 100 cost 1005 realised 0
                cash USD 98994.5
                1 EXECUTED filled 100
            place 2 sell 100 AAPL stop 9 GTC
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            close 1
                A-1 OPEN (waits for the venue to cancel order 2)
                2 PENDING_CANCEL (position-closed)
                to SIM-A: cancel 2
            venue takes AAPL halted
                Warn orders-unfit: SIM-A would not take these open orders any more: 2 (venue-halted); they stay until the venue or you cancel them
            venue cancels 2
                2 CANCELED (position-closed)
                A-1 REJECTED (venue-halted: the venue of SIM-A would refuse it: the symbol is halted)
        "#]],
    );
}

#[test]
fn a_protective_order_whose_rest_would_not_fit_is_cancelled_as_a_whole() {
    check(
        "place 1 buy 100 AAPL @ 10.05 GTC
         venue accepts 1
         venue fills 1 100 @ 10.05 x1
         place 2 sell 100 AAPL @ 12 GTC
         venue accepts 2
         venue takes AAPL trading worth 1000
         reduce 1 20",
        expect![[r#"
            place 1 buy 100 AAPL @ 10.05 GTC
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 100 @ 10.05 x1
                fill 1 100 @ 10.05
                booked BUY 100 @ 10.05
                position 1 of 100 cost 1005 realised 0
                cash USD 98994.5
                1 EXECUTED filled 100
            place 2 sell 100 AAPL @ 12 GTC
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            venue takes AAPL trading worth 1000
            reduce 1 20
                A-1 OPEN (waits for the venue to cancel order 2)
                2 PENDING_CANCEL (position-closed)
                to SIM-A: cancel 2
        "#]],
    );
}

#[test]
fn a_snapshot_of_before_there_were_listings_opens_and_listings_work() {
    let mut world = StoryEngine::open();
    // Nothing is written where no venue has told anything, so this is what earlier builds wrote.
    let before = world.engine.encode_state();
    world.engine = Engine::from_state(&before).unwrap();
    assert_eq!(world.engine.encode_state(), before);
    world.run("venue takes AAPL trading tick 0.05");
    let after = world.engine.encode_state();
    assert_ne!(before, after);
    world.engine = Engine::from_state(&after).unwrap();
    expect![[r#"
        place 1 buy 20 AAPL @ 10.01 GTC
            refused venue-tick: the venue of SIM-A would refuse it: the price 10.01 is no multiple of 0.05
    "#]]
    .assert_eq(&world.run("place 1 buy 20 AAPL @ 10.01 GTC"));
}
