//! Platform days, their results, and the check against the recorded transactions.

use domain::query::Filter;
use domain::{Amount, Quantity, Timestamp, TransactionId};
use expect_test::expect;

use super::{PortfolioFixture, check, shown, valuer};
use crate::outbox::Outbox;
use crate::portfolio::position_state::PositionState;

#[test]
fn a_position_closed_today_is_listed_until_the_day_ends_and_keeps_its_id() {
    check(
        "
        buy 10 AAPL @ 10
        sell 10 AAPL @ 11
        buy 1 GOLD @ 2000
        list
        wait 60
        roll
        list
        buy 5 AAPL @ 12
        ",
        expect![[r#"
            buy 10 AAPL @ 10
                transaction 1
                position 1 of 1/1: 10 AAPL, cost 100 avg 10, realised 0, unrealised ?, worth ? USD
                cash 1 of 1/1: -100 USD
            sell 10 AAPL @ 11
                transaction 2
                position 1 of 1/1: 0 AAPL, cost 0 avg ?, realised 10, unrealised 0, worth 0 USD
                cash 1 of 1/1: 10 USD
            buy 1 GOLD @ 2000
                transaction 3
                position 2 of 1/1: 1 GOLD, cost 2000 avg 2000, realised 0, unrealised ?, worth ? USD
                cash 1 of 1/1: -1990 USD
            list
                position 1 of 1/1: 0 AAPL, cost 0 avg ?, realised 10, unrealised 0, worth 0 USD
                position 2 of 1/1: 1 GOLD, cost 2000 avg 2000, realised 0, unrealised ?, worth ? USD
                cash 1 of 1/1: -1990 USD
            wait 60
            roll
            list
                position 2 of 1/1: 1 GOLD, cost 2000 avg 2000, realised 0, unrealised ?, worth ? USD
                cash 1 of 1/1: -1990 USD
            buy 5 AAPL @ 12
                transaction 4
                position 1 of 1/1: 5 AAPL, cost 60 avg 12, realised 10, unrealised ?, worth ? USD
                cash 1 of 1/1: -2050 USD
        "#]],
    );
}

#[test]
fn the_result_of_the_day_counts_trading_and_charges_but_not_money_paid_in() {
    check(
        "
        credit 1000 USD
        buy 10 AAPL @ 10 fee 1
        day PLATFORM
        mark AAPL 12 13
        day PLATFORM
        day SECURITY-1
        wait 60
        roll
        day PLATFORM
        ",
        expect![[r#"
            credit 1000 USD
                transaction 1
                cash 1 of 1/1: 1000 USD
            buy 10 AAPL @ 10 fee 1
                transaction 2
                position 1 of 1/1: 10 AAPL, cost 100 avg 10, realised 0, unrealised ?, worth ? USD
                cash 1 of 1/1: 899 USD
            day PLATFORM
                result ?, below its best ?
            mark AAPL 12 13
                position 1 of 1/1: 10 AAPL, cost 100 avg 10, realised 0, unrealised 20, worth 120 USD
                strategy 1: 1019 USD = cash 899 + market 120; realised 0, unrealised 20, 1 open
                strategy 2: 0 USD = cash 0 + market 0; realised 0, unrealised 0, 0 open
            day PLATFORM
                result 19, below its best 0
            day SECURITY-1
                result 19, below its best 0
            wait 60
            roll
            day PLATFORM
                result 0, below its best 0
        "#]],
    );
}

#[test]
fn a_new_day_starts_from_the_value_at_the_roll() {
    let mut desk = PortfolioFixture::default();
    desk.tell("credit 1000 USD\n buy 10 AAPL @ 10\n mark AAPL 12 13\n wait 60\n roll");
    desk.tell("credit 500 USD\n transfer 10 GOLD @ 5\n mark GOLD 5 5\n wait 1\n mark AAPL 15 16");
    let told = desk.tell(
        "
        day PLATFORM
        wait 1
        mark AAPL 9 10
        day PLATFORM
        day ACCOUNT-1
        day STRATEGY-1
        day STRATEGY-2
        day SECURITY-1
        ",
    );
    expect![[r#"
        day PLATFORM
            result 30, below its best 0
        wait 1
        mark AAPL 9 10
            position 1 of 1/1: 10 AAPL, cost 100 avg 10, realised 0, unrealised -10, worth 90 USD
            strategy 1: 1540 USD = cash 1400 + market 140; realised 0, unrealised -10, 2 open
        day PLATFORM
            result -30, below its best 60
        day ACCOUNT-1
            result -30, below its best 60
        day STRATEGY-1
            result -30, below its best 60
        day STRATEGY-2
            result 0, below its best 0
        day SECURITY-1
            result -30, below its best 60
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_price_missing_at_the_roll_starts_the_day_late() {
    check(
        "
        buy 10 AAPL @ 10
        wait 60
        roll
        day PLATFORM
        mark AAPL 12 13
        wait 1
        mark AAPL 11 12
        wait 1
        mark AAPL 10 11
        day PLATFORM
        ",
        expect![[r#"
            buy 10 AAPL @ 10
                transaction 1
                position 1 of 1/1: 10 AAPL, cost 100 avg 10, realised 0, unrealised ?, worth ? USD
                cash 1 of 1/1: -100 USD
            wait 60
            roll
            day PLATFORM
                result ?, below its best ?
            mark AAPL 12 13
                position 1 of 1/1: 10 AAPL, cost 100 avg 10, realised 0, unrealised 20, worth 120 USD
                strategy 1: 20 USD = cash -100 + market 120; realised 0, unrealised 20, 1 open
                strategy 2: 0 USD = cash 0 + market 0; realised 0, unrealised 0, 0 open
            wait 1
            mark AAPL 11 12
                position 1 of 1/1: 10 AAPL, cost 100 avg 10, realised 0, unrealised 10, worth 110 USD
                strategy 1: 10 USD = cash -100 + market 110; realised 0, unrealised 10, 1 open
            wait 1
            mark AAPL 10 11
                position 1 of 1/1: 10 AAPL, cost 100 avg 10, realised 0, unrealised 0, worth 100 USD
                strategy 1: 0 USD = cash -100 + market 100; realised 0, unrealised 0, 1 open
            day PLATFORM
                result -20, below its best 20
        "#]],
    );
}

#[test]
fn resets_correct_what_differs_from_the_recorded_transactions_and_nothing_else() {
    let mut desk = PortfolioFixture::default();
    desk.tell("buy 10 AAPL @ 10\n credit 5 USD\n roll\n sell 4 AAPL @ 11\n buy 1 GOLD @ 7");
    let right = minicbor::to_vec(&desk.portfolio).unwrap();
    let live = &mut desk.portfolio.live;
    let (key, held) = live.positions.rows()[0];
    live.positions.set(0, key, PositionState { quantity: Quantity::from(77), ..held });
    let (key, _) = live.cash.rows()[0];
    live.cash.set(0, key, Amount::from(1));

    let mut out = Outbox::default();
    let PortfolioFixture { portfolio, marks, reference, now, .. } = &mut desk;
    portfolio.reset_positions(&valuer(marks, reference, *now), &mut out);
    portfolio.reset_cash(&valuer(marks, reference, *now), &mut out);
    assert_eq!(minicbor::to_vec(&desk.portfolio).unwrap(), right);
    let events: Vec<_> = out.events.iter().map(shown).collect();
    expect![[r#"
        position 1 of 1/1: 6 AAPL, cost 60 avg 10, realised 4, unrealised ?, worth ? USD
        cash 1 of 1/1: -58 USD"#]]
    .assert_eq(&events.join("\n"));
}

#[test]
fn todays_list_is_newest_first_and_ends_with_the_day() {
    let mut desk = PortfolioFixture::default();
    desk.tell("buy 10 AAPL @ 10\n credit 5 USD for 2");
    let day = Timestamp::default()..Timestamp(i64::MAX);
    let today = |desk: &PortfolioFixture| {
        desk.portfolio.dated_in(&day, Filter::default()).iter().map(|booked| booked.id.0).collect::<Vec<_>>()
    };
    assert_eq!(today(&desk), [2, 1]);
    assert_eq!(desk.portfolio.transaction(TransactionId(1)).unwrap().quantity, Quantity::from(10));
    desk.tell("wait 1\n roll");
    assert_eq!(today(&desk), [] as [u64; 0]);
    assert_eq!(desk.portfolio.transaction(TransactionId(1)), None);
}
