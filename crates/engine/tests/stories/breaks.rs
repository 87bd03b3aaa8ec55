//! Breaks: what differs between us and a venue, and what people do with it.

use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(story: &str, told: Expect) {
    let mut world = StoryEngine::listing();
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
    let read = engine::Engine::from_state(&state).unwrap();
    assert_eq!(read.encode_state(), state, "a snapshot is another state");
}

#[test]
fn an_order_that_the_venue_forgot_is_ended_by_a_repair() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         wait 30
         clock
         venue lists
         venue misses 1
         breaks
         repair B1
         breaks
         repair B1
         open",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            wait 30
            clock
                to SIM-A: list open orders
                to SIM-A: list fills after the beginning
            venue lists
                to SIM-A: ask about 1
            venue misses 1
                Error order-vanished: order 1: the venue does not know the order that it had accepted
                1 SUBMITTED (the venue does not know the order that it had accepted)
                Warn break-found: B1: ORDER at SIM-A: we have status SUBMITTED, quantity 100, limit 10, tif DAY, filled 0, the venue has nothing
                B1 ORDER OPEN: ours status SUBMITTED, quantity 100, limit 10, tif DAY, filled 0, theirs nothing
            breaks
                B1 ORDER OPEN: ours status SUBMITTED, quantity 100, limit 10, tif DAY, filled 0, theirs nothing
            repair B1
                1 CANCELED (the venue no longer knows the order)
                B1 ORDER REPAIRED: ours status SUBMITTED, quantity 100, limit 10, tif DAY, filled 0, theirs nothing;  by ann
            breaks
                B1 ORDER REPAIRED: ours status SUBMITTED, quantity 100, limit 10, tif DAY, filled 0, theirs nothing;  by ann
            repair B1
                refused break-settled: break B1 is REPAIRED
            open
                nothing
        "#]],
    );
}

#[test]
fn an_order_that_is_open_there_and_ended_here_is_cancelled_there() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue cancels 1
         wait 30
         clock
         venue lists 1:live
         breaks
         repair B1
         wait 30
         clock
         venue lists
         breaks",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue cancels 1
                1 CANCELED
            wait 30
            clock
                to SIM-A: list open orders
                to SIM-A: list fills after the beginning
            venue lists 1:live
                Warn break-found: B1: ORDER at SIM-A: we have status CANCELED, quantity 100, limit 10, tif DAY, filled 0, the venue has status LIVE, quantity 100, limit 10, tif DAY
                B1 ORDER OPEN: ours status CANCELED, quantity 100, limit 10, tif DAY, filled 0, theirs status LIVE, quantity 100, limit 10, tif DAY
            breaks
                B1 ORDER OPEN: ours status CANCELED, quantity 100, limit 10, tif DAY, filled 0, theirs status LIVE, quantity 100, limit 10, tif DAY
            repair B1
                B1 ORDER REPAIRED: ours status CANCELED, quantity 100, limit 10, tif DAY, filled 0, theirs status LIVE, quantity 100, limit 10, tif DAY;  by ann
                to SIM-A: cancel 1
            wait 30
            clock
                to SIM-A: list open orders
                to SIM-A: list fills after the beginning
            venue lists
            breaks
                B1 ORDER REPAIRED: ours status CANCELED, quantity 100, limit 10, tif DAY, filled 0, theirs status LIVE, quantity 100, limit 10, tif DAY;  by ann
        "#]],
    );
}

#[test]
fn a_late_arrival_is_a_break_and_explains_itself_when_it_is_gone() {
    check(
        "place 1 buy 100 AAPL @ 10
         wait 1
         clock
         venue misses 1
         venue accepts 1
         breaks
         wait 30
         clock
         venue lists
         breaks",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            wait 1
            clock
                to SIM-A: ask about 1
                to SIM-A: list open orders
                to SIM-A: list fills after the beginning
            venue misses 1
                1 REJECTED (the order never reached the venue)
            venue accepts 1
                Error late-arrival: order 1: the order never reached the venue, and now the venue has accepted it
                Warn break-found: B1: ORDER at SIM-A: we have status REJECTED, quantity 100, limit 10, tif DAY, filled 0, the venue has status LIVE
                B1 ORDER OPEN: ours status REJECTED, quantity 100, limit 10, tif DAY, filled 0, theirs status LIVE
            breaks
                B1 ORDER OPEN: ours status REJECTED, quantity 100, limit 10, tif DAY, filled 0, theirs status LIVE
            wait 30
            clock
                to SIM-A: list open orders
                to SIM-A: list fills after the beginning
            venue lists
                B1 ORDER EXPLAINED: ours status REJECTED, quantity 100, limit 10, tif DAY, filled 0, theirs status LIVE; both sides agree again
            breaks
                B1 ORDER EXPLAINED: ours status REJECTED, quantity 100, limit 10, tif DAY, filled 0, theirs status LIVE; both sides agree again
        "#]],
    );
}

