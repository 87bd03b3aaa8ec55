//! Entries of venues: booked once, by the venue's id.

use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn every_kind_of_entry_is_booked_as_the_nearest_kind_of_transaction() {
    check(
        "venue books e1 FUNDING 1 -1.5 USD of ES
         venue books e2 FUNDING 1 2 USD
         venue books e3 INTEREST 1 0.25 USD
         venue books e4 TRANSFER 1 -1000 USD
         venue books e5 DUST 1 -0.004 EUR
         venue books e6 CONVERSION 1 12 EUR
         venue books e7 CORRECTION 1 0.5 USD
         venue books e8 FEE 1 -3 USD
         venue books e9 DIVIDEND 1 7 USD of AAPL
         venue books e10 INTEREST 1 0 USD
         cash",
        expect![[r#"
            venue books e1 FUNDING 1 -1.5 USD of ES
                booked INTEREST_PAID -1 @ 1.5 USD, FUNDING e1 of strategy 1
                cash USD 99998.5
            venue books e2 FUNDING 1 2 USD
                booked INTEREST_RECEIVED 1 @ 2 USD, FUNDING e2 of strategy 1
                cash USD 100000.5
            venue books e3 INTEREST 1 0.25 USD
                booked INTEREST_RECEIVED 1 @ 0.25 USD, INTEREST e3 of strategy 1
                cash USD 100000.75
            venue books e4 TRANSFER 1 -1000 USD
                booked DEBIT -1 @ 1000 USD, TRANSFER e4 of strategy 1
                cash USD 99000.75
            venue books e5 DUST 1 -0.004 EUR
                booked DEBIT -1 @ 0.004 EUR, DUST e5 of strategy 1
                cash EUR -0.004
            venue books e6 CONVERSION 1 12 EUR
                booked CREDIT 1 @ 12 EUR, CONVERSION e6 of strategy 1
                cash EUR 11.996
            venue books e7 CORRECTION 1 0.5 USD
                booked REFUND 1 @ 0.5 USD, CORRECTION e7 of strategy 1
                cash USD 99001.25
            venue books e8 FEE 1 -3 USD
                booked FEES -1 @ 3 USD, FEE e8 of strategy 1
                cash USD 98998.25
            venue books e9 DIVIDEND 1 7 USD of AAPL
                booked DIVIDEND 1 @ 7 USD, DIVIDEND e9 of strategy 1
                cash USD 99005.25
            venue books e10 INTEREST 1 0 USD
            cash
                1/1 99005.25 USD
                1/2 100000 USD
                1/1 11.996 EUR
        "#]],
    );
}

#[test]
fn an_entry_comes_once_and_the_same_id_with_other_values_is_an_alarm() {
    check(
        "venue books e1 INTEREST 1 5 USD
         venue books e1 INTEREST 1 5.00 USD
         venue books e1 INTEREST 1 6 USD
         venue books e1 FUNDING 1 5 USD
         venue-b books e1 INTEREST 2 5 USD
         venue books e2 INTEREST 2 5 USD
         venue books e3 TRANSFER 1 2000000000000000000000 USD
         cash",
        expect![[r#"
            venue books e1 INTEREST 1 5 USD
                booked INTEREST_RECEIVED 1 @ 5 USD, INTEREST e1 of strategy 1
                cash USD 100005
            venue books e1 INTEREST 1 5.00 USD
            venue books e1 INTEREST 1 6 USD
                Error entry-differs: account 1: entry e1 came before, and now it is INTEREST 6 USD
            venue books e1 FUNDING 1 5 USD
                Error entry-differs: account 1: entry e1 came before, and now it is FUNDING 5 USD
            venue-b books e1 INTEREST 2 5 USD
                booked INTEREST_RECEIVED 1 @ 5 USD, INTEREST e1 of strategy 1
                cash USD 100005
            venue books e2 INTEREST 2 5 USD
                Error foreign-entry: SIM-A books on account 2, which does not trade there
            venue books e3 TRANSFER 1 2000000000000000000000 USD
                Error entry-not-booked: account 1: entry e3 is not booked: an amount does not fit into 28 digits
            cash
                1/1 100005 USD
                1/2 100005 USD
        "#]],
    );
}

#[test]
fn an_entry_about_a_position_belongs_to_the_strategy_that_holds_it_and_a_quantity_moves_it() {
    check(
        "place 1 buy 10 AAPL @ 10.02
         venue accepts 1
         venue fills 1 10 @ 10 x1
         venue books e1 TRANSFER 1 0 USD of 5 AAPL
         venue books e2 TRANSFER 1 -24 USD of -3 AAPL
         positions
         cash",
        expect![[r#"
            place 1 buy 10 AAPL @ 10.02
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 10 @ 10 x1
                fill 1 10 @ 10
                booked BUY 10 @ 10
                position 1 of 10 cost 100 realised 0
                cash USD 99899.95
                1 EXECUTED filled 10
            venue books e1 TRANSFER 1 0 USD of 5 AAPL
                booked TRANSFER 5 @ 10 USD, TRANSFER e1 of strategy 1
                position 1 of 15 cost 150 realised 0
            venue books e2 TRANSFER 1 -24 USD of -3 AAPL
                booked TRANSFER -3 @ 8 USD, TRANSFER e2 of strategy 1
                position 1 of 12 cost 120 realised -6
            positions
                position 1 of 12 cost 120 realised -6
            cash
                1/1 99899.95 USD
                1/2 100000 USD
        "#]],
    );
}
