//! Positions are closed and reduced whatever orders rest, and never flipped.

use engine::{Engine, Outbox};
use expect_test::{Expect, expect};

use crate::world::StoryEngine;

/// An account with 100 AAPL.
fn long_100() -> StoryEngine {
    let mut world = StoryEngine::open();
    world.run(
        "place 1 buy 100 AAPL @ 10
         venue fills 1 100 @ 10 x1",
    );
    world
}

fn check(story: &str, told: Expect) {
    let mut world = long_100();
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn a_protective_stop_is_cancelled_for_the_close() {
    check(
        "place 2 sell 100 AAPL stop 9
         venue accepts 2
         close 1
         open
         venue cancels 2
         venue fills A-1 100 @ 10 x2
         order 2",
        expect![[r#"
            place 2 sell 100 AAPL stop 9
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            close 1
                A-1 OPEN (waits for the venue to cancel order 2)
                2 PENDING_CANCEL (position-closed)
                to SIM-A: cancel 2
            open
                2 PENDING_CANCEL 0 of 100 StopOrder
                A-1 OPEN 0 of 100 MarketOrder
            venue cancels 2
                2 CANCELED (position-closed)
                A-1 OPEN
                to SIM-A: submit A-1
            venue fills A-1 100 @ 10 x2
                fill A-1 100 @ 10
                booked SELL -100 @ 10
                position 1 of 0 cost 0 realised 0
                cash USD 99999
                A-1 EXECUTED filled 100
            order 2
                2 CANCELED 0 of 100 StopOrder
        "#]],
    );
}

#[test]
fn stop_and_take_profit_are_cancelled_newest_first() {
    check(
        "place 2 sell 100 AAPL stop 9
         place 3 sell 100 AAPL @ 12
         place 4 sell 10 AAPL @ 12 strategy 2
         venue accepts 2
         venue accepts 3
         close 1
         venue cancels 2
         venue cancels 3
         venue fills A-1 100 @ 10 x2",
        expect![[r#"
            place 2 sell 100 AAPL stop 9
                2 OPEN
                to SIM-A: submit 2
            place 3 sell 100 AAPL @ 12
                3 OPEN
                to SIM-A: submit 3
            place 4 sell 10 AAPL @ 12 strategy 2
                4 OPEN
                to SIM-A: submit 4
            venue accepts 2
                2 SUBMITTED
            venue accepts 3
                3 SUBMITTED
            close 1
                A-1 OPEN (waits for the venue to cancel orders 3, 2)
                3 PENDING_CANCEL (position-closed)
                2 PENDING_CANCEL (position-closed)
                to SIM-A: cancel 3
                to SIM-A: cancel 2
            venue cancels 2
                2 CANCELED (position-closed)
            venue cancels 3
                3 CANCELED (position-closed)
                A-1 OPEN
                to SIM-A: submit A-1
            venue fills A-1 100 @ 10 x2
                fill A-1 100 @ 10
                booked SELL -100 @ 10
                position 1 of 0 cost 0 realised 0
                cash USD 99999
                A-1 EXECUTED filled 100
        "#]],
    );
}

#[test]
fn a_reduction_leaves_the_rest_protected() {
    check(
        "place 2 sell 100 AAPL stop 9
         venue accepts 2
         reduce 1 40
         venue replaces 2
         venue fills A-1 40 @ 10 x2
         open",
        expect![[r#"
            place 2 sell 100 AAPL stop 9
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            reduce 1 40
                A-1 OPEN (waits for the venue to reduce or cancel order 2)
                2 PENDING_REPLACE (position-closed)
                to SIM-A: replace 2 with 60 @ -
            venue replaces 2
                2 SUBMITTED (position-closed)
                A-1 OPEN
                to SIM-A: submit A-1
            venue fills A-1 40 @ 10 x2
                fill A-1 40 @ 10
                booked SELL -40 @ 10
                position 1 of 60 cost 600 realised 0
                cash USD 99399.3
                A-1 EXECUTED filled 40
            open
                2 SUBMITTED 0 of 60 StopOrder
        "#]],
    );
}

#[test]
fn what_does_not_stand_in_the_way_stays() {
    check(
        "place 2 sell 60 AAPL stop 9
         venue accepts 2
         reduce 1 40",
        expect![[r#"
            place 2 sell 60 AAPL stop 9
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            reduce 1 40
                A-1 OPEN
                to SIM-A: submit A-1
        "#]],
    );
}

#[test]
fn a_fill_of_the_stop_shrinks_the_close() {
    check(
        "place 2 sell 100 AAPL stop 9
         venue accepts 2
         close 1
         venue fills 2 70 @ 9 x2
         venue cancels 2
         venue fills A-1 30 @ 9 x3",
        expect![[r#"
            place 2 sell 100 AAPL stop 9
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            close 1
                A-1 OPEN (waits for the venue to cancel order 2)
                2 PENDING_CANCEL (position-closed)
                to SIM-A: cancel 2
            venue fills 2 70 @ 9 x2
                fill 2 70 @ 9
                booked SELL -70 @ 9
                position 1 of 30 cost 300 realised -70
                cash USD 99629.15
                2 PENDING_CANCEL filled 70 (position-closed)
            venue cancels 2
                2 CANCELED filled 70 (position-closed)
                A-1 OPEN
                to SIM-A: submit A-1
            venue fills A-1 30 @ 9 x3
                fill A-1 30 @ 9
                booked SELL -30 @ 9
                position 1 of 0 cost 0 realised -100
                cash USD 99899
                A-1 EXECUTED filled 30
        "#]],
    );
}

#[test]
fn a_stop_that_is_filled_leaves_nothing_to_close() {
    check(
        "place 2 sell 100 AAPL stop 9
         venue accepts 2
         close 1
         venue fills 2 100 @ 9 x2",
        expect![[r#"
            place 2 sell 100 AAPL stop 9
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            close 1
                A-1 OPEN (waits for the venue to cancel order 2)
                2 PENDING_CANCEL (position-closed)
                to SIM-A: cancel 2
            venue fills 2 100 @ 9 x2
                fill 2 100 @ 9
                booked SELL -100 @ 9
                position 1 of 0 cost 0 realised -100
                cash USD 99899
                2 PENDING_CANCEL filled 100 (position-closed)
                A-1 CANCELED (position-closed)
        "#]],
    );
}

#[test]
fn without_an_answer_in_five_seconds_the_close_is_rejected() {
    check(
        "place 2 sell 60 AAPL stop 9
         place 3 sell 40 AAPL @ 12
         venue accepts 2
         venue accepts 3
         close 1
         venue cancels 3
         wait 5
         clock
         venue cancels 2
         close 1",
        expect![[r#"
            place 2 sell 60 AAPL stop 9
                2 OPEN
                to SIM-A: submit 2
            place 3 sell 40 AAPL @ 12
                3 OPEN
                to SIM-A: submit 3
            venue accepts 2
                2 SUBMITTED
            venue accepts 3
                3 SUBMITTED
            close 1
                A-1 OPEN (waits for the venue to cancel orders 3, 2)
                3 PENDING_CANCEL (position-closed)
                2 PENDING_CANCEL (position-closed)
                to SIM-A: cancel 3
                to SIM-A: cancel 2
            venue cancels 3
                3 CANCELED (position-closed)
            wait 5
            clock
                A-1 REJECTED (would-flip: the venue has not cancelled or reduced order 2 within 5 s)
                to SIM-A: ask about 2
            venue cancels 2
                2 CANCELED (position-closed)
            close 1
                A-2 OPEN
                to SIM-A: submit A-2
        "#]],
    );
}

#[test]
fn a_reduction_that_the_venue_refuses_leaves_the_position_protected() {
    check(
        "place 2 sell 100 AAPL stop 9
         venue accepts 2
         reduce 1 40
         venue refuses-replace 2
         wait 5
         clock
         open",
        expect![[r#"
            place 2 sell 100 AAPL stop 9
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            reduce 1 40
                A-1 OPEN (waits for the venue to reduce or cancel order 2)
                2 PENDING_REPLACE (position-closed)
                to SIM-A: replace 2 with 60 @ -
            venue refuses-replace 2
                2 SUBMITTED (too late)
            wait 5
            clock
                A-1 REJECTED (would-flip: the venue has not cancelled or reduced order 2 within 5 s)
            open
                2 SUBMITTED 0 of 100 StopOrder
        "#]],
    );
}

#[test]
fn closing_twice_closes_once() {
    check(
        "place 2 sell 100 AAPL stop 9
         venue accepts 2
         close 1
         close 1
         venue cancels 2
         close 1",
        expect![[r#"
            place 2 sell 100 AAPL stop 9
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            close 1
                A-1 OPEN (waits for the venue to cancel order 2)
                2 PENDING_CANCEL (position-closed)
                to SIM-A: cancel 2
            close 1
                refused would-flip: may only reduce the position, of which 0 can be closed beside orders on their way
            venue cancels 2
                2 CANCELED (position-closed)
                A-1 OPEN
                to SIM-A: submit A-1
            close 1
                refused would-flip: may only reduce the position, of which 0 can be closed beside orders on their way
        "#]],
    );
}

#[test]
fn a_close_takes_over_from_a_reduction_that_waits() {
    check(
        "place 2 sell 100 AAPL stop 9
         venue accepts 2
         reduce 1 40
         close 1
         venue refuses-replace 2
         venue cancels 2",
        expect![[r#"
            place 2 sell 100 AAPL stop 9
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            reduce 1 40
                A-1 OPEN (waits for the venue to reduce or cancel order 2)
                2 PENDING_REPLACE (position-closed)
                to SIM-A: replace 2 with 60 @ -
            close 1
                A-2 OPEN (waits for the venue to cancel order 2)
                2 PENDING_CANCEL (position-closed)
                to SIM-A: cancel 2
            venue refuses-replace 2
                2 PENDING_CANCEL (too late)
            venue cancels 2
                2 CANCELED (position-closed)
                A-1 OPEN
                A-2 OPEN
                to SIM-A: submit A-1
                to SIM-A: submit A-2
        "#]],
    );
}

#[test]
fn a_short_position_is_closed_likewise() {
    check(
        "place 2 sell 200 AAPL @ 10
         venue fills 2 200 @ 10 x2
         place 3 buy 100 AAPL stop 11
         venue accepts 3
         close 1
         venue cancels 3",
        expect![[r#"
            place 2 sell 200 AAPL @ 10
                2 OPEN
                to SIM-A: submit 2
            venue fills 2 200 @ 10 x2
                fill 2 200 @ 10
                booked SELL -200 @ 10
                position 1 of -100 cost -1000 realised 0
                cash USD 100998.5
                2 EXECUTED filled 200
            place 3 buy 100 AAPL stop 11
                3 OPEN
                to SIM-A: submit 3
            venue accepts 3
                3 SUBMITTED
            close 1
                A-1 OPEN (waits for the venue to cancel order 3)
                3 PENDING_CANCEL (position-closed)
                to SIM-A: cancel 3
            venue cancels 3
                3 CANCELED (position-closed)
                A-1 OPEN
                to SIM-A: submit A-1
        "#]],
    );
}

#[test]
fn a_waiting_order_still_waits_after_a_restart() {
    let mut world = long_100();
    world.run(
        "place 2 sell 100 AAPL stop 9
         venue accepts 2
         close 1",
    );
    let mut restored = Engine::from_state(&world.engine.encode_state()).unwrap();
    // First the venue is asked about the cancel.
    assert_eq!(restored.next_deadline(), Some(world.now.plus_seconds(1)));
    let before = world.inputs.len();
    expect![[r#"
        venue cancels 2
            2 CANCELED (position-closed)
            A-1 OPEN
            to SIM-A: submit A-1
        venue fills A-1 100 @ 10 x2
            fill A-1 100 @ 10
            booked SELL -100 @ 10
            position 1 of 0 cost 0 realised 0
            cash USD 99999
            A-1 EXECUTED filled 100
    "#]]
    .assert_eq(&world.run(
        "venue cancels 2
         venue fills A-1 100 @ 10 x2",
    ));
    for input in &world.inputs[before..] {
        let _ = restored.apply(input, &mut Outbox::default());
    }
    assert_eq!(restored.encode_state(), world.engine.encode_state());
}

#[test]
fn a_close_is_refused_when_a_new_stop_already_closes_the_position() {
    check(
        "place 2 sell 100 AAPL stop 9
         place 3 sell 100 AAPL @ 12
         venue accepts 2
         venue accepts 3
         close 1
         venue cancels 2
         place 4 sell 100 AAPL stop 8
         venue cancels 3
         open",
        expect![[r#"
            place 2 sell 100 AAPL stop 9
                2 OPEN
                to SIM-A: submit 2
            place 3 sell 100 AAPL @ 12
                3 OPEN
                to SIM-A: submit 3
            venue accepts 2
                2 SUBMITTED
            venue accepts 3
                3 SUBMITTED
            close 1
                A-1 OPEN (waits for the venue to cancel orders 3, 2)
                3 PENDING_CANCEL (position-closed)
                2 PENDING_CANCEL (position-closed)
                to SIM-A: cancel 3
                to SIM-A: cancel 2
            venue cancels 2
                2 CANCELED (position-closed)
            place 4 sell 100 AAPL stop 8
                4 OPEN
                to SIM-A: submit 4
            venue cancels 3
                3 CANCELED (position-closed)
                A-1 REJECTED (would-flip: may only reduce the position, of which 0 can be closed beside orders on their way)
            open
                4 OPEN 0 of 100 StopOrder
        "#]],
    );
}
