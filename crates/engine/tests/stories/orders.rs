//! Order lifecycle, from entry to the last fill.

use expect_test::{Expect, expect};

use crate::world::StoryEngine;

/// Every script is also replayed: the same inputs give the same state.
fn check(story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn an_order_is_accepted_filled_in_parts_and_done() {
    check(
        "place 7 buy 100 AAPL @ 10.50
         venue accepts 7
         venue fills 7 40 @ 10.40 x1
         venue fills 7 60 @ 10.50 x2
         open",
        expect![[r#"
            place 7 buy 100 AAPL @ 10.50
                7 OPEN
                to SIM-A: submit 7
            venue accepts 7
                7 SUBMITTED
            venue fills 7 40 @ 10.40 x1
                fill 7 40 @ 10.4
                booked BUY 40 @ 10.4
                position 1 of 40 cost 416 realised 0
                cash USD 99583.8
                7 PARTIALLY_EXECUTED filled 40
            venue fills 7 60 @ 10.50 x2
                fill 7 60 @ 10.5
                booked BUY 60 @ 10.5
                position 1 of 100 cost 1046 realised 0
                cash USD 98953.5
                7 EXECUTED filled 100
            open
                nothing
        "#]],
    );
}

#[test]
fn a_second_order_with_a_known_id_never_touches_the_first() {
    check(
        "place 7 buy 100 AAPL @ 10.50
         place 7 buy 100 AAPL @ 10.50
         venue accepts 7
         open",
        expect![[r#"
            place 7 buy 100 AAPL @ 10.50
                7 OPEN
                to SIM-A: submit 7
            place 7 buy 100 AAPL @ 10.50
                refused duplicate-order: an order with the id 7 exists already and was not touched
            venue accepts 7
                7 SUBMITTED
            open
                7 SUBMITTED 0 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn a_fill_that_comes_twice_is_booked_once() {
    check(
        "place 7 buy 100 AAPL @ 10.50
         venue fills 7 40 @ 10.40 x1
         venue fills 7 40 @ 10.40 x1
         venue accepts 7
         order 7",
        expect![[r#"
            place 7 buy 100 AAPL @ 10.50
                7 OPEN
                to SIM-A: submit 7
            venue fills 7 40 @ 10.40 x1
                fill 7 40 @ 10.4
                booked BUY 40 @ 10.4
                position 1 of 40 cost 416 realised 0
                cash USD 99583.8
                7 PARTIALLY_EXECUTED filled 40
            venue fills 7 40 @ 10.40 x1
            venue accepts 7
                7 PARTIALLY_EXECUTED filled 40
            order 7
                7 PARTIALLY_EXECUTED 40 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn a_late_fill_is_booked_and_the_order_stays_canceled() {
    check(
        "place 7 buy 100 AAPL @ 10.50
         venue accepts 7
         cancel 7
         venue cancels 7
         venue fills 7 10 @ 10.50 x1
         order 7",
        expect![[r#"
            place 7 buy 100 AAPL @ 10.50
                7 OPEN
                to SIM-A: submit 7
            venue accepts 7
                7 SUBMITTED
            cancel 7
                7 PENDING_CANCEL
                to SIM-A: cancel 7
            venue cancels 7
                7 CANCELED
            venue fills 7 10 @ 10.50 x1
                Warn late-fill: order 7: filled after it was Canceled; the fill is booked
                fill 7 10 @ 10.5
                booked BUY 10 @ 10.5
                position 1 of 10 cost 105 realised 0
                cash USD 99894.95
                7 CANCELED filled 10
            order 7
                7 CANCELED 10 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn fills_race_a_pending_cancel_and_the_venue_is_too_late_to_cancel() {
    check(
        "place 7 buy 100 AAPL @ 10.50
         venue accepts 7
         cancel 7
         cancel 7
         modify 7 to 50 @ 10.40
         venue fills 7 100 @ 10.50 x1
         venue refuses-cancel 7
         cancel 7",
        expect![[r#"
            place 7 buy 100 AAPL @ 10.50
                7 OPEN
                to SIM-A: submit 7
            venue accepts 7
                7 SUBMITTED
            cancel 7
                7 PENDING_CANCEL
                to SIM-A: cancel 7
            cancel 7
                refused cancel-pending: order 7 is being cancelled already
            modify 7 to 50 @ 10.40
                refused cancel-pending: order 7 is being cancelled already
            venue fills 7 100 @ 10.50 x1
                fill 7 100 @ 10.5
                booked BUY 100 @ 10.5
                position 1 of 100 cost 1050 realised 0
                cash USD 98949.5
                7 PENDING_CANCEL filled 100
            venue refuses-cancel 7
                7 EXECUTED filled 100 (too late)
            cancel 7
                refused order-closed: order 7 is finished
        "#]],
    );
}

#[test]
fn a_replace_shows_its_new_terms_only_when_the_venue_confirms() {
    check(
        "place 7 buy 100 AAPL @ 10.50
         venue accepts 7
         modify 7 to 200 @ 10.60
         modify 7 to 300 @ 10.60
         venue fills 7 40 @ 10.50 x1
         venue replaces 7 200 @ 10.60
         order 7
         modify 7 to 10 @ 10.60
         venue replaces 7 10 @ 10.60
         order 7",
        expect![[r#"
            place 7 buy 100 AAPL @ 10.50
                7 OPEN
                to SIM-A: submit 7
            venue accepts 7
                7 SUBMITTED
            modify 7 to 200 @ 10.60
                7 PENDING_REPLACE
                to SIM-A: replace 7 with 200 @ 10.6
            modify 7 to 300 @ 10.60
                refused replace-pending: order 7 is being replaced already
            venue fills 7 40 @ 10.50 x1
                fill 7 40 @ 10.5
                booked BUY 40 @ 10.5
                position 1 of 40 cost 420 realised 0
                cash USD 99579.8
                7 PENDING_REPLACE filled 40
            venue replaces 7 200 @ 10.60
                7 PARTIALLY_EXECUTED filled 40
            order 7
                7 PARTIALLY_EXECUTED 40 of 200 LimitOrder
            modify 7 to 10 @ 10.60
                7 PENDING_REPLACE filled 40
                to SIM-A: replace 7 with 40 @ 10.6
            venue replaces 7 10 @ 10.60
                7 EXECUTED filled 40
            order 7
                7 EXECUTED 40 of 40 LimitOrder
        "#]],
    );
}

#[test]
fn a_refused_replace_changes_nothing() {
    check(
        "place 7 buy 100 AAPL @ 10.50
         venue accepts 7
         modify 7 to 200 @ 10.60
         venue refuses-replace 7
         order 7",
        expect![[r#"
            place 7 buy 100 AAPL @ 10.50
                7 OPEN
                to SIM-A: submit 7
            venue accepts 7
                7 SUBMITTED
            modify 7 to 200 @ 10.60
                7 PENDING_REPLACE
                to SIM-A: replace 7 with 200 @ 10.6
            venue refuses-replace 7
                7 SUBMITTED (too late)
            order 7
                7 SUBMITTED 0 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn a_rejected_order_is_over() {
    check(
        "place 7 buy 100 AAPL @ 10.50
         venue rejects 7
         cancel 7
         venue accepts 7
         order 7",
        expect![[r#"
            place 7 buy 100 AAPL @ 10.50
                7 OPEN
                to SIM-A: submit 7
            venue rejects 7
                7 REJECTED (not today)
            cancel 7
                refused order-closed: order 7 is finished
            venue accepts 7
                Error illegal-transition: order 7: Accepted is not legal when Rejected
            order 7
                7 REJECTED 0 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn a_busted_fill_is_undone_by_a_new_record_and_a_corrected_one_replaced() {
    check(
        "place 7 buy 100 AAPL @ 10.50
         venue accepts 7
         venue fills 7 100 @ 10.50 x1
         venue busts 7 x1
         venue fills 7 50 @ 10.40 x2
         venue corrects 7 x2 to 50 @ 10.30 x3
         venue busts 7 x9
         order 7",
        expect![[r#"
            place 7 buy 100 AAPL @ 10.50
                7 OPEN
                to SIM-A: submit 7
            venue accepts 7
                7 SUBMITTED
            venue fills 7 100 @ 10.50 x1
                fill 7 100 @ 10.5
                booked BUY 100 @ 10.5
                position 1 of 100 cost 1050 realised 0
                cash USD 98949.5
                7 EXECUTED filled 100
            venue busts 7 x1
                booked SELL -100 @ 10.5
                position 1 of 0 cost 0 realised 0
                cash USD 100000
                7 SUBMITTED
            venue fills 7 50 @ 10.40 x2
                fill 7 50 @ 10.4
                booked BUY 50 @ 10.4
                position 1 of 50 cost 520 realised 0
                cash USD 99479.75
                7 PARTIALLY_EXECUTED filled 50
            venue corrects 7 x2 to 50 @ 10.30 x3
                booked SELL -50 @ 10.4
                position 1 of 0 cost 0 realised 0
                cash USD 100000
                fill 7 50 @ 10.3
                booked BUY 50 @ 10.3
                position 1 of 50 cost 515 realised 0
                cash USD 99484.75
                7 PARTIALLY_EXECUTED filled 50 (corrected by x3)
            venue busts 7 x9
                Error unknown-execution: order 7: no execution x9 to undo
            order 7
                7 PARTIALLY_EXECUTED 50 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn a_position_is_reduced_and_closed_but_never_flipped() {
    check(
        "place 7 buy 100 AAPL @ 10.50
         venue fills 7 100 @ 10 x1
         reduce 1 200
         reduce 1 40
         close 1
         venue fills A-1 40 @ 11 x2
         close 1
         venue fills A-2 60 @ 11 x3
         close 1",
        expect![[r#"
            place 7 buy 100 AAPL @ 10.50
                7 OPEN
                to SIM-A: submit 7
            venue fills 7 100 @ 10 x1
                fill 7 100 @ 10
                booked BUY 100 @ 10
                position 1 of 100 cost 1000 realised 0
                cash USD 98999.5
                7 EXECUTED filled 100
            reduce 1 200
                refused too-large: quantity 200 is above the maximum of 100
            reduce 1 40
                A-1 OPEN
                to SIM-A: submit A-1
            close 1
                A-2 OPEN
                to SIM-A: submit A-2
            venue fills A-1 40 @ 11 x2
                fill A-1 40 @ 11
                booked SELL -40 @ 11
                position 1 of 60 cost 600 realised 40
                cash USD 99439.3
                A-1 EXECUTED filled 40
            close 1
                refused would-flip: may only reduce the position, of which 0 can be closed beside orders on their way
            venue fills A-2 60 @ 11 x3
                fill A-2 60 @ 11
                booked SELL -60 @ 11
                position 1 of 0 cost 0 realised 100
                cash USD 100099
                A-2 EXECUTED filled 60
            close 1
                refused position-closed: position 1 is closed
        "#]],
    );
}

#[test]
fn generated_ids_skip_those_that_clients_chose() {
    check(
        "next-id
         place A-2 buy 1 AAPL @ 10
         place ? buy 1 AAPL @ 10
         next-id",
        expect![[r#"
            next-id
                id A-1
            place A-2 buy 1 AAPL @ 10
                A-2 OPEN
                to SIM-A: submit A-2
            place ? buy 1 AAPL @ 10
                A-3 OPEN
                to SIM-A: submit A-3
            next-id
                id A-4
        "#]],
    );
}

#[test]
fn the_fee_that_a_venue_names_is_booked_beside_the_commissions_and_given_back_with_the_fill() {
    check(
        "place 7 buy 100 AAPL @ 10.50
         venue accepts 7
         venue fills 7 40 @ 10.50 x1 charging 1.25
         venue fills 7 60 @ 10.50 x2 charging -0.25
         venue busts 7 x1",
        expect![[r#"
            place 7 buy 100 AAPL @ 10.50
                7 OPEN
                to SIM-A: submit 7
            venue accepts 7
                7 SUBMITTED
            venue fills 7 40 @ 10.50 x1 charging 1.25
                fill 7 40 @ 10.5
                booked BUY 40 @ 10.5
                position 1 of 40 cost 420 realised 0
                cash USD 99578.55
                7 PARTIALLY_EXECUTED filled 40
            venue fills 7 60 @ 10.50 x2 charging -0.25
                fill 7 60 @ 10.5
                booked BUY 60 @ 10.5
                position 1 of 100 cost 1050 realised 0
                cash USD 98948.5
                7 EXECUTED filled 100
            venue busts 7 x1
                booked SELL -40 @ 10.5
                position 1 of 60 cost 630 realised 0
                cash USD 99369.95
                7 PARTIALLY_EXECUTED filled 60
        "#]],
    );
}
