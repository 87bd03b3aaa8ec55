//! Order properties: which go with which orders, and orders that may only reduce a position.

use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    world.run(
        "place 1 buy 100 AAPL @ 10
         venue fills 1 100 @ 10 x1",
    );
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
    let restored = engine::Engine::from_state(&state).unwrap();
    assert_eq!(restored.encode_state(), state, "a snapshot gives another state");
}

/// No order is accepted that its venue cannot be sent.
#[test]
fn an_order_type_or_time_in_force_that_the_venue_does_not_have_is_refused_before_it_is_sent() {
    let mut world = StoryEngine::with_limit_orders_alone();
    let told = world.run(
        "place 1 buy 100 AAPL @ 10 FOK
         check buy 100 AAPL @ 10 FOK
         place 2 buy 100 AAPL market
         check buy 100 AAPL market
         place 3 buy 100 AAPL @ 10 GTC",
    );
    expect![[r#"
        place 1 buy 100 AAPL @ 10 FOK
            refused venue-tif: the venue of SIM-A would refuse it: it has no such orders with FOK
        check buy 100 AAPL @ 10 FOK
            refused venue-tif, notional 1000, fee 0.5
        place 2 buy 100 AAPL market
            refused venue-order-type: the venue of SIM-A would refuse it: it has no orders of type MarketOrder
        check buy 100 AAPL market
            refused venue-order-type, notional 1012.02, fee 0.5
        place 3 buy 100 AAPL @ 10 GTC
            3 OPEN
            to SIM-A: submit 3
    "#]]
    .assert_eq(&told);
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn properties_that_do_not_go_with_the_order_are_refused_by_name() {
    check(
        "place 2 buy 10 AAPL market post-only
         place 3 buy 10 AAPL @ 9 IOC post-only
         place 4 buy 10 AAPL @ 9 FOK post-only
         place 5 buy 10 AAPL @ 9 ATC post-only
         place 6 buy 10 AAPL stop 11 @ 11 DAY post-only
         place 7 buy 10 AAPL market showing 5
         place 8 buy 10 AAPL @ 9 IOC showing 5
         place 9 buy 10 AAPL @ 9 GTC showing 20
         place 10 buy 10 AAPL @ 9 GTC showing 0
         place 11 buy 10 AAPL @ 9 GTC showing 0.5
         place 12 buy 10 AAPL @ 9 GTC at-least 5
         place 13 buy 10 AAPL @ 9 FOK at-least 5
         place 14 buy 10 AAPL @ 9 IOC at-least 11
         check buy 10 AAPL @ 9 IOC post-only
         open",
        expect![[r#"
            place 2 buy 10 AAPL market post-only
                refused property-not-allowed: postOnly is not possible with MarketOrder
            place 3 buy 10 AAPL @ 9 IOC post-only
                refused property-not-allowed: postOnly is not possible with IOC
            place 4 buy 10 AAPL @ 9 FOK post-only
                refused property-not-allowed: postOnly is not possible with FOK
            place 5 buy 10 AAPL @ 9 ATC post-only
                refused property-not-allowed: postOnly is not possible with ATC
            place 6 buy 10 AAPL stop 11 @ 11 DAY post-only
                refused property-not-allowed: postOnly is not possible with StopLimitOrder
            place 7 buy 10 AAPL market showing 5
                refused property-not-allowed: displayQuantity is not possible with MarketOrder
            place 8 buy 10 AAPL @ 9 IOC showing 5
                refused property-not-allowed: displayQuantity is not possible with IOC
            place 9 buy 10 AAPL @ 9 GTC showing 20
                refused too-large: displayQuantity 20 is above the maximum of 10
            place 10 buy 10 AAPL @ 9 GTC showing 0
                refused not-positive: displayQuantity 0 must be more than zero
            place 11 buy 10 AAPL @ 9 GTC showing 0.5
                refused not-a-multiple: displayQuantity 0.5 is not a multiple of 1
            place 12 buy 10 AAPL @ 9 GTC at-least 5
                refused property-not-allowed: minQuantity is not possible with GTC
            place 13 buy 10 AAPL @ 9 FOK at-least 5
                refused property-not-allowed: minQuantity is not possible with FOK
            place 14 buy 10 AAPL @ 9 IOC at-least 11
                refused too-large: minQuantity 11 is above the maximum of 10
            check buy 10 AAPL @ 9 IOC post-only
                refused property-not-allowed, notional 90, fee 0.05
            open
                nothing
        "#]],
    );
}

#[test]
fn a_venue_that_does_not_offer_a_property_never_sees_the_order() {
    check(
        "mark SAP 100 101
         place 2 buy 1 SAP @ 99 GTC post-only
         place 3 buy 2 SAP @ 99 GTC showing 1
         check buy 1 SAP @ 99 GTC post-only
         place 4 buy 1 SAP @ 99 GTC",
        expect![[r#"
            mark SAP 100 101
            place 2 buy 1 SAP @ 99 GTC post-only
                refused property-not-offered: the venue of SIM-B does not offer postOnly
            place 3 buy 2 SAP @ 99 GTC showing 1
                refused property-not-offered: the venue of SIM-B does not offer displayQuantity
            check buy 1 SAP @ 99 GTC post-only
                refused property-not-offered, notional 99, fee 0
            place 4 buy 1 SAP @ 99 GTC
                4 OPEN
                to SIM-B: submit 4
        "#]],
    );
}

#[test]
fn properties_stay_for_life() {
    check(
        "place 2 buy 10 AAPL @ 9 GTC post-only showing 5
         venue accepts 2
         modify 2 to 4 @ 9.01
         venue replaces 2
         order 2",
        expect![[r#"
            place 2 buy 10 AAPL @ 9 GTC post-only showing 5
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            modify 2 to 4 @ 9.01
                2 PENDING_REPLACE
                to SIM-A: replace 2 with 4 @ 9.01
            venue replaces 2
                2 SUBMITTED
            order 2
                2 SUBMITTED 0 of 4 LimitOrder
        "#]],
    );
}

#[test]
fn a_reduce_only_order_is_cut_to_what_it_can_close() {
    check(
        "place 2 sell 250 AAPL @ 11 GTC reduce-only
         venue accepts 2
         place 3 sell 1 AAPL @ 12 GTC reduce-only
         place 4 buy 1 AAPL @ 9 GTC reduce-only
         check sell 1 AAPL market DAY reduce-only
         modify 2 to 120 @ 11
         modify 2 to 60 @ 11
         venue replaces 2
         place 5 sell 90 AAPL stop 9 GTC reduce-only
         open",
        expect![[r#"
            place 2 sell 250 AAPL @ 11 GTC reduce-only
                2 OPEN (reduce-only: cut from 250 to 100)
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            place 3 sell 1 AAPL @ 12 GTC reduce-only
                refused would-flip: may only reduce the position, of which 0 can be closed beside orders on their way
            place 4 buy 1 AAPL @ 9 GTC reduce-only
                refused would-flip: may only reduce the position, of which 0 can be closed beside orders on their way
            check sell 1 AAPL market DAY reduce-only
                refused would-flip, notional 10, fee 0.005
            modify 2 to 120 @ 11
                refused would-flip: may only reduce the position, of which 100 can be closed beside orders on their way
            modify 2 to 60 @ 11
                2 PENDING_REPLACE
                to SIM-A: replace 2 with 60 @ 11
            venue replaces 2
                2 SUBMITTED
            place 5 sell 90 AAPL stop 9 GTC reduce-only
                5 OPEN (reduce-only: cut from 90 to 40)
                to SIM-A: submit 5
            open
                2 SUBMITTED 0 of 60 LimitOrder
                5 OPEN 0 of 40 StopOrder
        "#]],
    );
}

#[test]
fn another_order_of_the_same_side_leaves_only_when_it_cannot_flip_the_position() {
    check(
        "place 2 sell 100 AAPL @ 11 GTC reduce-only
         venue accepts 2
         place 3 sell 30 AAPL @ 10.5
         venue replaces 2
         venue fills 3 30 @ 10.5 x2
         venue fills 2 70 @ 11 x3
         positions",
        expect![[r#"
            place 2 sell 100 AAPL @ 11 GTC reduce-only
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            place 3 sell 30 AAPL @ 10.5
                3 OPEN (waits for the venue to reduce or cancel order 2)
                2 PENDING_REPLACE (reduce-only: order 3 of the same side goes before it)
                to SIM-A: replace 2 with 70 @ 11
            venue replaces 2
                2 SUBMITTED (reduce-only: order 3 of the same side goes before it)
                3 OPEN
                to SIM-A: submit 3
            venue fills 3 30 @ 10.5 x2
                fill 3 30 @ 10.5
                booked SELL -30 @ 10.5
                position 1 of 70 cost 700 realised 15
                cash USD 99314.35
                3 EXECUTED filled 30
            venue fills 2 70 @ 11 x3
                fill 2 70 @ 11
                booked SELL -70 @ 11
                position 1 of 0 cost 0 realised 85
                cash USD 100084
                2 EXECUTED filled 70 (reduce-only: order 3 of the same side goes before it)
            positions
                position 1 of 0 cost 0 realised 85
        "#]],
    );
}

#[test]
fn a_fill_that_is_faster_than_the_reduction_takes_its_part() {
    check(
        "place 2 sell 100 AAPL @ 11 GTC reduce-only
         venue accepts 2
         place 3 sell 150 AAPL @ 10.5
         venue fills 2 100 @ 11 x2
         venue refuses-cancel 2
         venue fills 3 150 @ 10.5 x3
         positions",
        expect![[r#"
            place 2 sell 100 AAPL @ 11 GTC reduce-only
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            place 3 sell 150 AAPL @ 10.5
                3 OPEN (waits for the venue to cancel order 2)
                2 PENDING_CANCEL (reduce-only: order 3 of the same side goes before it)
                to SIM-A: cancel 2
            venue fills 2 100 @ 11 x2
                fill 2 100 @ 11
                booked SELL -100 @ 11
                position 1 of 0 cost 0 realised 100
                cash USD 100099
                2 PENDING_CANCEL filled 100 (reduce-only: order 3 of the same side goes before it)
                3 OPEN
                to SIM-A: submit 3
            venue refuses-cancel 2
                2 EXECUTED filled 100 (too late)
            venue fills 3 150 @ 10.5 x3
                fill 3 150 @ 10.5
                booked SELL -150 @ 10.5
                position 1 of -150 cost -1575 realised 100
                cash USD 101673.25
                3 EXECUTED filled 150
            positions
                position 1 of -150 cost -1575 realised 100
        "#]],
    );
}

#[test]
fn without_an_answer_of_the_venue_the_other_order_is_not_sent() {
    check(
        "place 2 sell 100 AAPL @ 11 GTC reduce-only
         venue accepts 2
         place 3 sell 30 AAPL @ 10.5
         wait 5
         clock
         venue replaces 2
         open",
        expect![[r#"
            place 2 sell 100 AAPL @ 11 GTC reduce-only
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            place 3 sell 30 AAPL @ 10.5
                3 OPEN (waits for the venue to reduce or cancel order 2)
                2 PENDING_REPLACE (reduce-only: order 3 of the same side goes before it)
                to SIM-A: replace 2 with 70 @ 11
            wait 5
            clock
                3 REJECTED (would-flip: the venue has not cancelled or reduced order 2 within 5 s)
                to SIM-A: ask about 2
            venue replaces 2
                2 SUBMITTED (reduce-only: order 3 of the same side goes before it)
            open
                2 SUBMITTED 0 of 70 LimitOrder
        "#]],
    );
}

#[test]
fn an_order_at_the_venue_does_not_grow_beside_reduce_only_orders() {
    check(
        "place 2 sell 30 AAPL @ 12
         place 3 sell 70 AAPL @ 11 GTC reduce-only
         venue accepts 2
         venue accepts 3
         modify 2 to 31 @ 12
         modify 2 to 29 @ 12
         venue replaces 2
         modify 3 to 71 @ 11
         venue replaces 3",
        expect![[r#"
            place 2 sell 30 AAPL @ 12
                2 OPEN
                to SIM-A: submit 2
            place 3 sell 70 AAPL @ 11 GTC reduce-only
                3 OPEN
                to SIM-A: submit 3
            venue accepts 2
                2 SUBMITTED
            venue accepts 3
                3 SUBMITTED
            modify 2 to 31 @ 12
                refused reduce-only-order-open: order 3 may only reduce the position: cancel or reduce it first
            modify 2 to 29 @ 12
                2 PENDING_REPLACE
                to SIM-A: replace 2 with 29 @ 12
            venue replaces 2
                2 SUBMITTED
            modify 3 to 71 @ 11
                3 PENDING_REPLACE
                to SIM-A: replace 3 with 71 @ 11
            venue replaces 3
                3 SUBMITTED
        "#]],
    );
}

#[test]
fn orders_shrink_with_the_position_newest_first() {
    check(
        "place 2 sell 40 AAPL @ 11 GTC reduce-only
         place 3 sell 40 AAPL @ 12 GTC reduce-only
         place 4 sell 20 AAPL stop 9 GTC reduce-only
         venue accepts 2
         venue accepts 3
         venue accepts 4
         record sell -50 AAPL @ 10
         venue cancels 4
         venue replaces 3
         record sell -5 AAPL @ 10
         venue refuses-replace 3
         venue cancels 3
         record sell -45 AAPL @ 10
         venue cancels 2
         open",
        expect![[r#"
            place 2 sell 40 AAPL @ 11 GTC reduce-only
                2 OPEN
                to SIM-A: submit 2
            place 3 sell 40 AAPL @ 12 GTC reduce-only
                3 OPEN
                to SIM-A: submit 3
            place 4 sell 20 AAPL stop 9 GTC reduce-only
                4 OPEN
                to SIM-A: submit 4
            venue accepts 2
                2 SUBMITTED
            venue accepts 3
                3 SUBMITTED
            venue accepts 4
                4 SUBMITTED
            record sell -50 AAPL @ 10
                booked SELL -50 @ 10
                position 1 of 50 cost 500 realised 0
                cash USD 99499.5
                4 PENDING_CANCEL (position-reduced)
                3 PENDING_REPLACE (position-reduced)
                to SIM-A: cancel 4
                to SIM-A: replace 3 with 10 @ 12
            venue cancels 4
                4 CANCELED (position-reduced)
            venue replaces 3
                3 SUBMITTED (position-reduced)
            record sell -5 AAPL @ 10
                booked SELL -5 @ 10
                position 1 of 45 cost 450 realised 0
                cash USD 99549.5
                3 PENDING_REPLACE (position-reduced)
                to SIM-A: replace 3 with 5 @ 12
            venue refuses-replace 3
                3 SUBMITTED (too late)
                3 PENDING_CANCEL (position-reduced)
                to SIM-A: cancel 3
            venue cancels 3
                3 CANCELED (position-reduced)
            record sell -45 AAPL @ 10
                booked SELL -45 @ 10
                position 1 of 0 cost 0 realised 0
                cash USD 99999.5
                2 PENDING_CANCEL (position-closed)
                to SIM-A: cancel 2
            venue cancels 2
                2 CANCELED (position-closed)
            open
                nothing
        "#]],
    );
}

#[test]
fn a_close_goes_before_reduce_only_orders() {
    check(
        "place 2 sell 100 AAPL stop 9 GTC reduce-only
         venue accepts 2
         close 1
         venue cancels 2
         venue fills A-1 100 @ 10 x2
         positions",
        expect![[r#"
            place 2 sell 100 AAPL stop 9 GTC reduce-only
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            close 1
                A-1 OPEN (waits for the venue to cancel order 2)
                2 PENDING_CANCEL (position-closed)
                to SIM-A: cancel 2
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
            positions
                position 1 of 0 cost 0 realised 0
        "#]],
    );
}
