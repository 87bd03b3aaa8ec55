//! Quantities of legs: a venue tells that of the leg alone, and what other legs have traded is part of the order's.

use expect_test::expect;

use crate::legs::check;

#[test]
fn a_leg_that_the_venue_has_with_another_quantity_is_a_break_and_taken_over() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 100 @ 9
         venue replaces 1 by V2
         wait 30
         clock
         venue lists-leg 1 V2 80 @ 9
         wait 30
         clock
         venue lists-leg 1 V2 80 @ 9
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
            wait 30
            clock
                to SIM-A: list open orders
            venue lists-leg 1 V2 80 @ 9
                1 SUBMITTED
                Warn break-found: B1: TERMS at SIM-A: we have quantity 100, limit 9, tif DAY, the venue has quantity 80, limit 9, tif DAY
                B1 TERMS OPEN: ours quantity 100, limit 9, tif DAY, theirs quantity 80, limit 9, tif DAY
                B1 TERMS REPAIRED: ours quantity 100, limit 9, tif DAY, theirs quantity 80, limit 9, tif DAY; taken over from the venue
            wait 30
            clock
                to SIM-A: list open orders
            venue lists-leg 1 V2 80 @ 9
            order 1
                1 SUBMITTED 0 of 80 LimitOrder
        "#]],
        &expect!["V1 ENDED 0 of 100, V2 LIVE 0 of 80"],
    );
}

#[test]
fn a_lowered_leg_beside_fills_of_another_lowers_the_order_only_where_it_can_no_longer_be_filled() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 100 @ 9
         venue replaces 1 by V2
         venue fills 1 30 @ 10 x1 of V1
         wait 30
         clock
         venue lists-leg 1 V2 100 @ 9
         wait 30
         clock
         venue lists-leg 1 V2 80 @ 9
         order 1
         wait 30
         clock
         venue lists-leg 1 V2 60 @ 9
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
            wait 30
            clock
                to SIM-A: list open orders
            venue lists-leg 1 V2 100 @ 9
            wait 30
            clock
                to SIM-A: list open orders
            venue lists-leg 1 V2 80 @ 9
                Warn break-found: B1: TERMS at SIM-A: we have quantity 100, limit 9, tif DAY, the venue has quantity 80, limit 9, tif DAY
                B1 TERMS OPEN: ours quantity 100, limit 9, tif DAY, theirs quantity 80, limit 9, tif DAY
                B1 TERMS REPAIRED: ours quantity 100, limit 9, tif DAY, theirs quantity 80, limit 9, tif DAY; taken over from the venue
            order 1
                1 PARTIALLY_EXECUTED 30 of 100 LimitOrder
            wait 30
            clock
                to SIM-A: list open orders
            venue lists-leg 1 V2 60 @ 9
                1 PARTIALLY_EXECUTED filled 30
                Warn break-found: B2: TERMS at SIM-A: we have quantity 80, limit 9, tif DAY, the venue has quantity 60, limit 9, tif DAY
                B2 TERMS OPEN: ours quantity 80, limit 9, tif DAY, theirs quantity 60, limit 9, tif DAY
                B2 TERMS REPAIRED: ours quantity 80, limit 9, tif DAY, theirs quantity 60, limit 9, tif DAY; taken over from the venue
            order 1
                1 PARTIALLY_EXECUTED 30 of 90 LimitOrder
        "#]],
        &expect!["V1 ENDED 30 of 100, V2 LIVE 0 of 60"],
    );
}

#[test]
fn a_lowered_leg_is_what_was_asked_for_together_with_what_other_legs_traded() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 100 @ 9
         venue replaces 1 by V2
         venue fills 1 30 @ 10 x1 of V1
         modify 1 to 80 @ 9
         venue replaces 1 50 @ 9 by V2
         modify 1 to 70 @ 9
         wait 30
         clock
         venue lists-leg 1 V2 40 @ 9
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
            modify 1 to 80 @ 9
                1 PENDING_REPLACE filled 30
                to SIM-A: replace 1 with 80 @ 9
            venue replaces 1 50 @ 9 by V2
                1 PARTIALLY_EXECUTED filled 30
            modify 1 to 70 @ 9
                1 PENDING_REPLACE filled 30
                to SIM-A: replace 1 with 70 @ 9
            wait 30
            clock
                Warn no-answer: order 1: the venue has not answered for 10 s
                1 PENDING_REPLACE filled 30 (the venue has not answered for 10 s)
                to SIM-A: ask about 1
                to SIM-A: list open orders
            venue lists-leg 1 V2 40 @ 9
                1 PARTIALLY_EXECUTED filled 30
            order 1
                1 PARTIALLY_EXECUTED 30 of 70 LimitOrder
        "#]],
        &expect!["V1 ENDED 30 of 100, V2 LIVE 0 of 40"],
    );
}

