//! Legs of orders: two of them in the market, halves of a replace that are unknown, and legs that appear late.

use domain::report::ReplaceKind;
use expect_test::{Expect, expect};

use crate::world::StoryEngine;

/// At a venue that cancels an order and places another one.
pub(crate) fn check(story: &str, told: Expect, legs: &Expect) {
    let mut world = StoryEngine::replacing(ReplaceKind::CancelReplace);
    told.assert_eq(&world.run(story));
    legs.assert_eq(&world.legs("1"));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn two_legs_in_the_market_are_a_break_and_the_first_is_cancelled_until_it_is_gone() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 100 @ 9
         venue halves 1 refused done V2
         wait 1
         clock
         venue finds 1:V2:live 1:V1:live
         breaks
         wait 1
         clock
         venue finds 1:V2:live 1:V1:canceled
         breaks
         wait 60
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
            venue halves 1 refused done V2
                1 SUBMITTED
                Error two-legs: order 1: V1 is in the market too and is cancelled
                Warn break-found: B1: ORDER at SIM-A: we have status SUBMITTED, quantity 100, limit 9, tif DAY, filled 0, the venue has leg V1, status LIVE, quantity 100, limit 10, tif DAY
                B1 ORDER OPEN: ours status SUBMITTED, quantity 100, limit 9, tif DAY, filled 0, theirs leg V1, status LIVE, quantity 100, limit 10, tif DAY
                to SIM-A: cancel leg V1 of 1
            wait 1
            clock
                to SIM-A: ask about 1
                to SIM-A: list open orders
            venue finds 1:V2:live 1:V1:live
                to SIM-A: cancel leg V1 of 1
            breaks
                B1 ORDER OPEN: ours status SUBMITTED, quantity 100, limit 9, tif DAY, filled 0, theirs leg V1, status LIVE, quantity 100, limit 10, tif DAY
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:V2:live 1:V1:canceled
                B1 ORDER EXPLAINED: ours status SUBMITTED, quantity 100, limit 9, tif DAY, filled 0, theirs leg V1, status LIVE, quantity 100, limit 10, tif DAY; both sides agree again
            breaks
                B1 ORDER EXPLAINED: ours status SUBMITTED, quantity 100, limit 9, tif DAY, filled 0, theirs leg V1, status LIVE, quantity 100, limit 10, tif DAY; both sides agree again
            wait 60
            clock
                to SIM-A: list open orders
            order 1
                1 SUBMITTED 0 of 100 LimitOrder
        "#]],
        &expect!["V1 ENDED 0 of 100, V2 LIVE 0 of 100"],
    );
}

#[test]
fn halves_that_are_unknown_are_asked_about_and_never_guessed() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 100 @ 9
         venue halves 1 unknown unknown
         wait 1
         clock
         venue finds 1:V2:live 1:V1:canceled
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
            venue halves 1 unknown unknown
                1 PENDING_REPLACE (no funds)
            wait 1
            clock
                to SIM-A: ask about 1
                to SIM-A: list open orders
            venue finds 1:V2:live 1:V1:canceled
                1 SUBMITTED
            order 1
                1 SUBMITTED 0 of 100 LimitOrder
        "#]],
        &expect!["V1 ENDED 0 of 100, V2 LIVE 0 of 100"],
    );
}

#[test]
fn an_old_leg_of_which_nothing_is_known_is_asked_about_and_cancelled_where_it_rests() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 100 @ 9
         venue halves 1 unknown done V2
         wait 1
         clock
         venue finds 1:V2:live 1:V1:live
         venue leg 1 V1 canceled
         wait 10
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
            venue halves 1 unknown done V2
                1 SUBMITTED
            wait 1
            clock
                to SIM-A: ask about 1
                to SIM-A: list open orders
            venue finds 1:V2:live 1:V1:live
                Error two-legs: order 1: V1 is in the market too and is cancelled
                Warn break-found: B1: ORDER at SIM-A: we have status SUBMITTED, quantity 100, limit 9, tif DAY, filled 0, the venue has leg V1, status LIVE, quantity 100, limit 10, tif DAY
                B1 ORDER OPEN: ours status SUBMITTED, quantity 100, limit 9, tif DAY, filled 0, theirs leg V1, status LIVE, quantity 100, limit 10, tif DAY
                to SIM-A: cancel leg V1 of 1
            venue leg 1 V1 canceled
                B1 ORDER EXPLAINED: ours status SUBMITTED, quantity 100, limit 9, tif DAY, filled 0, theirs leg V1, status LIVE, quantity 100, limit 10, tif DAY; both sides agree again
            wait 10
            clock
                to SIM-A: list open orders
            order 1
                1 SUBMITTED 0 of 100 LimitOrder
        "#]],
        &expect!["V1 ENDED 0 of 100, V2 LIVE 0 of 100"],
    );
}

