//! Trades of every kind of security.

use expect_test::expect;

use super::check;

#[test]
fn a_stock_is_paid_for_and_a_sale_takes_cost_in_proportion() {
    check(
        "
        buy 100 AAPL @ 10
        sell 40 AAPL @ 12
        mark AAPL 11 11.5
        list
        ",
        expect![[r#"
            buy 100 AAPL @ 10
                transaction 1
                position 1 of 1/1: 100 AAPL, cost 1000 avg 10, realised 0, unrealised ?, worth ? USD
                cash 1 of 1/1: -1000 USD
            sell 40 AAPL @ 12
                transaction 2
                position 1 of 1/1: 60 AAPL, cost 600 avg 10, realised 80, unrealised ?, worth ? USD
                cash 1 of 1/1: -520 USD
            mark AAPL 11 11.5
                position 1 of 1/1: 60 AAPL, cost 600 avg 10, realised 80, unrealised 60, worth 660 USD
                strategy 1: 140 USD = cash -520 + market 660; realised 80, unrealised 60, 1 open
                strategy 2: 0 USD = cash 0 + market 0; realised 0, unrealised 0, 0 open
            list
                position 1 of 1/1: 60 AAPL, cost 600 avg 10, realised 80, unrealised 60, worth 660 USD
                cash 1 of 1/1: -520 USD
        "#]],
    );
}

#[test]
fn a_short_is_valued_at_the_ask() {
    check(
        "
        sell 100 AAPL @ 10
        mark AAPL 9 9.5
        list
        buy 100 AAPL @ 9
        ",
        expect![[r#"
            sell 100 AAPL @ 10
                transaction 1
                position 1 of 1/1: -100 AAPL, cost -1000 avg 10, realised 0, unrealised ?, worth ? USD
                cash 1 of 1/1: 1000 USD
            mark AAPL 9 9.5
                position 1 of 1/1: -100 AAPL, cost -1000 avg 10, realised 0, unrealised 50, worth -950 USD
                strategy 1: 50 USD = cash 1000 + market -950; realised 0, unrealised 50, 1 open
                strategy 2: 0 USD = cash 0 + market 0; realised 0, unrealised 0, 0 open
            list
                position 1 of 1/1: -100 AAPL, cost -1000 avg 10, realised 0, unrealised 50, worth -950 USD
                cash 1 of 1/1: 1000 USD
            buy 100 AAPL @ 9
                transaction 2
                position 1 of 1/1: 0 AAPL, cost 0 avg ?, realised 100, unrealised 0, worth 0 USD
                cash 1 of 1/1: 100 USD
        "#]],
    );
}

#[test]
fn a_flip_closes_then_opens() {
    check(
        "
        buy 100 AAPL @ 10
        sell 250 AAPL @ 12
        buy 200 AAPL @ 11
        ",
        expect![[r#"
            buy 100 AAPL @ 10
                transaction 1
                position 1 of 1/1: 100 AAPL, cost 1000 avg 10, realised 0, unrealised ?, worth ? USD
                cash 1 of 1/1: -1000 USD
            sell 250 AAPL @ 12
                transaction 2
                position 1 of 1/1: -150 AAPL, cost -1800 avg 12, realised 200, unrealised ?, worth ? USD
                cash 1 of 1/1: 2000 USD
            buy 200 AAPL @ 11
                transaction 3
                position 1 of 1/1: 50 AAPL, cost 550 avg 11, realised 350, unrealised ?, worth ? USD
                cash 1 of 1/1: -200 USD
        "#]],
    );
}

#[test]
fn the_last_sale_takes_all_of_the_cost_so_that_no_dust_stays() {
    check(
        "
        buy 3 AAPL @ 10.01
        buy 4 AAPL @ 10
        sell 2 AAPL @ 10
        sell 3 AAPL @ 10
        sell 2 AAPL @ 10
        ",
        expect![[r#"
            buy 3 AAPL @ 10.01
                transaction 1
                position 1 of 1/1: 3 AAPL, cost 30.03 avg 10.01, realised 0, unrealised ?, worth ? USD
                cash 1 of 1/1: -30.03 USD
            buy 4 AAPL @ 10
                transaction 2
                position 1 of 1/1: 7 AAPL, cost 70.03 avg 10.004285714286, realised 0, unrealised ?, worth ? USD
                cash 1 of 1/1: -70.03 USD
            sell 2 AAPL @ 10
                transaction 3
                position 1 of 1/1: 5 AAPL, cost 50.021428571429 avg 10.004285714286, realised -0.008571428571, unrealised ?, worth ? USD
                cash 1 of 1/1: -50.03 USD
            sell 3 AAPL @ 10
                transaction 4
                position 1 of 1/1: 2 AAPL, cost 20.008571428572 avg 10.004285714286, realised -0.021428571428, unrealised ?, worth ? USD
                cash 1 of 1/1: -20.03 USD
            sell 2 AAPL @ 10
                transaction 5
                position 1 of 1/1: 0 AAPL, cost 0 avg ?, realised -0.03, unrealised 0, worth 0 USD
                cash 1 of 1/1: -0.03 USD
        "#]],
    );
}

#[test]
fn charges_hit_cash_in_the_currency_of_the_transaction_and_not_the_p_l() {
    check(
        "
        buy 100 AAPL @ 10 fee 1.5
        sell 100 AAPL @ 10 fee 2 in EUR
        buy 1 ES @ 5000 fee 3
        ",
        expect![[r#"
            buy 100 AAPL @ 10 fee 1.5
                transaction 1
                position 1 of 1/1: 100 AAPL, cost 1000 avg 10, realised 0, unrealised ?, worth ? USD
                cash 1 of 1/1: -1001.5 USD
            sell 100 AAPL @ 10 fee 2 in EUR
                transaction 2
                position 1 of 1/1: 0 AAPL, cost 0 avg ?, realised 0, unrealised 0, worth 0 USD
                cash 1 of 1/1: -1.5 USD
                cash 2 of 1/1: -2 EUR
                alarm no-rate: EUR has no rate to USD: values in USD are not known
            buy 1 ES @ 5000 fee 3
                transaction 3
                position 2 of 1/1: 1 ES, cost 250000 avg 5000, realised 0, unrealised ?, worth ? USD
                cash 1 of 1/1: -4.5 USD
        "#]],
    );
}

#[test]
fn a_future_moves_only_its_result_as_cash() {
    check(
        "
        buy 2 ES @ 5000
        mark ES 5010 5011
        list
        sell 1 ES @ 5004
        sell 2 ES @ 4990
        ",
        expect![[r#"
            buy 2 ES @ 5000
                transaction 1
                position 1 of 1/1: 2 ES, cost 500000 avg 5000, realised 0, unrealised ?, worth ? USD
            mark ES 5010 5011
                position 1 of 1/1: 2 ES, cost 500000 avg 5000, realised 0, unrealised 1000, worth 1000 USD
                strategy 1: 1000 USD = cash 0 + market 1000; realised 0, unrealised 1000, 1 open
                strategy 2: 0 USD = cash 0 + market 0; realised 0, unrealised 0, 0 open
            list
                position 1 of 1/1: 2 ES, cost 500000 avg 5000, realised 0, unrealised 1000, worth 1000 USD
            sell 1 ES @ 5004
                transaction 2
                position 1 of 1/1: 1 ES, cost 250000 avg 5000, realised 200, unrealised 500, worth 500 USD
                cash 1 of 1/1: 200 USD
            sell 2 ES @ 4990
                transaction 3
                position 1 of 1/1: -1 ES, cost -249500 avg 4990, realised -300, unrealised -1050, worth -1050 USD
                cash 1 of 1/1: -300 USD
        "#]],
    );
}

#[test]
fn a_perpetual_swap_is_like_a_future_and_an_option_is_paid_for() {
    check(
        "
        sell 100 BTC.PERP @ 60000
        buy 40 BTC.PERP @ 59000
        buy 5 CALL @ 1.25
        sell 5 CALL @ 1.5
        ",
        expect![[r#"
            sell 100 BTC.PERP @ 60000
                transaction 1
                position 1 of 1/1: -100 BTC.PERP, cost -6000 avg 60000, realised 0, unrealised ?, worth ? USD
            buy 40 BTC.PERP @ 59000
                transaction 2
                position 1 of 1/1: -60 BTC.PERP, cost -3600 avg 60000, realised 40, unrealised ?, worth ? USD
                cash 1 of 1/1: 40 USD
            buy 5 CALL @ 1.25
                transaction 3
                position 2 of 1/1: 5 CALL, cost 625 avg 1.25, realised 0, unrealised ?, worth ? USD
                cash 1 of 1/1: -585 USD
            sell 5 CALL @ 1.5
                transaction 4
                position 2 of 1/1: 0 CALL, cost 0 avg ?, realised 125, unrealised 0, worth 0 USD
                cash 1 of 1/1: 165 USD
        "#]],
    );
}

#[test]
fn forex_is_a_position_in_the_pair_with_cash_in_its_transaction_currency() {
    check(
        "
        buy 1000 EUR.USD @ 1.1
        mark EUR.USD 1.12 1.13
        list
        sell 1000 EUR.USD @ 1.12
        ",
        expect![[r#"
            buy 1000 EUR.USD @ 1.1
                transaction 1
                position 1 of 1/1: 1000 EUR.USD, cost 1100 avg 1.1, realised 0, unrealised ?, worth ? USD
                cash 1 of 1/1: -1100 USD
            mark EUR.USD 1.12 1.13
                position 1 of 1/1: 1000 EUR.USD, cost 1100 avg 1.1, realised 0, unrealised 20, worth 1120 USD
                strategy 1: 20 USD = cash -1100 + market 1120; realised 0, unrealised 20, 1 open
                strategy 2: 0 USD = cash 0 + market 0; realised 0, unrealised 0, 0 open
            list
                position 1 of 1/1: 1000 EUR.USD, cost 1100 avg 1.1, realised 0, unrealised 20, worth 1120 USD
                cash 1 of 1/1: -1100 USD
            sell 1000 EUR.USD @ 1.12
                transaction 2
                position 1 of 1/1: 0 EUR.USD, cost 0 avg ?, realised 20, unrealised 0, worth 0 USD
                cash 1 of 1/1: 20 USD
        "#]],
    );
}

#[test]
fn bonds_funds_and_commodities_are_paid_for_in_their_currency() {
    check(
        "
        buy 2 BUND @ 99.5
        buy 3 FUND @ 20
        buy 1 GOLD @ 2000.25
        ",
        expect![[r#"
            buy 2 BUND @ 99.5
                transaction 1
                position 1 of 1/1: 2 BUND, cost 1990 avg 99.5, realised 0, unrealised ?, worth ? EUR
                cash 1 of 1/1: -1990 EUR
                alarm no-rate: EUR has no rate to USD: values in USD are not known
            buy 3 FUND @ 20
                transaction 2
                position 2 of 1/1: 3 FUND, cost 60 avg 20, realised 0, unrealised ?, worth ? CHF
                cash 2 of 1/1: -60 CHF
                alarm no-rate: CHF has no rate to USD: values in USD are not known
            buy 1 GOLD @ 2000.25
                transaction 3
                position 3 of 1/1: 1 GOLD, cost 2000.25 avg 2000.25, realised 0, unrealised ?, worth ? USD
                cash 3 of 1/1: -2000.25 USD
        "#]],
    );
}