#[test]
fn a_fill_of_another_leg_on_the_way_does_not_make_a_lowered_order_larger() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 100 @ 9
         venue replaces 1 by V2
         venue fills 1 30 @ 10 x1 of V1
         modify 1 to 80 @ 9
         venue fills 1 10 @ 10 x2 of V1
         venue replaces 1 50 @ 9 by V2
         venue fills 1 40 @ 9 x3 of V2
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
            modify 1 to 80 @ 9
                1 PENDING_REPLACE filled 30
                to SIM-A: replace 1 with 80 @ 9
            venue fills 1 10 @ 10 x2 of V1
                fill 1 10 @ 10
                booked BUY 10 @ 10
                position 1 of 40 cost 400 realised 0
                cash USD 99599.8
                1 PENDING_REPLACE filled 40
            venue replaces 1 50 @ 9 by V2
                1 PARTIALLY_EXECUTED filled 40
            venue fills 1 40 @ 9 x3 of V2
                fill 1 40 @ 9
                booked BUY 40 @ 9
                position 1 of 80 cost 760 realised 0
                cash USD 99239.6
                1 EXECUTED filled 80
                to SIM-A: cancel leg V2 of 1
            order 1
                1 EXECUTED 80 of 80 LimitOrder
        "#]],
        &expect!["V1 ENDED 40 of 100, V2 LIVE 40 of 50"],
    );
}

#[test]
fn a_leg_beside_the_order_that_the_venue_has_lowered_to_what_it_traded_is_gone() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 100 @ 9
         venue halves 1 refused done V2
         venue fills 1 90 @ 10 x1 of V1
         wait 1
         clock
         venue lists-leg 1 V1 90 @ 10
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
            venue fills 1 90 @ 10 x1 of V1
                fill 1 90 @ 10
                booked BUY 90 @ 10
                position 1 of 90 cost 900 realised 0
                cash USD 99099.55
                1 PARTIALLY_EXECUTED filled 90
                to SIM-A: cancel leg V1 of 1
            wait 1
            clock
                to SIM-A: ask about 1
                to SIM-A: list open orders
            venue lists-leg 1 V1 90 @ 10
                B1 ORDER EXPLAINED: ours status SUBMITTED, quantity 100, limit 9, tif DAY, filled 0, theirs leg V1, status LIVE, quantity 100, limit 10, tif DAY; both sides agree again
            order 1
                1 PARTIALLY_EXECUTED 90 of 100 LimitOrder
        "#]],
        &expect!["V1 ENDED 90 of 100, V2 LIVE 0 of 100"],
    );
}

#[test]
fn a_venue_that_lowers_an_order_by_itself_does_not_answer_a_replace_that_is_on_its_way() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 100 @ 9
         venue replaces 1 60 @ 10 by V1
         order 1
         venue replaces 1 100 @ 9 by V2
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
            venue replaces 1 60 @ 10 by V1
                1 PENDING_REPLACE
            order 1
                1 PENDING_REPLACE 0 of 60 LimitOrder
            venue replaces 1 100 @ 9 by V2
                1 SUBMITTED
            order 1
                1 SUBMITTED 0 of 100 LimitOrder
        "#]],
        &expect!["V1 ENDED 0 of 60, V2 LIVE 0 of 100"],
    );
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 50 @ 10
         venue replaces 1 80 @ 10 by V1
         order 1
         venue replaces 1 50 @ 10 by V1
         order 1
         modify 1 to 30 @ 10
         venue replaces 1 20 @ 10 by V1
         order 1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            modify 1 to 50 @ 10
                1 PENDING_REPLACE
                to SIM-A: replace 1 with 50 @ 10
            venue replaces 1 80 @ 10 by V1
                1 PENDING_REPLACE
            order 1
                1 PENDING_REPLACE 0 of 80 LimitOrder
            venue replaces 1 50 @ 10 by V1
                1 SUBMITTED
            order 1
                1 SUBMITTED 0 of 50 LimitOrder
            modify 1 to 30 @ 10
                1 PENDING_REPLACE
                to SIM-A: replace 1 with 30 @ 10
            venue replaces 1 20 @ 10 by V1
                1 SUBMITTED
            order 1
                1 SUBMITTED 0 of 20 LimitOrder
        "#]],
        &expect![[r#""#]],
    );
}
