//! Values of positions, and when they are published.

use domain::{AccountId, RiskScope, StrategyId};
use expect_test::expect;

use super::{PortfolioFixture, check, id_of};

#[test]
fn values_are_in_base_currency_and_absent_where_a_rate_is_missing() {
    check(
        "
        credit 1000 USD
        buy 2 BUND @ 100 for 2
        values
        mark BUND 101 102
        wait 1
        mark EUR.USD 1.1 1.1
        wait 1
        mark EUR.USD 1.2 1.2
        ",
        expect![[r#"
            credit 1000 USD
                transaction 1
                cash 1 of 1/1: 1000 USD
            buy 2 BUND @ 100 for 2
                transaction 2
                position 1 of 2/1: 2 BUND, cost 2000 avg 100, realised 0, unrealised ?, worth ? EUR
                cash 2 of 2/1: -2000 EUR
                alarm no-rate: EUR has no rate to USD: values in USD are not known
            values
                strategy 1: 1000 USD = cash 1000 + market 0; realised 0, unrealised 0, 0 open
                strategy 2: ? USD = cash ? + market ?; realised 0, unrealised ?, 1 open
            mark BUND 101 102
                position 1 of 2/1: 2 BUND, cost 2000 avg 100, realised 0, unrealised 20, worth 2020 EUR
                strategy 1: 1000 USD = cash 1000 + market 0; realised 0, unrealised 0, 0 open
                strategy 2: ? USD = cash ? + market ?; realised 0, unrealised ?, 1 open
            wait 1
            mark EUR.USD 1.1 1.1
                strategy 2: 22 USD = cash -2200 + market 2222; realised 0, unrealised 22, 1 open
            wait 1
            mark EUR.USD 1.2 1.2
                strategy 2: 24 USD = cash -2400 + market 2424; realised 0, unrealised 24, 1 open
        "#]],
    );
}

#[test]
fn values_are_published_once_a_second_and_only_where_they_changed() {
    check(
        "
        buy 10 AAPL @ 10
        mark AAPL 11 12
        mark AAPL 12 13
        wait 1
        mark AAPL 12 14
        wait 1
        mark AAPL 12 15
        mark AAPL 13 15
        wait 1
        mark GOLD 1 2
        ",
        expect![[r#"
            buy 10 AAPL @ 10
                transaction 1
                position 1 of 1/1: 10 AAPL, cost 100 avg 10, realised 0, unrealised ?, worth ? USD
                cash 1 of 1/1: -100 USD
            mark AAPL 11 12
                position 1 of 1/1: 10 AAPL, cost 100 avg 10, realised 0, unrealised 10, worth 110 USD
                strategy 1: 10 USD = cash -100 + market 110; realised 0, unrealised 10, 1 open
                strategy 2: 0 USD = cash 0 + market 0; realised 0, unrealised 0, 0 open
            mark AAPL 12 13
            wait 1
            mark AAPL 12 14
                position 1 of 1/1: 10 AAPL, cost 100 avg 10, realised 0, unrealised 20, worth 120 USD
                strategy 1: 20 USD = cash -100 + market 120; realised 0, unrealised 20, 1 open
            wait 1
            mark AAPL 12 15
            mark AAPL 13 15
            wait 1
            mark GOLD 1 2
                position 1 of 1/1: 10 AAPL, cost 100 avg 10, realised 0, unrealised 30, worth 130 USD
                strategy 1: 30 USD = cash -100 + market 130; realised 0, unrealised 30, 1 open
        "#]],
    );
}

#[test]
fn the_risk_gate_sees_net_quantities_and_exposure_of_every_scope() {
    let mut desk = PortfolioFixture::default();
    desk.tell(
        "
        mark EUR.USD 1.1 1.1
        buy 100 AAPL @ 10
        sell 30 AAPL @ 10 for 2
        sell 10 AAPL @ 10 at 2
        buy 2 BUND @ 100
        mark AAPL 9 11
        ",
    );
    let aapl = id_of("AAPL");
    let strategy = RiskScope::Strategy(StrategyId(1));
    let account = RiskScope::Account(AccountId(1));
    let net = |scope| desk.portfolio.net_quantity(scope, aapl).to_string();
    assert_eq!([RiskScope::Platform, strategy, account].map(net), ["60", "90", "70"]);
    let exposure = |scope| desk.portfolio.exposure(scope, &desk.valuer()).unwrap();
    let shown = |scope| format!("{} long, {} short", exposure(scope).long, exposure(scope).short);
    let scopes = [RiskScope::Platform, strategy, account, RiskScope::Security(aapl)];
    assert_eq!(
        scopes.map(shown),
        ["3100 long, 440 short", "3100 long, 110 short", "3100 long, 330 short", "900 long, 440 short"]
    );
    assert!(desk.portfolio.holds(aapl) && !desk.portfolio.holds(id_of("GOLD")));
}
