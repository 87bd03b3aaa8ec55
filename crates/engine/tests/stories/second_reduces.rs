//! A position is reduced again while a protective order is being reduced: it keeps its protection.

use expect_test::{Expect, expect};

use crate::world::StoryEngine;

/// An account with 100 AAPL and a stop for all of it.
fn check(story: &str, told: Expect) {
    check_with("place 2 sell 100 AAPL stop 9", story, told);
}

fn check_with(stop: &str, story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    world.run(
        "place 1 buy 100 AAPL @ 10
         venue fills 1 100 @ 10 x1",
    );
    world.run(stop);
    world.run("venue accepts 2");
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
    let read = engine::Engine::from_state(&state).unwrap();
    assert_eq!(read.encode_state(), state, "a snapshot is another state");
}

#[test]
fn a_stop_that_is_being_reduced_is_reduced_once_more_and_not_cancelled() {
    check(
        "reduce 1 40
         reduce 1 30
         venue replaces 2
         venue replaces 2
         open",
        expect![[r#"
            reduce 1 40
                A-1 OPEN (waits for the venue to reduce or cancel order 2)
                2 PENDING_REPLACE (position-closed)
                to SIM-A: replace 2 with 60 @ -
            reduce 1 30
                A-2 OPEN (waits for the venue to reduce or cancel order 2)
            venue replaces 2
                2 SUBMITTED (position-closed)
                2 PENDING_REPLACE (position-closed)
                to SIM-A: replace 2 with 30 @ -
            venue replaces 2
                2 SUBMITTED (position-closed)
                A-1 OPEN
                A-2 OPEN
                to SIM-A: submit A-1
                to SIM-A: submit A-2
            open
                2 SUBMITTED 0 of 30 StopOrder
                A-1 OPEN 0 of 40 MarketOrder
                A-2 OPEN 0 of 30 MarketOrder
        "#]],
    );
}

#[test]
fn where_the_first_reduction_is_refused_the_second_is_asked_for() {
    check(
        "reduce 1 40
         reduce 1 30
         venue refuses-replace 2
         venue replaces 2
         wait 5
         clock
         open",
        expect![[r#"
            reduce 1 40
                A-1 OPEN (waits for the venue to reduce or cancel order 2)
                2 PENDING_REPLACE (position-closed)
                to SIM-A: replace 2 with 60 @ -
            reduce 1 30
                A-2 OPEN (waits for the venue to reduce or cancel order 2)
            venue refuses-replace 2
                2 SUBMITTED (too late)
                2 PENDING_REPLACE (position-closed)
                to SIM-A: replace 2 with 30 @ -
            venue replaces 2
                2 SUBMITTED (position-closed)
                A-1 OPEN
                A-2 OPEN
                to SIM-A: submit A-1
                to SIM-A: submit A-2
            wait 5
            clock
                to SIM-A: ask about A-1
                to SIM-A: ask about A-2
            open
                2 SUBMITTED 0 of 30 StopOrder
                A-1 OPEN 0 of 40 MarketOrder
                A-2 OPEN 0 of 30 MarketOrder
        "#]],
    );
}

#[test]
fn a_stop_of_which_too_much_is_filled_meanwhile_is_cancelled() {
    check(
        "reduce 1 40
         reduce 1 30
         venue fills 2 35 @ 9 x2
         venue replaces 2
         open",
        expect![[r#"
            reduce 1 40
                A-1 OPEN (waits for the venue to reduce or cancel order 2)
                2 PENDING_REPLACE (position-closed)
                to SIM-A: replace 2 with 60 @ -
            reduce 1 30
                A-2 OPEN (waits for the venue to reduce or cancel order 2)
            venue fills 2 35 @ 9 x2
                fill 2 35 @ 9
                booked SELL -35 @ 9
                position 1 of 65 cost 650 realised -35
                cash USD 99314.325
                2 PENDING_REPLACE filled 35 (position-closed)
            venue replaces 2
                2 PARTIALLY_EXECUTED filled 35 (position-closed)
                2 PENDING_CANCEL filled 35 (position-closed)
                to SIM-A: cancel 2
            open
                2 PENDING_CANCEL 35 of 60 StopOrder
                A-1 OPEN 0 of 40 MarketOrder
                A-2 OPEN 0 of 30 MarketOrder
        "#]],
    );
}

#[test]
fn a_fill_while_the_second_reduction_waits_does_not_take_the_protection_away() {
    check_with(
        "place 2 sell 100 AAPL stop 9 GTC reduce-only",
        "reduce 1 40
         reduce 1 30
         venue fills 2 5 @ 9 x2
         venue replaces 2
         open",
        expect![[r#"
            reduce 1 40
                A-1 OPEN (waits for the venue to reduce or cancel order 2)
                2 PENDING_REPLACE (position-closed)
                to SIM-A: replace 2 with 60 @ -
            reduce 1 30
                A-2 OPEN (waits for the venue to reduce or cancel order 2)
            venue fills 2 5 @ 9 x2
                fill 2 5 @ 9
                booked SELL -5 @ 9
                position 1 of 95 cost 950 realised -5
                cash USD 99044.475
                2 PENDING_REPLACE filled 5 (position-closed)
            venue replaces 2
                2 PARTIALLY_EXECUTED filled 5 (position-closed)
                2 PENDING_REPLACE filled 5 (position-closed)
                to SIM-A: replace 2 with 30 @ -
            open
                2 PENDING_REPLACE 5 of 60 StopOrder
                A-1 OPEN 0 of 40 MarketOrder
                A-2 OPEN 0 of 30 MarketOrder
        "#]],
    );
}

#[test]
fn the_venue_has_its_time_for_each_reduction() {
    check(
        "reduce 1 40
         wait 4
         reduce 1 30
         venue replaces 2
         wait 4
         clock
         venue replaces 2
         open",
        expect![[r#"
            reduce 1 40
                A-1 OPEN (waits for the venue to reduce or cancel order 2)
                2 PENDING_REPLACE (position-closed)
                to SIM-A: replace 2 with 60 @ -
            wait 4
            reduce 1 30
                A-2 OPEN (waits for the venue to reduce or cancel order 2)
            venue replaces 2
                2 SUBMITTED (position-closed)
                2 PENDING_REPLACE (position-closed)
                to SIM-A: replace 2 with 30 @ -
            wait 4
            clock
                to SIM-A: ask about 2
            venue replaces 2
                2 SUBMITTED (position-closed)
                A-1 OPEN
                A-2 OPEN
                to SIM-A: submit A-1
                to SIM-A: submit A-2
            open
                2 SUBMITTED 0 of 30 StopOrder
                A-1 OPEN 0 of 40 MarketOrder
                A-2 OPEN 0 of 30 MarketOrder
        "#]],
    );
    check(
        "reduce 1 40
         wait 4
         reduce 1 30
         venue replaces 2
         wait 5
         clock
         open",
        expect![[r#"
            reduce 1 40
                A-1 OPEN (waits for the venue to reduce or cancel order 2)
                2 PENDING_REPLACE (position-closed)
                to SIM-A: replace 2 with 60 @ -
            wait 4
            reduce 1 30
                A-2 OPEN (waits for the venue to reduce or cancel order 2)
            venue replaces 2
                2 SUBMITTED (position-closed)
                2 PENDING_REPLACE (position-closed)
                to SIM-A: replace 2 with 30 @ -
            wait 5
            clock
                A-1 REJECTED (would-flip: the venue has not cancelled or reduced order 2 within 5 s)
                A-2 REJECTED (would-flip: the venue has not cancelled or reduced order 2 within 5 s)
                to SIM-A: ask about 2
            open
                2 PENDING_REPLACE 0 of 60 StopOrder
        "#]],
    );
}

#[test]
fn several_reductions_that_wait_are_one_request() {
    check(
        "reduce 1 40
         reduce 1 30
         reduce 1 20
         venue replaces 2
         venue replaces 2
         open",
        expect![[r#"
            reduce 1 40
                A-1 OPEN (waits for the venue to reduce or cancel order 2)
                2 PENDING_REPLACE (position-closed)
                to SIM-A: replace 2 with 60 @ -
            reduce 1 30
                A-2 OPEN (waits for the venue to reduce or cancel order 2)
            reduce 1 20
                A-3 OPEN (waits for the venue to reduce or cancel order 2)
            venue replaces 2
                2 SUBMITTED (position-closed)
                2 PENDING_REPLACE (position-closed)
                to SIM-A: replace 2 with 10 @ -
            venue replaces 2
                2 SUBMITTED (position-closed)
                A-1 OPEN
                A-2 OPEN
                A-3 OPEN
                to SIM-A: submit A-1
                to SIM-A: submit A-2
                to SIM-A: submit A-3
            open
                2 SUBMITTED 0 of 10 StopOrder
                A-1 OPEN 0 of 40 MarketOrder
                A-2 OPEN 0 of 30 MarketOrder
                A-3 OPEN 0 of 20 MarketOrder
        "#]],
    );
}