#[test]
fn a_new_leg_of_which_nothing_is_known_is_asked_about_and_the_order_ends_once_it_can_not_appear() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 100 @ 9
         venue halves 1 done unknown
         wait 1
         clock
         venue finds 1:V1:canceled with-requests-for 5
         order 1
         wait 5
         clock
         venue finds 1:V1:canceled
         order 1
         venue replaces 1 100 @ 9 by V2
         venue leg 1 V2 canceled",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            modify 1 to 100 @ 9
                1 PENDING_REPLACE
                to SIM-A: replace 1 with 100 @ 9
            venue halves 1 done unknown
                1 PENDING_REPLACE (no funds)
            wait 1
            clock
                to SIM-A: ask about 1
                to SIM-A: list open orders
            venue finds 1:V1:canceled with-requests-for 5
            order 1
                1 PENDING_REPLACE 0 of 100 LimitOrder in doubt
            wait 5
            clock
                to SIM-A: ask about 1
            venue finds 1:V1:canceled
                1 CANCELED
                1 CANCELED (too late: the order is finished)
            order 1
                1 CANCELED 0 of 100 LimitOrder
            venue replaces 1 100 @ 9 by V2
                Error two-legs: order 1: V2 is in the market too and is cancelled
                Warn break-found: B1: ORDER at SIM-A: we have status CANCELED, quantity 100, limit 10, tif DAY, filled 0, the venue has leg V2, status LIVE, quantity 100, limit 9, tif DAY
                B1 ORDER OPEN: ours status CANCELED, quantity 100, limit 10, tif DAY, filled 0, theirs leg V2, status LIVE, quantity 100, limit 9, tif DAY
                to SIM-A: cancel leg V2 of 1
            venue leg 1 V2 canceled
                B1 ORDER EXPLAINED: ours status CANCELED, quantity 100, limit 10, tif DAY, filled 0, theirs leg V2, status LIVE, quantity 100, limit 9, tif DAY; both sides agree again
        "#]],
        &expect!["V1 ENDED 0 of 100, V2 ENDED 0 of 100"],
    );
}

#[test]
fn a_list_with_both_legs_is_known_and_an_earlier_leg_is_no_external_order() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 100 @ 9
         clock
         venue lists 1:V1:live 1:V2:live
         venue external V1 buy 100 AAPL @ 10 live
         venue leg 1 V1 canceled
         breaks",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            modify 1 to 100 @ 9
                1 PENDING_REPLACE
                to SIM-A: replace 1 with 100 @ 9
            clock
                to SIM-A: list open orders
            venue lists 1:V1:live 1:V2:live
                1 SUBMITTED
                Error two-legs: order 1: V1 is in the market too and is cancelled
                Warn break-found: B1: ORDER at SIM-A: we have status SUBMITTED, quantity 100, limit 9, tif DAY, filled 0, the venue has leg V1, status LIVE, quantity 100, limit 10, tif DAY
                B1 ORDER OPEN: ours status SUBMITTED, quantity 100, limit 9, tif DAY, filled 0, theirs leg V1, status LIVE, quantity 100, limit 10, tif DAY
                to SIM-A: cancel leg V1 of 1
            venue external V1 buy 100 AAPL @ 10 live
                Error external-not-adopted: SIM-A: order V1 that nobody placed here is not adopted: it is our own order 1
            venue leg 1 V1 canceled
                B1 ORDER EXPLAINED: ours status SUBMITTED, quantity 100, limit 9, tif DAY, filled 0, theirs leg V1, status LIVE, quantity 100, limit 10, tif DAY; both sides agree again
            breaks
                B1 ORDER EXPLAINED: ours status SUBMITTED, quantity 100, limit 9, tif DAY, filled 0, theirs leg V1, status LIVE, quantity 100, limit 10, tif DAY; both sides agree again
        "#]],
        &expect!["V1 ENDED 0 of 100, V2 LIVE 0 of 100"],
    );
}

