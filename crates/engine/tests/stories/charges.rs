//! Charges: besides the P/L of a position, in their own currencies, and in the loss limits.

use domain::SecurityId;
use domain::risk::{RiskLimits, RiskScope};
use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn a_charge_in_a_third_currency_is_booked_in_the_step_of_its_fill() {
    check(
        "place 1 buy 100 AAPL @ 10.02
         venue accepts 1
         venue fills 1 60 @ 10 x1 charging FEE 0.0002 BNB
         venue fills 1 60 @ 10 x1 charging FEE 0.0002 BNB
         venue fills 1 40 @ 10 x2 charging FEE 0.5 USD EXECUTION_COMMISSION 0.1 EUR FEE -0.0001 BNB
         costs
         cash",
        expect![[r#"
            place 1 buy 100 AAPL @ 10.02
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 60 @ 10 x1 charging FEE 0.0002 BNB
                fill 1 60 @ 10
                booked BUY 60 @ 10, FEE 0.0002 BNB
                position 1 of 60 cost 600 realised 0
                cash USD 99399.7
                booked FEES -1 @ 0.0002 BNB of order 1
                cash BNB -0.0002
                Warn no-rate: BNB has no rate to USD: values in USD are not known
                1 PARTIALLY_EXECUTED filled 60
            venue fills 1 60 @ 10 x1 charging FEE 0.0002 BNB
            venue fills 1 40 @ 10 x2 charging FEE 0.5 USD EXECUTION_COMMISSION 0.1 EUR FEE -0.0001 BNB
                fill 1 40 @ 10
                booked BUY 40 @ 10, EXECUTION_COMMISSION 0.1 EUR, FEE -0.0001 BNB
                position 1 of 100 cost 1000 realised 0
                cash USD 98999.2
                booked FEES -1 @ 0.1 EUR of order 1
                cash EUR -0.1
                booked REFUND 1 @ 0.0001 BNB of order 1
                cash BNB -0.0001
                1 EXECUTED filled 100
            costs
                position 1 realised 0, commissions 0.3, fees 0.5
            cash
                1/1 98999.2 USD
                1/2 100000 USD
                1/1 -0.0001 BNB
                1/1 -0.1 EUR
        "#]],
    );
}

#[test]
fn a_fill_that_is_taken_back_brings_its_foreign_charges_back() {
    check(
        "place 1 buy 100 AAPL @ 10.02
         venue accepts 1
         venue fills 1 100 @ 10 x1 charging FEE 0.0002 BNB
         venue busts 1 x1
         costs
         cash
         venue fills 1 100 @ 10 x2 charging FEE 0.0002 BNB
         venue corrects 1 x2 to 100 @ 9.99 x3
         cash",
        expect![[r#"
            place 1 buy 100 AAPL @ 10.02
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 100 @ 10 x1 charging FEE 0.0002 BNB
                fill 1 100 @ 10
                booked BUY 100 @ 10, FEE 0.0002 BNB
                position 1 of 100 cost 1000 realised 0
                cash USD 98999.5
                booked FEES -1 @ 0.0002 BNB of order 1
                cash BNB -0.0002
                Warn no-rate: BNB has no rate to USD: values in USD are not known
                1 EXECUTED filled 100
            venue busts 1 x1
                booked SELL -100 @ 10, FEE -0.0002 BNB
                position 1 of 0 cost 0 realised 0
                cash USD 100000
                booked REFUND 1 @ 0.0002 BNB of order 1
                cash BNB 0
                1 SUBMITTED
            costs
                position 1 realised 0, commissions 0, fees 0
            cash
                1/1 100000 USD
                1/2 100000 USD
                1/1 0 BNB
            venue fills 1 100 @ 10 x2 charging FEE 0.0002 BNB
                fill 1 100 @ 10
                booked BUY 100 @ 10, FEE 0.0002 BNB
                position 1 of 100 cost 1000 realised 0
                cash USD 98999.5
                booked FEES -1 @ 0.0002 BNB of order 1
                cash BNB -0.0002
                1 EXECUTED filled 100
            venue corrects 1 x2 to 100 @ 9.99 x3
                booked SELL -100 @ 10, FEE -0.0002 BNB
                position 1 of 0 cost 0 realised 0
                cash USD 100000
                booked REFUND 1 @ 0.0002 BNB of order 1
                cash BNB 0
                fill 1 100 @ 9.99
                booked BUY 100 @ 9.99
                position 1 of 100 cost 999 realised 0
                cash USD 99000.5
                1 EXECUTED filled 100 (corrected by x3)
            cash
                1/1 99000.5 USD
                1/2 100000 USD
                1/1 0 BNB
        "#]],
    );
}

#[test]
fn a_charge_that_does_not_fit_keeps_its_fill_out_of_the_books() {
    check(
        "place 1 buy 100 AAPL @ 10.02
         venue accepts 1
         venue fills 1 100 @ 10 x1 charging FEE 2000000000000000000 BNB
         positions
         cash",
        expect![[r#"
            place 1 buy 100 AAPL @ 10.02
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 100 @ 10 x1 charging FEE 2000000000000000000 BNB
                Error fill-not-booked: order 1: execution x1 cannot be booked: an amount does not fit into 28 digits
                Warn break-found: B1: FILL at SIM-A: we have nothing, the venue has quantity 100, price 10
                B1 FILL OPEN: ours nothing, theirs quantity 100, price 10
            positions
                nothing
            cash
                1/1 100000 USD
                1/2 100000 USD
        "#]],
    );
}

#[test]
fn realised_profit_is_before_costs_and_costs_stand_beside_it() {
    check(
        "place 1 buy 100 AAPL @ 10.02
         venue accepts 1
         venue fills 1 100 @ 10 x1 charging 0.3
         place 2 sell 150 AAPL @ 9.9
         venue accepts 2
         venue fills 2 150 @ 9.98 x2
         costs
         cash
         reset-positions
         costs
         day 2026-11-17
         reset-positions
         costs",
        expect![[r#"
            place 1 buy 100 AAPL @ 10.02
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 100 @ 10 x1 charging 0.3
                fill 1 100 @ 10
                booked BUY 100 @ 10
                position 1 of 100 cost 1000 realised 0
                cash USD 98999.2
                1 EXECUTED filled 100
            place 2 sell 150 AAPL @ 9.9
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            venue fills 2 150 @ 9.98 x2
                fill 2 150 @ 9.98
                booked SELL -150 @ 9.98
                position 1 of -50 cost -499 realised -2
                cash USD 100495.45
                2 EXECUTED filled 150
            costs
                position 1 realised -2, commissions 1.25, fees 0.3
            cash
                1/1 100495.45 USD
                1/2 100000 USD
            reset-positions
            costs
                position 1 realised -2, commissions 1.25, fees 0.3
            day 2026-11-17
            reset-positions
            costs
                position 1 realised -2, commissions 1.25, fees 0.3
        "#]],
    );
}

#[test]
fn the_day_loss_of_a_security_counts_its_costs() {
    let mut world = StoryEngine::open();
    let limits = RiskLimits { max_day_loss: Some("1".parse().unwrap()), ..RiskLimits::default() };
    world.limits(RiskScope::Security(SecurityId(1)), limits);
    let told = world.run(
        "mark AAPL 10 10
         place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue fills 1 100 @ 10 x1
         mark AAPL 10 10
         place 2 sell 100 AAPL @ 10
         venue accepts 2
         venue fills 2 100 @ 10 x2
         mark AAPL 10 10
         place 3 buy 1 AAPL @ 10",
    );
    expect![[r#"
        mark AAPL 10 10
        place 1 buy 100 AAPL @ 10
            1 OPEN
            to SIM-A: submit 1
        venue accepts 1
            1 SUBMITTED
        venue fills 1 100 @ 10 x1
            fill 1 100 @ 10
            booked BUY 100 @ 10
            position 1 of 100 cost 1000 realised 0
            cash USD 98999.5
            1 EXECUTED filled 100
        mark AAPL 10 10
        place 2 sell 100 AAPL @ 10
            2 OPEN
            to SIM-A: submit 2
        venue accepts 2
            2 SUBMITTED
        venue fills 2 100 @ 10 x2
            fill 2 100 @ 10
            booked SELL -100 @ 10
            position 1 of 0 cost 0 realised 0
            cash USD 99999
            2 EXECUTED filled 100
        mark AAPL 10 10
            Error trading-restricted: SECURITY-1 is REDUCING: day loss of 1 reached the limit of 1
            SECURITY-1 is REDUCING
        place 3 buy 1 AAPL @ 10
            refused trading-reducing: trading is REDUCING for SECURITY-1
    "#]]
    .assert_eq(&told);
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn a_fee_in_the_base_asset_lowers_what_can_be_sold_until_it_is_given_back() {
    check(
        "place 1 buy 100 EUR.USD @ 1.2
         venue accepts 1
         venue fills 1 100 @ 1.1 x1 charging FEE 0.25 EUR
         cash
         close 1
         order A-1
         venue busts 1 x1
         cash",
        expect![[r#"
            place 1 buy 100 EUR.USD @ 1.2
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 100 @ 1.1 x1 charging FEE 0.25 EUR
                fill 1 100 @ 1.1
                booked BUY 100 @ 1.1, FEE 0.25 EUR
                position 3 of 100 cost 110 realised 0
                cash USD 99890
                booked FEES -1 @ 0.25 EUR of order 1
                cash EUR -0.25
                1 EXECUTED filled 100
            cash
                1/1 99890 USD
                1/2 100000 USD
                1/1 -0.25 EUR
            close 1
                A-1 OPEN
                to SIM-A: submit A-1
            order A-1
                A-1 OPEN 0 of 99 MarketOrder
            venue busts 1 x1
                booked SELL -100 @ 1.1, FEE -0.25 EUR
                position 3 of 0 cost 0 realised 0
                cash USD 100000
                booked REFUND 1 @ 0.25 EUR of order 1
                cash EUR 0
                1 SUBMITTED
            cash
                1/1 100000 USD
                1/2 100000 USD
                1/1 0 EUR
        "#]],
    );
}

#[test]
fn a_fill_and_its_transaction_say_whether_the_order_was_maker_or_taker() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue fills 1 60 @ 10 x1 as maker
         venue fills 1 30 @ 10 x2 as taker
         venue fills 1 10 @ 10 x3",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 60 @ 10 x1 as maker
                fill 1 60 @ 10 as maker
                booked BUY 60 @ 10 as maker
                position 1 of 60 cost 600 realised 0
                cash USD 99399.7
                1 PARTIALLY_EXECUTED filled 60
            venue fills 1 30 @ 10 x2 as taker
                fill 1 30 @ 10 as taker
                booked BUY 30 @ 10 as taker
                position 1 of 90 cost 900 realised 0
                cash USD 99099.55
                1 PARTIALLY_EXECUTED filled 90
            venue fills 1 10 @ 10 x3
                fill 1 10 @ 10
                booked BUY 10 @ 10
                position 1 of 100 cost 1000 realised 0
                cash USD 98999.5
                1 EXECUTED filled 100
        "#]],
    );
}