#[test]
fn terms_that_nobody_asked_for_are_taken_over_and_told() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         wait 30
         clock
         venue lists-terms 1 60 @ 9.5
         order 1
         breaks",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            wait 30
            clock
                to SIM-A: list open orders
                to SIM-A: list fills after the beginning
            venue lists-terms 1 60 @ 9.5
                1 SUBMITTED
                Warn break-found: B1: TERMS at SIM-A: we have quantity 100, limit 10, tif DAY, the venue has quantity 60, limit 9.5, tif DAY
                B1 TERMS OPEN: ours quantity 100, limit 10, tif DAY, theirs quantity 60, limit 9.5, tif DAY
                B1 TERMS REPAIRED: ours quantity 100, limit 10, tif DAY, theirs quantity 60, limit 9.5, tif DAY; taken over from the venue
            order 1
                1 SUBMITTED 0 of 60 LimitOrder
            breaks
                B1 TERMS REPAIRED: ours quantity 100, limit 10, tif DAY, theirs quantity 60, limit 9.5, tif DAY; taken over from the venue
        "#]],
    );
}

#[test]
fn an_execution_with_another_price_is_corrected_by_a_repair() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue fills 1 40 @ 10 x1
         venue lists-fills from - to 1 fill:1:30@9.5:x1
         venue fills 1 30 @ 9.5 x1
         breaks
         repair B1
         positions
         venue lists-fills from 1 to 1 fill:1:30@9.5:x1
         breaks",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 40 @ 10 x1
                fill 1 40 @ 10
                booked BUY 40 @ 10
                position 1 of 40 cost 400 realised 0
                cash USD 99599.8
                1 PARTIALLY_EXECUTED filled 40
            venue lists-fills from - to 1 fill:1:30@9.5:x1
                Error execution-differs: execution x1 of order number 1: 40 @ 10 is booked, and now it is 30 @ 9.5
                Warn break-found: B1: FILL at SIM-A: we have order 1, quantity 40, price 10, the venue has order 1, quantity 30, price 9.5
                B1 FILL OPEN: ours order 1, quantity 40, price 10, theirs order 1, quantity 30, price 9.5
            venue fills 1 30 @ 9.5 x1
                Error execution-differs: execution x1 of order number 1: 40 @ 10 is booked, and now it is 30 @ 9.5
            breaks
                B1 FILL OPEN: ours order 1, quantity 40, price 10, theirs order 1, quantity 30, price 9.5
            repair B1
                booked SELL -40 @ 10
                position 1 of 0 cost 0 realised 0
                cash USD 100000
                fill 1 30 @ 9.5
                booked BUY 30 @ 9.5
                position 1 of 30 cost 285 realised 0
                cash USD 99714.85
                1 PARTIALLY_EXECUTED filled 30 (corrected by x1)
                B1 FILL REPAIRED: ours order 1, quantity 40, price 10, theirs order 1, quantity 30, price 9.5;  by ann
            positions
                position 1 of 30 cost 285 realised 0
            venue lists-fills from 1 to 1 fill:1:30@9.5:x1
            breaks
                B1 FILL REPAIRED: ours order 1, quantity 40, price 10, theirs order 1, quantity 30, price 9.5;  by ann
        "#]],
    );
}

#[test]
fn a_fee_that_the_venue_charges_otherwise_is_booked_by_a_repair() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue fills 1 40 @ 10 x1
         venue fills 1 40 @ 10 x1 charging 0.5
         breaks
         repair B1
         venue fills 1 40 @ 10 x1 charging 0.5
         cash
         breaks",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 40 @ 10 x1
                fill 1 40 @ 10
                booked BUY 40 @ 10
                position 1 of 40 cost 400 realised 0
                cash USD 99599.8
                1 PARTIALLY_EXECUTED filled 40
            venue fills 1 40 @ 10 x1 charging 0.5
                Warn break-found: B1: FEE at SIM-A: we have fee 0.2, the venue has fee 0.7
                B1 FEE OPEN: ours fee 0.2, theirs fee 0.7
            breaks
                B1 FEE OPEN: ours fee 0.2, theirs fee 0.7
            repair B1
                booked FEES -1 @ 0.5 USD of order 1
                cash USD 99599.3
                B1 FEE REPAIRED: ours fee 0.2, theirs fee 0.7;  by ann
            venue fills 1 40 @ 10 x1 charging 0.5
            cash
                1/1 99599.3 USD
                1/2 100000 USD
            breaks
                B1 FEE REPAIRED: ours fee 0.2, theirs fee 0.7;  by ann
        "#]],
    );
}

