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
         venue fills 3 0.21111111 @ 64600 x3
         positions",
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
                Error fill-inferred: order 1: 0.12345678 @ 64272.405 is booked as one inferred fill (INFERRED-1-1): the venue has filled it and does not tell its executions; compare with its statement
                fill 1 0.12345678 @ 64272.405
                booked BUY 0.12345678 @ 64272.405
                position 12 of 0.22345678 cost 14334.8641641559 realised 0
                cash USD 85665.1358358441
                1 PARTIALLY_EXECUTED filled 0.22345678
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
            positions
                position 12 of 0 cost 0 realised 100.4438238441
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
                Error fill-inferred: order 1: 60 @ 9.666666666667 is booked as one inferred fill (INFERRED-1-1): the venue has filled it and does not tell its executions; compare with its statement
                fill 1 60 @ 9.666666666667
                booked BUY 60 @ 9.666666666667
                position 1 of 100 cost 1000.00000000002 realised 0
                cash USD 98999.49999999998
                1 PARTIALLY_EXECUTED filled 100
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
                Error fill-inferred: order 1: 33 @ 10.41 is booked as one inferred fill (INFERRED-1-2): the venue has filled it and does not tell its executions; compare with its statement
                fill 1 33 @ 10.41
                booked BUY 33 @ 10.41
                position 1 of 133 cost 1343.53000000002 realised 0
                cash USD 98655.80499999998
                1 PARTIALLY_EXECUTED filled 133
            positions
                position 1 of 133 cost 1343.53000000002 realised 0
        "#]],
    );
}
