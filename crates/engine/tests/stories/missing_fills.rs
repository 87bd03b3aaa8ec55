//! Fills that a venue has in its total and never reported: what of them can be booked, and what becomes of an order where they cannot.

use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    world.list_coin();
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn a_part_of_a_position_of_eight_decimals_is_closed_after_a_fill_was_inferred() {
    check(
        "place 1 buy 1 BTC @ 64500
         venue accepts 1
         venue fills 1 0.1 @ 64000 x1
         venue gap
         venue finds 1:live total:0.22345678@64150.5
         wait 1
         clock
         venue finds 1:live total:0.22345678@64150.5
         place 2 sell 0.01234567 BTC @ 64600
         venue accepts 2
         venue fills 2 0.01234567 @ 64600 x2
         place 3 sell 0.21111111 BTC @ 64600
         venue accepts 3
         venue fills 3 0.21111111 @ 64600 x3",
        expect![[r#"
            place 1 buy 1 BTC @ 64500
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 0.1 @ 64000 x1
                fill 1 0.1 @ 64000
                booked BUY 0.1 @ 64000
                position 12 of 0.1 cost 6400 realised 0
                cash USD 93600
                1 PARTIALLY_EXECUTED filled 0.1
            venue gap
                Warn report-gap: SIM-A: reports may be lost; 1 open orders are asked about
                to SIM-A: ask about 1
            venue finds 1:live total:0.22345678@64150.5
                Error fills-missing: order 1: the venue has filled 0.22345678, but only 0.1 were reported; the venue is asked again
                1 PARTIALLY_EXECUTED filled 0.1 (the venue has filled 0.22345678, but only 0.1 were reported)
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live total:0.22345678@64150.5
                fill 1 0.12345678 @ 64272.405
                booked BUY 0.12345678 @ 64272.405
                position 12 of 0.22345678 cost 14334.8641641559 realised 0
                cash USD 85665.1358358441
                1 PARTIALLY_EXECUTED filled 0.22345678
                Error fill-inferred: order 1: 0.12345678 @ 64272.405 is booked as one inferred fill (INFERRED-1-1): the venue has filled it and does not tell its executions; compare with its statement
            place 2 sell 0.01234567 BTC @ 64600
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            venue fills 2 0.01234567 @ 64600 x2
                fill 2 0.01234567 @ 64600
                booked SELL -0.01234567 @ 64600
                position 12 of 0.21111111 cost 13542.883260889082 realised 5.549378733182
                cash USD 86462.6661178441
                2 EXECUTED filled 0.01234567
            place 3 sell 0.21111111 BTC @ 64600
                3 OPEN
                to SIM-A: submit 3
            venue accepts 3
                3 SUBMITTED
            venue fills 3 0.21111111 @ 64600 x3
                fill 3 0.21111111 @ 64600
                booked SELL -0.21111111 @ 64600
                position 12 of 0 cost 0 realised 100.4438238441
                cash USD 100100.4438238441
                3 EXECUTED filled 0.21111111
        "#]],
    );
}

#[test]
fn digits_of_an_earlier_inferred_price_are_not_those_of_prices() {
    check(
        "place 1 buy 200 AAPL @ 10.5
         venue accepts 1
         venue fills 1 40 @ 10.5 x1
         venue gap
         venue finds 1:live total:100@10
         wait 1
         clock
         venue finds 1:live total:100@10
         venue gap
         venue finds 1:live total:133@10.1017
         wait 1
         clock
         venue finds 1:live total:133@10.1017
         positions",
        expect![[r#"
            place 1 buy 200 AAPL @ 10.5
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 40 @ 10.5 x1
                fill 1 40 @ 10.5
                booked BUY 40 @ 10.5
                position 1 of 40 cost 420 realised 0
                cash USD 99579.8
                1 PARTIALLY_EXECUTED filled 40
            venue gap
                Warn report-gap: SIM-A: reports may be lost; 1 open orders are asked about
                to SIM-A: ask about 1
            venue finds 1:live total:100@10
                Error fills-missing: order 1: the venue has filled 100, but only 40 were reported; the venue is asked again
                1 PARTIALLY_EXECUTED filled 40 (the venue has filled 100, but only 40 were reported)
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live total:100@10
                fill 1 60 @ 9.666666666667
                booked BUY 60 @ 9.666666666667
                position 1 of 100 cost 1000.00000000002 realised 0
                cash USD 98999.49999999998
                1 PARTIALLY_EXECUTED filled 100
                Error fill-inferred: order 1: 60 @ 9.666666666667 is booked as one inferred fill (INFERRED-1-1): the venue has filled it and does not tell its executions; compare with its statement
            venue gap
                Warn report-gap: SIM-A: reports may be lost; 1 open orders are asked about
                to SIM-A: ask about 1
            venue finds 1:live total:133@10.1017
                Error fills-missing: order 1: the venue has filled 133, but only 100 were reported; the venue is asked again
                1 PARTIALLY_EXECUTED filled 100 (the venue has filled 133, but only 100 were reported)
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live total:133@10.1017
                fill 1 33 @ 10.41
                booked BUY 33 @ 10.41
                position 1 of 133 cost 1343.53000000002 realised 0
                cash USD 98655.80499999998
                1 PARTIALLY_EXECUTED filled 133
                Error fill-inferred: order 1: 33 @ 10.41 is booked as one inferred fill (INFERRED-1-2): the venue has filled it and does not tell its executions; compare with its statement
            positions
                position 1 of 133 cost 1343.53000000002 realised 0
        "#]],
    );
}

#[test]
fn a_fill_that_cannot_be_booked_is_not_told_as_booked_and_the_venue_is_asked_on() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue gap
         venue finds 1:live total:1000000000000000000@10
         wait 1
         clock
         venue finds 1:live total:1000000000000000000@10
         wait 2
         clock
         venue finds 1:live total:1000000000000000000@10
         order 1
         repair B1
         repair B2
         order 1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue gap
                Warn report-gap: SIM-A: reports may be lost; 1 open orders are asked about
                to SIM-A: ask about 1
            venue finds 1:live total:1000000000000000000@10
                Error fills-missing: order 1: the venue has filled 1000000000000000000, but only 0 were reported; the venue is asked again
                1 SUBMITTED (the venue has filled 1000000000000000000, but only 0 were reported)
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live total:1000000000000000000@10
                Error fill-not-booked: order 1: execution INFERRED-1-1 cannot be booked: an amount does not fit into 28 digits
                Warn break-found: B1: FILL at SIM-A: we have nothing, the venue has quantity 1000000000000000000, price 10
                B1 FILL OPEN: ours nothing, theirs quantity 1000000000000000000, price 10
                Warn break-found: B2: FILL at SIM-A: we have filled 0, the venue has filled 1000000000000000000, averagePrice 10
                B2 FILL OPEN: ours filled 0, theirs filled 1000000000000000000, averagePrice 10
            wait 2
            clock
                to SIM-A: ask about 1
            venue finds 1:live total:1000000000000000000@10
                Error fill-not-booked: order 1: execution INFERRED-1-1 cannot be booked: an amount does not fit into 28 digits
            order 1
                1 SUBMITTED 0 of 100 LimitOrder in doubt
            repair B1
                refused nothing-to-repair: break B1 cannot be repaired by the platform: record the correction and accept it
            repair B2
                1 CANCELED (nothing of it is left at the venue)
                B2 FILL REPAIRED: ours filled 0, theirs filled 1000000000000000000, averagePrice 10;  by ann
            order 1
                1 CANCELED 0 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn an_order_that_ended_at_its_venue_ends_also_where_its_missing_fills_are_for_a_person() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue fills 1 40 @ 10 x1
         venue corrects 1 x1 to 40 @ 9.9 x9
         venue reports-lost
         venue finds 1:canceled total:60@10
         wait 1
         clock
         venue finds 1:canceled total:60@10
         wait 60
         clock
         breaks
         positions",
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
            venue corrects 1 x1 to 40 @ 9.9 x9
                booked SELL -40 @ 10
                position 1 of 0 cost 0 realised 0
                cash USD 100000
                fill 1 40 @ 9.9
                booked BUY 40 @ 9.9
                position 1 of 40 cost 396 realised 0
                cash USD 99603.8
                1 PARTIALLY_EXECUTED filled 40 (corrected by x9)
            venue reports-lost
                Error reports-lost: SIM-A: the venue has begun its session anew, and what it reported before may be lost; 1 open orders and 0 that ended are asked about
                to SIM-A: ask about 1
            venue finds 1:canceled total:60@10
                Error fills-missing: order 1: the venue has filled 60, but only 40 were reported; the venue is asked again
                1 PARTIALLY_EXECUTED filled 40 (the venue has filled 60, but only 40 were reported)
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:canceled total:60@10
                1 CANCELED filled 40
                Warn break-found: B1: FILL at SIM-A: we have filled 40, the venue has filled 60, averagePrice 10
                B1 FILL OPEN: ours filled 40, theirs filled 60, averagePrice 10
            wait 60
            clock
            breaks
                B1 FILL OPEN: ours filled 40, theirs filled 60, averagePrice 10
            positions
                position 1 of 40 cost 396 realised 0
        "#]],
    );
}

#[test]
fn an_order_that_its_venue_has_filled_is_ended_by_a_repair_where_its_missing_fills_are_for_a_person() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue fills 1 40 @ 10 x1
         venue corrects 1 x1 to 40 @ 9.9 x9
         venue reports-lost
         venue finds 1:live total:100@10
         wait 1
         clock
         venue finds 1:live total:100@10
         repair B1
         wait 1
         clock
         venue finds 1:live total:100@10
         wait 60
         clock
         positions",
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
            venue corrects 1 x1 to 40 @ 9.9 x9
                booked SELL -40 @ 10
                position 1 of 0 cost 0 realised 0
                cash USD 100000
                fill 1 40 @ 9.9
                booked BUY 40 @ 9.9
                position 1 of 40 cost 396 realised 0
                cash USD 99603.8
                1 PARTIALLY_EXECUTED filled 40 (corrected by x9)
            venue reports-lost
                Error reports-lost: SIM-A: the venue has begun its session anew, and what it reported before may be lost; 1 open orders and 0 that ended are asked about
                to SIM-A: ask about 1
            venue finds 1:live total:100@10
                Error fills-missing: order 1: the venue has filled 100, but only 40 were reported; the venue is asked again
                1 PARTIALLY_EXECUTED filled 40 (the venue has filled 100, but only 40 were reported)
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live total:100@10
                Warn break-found: B1: FILL at SIM-A: we have filled 40, the venue has filled 100, averagePrice 10
                B1 FILL OPEN: ours filled 40, theirs filled 100, averagePrice 10
            repair B1
                1 CANCELED filled 40 (nothing of it is left at the venue)
                B1 FILL REPAIRED: ours filled 40, theirs filled 100, averagePrice 10;  by ann
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live total:100@10
                Warn break-found: B2: FILL at SIM-A: we have filled 40, the venue has filled 100, averagePrice 10
                B2 FILL OPEN: ours filled 40, theirs filled 100, averagePrice 10
            wait 60
            clock
            positions
                position 1 of 40 cost 396 realised 0
        "#]],
    );
}

