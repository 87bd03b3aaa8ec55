//! How venues replace orders: what a venue cannot do is refused before it is sent, and where it cancels an order and places
//! another one, each half has its own outcome.

use domain::report::ReplaceKind;
use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(replace: ReplaceKind, story: &str, told: Expect, legs: Option<Expect>) {
    let mut world = StoryEngine::replacing(replace);
    told.assert_eq(&world.run(story));
    if let Some(legs) = legs {
        legs.assert_eq(&world.legs("1"));
    }
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn a_replace_that_the_venue_cannot_do_is_refused_before_it_is_sent_and_the_dry_run_says_so() {
    check(
        ReplaceKind::None,
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 50 @ 10
         check modify 1 to 50 @ 10",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            modify 1 to 50 @ 10
                refused venue-replace: the venue of SIM-A would refuse it: no order can be changed there
            check modify 1 to 50 @ 10
                refused venue-replace, notional 500, fee 0.25
        "#]],
        None,
    );
    check(
        ReplaceKind::LowerQuantityOnly,
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 50 @ 9
         modify 1 to 120 @ 10
         check modify 1 to 50 @ 10
         modify 1 to 50 @ 10",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            modify 1 to 50 @ 9
                refused venue-replace: the venue of SIM-A would refuse it: only the quantity of an order can be lowered there
            modify 1 to 120 @ 10
                refused venue-replace: the venue of SIM-A would refuse it: only the quantity of an order can be lowered there
            check modify 1 to 50 @ 10
                would pass, notional 500, fee 0.25
            modify 1 to 50 @ 10
                1 PENDING_REPLACE
                to SIM-A: replace 1 with 50 @ 10
        "#]],
        None,
    );
}

#[test]
fn an_order_with_fills_is_not_cancelled_and_placed_again() {
    check(
        ReplaceKind::CancelReplace,
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         check modify 1 to 120 @ 9
         venue fills 1 40 @ 10 x1
         modify 1 to 120 @ 9
         modify 1 to 60 @ 10",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            check modify 1 to 120 @ 9
                would pass, notional 1080, fee 0.6
            venue fills 1 40 @ 10 x1
                fill 1 40 @ 10
                booked BUY 40 @ 10
                position 1 of 40 cost 400 realised 0
                cash USD 99599.8
                1 PARTIALLY_EXECUTED filled 40
            modify 1 to 120 @ 9
                refused venue-replace: the venue of SIM-A would refuse it: of an order with fills only the quantity can be lowered there
            modify 1 to 60 @ 10
                1 PENDING_REPLACE filled 40
                to SIM-A: replace 1 with 60 @ 10
        "#]],
        None,
    );
}

#[test]
fn a_replaced_order_has_two_legs_and_a_late_fill_of_the_first_is_booked_once() {
    check(
        ReplaceKind::CancelReplace,
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 100 @ 9
         venue replaces 1 by V2
         venue fills 1 30 @ 10 x1 of V1
         venue fills 1 30 @ 10 x1 of V1
         venue fills 1 30 @ 9 x1 of V2
         order 1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            modify 1 to 100 @ 9
                1 PENDING_REPLACE
                to SIM-A: replace 1 with 100 @ 9
            venue replaces 1 by V2
                1 SUBMITTED
            venue fills 1 30 @ 10 x1 of V1
                fill 1 30 @ 10
                booked BUY 30 @ 10
                position 1 of 30 cost 300 realised 0
                cash USD 99699.85
                1 PARTIALLY_EXECUTED filled 30
            venue fills 1 30 @ 10 x1 of V1
            venue fills 1 30 @ 9 x1 of V2
                fill 1 30 @ 9
                booked BUY 30 @ 9
                position 1 of 60 cost 570 realised 0
                cash USD 99429.7
                1 PARTIALLY_EXECUTED filled 60
            order 1
                1 PARTIALLY_EXECUTED 60 of 100 LimitOrder
        "#]],
        Some(expect!["V1 ENDED 30 of 100, V2 LIVE 30 of 100"]),
    );
}

#[test]
fn an_order_that_is_filled_by_two_legs_has_the_rest_of_the_second_cancelled() {
    check(
        ReplaceKind::CancelReplace,
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 100 @ 9
         venue replaces 1 by V2
         venue fills 1 30 @ 10 x1 of V1
         venue fills 1 70 @ 9 x2 of V2
         wait 1
         clock
         venue leg 1 V2 canceled
         wait 9
         clock
         order 1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            modify 1 to 100 @ 9
                1 PENDING_REPLACE
                to SIM-A: replace 1 with 100 @ 9
            venue replaces 1 by V2
                1 SUBMITTED
            venue fills 1 30 @ 10 x1 of V1
                fill 1 30 @ 10
                booked BUY 30 @ 10
                position 1 of 30 cost 300 realised 0
                cash USD 99699.85
                1 PARTIALLY_EXECUTED filled 30
            venue fills 1 70 @ 9 x2 of V2
                fill 1 70 @ 9
                booked BUY 70 @ 9
                position 1 of 100 cost 930 realised 0
                cash USD 99069.5
                1 EXECUTED filled 100
                to SIM-A: cancel leg V2 of 1
            wait 1
            clock
                to SIM-A: ask about 1
                to SIM-A: list open orders
            venue leg 1 V2 canceled
            wait 9
            clock
            order 1
                1 EXECUTED 100 of 100 LimitOrder
        "#]],
        Some(expect!["V1 ENDED 30 of 100, V2 ENDED 70 of 100"]),
    );
}

#[test]
fn a_fill_of_the_first_leg_that_overtakes_the_replace_leaves_the_second_as_large_as_it_was_placed() {
    check(
        ReplaceKind::CancelReplace,
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 100 @ 9
         venue fills 1 30 @ 10 x1 of V1
         venue replaces 1 by V2
         venue fills 1 70 @ 9 x2 of V2
         venue leg 1 V2 canceled
         order 1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            modify 1 to 100 @ 9
                1 PENDING_REPLACE
                to SIM-A: replace 1 with 100 @ 9
            venue fills 1 30 @ 10 x1 of V1
                fill 1 30 @ 10
                booked BUY 30 @ 10
                position 1 of 30 cost 300 realised 0
                cash USD 99699.85
                1 PENDING_REPLACE filled 30
            venue replaces 1 by V2
                1 PARTIALLY_EXECUTED filled 30
            venue fills 1 70 @ 9 x2 of V2
                fill 1 70 @ 9
                booked BUY 70 @ 9
                position 1 of 100 cost 930 realised 0
                cash USD 99069.5
                1 EXECUTED filled 100
                to SIM-A: cancel leg V2 of 1
            venue leg 1 V2 canceled
            order 1
                1 EXECUTED 100 of 100 LimitOrder
        "#]],
        Some(expect!["V1 ENDED 30 of 100, V2 ENDED 70 of 100"]),
    );
}

#[test]
fn a_leg_that_was_only_cancelled_ends_the_order_with_the_reason() {
    check(
        ReplaceKind::CancelReplace,
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 100 @ 9
         venue halves 1 done refused
         order 1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            modify 1 to 100 @ 9
                1 PENDING_REPLACE
                to SIM-A: replace 1 with 100 @ 9
            venue halves 1 done refused
                1 CANCELED (cancelled, but its replacement was refused: no funds)
                1 CANCELED (too late: the order is finished)
            order 1
                1 CANCELED 0 of 100 LimitOrder
        "#]],
        None,
    );
}

#[test]
fn a_replace_of_which_neither_half_was_done_is_refused_and_the_order_is_as_before() {
    check(
        ReplaceKind::CancelReplace,
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 100 @ 9
         venue halves 1 refused refused
         order 1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            modify 1 to 100 @ 9
                1 PENDING_REPLACE
                to SIM-A: replace 1 with 100 @ 9
            venue halves 1 refused refused
                1 SUBMITTED (no funds)
            order 1
                1 SUBMITTED 0 of 100 LimitOrder
        "#]],
        None,
    );
}

#[test]
fn a_busted_fill_is_taken_from_its_leg_and_a_filled_leg_works_again() {
    check(
        ReplaceKind::CancelReplace,
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 100 @ 9
         venue replaces 1 by V2
         venue fills 1 30 @ 10 x1 of V1
         venue busts 1 x1
         venue fills 1 100 @ 9 x2 of V2
         venue busts 1 x2
         order 1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            modify 1 to 100 @ 9
                1 PENDING_REPLACE
                to SIM-A: replace 1 with 100 @ 9
            venue replaces 1 by V2
                1 SUBMITTED
            venue fills 1 30 @ 10 x1 of V1
                fill 1 30 @ 10
                booked BUY 30 @ 10
                position 1 of 30 cost 300 realised 0
                cash USD 99699.85
                1 PARTIALLY_EXECUTED filled 30
            venue busts 1 x1
                booked SELL -30 @ 10
                position 1 of 0 cost 0 realised 0
                cash USD 100000
                1 SUBMITTED
            venue fills 1 100 @ 9 x2 of V2
                fill 1 100 @ 9
                booked BUY 100 @ 9
                position 1 of 100 cost 900 realised 0
                cash USD 99099.5
                1 EXECUTED filled 100
            venue busts 1 x2
                booked SELL -100 @ 9
                position 1 of 0 cost 0 realised 0
                cash USD 100000
                1 SUBMITTED
            order 1
                1 SUBMITTED 0 of 100 LimitOrder
        "#]],
        Some(expect!["V1 ENDED 0 of 100, V2 LIVE 0 of 100"]),
    );
}
