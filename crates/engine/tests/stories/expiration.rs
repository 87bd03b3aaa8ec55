//! Expiration: warnings, settlement at the day roll, and what is refused or stays open.

use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn a_future_is_warned_of_and_then_settled_in_cash_at_its_last_price() {
    check(
        "record buy 2 ESX @ 5000
         last ESX 5010
         day 2026-11-17
         day 2026-11-18
         day 2026-11-19
         positions
         cash
         daily
         day 2026-11-20
         positions",
        expect![[r#"
            record buy 2 ESX @ 5000
                booked BUY 2 @ 5000
                position 9 of 2 cost 500000 realised 0
            last ESX 5010
            day 2026-11-17
                Warn expires-soon: security 9 (S9) expires tomorrow: 1 open position will be settled in cash
            day 2026-11-18
                Warn expires-soon: security 9 (S9) expires today: 1 open position will be settled in cash
            day 2026-11-19
                booked EXPIRATION -2 @ 5010 (settled at the last price)
                position 9 of 0 cost 0 realised 1000
                cash USD 101000
            positions
                position 9 of 0 cost 0 realised 1000
            cash
                1/1 101000 USD
                1/2 100000 USD
            daily
                4 EXPIRATION at 2026-11-19T00:00:00Z
            day 2026-11-20
            positions
                nothing
        "#]],
    );
}

#[test]
fn warnings_begin_two_days_before_the_last_and_only_for_what_is_held() {
    check(
        "record buy 1 ES @ 5000
         day 2027-03-16
         day 2027-03-17",
        expect![[r#"
            record buy 1 ES @ 5000
                booked BUY 1 @ 5000
                position 2 of 1 cost 250000 realised 0
            day 2027-03-16
            day 2027-03-17
                Warn expires-soon: security 2 (S2) expires in 2 days: 1 open position will be settled in cash
        "#]],
    );
}

#[test]
fn an_option_on_an_index_pays_its_intrinsic_value_and_a_short_one_owes_it() {
    check(
        "record buy 3 SPX-CALL @ 20
         record sell -1 SPX-CALL @ 20 strategy 2
         last SPX 5012.5
         day 2026-11-19
         positions
         cash",
        expect![[r#"
            record buy 3 SPX-CALL @ 20
                booked BUY 3 @ 20
                position 8 of 3 cost 600 realised 0
                cash USD 99400
            record sell -1 SPX-CALL @ 20 strategy 2
                booked SELL -1 @ 20
                position 8 of -1 cost -200 realised 0
                cash USD 200
            last SPX 5012.5
            day 2026-11-19
                booked EXPIRATION -3 @ 12.5 (exercised: S7 at 5012.5, the last price)
                position 8 of 0 cost 0 realised -225
                cash USD 99775
                booked EXPIRATION 1 @ 12.5 (exercised: S7 at 5012.5, the last price)
                position 8 of 0 cost 0 realised 75
                cash USD 75
            positions
                position 8 of 0 cost 0 realised -225
                position 8 of 0 cost 0 realised 75
            cash
                1/1 99775 USD
                1/2 100000 USD
                2/1 75 USD
        "#]],
    );
}

#[test]
fn options_on_a_stock_deliver_it_at_the_strike_where_they_are_in_the_money() {
    check(
        "record buy 2 CALL @ 1
         record sell -1 PUT @ 1
         last AAPL 10.5
         day 2026-11-19
         positions
         cash
         reset-positions
         reset-cash
         positions",
        expect![[r#"
            record buy 2 CALL @ 1
                booked BUY 2 @ 1
                position 5 of 2 cost 200 realised 0
                cash USD 99800
            record sell -1 PUT @ 1
                booked SELL -1 @ 1
                position 6 of -1 cost -100 realised 0
                cash USD 99900
            last AAPL 10.5
            day 2026-11-19
                booked EXPIRATION -2 @ 0 (exercised: S1 at 10.5, the last price)
                position 5 of 0 cost 0 realised -200
                booked BUY 200 @ 10 (delivery of S5)
                position 1 of 200 cost 2000 realised 0
                cash USD 97900
                booked EXPIRATION 1 @ 0 (exercised: S1 at 10.5, the last price)
                position 6 of 0 cost 0 realised 100
                booked BUY 100 @ 12 (delivery of S6)
                position 1 of 300 cost 3200 realised 0
                cash USD 96700
            positions
                position 5 of 0 cost 0 realised -200
                position 6 of 0 cost 0 realised 100
                position 1 of 300 cost 3200 realised 0
            cash
                1/1 96700 USD
                1/2 100000 USD
            reset-positions
            reset-cash
            positions
                position 5 of 0 cost 0 realised -200
                position 6 of 0 cost 0 realised 100
                position 1 of 300 cost 3200 realised 0
        "#]],
    );
}

#[test]
fn options_at_or_out_of_the_money_expire_worthless() {
    check(
        "record buy 2 CALL @ 1
         record sell -1 CALL @ 1 strategy 2
         last AAPL 10
         day 2026-11-19
         positions
         cash",
        expect![[r#"
            record buy 2 CALL @ 1
                booked BUY 2 @ 1
                position 5 of 2 cost 200 realised 0
                cash USD 99800
            record sell -1 CALL @ 1 strategy 2
                booked SELL -1 @ 1
                position 5 of -1 cost -100 realised 0
                cash USD 100
            last AAPL 10
            day 2026-11-19
                booked EXPIRATION -2 @ 0 (expired worthless: S1 at 10, the last price)
                position 5 of 0 cost 0 realised -200
                booked EXPIRATION 1 @ 0 (expired worthless: S1 at 10, the last price)
                position 5 of 0 cost 0 realised 100
            positions
                position 5 of 0 cost 0 realised -200
                position 5 of 0 cost 0 realised 100
            cash
                1/1 99800 USD
                1/2 100000 USD
                2/1 100 USD
        "#]],
    );
}

#[test]
fn a_future_that_delivers_is_settled_and_its_underlying_is_paid_at_the_same_price() {
    check(
        "record sell -3 AAPL-FUTURE @ 11
         last AAPL-FUTURE 10
         day 2026-11-19
         positions
         cash",
        expect![[r#"
            record sell -3 AAPL-FUTURE @ 11
                booked SELL -3 @ 11
                position 10 of -3 cost -330 realised 0
            last AAPL-FUTURE 10
            day 2026-11-19
                booked EXPIRATION 3 @ 10 (settled at the last price)
                position 10 of 0 cost 0 realised 30
                cash USD 100030
                booked SELL -30 @ 10 (delivery of S10)
                position 1 of -30 cost -300 realised 0
                cash USD 100330
            positions
                position 10 of 0 cost 0 realised 30
                position 1 of -30 cost -300 realised 0
            cash
                1/1 100330 USD
                1/2 100000 USD
        "#]],
    );
}

#[test]
fn a_settlement_price_of_the_last_day_comes_before_the_last_price() {
    check(
        "record buy 1 ESX @ 5000
         record buy 1 SPX-CALL @ 20
         last ESX 5010
         last SPX 5010
         settlement ESX 5005 2026-11-18
         settlement SPX 4000 2026-11-17
         settlement SPX 5004 2026-11-18
         day 2026-11-19
         cash",
        expect![[r#"
            record buy 1 ESX @ 5000
                booked BUY 1 @ 5000
                position 9 of 1 cost 250000 realised 0
            record buy 1 SPX-CALL @ 20
                booked BUY 1 @ 20
                position 8 of 1 cost 200 realised 0
                cash USD 99800
            last ESX 5010
            last SPX 5010
            settlement ESX 5005 2026-11-18
            settlement SPX 4000 2026-11-17
            settlement SPX 5004 2026-11-18
            day 2026-11-19
                booked EXPIRATION -1 @ 4 (exercised: S7 at 5004, the settlement price)
                position 8 of 0 cost 0 realised -160
                cash USD 99840
                booked EXPIRATION -1 @ 5005 (settled at the settlement price)
                position 9 of 0 cost 0 realised 250
                cash USD 100090
            cash
                1/1 100090 USD
                1/2 100000 USD
        "#]],
    );
}

#[test]
fn without_a_last_price_the_middle_of_the_quotes_counts() {
    check(
        "record buy 1 ESX @ 5000
         mark ESX 5009 5011
         day 2026-11-19
         cash",
        expect![[r#"
            record buy 1 ESX @ 5000
                booked BUY 1 @ 5000
                position 9 of 1 cost 250000 realised 0
            mark ESX 5009 5011
            day 2026-11-19
                booked EXPIRATION -1 @ 5010 (settled at the middle of the quotes)
                position 9 of 0 cost 0 realised 500
                cash USD 100500
            cash
                1/1 100500 USD
                1/2 100000 USD
        "#]],
    );
}

#[test]
fn without_any_price_an_alarm_is_raised_and_the_position_stays_open_until_it_has_a_settlement_price() {
    check(
        "record buy 1 ESX @ 5000
         day 2026-11-19
         positions
         last ESX 6000
         day 2026-11-20
         settlement ESX 5010 2026-11-18
         positions
         day 2026-11-21",
        expect![[r#"
            record buy 1 ESX @ 5000
                booked BUY 1 @ 5000
                position 9 of 1 cost 250000 realised 0
            day 2026-11-19
                Error expiration-not-settled: security 9 (S9) expired on 2026-11-18 and its positions stay open: no price of security 9 was known; give the settlement price of security 9 for that day, or record an EXPIRATION for each
            positions
                position 9 of 1 cost 250000 realised 0
            last ESX 6000
            day 2026-11-20
                Error expiration-not-settled: security 9 (S9) expired on 2026-11-18 and its positions stay open: no price of security 9 was known; give the settlement price of security 9 for that day, or record an EXPIRATION for each
                position 9 of 1 cost 250000 realised 0
            settlement ESX 5010 2026-11-18
                booked EXPIRATION -1 @ 5010 (settled at the settlement price)
                position 9 of 0 cost 0 realised 500
                cash USD 100500
            positions
                position 9 of 0 cost 0 realised 500
            day 2026-11-21
        "#]],
    );
}

#[test]
fn an_option_with_an_unknown_underlying_stays_open_and_can_be_closed_by_hand() {
    check(
        "record buy 1 STRAY @ 2
         day 2026-11-19
         record expiration -1 STRAY @ 1.5
         positions
         day 2026-11-20",
        expect![[r#"
            record buy 1 STRAY @ 2
                booked BUY 1 @ 2
                position 11 of 1 cost 200 realised 0
                cash USD 99800
            day 2026-11-19
                Error expiration-not-settled: security 11 (S11) expired on 2026-11-18 and its positions stay open: its underlying is not known; record an EXPIRATION for each
            record expiration -1 STRAY @ 1.5
                booked EXPIRATION -1 @ 1.5
                position 11 of 0 cost 0 realised -50
                cash USD 99950
            positions
                position 11 of 0 cost 0 realised -50
            day 2026-11-20
        "#]],
    );
}

#[test]
fn a_server_that_was_down_over_several_midnights_settles_once_at_the_last_price() {
    check(
        "record buy 1 ESX @ 5000
         last ESX 5010
         day 2026-11-25
         last ESX 7000
         day 2026-11-26
         positions",
        expect![[r#"
            record buy 1 ESX @ 5000
                booked BUY 1 @ 5000
                position 9 of 1 cost 250000 realised 0
            last ESX 5010
            day 2026-11-25
                booked EXPIRATION -1 @ 5010 (settled at the last price)
                position 9 of 0 cost 0 realised 500
                cash USD 100500
            last ESX 7000
            day 2026-11-26
            positions
                nothing
        "#]],
    );
}

#[test]
fn resting_orders_of_what_expired_are_cancelled_and_new_ones_refused() {
    check(
        "place 1 buy 1 ESX @ 4900 GTC
         venue accepts 1
         place 2 buy 10 AAPL @ 9 GTC
         venue accepts 2
         day 2026-11-19
         venue cancels 1
         open
         place 3 buy 1 ESX @ 4900",
        expect![[r#"
            place 1 buy 1 ESX @ 4900 GTC
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            place 2 buy 10 AAPL @ 9 GTC
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            day 2026-11-19
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            venue cancels 1
                1 CANCELED
            open
                2 SUBMITTED 0 of 10 LimitOrder
            place 3 buy 1 ESX @ 4900
                refused security-expired: security 9 has expired
        "#]],
    );
}

#[test]
fn a_cancel_that_did_not_reach_the_venue_is_sent_again_after_a_reconnect() {
    check(
        "place 1 buy 1 ESX @ 4900 GTC
         venue accepts 1
         venue disconnects
         day 2026-11-19
         venue refuses-cancel 1
         venue connects
         venue shows 1:live
         venue cancels 1
         open",
        expect![[r#"
            place 1 buy 1 ESX @ 4900 GTC
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue disconnects
                SIM-A DISCONNECTED
            day 2026-11-19
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            venue refuses-cancel 1
                1 SUBMITTED (too late)
            venue connects
                SIM-A CONNECTED
            venue shows 1:live
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            venue cancels 1
                1 CANCELED
            open
                nothing
        "#]],
    );
}

#[test]
fn a_late_fill_in_what_has_expired_is_settled_at_the_next_roll() {
    check(
        "place 1 buy 1 ESX @ 5020 GTC
         venue accepts 1
         last ESX 5010
         day 2026-11-19
         venue fills 1 1 @ 5000 x1
         positions
         day 2026-11-20
         positions",
        expect![[r#"
            place 1 buy 1 ESX @ 5020 GTC
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            last ESX 5010
            day 2026-11-19
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            venue fills 1 1 @ 5000 x1
                fill 1 1 @ 5000
                booked BUY 1 @ 5000
                position 9 of 1 cost 250000 realised 0
                1 PENDING_CANCEL filled 1
            positions
                position 9 of 1 cost 250000 realised 0
            day 2026-11-20
                Warn no-answer: order 1: the venue has not answered for 10 s
                1 PENDING_CANCEL filled 1 (the venue has not answered for 10 s)
                booked EXPIRATION -1 @ 5010 (settled at the last price)
                position 9 of 0 cost 0 realised 500
                cash USD 100500
                to SIM-A: ask about 1
            positions
                position 9 of 0 cost 0 realised 500
        "#]],
    );
}
