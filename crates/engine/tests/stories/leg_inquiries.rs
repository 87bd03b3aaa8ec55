//! What a question about an order finds of its legs: only the one that it works by speaks for the order.

use expect_test::expect;

use crate::legs::check;

#[test]
fn the_end_of_a_leg_besides_the_working_one_does_not_end_the_order() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 100 @ 9
         venue refuses-replace 1
         wait 30
         clock
         venue lists 1:V1:live 1:V2:live
         wait 1
         clock
         venue finds 1:V2:canceled 1:V1:live
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
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:V2:canceled 1:V1:live
                B1 ORDER EXPLAINED: ours status SUBMITTED, quantity 100, limit 10, tif DAY, filled 0, theirs leg V2, status LIVE, quantity 100, limit 10, tif DAY; both sides agree again
            wait 60
            clock
                to SIM-A: list open orders
            order 1
                1 SUBMITTED 0 of 100 LimitOrder
        "#]],
        &expect!["V1 LIVE 0 of 100, V2 ENDED 0 of 100"],
    );
}

#[test]
fn a_leg_that_is_being_cancelled_is_not_taken_for_the_order() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 100 @ 9
         venue refuses-replace 1
         wait 1
         venue finds 1:V2:live@9 1:V1:live
         wait 1
         clock
         venue finds 1:V2:live@9 1:V1:live
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
            venue refuses-replace 1
                1 SUBMITTED (too late)
            wait 1
            venue finds 1:V2:live@9 1:V1:live
                Error two-legs: order 1: V2 is in the market too and is cancelled
                Warn break-found: B1: ORDER at SIM-A: we have status SUBMITTED, quantity 100, limit 10, tif DAY, filled 0, the venue has leg V2, status LIVE, quantity 100, limit 9, tif DAY
                B1 ORDER OPEN: ours status SUBMITTED, quantity 100, limit 10, tif DAY, filled 0, theirs leg V2, status LIVE, quantity 100, limit 9, tif DAY
                to SIM-A: cancel leg V2 of 1
            wait 1
            clock
                to SIM-A: ask about 1
                to SIM-A: list open orders
            venue finds 1:V2:live@9 1:V1:live
                to SIM-A: cancel leg V2 of 1
            venue leg 1 V2 canceled
                B1 ORDER EXPLAINED: ours status SUBMITTED, quantity 100, limit 10, tif DAY, filled 0, theirs leg V2, status LIVE, quantity 100, limit 9, tif DAY; both sides agree again
            order 1
                1 SUBMITTED 0 of 100 LimitOrder
        "#]],
        &expect!["V1 LIVE 0 of 100, V2 ENDED 0 of 100"],
    );
}

#[test]
fn the_rest_of_the_newest_leg_of_a_filled_order_is_found_to_be_gone() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 100 @ 9
         venue replaces 1 by V2
         venue fills 1 30 @ 10 x1 of V1
         venue fills 1 70 @ 9 x2 of V2
         wait 1
         clock
         venue finds 1:V2:live 1:V1:canceled
         wait 1
         clock
         venue finds 1:V2:canceled 1:V1:canceled
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
            venue finds 1:V2:live 1:V1:canceled
                to SIM-A: cancel leg V2 of 1
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:V2:canceled 1:V1:canceled
            wait 9
            clock
                to SIM-A: list open orders
            order 1
                1 EXECUTED 100 of 100 LimitOrder
        "#]],
        &expect!["V1 ENDED 30 of 100, V2 ENDED 70 of 100"],
    );
}

#[test]
fn an_answer_that_shows_only_an_earlier_leg_does_not_end_the_order() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 100 @ 9
         venue replaces 1 by V2
         venue gap
         venue finds 1:V1:canceled
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
            venue gap
                Warn report-gap: SIM-A: reports may be lost; 1 open orders are asked about
                to SIM-A: ask about 1
            venue finds 1:V1:canceled
            order 1
                1 SUBMITTED 0 of 100 LimitOrder
        "#]],
        &expect!["V1 ENDED 0 of 100, V2 LIVE 0 of 100"],
    );
}

#[test]
fn an_order_that_is_filled_and_was_never_accepted_has_no_second_leg() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue fills 1 100 @ 10 E1
         wait 1
         venue finds 1:V1:live
         venue leg 1 V1 live
         wait 60
         clock
         order 1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue fills 1 100 @ 10 E1
                fill 1 100 @ 10
                booked BUY 100 @ 10
                position 1 of 100 cost 1000 realised 0
                cash USD 98999.5
                1 EXECUTED filled 100
            wait 1
            venue finds 1:V1:live
            venue leg 1 V1 live
            wait 60
            clock
                to SIM-A: list open orders
            order 1
                1 EXECUTED 100 of 100 LimitOrder
        "#]],
        &expect![""],
    );
}

#[test]
fn a_leg_that_can_not_be_cancelled_is_tried_again_at_the_next_inquiry_and_not_before() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 100 @ 9
         venue halves 1 refused done V2
         venue leg 1 V1 live
         venue leg 1 V1 live
         wait 1
         clock
         venue finds 1:V2:live 1:V1:live
         venue leg 1 V1 live
         venue leg 1 V1 canceled
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
            venue leg 1 V1 live
            venue leg 1 V1 live
            wait 1
            clock
                to SIM-A: ask about 1
                to SIM-A: list open orders
            venue finds 1:V2:live 1:V1:live
                to SIM-A: cancel leg V1 of 1
            venue leg 1 V1 live
            venue leg 1 V1 canceled
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
fn an_answer_without_the_working_leg_does_not_close_a_gap() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 100 @ 9
         venue replaces 1 by V2
         wait 30
         venue gap
         venue finds 1:V1:canceled
         wait 1
         clock
         venue finds 1:V2:canceled 1:V1:canceled
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
            venue replaces 1 by V2
                1 SUBMITTED
            wait 30
            venue gap
                Warn report-gap: SIM-A: reports may be lost; 1 open orders are asked about
                to SIM-A: ask about 1
            venue finds 1:V1:canceled
            wait 1
            clock
                to SIM-A: ask about 1
                to SIM-A: list open orders
            venue finds 1:V2:canceled 1:V1:canceled
                1 CANCELED
            wait 60
            clock
                to SIM-A: list open orders
            order 1
                1 CANCELED 0 of 100 LimitOrder
        "#]],
        &expect!["V1 ENDED 0 of 100, V2 ENDED 0 of 100"],
    );
}