#[test]
fn a_leg_whose_replace_was_given_up_is_cancelled_when_it_appears() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 100 @ 9
         venue refuses-replace 1
         wait 30
         clock
         venue lists 1:V1:live 1:V2:live
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
            venue refuses-replace 1
                1 SUBMITTED (too late)
            wait 30
            clock
                to SIM-A: list open orders
            venue lists 1:V1:live 1:V2:live
                Error two-legs: order 1: V2 is in the market too and is cancelled
                Warn break-found: B1: ORDER at SIM-A: we have status SUBMITTED, quantity 100, limit 10, tif DAY, filled 0, the venue has leg V2, status LIVE, quantity 100, limit 10, tif DAY
                B1 ORDER OPEN: ours status SUBMITTED, quantity 100, limit 10, tif DAY, filled 0, theirs leg V2, status LIVE, quantity 100, limit 10, tif DAY
                to SIM-A: cancel leg V2 of 1
            order 1
                1 SUBMITTED 0 of 100 LimitOrder
        "#]],
        &expect!["V1 LIVE 0 of 100, V2 LIVE 0 of 100"],
    );
}

#[test]
fn a_cancel_of_an_order_with_two_legs_cancels_both() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 100 @ 9
         venue halves 1 refused done V2
         cancel 1
         venue cancels 1
         wait 1
         clock
         venue leg 1 V1 canceled
         wait 60
         clock",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            modify 1 to 100 @ 9
                1 PENDING_REPLACE
                to SIM-A: replace 1 with 100 @ 9
            venue halves 1 refused done V2
                1 SUBMITTED
                Error two-legs: order 1: V1 is in the market too and is cancelled
                Warn break-found: B1: ORDER at SIM-A: we have status SUBMITTED, quantity 100, limit 9, tif DAY, filled 0, the venue has leg V1, status LIVE, quantity 100, limit 10, tif DAY
                B1 ORDER OPEN: ours status SUBMITTED, quantity 100, limit 9, tif DAY, filled 0, theirs leg V1, status LIVE, quantity 100, limit 10, tif DAY
                to SIM-A: cancel leg V1 of 1
            cancel 1
                1 PENDING_CANCEL
                to SIM-A: cancel 1
                to SIM-A: cancel leg V1 of 1
            venue cancels 1
                1 CANCELED
            wait 1
            clock
                to SIM-A: ask about 1
                to SIM-A: list open orders
            venue leg 1 V1 canceled
                B1 ORDER EXPLAINED: ours status SUBMITTED, quantity 100, limit 9, tif DAY, filled 0, theirs leg V1, status LIVE, quantity 100, limit 10, tif DAY; both sides agree again
            wait 60
            clock
                to SIM-A: list open orders
        "#]],
        &expect!["V1 ENDED 0 of 100, V2 ENDED 0 of 100"],
    );
}

#[test]
fn a_leg_that_was_taken_for_gone_and_is_placed_after_all_is_cancelled() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 100 @ 9
         venue refuses-replace 1
         wait 30
         clock
         venue lists 1:V1:live 1:V2:live
         venue leg 1 V2 canceled
         venue halves 1 refused done V2
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
            venue refuses-replace 1
                1 SUBMITTED (too late)
            wait 30
            clock
                to SIM-A: list open orders
            venue lists 1:V1:live 1:V2:live
                Error two-legs: order 1: V2 is in the market too and is cancelled
                Warn break-found: B1: ORDER at SIM-A: we have status SUBMITTED, quantity 100, limit 10, tif DAY, filled 0, the venue has leg V2, status LIVE, quantity 100, limit 10, tif DAY
                B1 ORDER OPEN: ours status SUBMITTED, quantity 100, limit 10, tif DAY, filled 0, theirs leg V2, status LIVE, quantity 100, limit 10, tif DAY
                to SIM-A: cancel leg V2 of 1
            venue leg 1 V2 canceled
                B1 ORDER EXPLAINED: ours status SUBMITTED, quantity 100, limit 10, tif DAY, filled 0, theirs leg V2, status LIVE, quantity 100, limit 10, tif DAY; both sides agree again
            venue halves 1 refused done V2
                Error two-legs: order 1: V2 is in the market too and is cancelled
                Warn break-found: B2: ORDER at SIM-A: we have status SUBMITTED, quantity 100, limit 10, tif DAY, filled 0, the venue has leg V2, status LIVE, quantity 100, limit 10, tif DAY
                B2 ORDER OPEN: ours status SUBMITTED, quantity 100, limit 10, tif DAY, filled 0, theirs leg V2, status LIVE, quantity 100, limit 10, tif DAY
                to SIM-A: cancel leg V2 of 1
            order 1
                1 SUBMITTED 0 of 100 LimitOrder
        "#]],
        &expect!["V1 LIVE 0 of 100, V2 LIVE 0 of 100"],
    );
}
