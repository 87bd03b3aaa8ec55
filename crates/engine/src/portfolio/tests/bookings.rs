//! Manual transactions, booked and refused.

use domain::Timestamp;
use expect_test::expect;

use super::{Portfolio, PortfolioFixture, check, transaction};
use crate::portfolio::position_state::AMOUNT_MAX;

#[test]
fn what_expires_settles_at_its_price_and_worthless_at_zero() {
    check(
        "
        buy 5 CALL @ 1.25
        expiration -3 CALL @ 2
        expiration -2 CALL @ 0
        sell 1 ES @ 5000
        expiration 1 ES @ 4990
        ",
        expect![[r#"
            buy 5 CALL @ 1.25
                transaction 1
                position 1 of 1/1: 5 CALL, cost 625 avg 1.25, realised 0, unrealised ?, worth ? USD
                cash 1 of 1/1: -625 USD
            expiration -3 CALL @ 2
                transaction 2
                position 1 of 1/1: 2 CALL, cost 250 avg 1.25, realised 225, unrealised ?, worth ? USD
                cash 1 of 1/1: -25 USD
            expiration -2 CALL @ 0
                transaction 3
                position 1 of 1/1: 0 CALL, cost 0 avg ?, realised -25, unrealised 0, worth 0 USD
            sell 1 ES @ 5000
                transaction 4
                position 2 of 1/1: -1 ES, cost -250000 avg 5000, realised 0, unrealised ?, worth ? USD
            expiration 1 ES @ 4990
                transaction 5
                position 2 of 1/1: 0 ES, cost 0 avg ?, realised 500, unrealised 0, worth 0 USD
                cash 1 of 1/1: 475 USD
        "#]],
    );
}

#[test]
fn a_transfer_pays_nothing_and_its_two_ends_add_up() {
    check(
        "
        buy 100 AAPL @ 10
        transfer -40 AAPL @ 12
        transfer 40 AAPL @ 12 for 2
        buy 2 ES @ 5000
        transfer -1 ES @ 5010
        transfer 1 ES @ 5010 for 2
        ",
        expect![[r#"
            buy 100 AAPL @ 10
                transaction 1
                position 1 of 1/1: 100 AAPL, cost 1000 avg 10, realised 0, unrealised ?, worth ? USD
                cash 1 of 1/1: -1000 USD
            transfer -40 AAPL @ 12
                transaction 2
                position 1 of 1/1: 60 AAPL, cost 600 avg 10, realised 80, unrealised ?, worth ? USD
            transfer 40 AAPL @ 12 for 2
                transaction 3
                position 2 of 2/1: 40 AAPL, cost 480 avg 12, realised 0, unrealised ?, worth ? USD
            buy 2 ES @ 5000
                transaction 4
                position 3 of 1/1: 2 ES, cost 500000 avg 5000, realised 0, unrealised ?, worth ? USD
            transfer -1 ES @ 5010
                transaction 5
                position 3 of 1/1: 1 ES, cost 250000 avg 5000, realised 500, unrealised ?, worth ? USD
                cash 1 of 1/1: -500 USD
            transfer 1 ES @ 5010 for 2
                transaction 6
                position 4 of 2/1: 1 ES, cost 250500 avg 5010, realised 0, unrealised ?, worth ? USD
        "#]],
    );
}

#[test]
fn cash_kinds_move_cash_by_their_sign() {
    check(
        "
        credit 1000 USD
        debit 100 USD
        interest_paid 1 USD
        interest_received 2 USD
        dividend 30.5 EUR
        fees 4 USD
        refund 5 USD at 2
        ",
        expect![[r#"
            credit 1000 USD
                transaction 1
                cash 1 of 1/1: 1000 USD
            debit 100 USD
                transaction 2
                cash 1 of 1/1: 900 USD
            interest_paid 1 USD
                transaction 3
                cash 1 of 1/1: 899 USD
            interest_received 2 USD
                transaction 4
                cash 1 of 1/1: 901 USD
            dividend 30.5 EUR
                transaction 5
                cash 2 of 1/1: 30.5 EUR
                alarm no-rate: EUR has no rate to USD: values in USD are not known
            fees 4 USD
                transaction 6
                cash 1 of 1/1: 897 USD
            refund 5 USD at 2
                transaction 7
                cash 3 of 1/2: 5 USD
        "#]],
    );
}

#[test]
fn what_makes_no_sense_is_refused_and_changes_nothing() {
    let mut desk = PortfolioFixture::default();
    let before = minicbor::to_vec(&desk.portfolio).unwrap();
    let told = desk.tell(
        "
        buy -1 AAPL @ 10
        sell -1 AAPL @ 10
        transfer 0 AAPL @ 10
        credit 0 USD
        buy 1 SPX @ 10
        buy 1000000000000000001 AAPL @ 0.01
        buy 1000000000 AAPL @ 10000000000
        credit 79228162514264337593543950335 USD
        ",
    );
    assert_eq!(minicbor::to_vec(&desk.portfolio).unwrap(), before);
    expect![[r#"
        buy -1 AAPL @ 10
            refused wrong-sign: quantity -1 has the wrong sign for this type
        sell -1 AAPL @ 10
            refused wrong-sign: quantity 1 has the wrong sign for this type
        transfer 0 AAPL @ 10
            refused wrong-sign: quantity 0 has the wrong sign for this type
        credit 0 USD
            refused not-positive: price 0 must be more than zero
        buy 1 SPX @ 10
            refused not-tradeable: security 5 cannot be traded
        buy 1000000000000000001 AAPL @ 0.01
            refused amount-too-large: an amount does not fit into 28 digits
        buy 1000000000 AAPL @ 10000000000
            refused amount-too-large: an amount does not fit into 28 digits
        credit 79228162514264337593543950335 USD
            refused amount-too-large: an amount does not fit into 28 digits
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_trade_needs_a_security() {
    let mut trade = transaction(&["buy", "1", "AAPL", "@", "1"], 1, Timestamp(0));
    trade.security = None;
    let refusal = Portfolio::default().plan(trade, None).unwrap_err();
    assert_eq!(refusal.to_string(), "securityId is needed");
}

#[test]
fn a_known_uuid_is_refused_also_on_another_day() {
    check(
        "
        credit 10 USD uuid b2c3b0d8-6c55-4e0a-9c55-1b6f0c6f9e01
        roll
        credit 10 USD uuid b2c3b0d8-6c55-4e0a-9c55-1b6f0c6f9e01
        list
        ",
        expect![[r#"
            credit 10 USD uuid b2c3b0d8-6c55-4e0a-9c55-1b6f0c6f9e01
                transaction 1
                cash 1 of 1/1: 10 USD
            roll
            credit 10 USD uuid b2c3b0d8-6c55-4e0a-9c55-1b6f0c6f9e01
                refused duplicate-transaction: transaction b2c3b0d8-6c55-4e0a-9c55-1b6f0c6f9e01 is recorded already
            list
                cash 1 of 1/1: 10 USD
        "#]],
    );
}

#[test]
fn the_bound_is_ten_to_the_eighteenth() {
    assert_eq!(AMOUNT_MAX.to_string(), "1000000000000000000");
}