#[test]
fn orders_that_nobody_knows_wait_for_a_person() {
    check(
        "venue accepts #77
         place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue fills 1 0 @ 10 x1
         breaks
         repair B1
         explain B1 it came by phone
         explain B1 again
         accept B1 it stays
         accept B1 again
         accept B2 a test of the venue
         venue fills 1 0 @ 10 x1
         repair B9
         breaks",
        expect![[r#"
            venue accepts #77
                Error unknown-order-at-venue: SIM-A has order number 77, which is not known here
                Error trading-restricted: ACCOUNT-1 is HALTED: SIM-A has order number 77, which is not known here
                ACCOUNT-1 is HALTED
                Error unknown-order: a venue reports on order number 77, which is not known
                Warn break-found: B1: EXTERNAL at SIM-A: we have nothing, the venue has order 77
                B1 EXTERNAL OPEN: ours nothing, theirs order 77
            place 1 buy 100 AAPL @ 10
                refused trading-halted: trading is HALTED for ACCOUNT-1
            venue accepts 1
                Error unknown-order-at-venue: SIM-A has order number 999, which is not known here
                Error unknown-order: a venue reports on order number 999, which is not known
                Warn break-found: B2: EXTERNAL at SIM-A: we have nothing, the venue has order 999
                B2 EXTERNAL OPEN: ours nothing, theirs order 999
            venue fills 1 0 @ 10 x1
                Error unknown-order: a venue reports on order number 999, which is not known
            breaks
                B1 EXTERNAL OPEN: ours nothing, theirs order 77
                B2 EXTERNAL OPEN: ours nothing, theirs order 999
            repair B1
                refused nothing-to-repair: break B1 cannot be repaired by the platform: record the correction and accept it
            explain B1 it came by phone
                B1 EXTERNAL EXPLAINED: ours nothing, theirs order 77; it came by phone by ann
            explain B1 again
                refused break-settled: break B1 is EXPLAINED
            accept B1 it stays
                B1 EXTERNAL ACCEPTED: ours nothing, theirs order 77; it stays by ann
            accept B1 again
                refused break-settled: break B1 is ACCEPTED
            accept B2 a test of the venue
                B2 EXTERNAL ACCEPTED: ours nothing, theirs order 999; a test of the venue by ann
            venue fills 1 0 @ 10 x1
                Error unknown-order: a venue reports on order number 999, which is not known
            repair B9
                refused unknown-break: break B9 is not known
            breaks
                B1 EXTERNAL ACCEPTED: ours nothing, theirs order 77; it stays by ann
                B2 EXTERNAL ACCEPTED: ours nothing, theirs order 999; a test of the venue by ann
        "#]],
    );
}

#[test]
fn settled_breaks_are_forgotten_after_the_next_day_and_open_ones_never() {
    check(
        "venue accepts #77
         venue accepts #78
         accept B1 known
         day 2026-11-17
         breaks
         day 2026-11-18
         breaks",
        expect![[r#"
            venue accepts #77
                Error unknown-order-at-venue: SIM-A has order number 77, which is not known here
                Error trading-restricted: ACCOUNT-1 is HALTED: SIM-A has order number 77, which is not known here
                ACCOUNT-1 is HALTED
                Error unknown-order: a venue reports on order number 77, which is not known
                Warn break-found: B1: EXTERNAL at SIM-A: we have nothing, the venue has order 77
                B1 EXTERNAL OPEN: ours nothing, theirs order 77
            venue accepts #78
                Error unknown-order-at-venue: SIM-A has order number 78, which is not known here
                Error unknown-order: a venue reports on order number 78, which is not known
                Warn break-found: B2: EXTERNAL at SIM-A: we have nothing, the venue has order 78
                B2 EXTERNAL OPEN: ours nothing, theirs order 78
            accept B1 known
                B1 EXTERNAL ACCEPTED: ours nothing, theirs order 77; known by ann
            day 2026-11-17
                to SIM-A: list open orders
                to SIM-A: list fills after the beginning
            breaks
                B1 EXTERNAL ACCEPTED: ours nothing, theirs order 77; known by ann
                B2 EXTERNAL OPEN: ours nothing, theirs order 78
            day 2026-11-18
                to SIM-A: list open orders
                to SIM-A: list fills after the beginning
            breaks
                B2 EXTERNAL OPEN: ours nothing, theirs order 78
        "#]],
    );
}