#[test]
fn missing_fills_of_an_order_that_trades_on_stay_a_break_until_the_totals_agree() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue fills 1 30 @ 10 x1
         venue busts 1 x1
         venue gap
         venue finds 1:live total:30@10
         wait 1
         clock
         venue finds 1:live total:30@10
         wait 2
         clock
         venue fills 1 30 @ 10 x2
         venue finds 1:live total:30@10
         breaks
         open",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 30 @ 10 x1
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
            venue gap
                Warn report-gap: SIM-A: reports may be lost; 1 open orders are asked about
                to SIM-A: ask about 1
            venue finds 1:live total:30@10
                Error fills-missing: order 1: the venue has filled 30, but only 0 were reported; the venue is asked again
                1 SUBMITTED (the venue has filled 30, but only 0 were reported)
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live total:30@10
                Warn break-found: B1: FILL at SIM-A: we have filled 0, the venue has filled 30, averagePrice 10
                B1 FILL OPEN: ours filled 0, theirs filled 30, averagePrice 10
            wait 2
            clock
                to SIM-A: ask about 1
            venue fills 1 30 @ 10 x2
                fill 1 30 @ 10
                booked BUY 30 @ 10
                position 1 of 30 cost 300 realised 0
                cash USD 99699.85
                1 PARTIALLY_EXECUTED filled 30
            venue finds 1:live total:30@10
                B1 FILL EXPLAINED: ours filled 0, theirs filled 30, averagePrice 10; both sides agree again
            breaks
                B1 FILL EXPLAINED: ours filled 0, theirs filled 30, averagePrice 10; both sides agree again
            open
                1 PARTIALLY_EXECUTED 30 of 100 LimitOrder
        "#]],
    );
}
