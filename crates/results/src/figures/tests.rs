//! Each figure against a case computed by hand.

use domain::Date;

use super::*;

const DAY: i64 = 86_400_000_000_000;

fn days(values: &[(i64, f64)]) -> Vec<DayValue> {
    values.iter().map(|(day, value)| DayValue::new(Timestamp(day * DAY), *value)).collect()
}

fn drawdown(days: &[DayValue]) -> Drawdown {
    let mut drawdown = Drawdown::default();
    days.iter().for_each(|day| drawdown.update(day.at, day.value));
    drawdown
}

fn months(performances: &[f64]) -> Vec<Month> {
    let month = |(number, performance): (usize, &f64)| {
        let first: Date = format!("2025-{:02}-01", number + 1).parse().unwrap();
        Month { first, performance: *performance }
    };
    performances.iter().enumerate().map(month).collect()
}

fn near(found: Option<f64>, wanted: f64) {
    let found = found.expect("a figure");
    assert!((found - wanted).abs() < 1e-9, "{found} is not {wanted}");
}

/// 100, 110, 99, 118.8: daily returns +10 %, -10 %, +20 %.
fn three_days() -> Vec<DayValue> {
    days(&[(0, 100.0), (1, 110.0), (2, 99.0), (3, 118.8)])
}

#[test]
fn volatility_is_the_deviation_of_daily_returns_scaled_to_a_year() {
    // Mean 1/15; squares about it: 1/900 + 1/36 + 4/225 = 42/900; divided by 2: 21/900.
    let yearly = yearly(&three_days(), &drawdown(&three_days()), &Assumptions::default());
    near(yearly.volatility, (21.0_f64 / 900.0).sqrt() * 252.0_f64.sqrt());
}

#[test]
fn sharpe_divides_the_mean_by_the_deviation_and_sortino_by_the_downside_only() {
    let found = yearly(&three_days(), &drawdown(&three_days()), &Assumptions::default());
    near(found.sharpe, (1.0 / 15.0) / (21.0_f64 / 900.0).sqrt() * 252.0_f64.sqrt());
    // One return below zero, -0.1: downside = sqrt(0.01 / 3).
    near(found.sortino, (1.0 / 15.0) / (0.01_f64 / 3.0).sqrt() * 252.0_f64.sqrt());
}

#[test]
fn a_risk_free_rate_is_taken_off_each_day() {
    let assumptions = Assumptions { risk_free_rate: 0.252, ..Assumptions::default() };
    let found = yearly(&three_days(), &drawdown(&three_days()), &assumptions);
    near(found.sharpe, (1.0 / 15.0 - 0.001) / (21.0_f64 / 900.0).sqrt() * 252.0_f64.sqrt());
}

#[test]
fn growth_is_compounded_over_years_of_365_and_a_quarter_days() {
    // 1461 days are four years: 100 to 146.41 is 10 % a year. The fall from 150 to 120 is 20 %.
    let values = days(&[(0, 100.0), (500, 150.0), (600, 120.0), (1_461, 146.41)]);
    let found = yearly(&values, &drawdown(&values), &Assumptions::default());
    near(found.cagr, 0.1);
    near(found.calmar, 0.5);
}

#[test]
fn a_run_of_days_has_no_yearly_growth_and_one_value_has_no_figure_at_all() {
    assert_eq!(yearly(&three_days(), &Drawdown::default(), &Assumptions::default()).cagr, None);
    assert_eq!(yearly(&days(&[(0, 100.0)]), &Drawdown::default(), &Assumptions::default()), Yearly::default());
    assert_eq!(yearly(&[], &Drawdown::default(), &Assumptions::default()), Yearly::default());
}

#[test]
fn one_return_has_no_ratio_of_return_to_risk() {
    let values = days(&[(0, 100.0), (1, 90.0)]);
    let found = yearly(&values, &drawdown(&values), &Assumptions::default());
    assert_eq!((found.volatility, found.sharpe, found.sortino), (None, None, None));
    let found = monthly(&months(&[-0.1]), &drawdown(&values), &Assumptions::default());
    assert_eq!((found.deviation, found.sharpe, found.calmar), (None, None, None));
}

#[test]
fn monthly_figures_are_those_of_the_family() {
    // +10 %, -5 %, +1 %: mean 2 %; squares about it: 64 + 49 + 1 = 114 of 10^-4; divided by 2: 57.
    let deepest = drawdown(&days(&[(0, 100.0), (1, 95.0)]));
    let assumptions = Assumptions { risk_free_rate: 0.0015, ..Assumptions::default() };
    let found = monthly(&months(&[0.10, -0.05, 0.01]), &deepest, &assumptions);
    let average_year = (1.10_f64 * 0.95 * 1.01).powi(4) - 1.0;
    let deviation_year = 0.0057_f64.sqrt() * 12.0_f64.sqrt();
    assert_eq!(found.months, 3);
    near(found.average, 0.02);
    near(found.deviation, 0.0057_f64.sqrt());
    near(found.average_year, average_year);
    near(found.deviation_year, deviation_year);
    near(found.sharpe, (average_year - 0.0015) / deviation_year);
    near(found.calmar, average_year / 0.05);
    near(found.best, 0.10);
    near(found.worst, -0.05);
}

#[test]
fn months_that_lost_everything_have_no_geometric_mean() {
    let found = monthly(&months(&[0.1, -1.0]), &Drawdown::default(), &Assumptions::default());
    assert_eq!((found.average_year, found.sharpe, found.calmar), (None, None, None));
    assert_eq!(monthly(&[], &Drawdown::default(), &Assumptions::default()), Monthly::default());
}

#[test]
fn win_rate_and_profit_factor_count_round_trips() {
    let mut trades = Trades::default();
    for net in [30.0, -10.0, 0.0, 50.0, -30.0] {
        trades.add(&RoundTrip { net, closed_at: Timestamp(2 * DAY), ..RoundTrip::default() });
    }
    assert_eq!((trades.count, trades.won, trades.lost), (5, 2, 2));
    near(trades.win_rate(), 0.4);
    near(trades.profit_factor(), 2.0);
    near(trades.average_win(), 40.0);
    near(trades.average_loss(), 20.0);
    near(trades.expectancy(), 8.0);
    near(trades.average_days(), 2.0);
    assert_eq!((trades.largest_win, trades.largest_loss), (50.0, 30.0));
}

#[test]
fn without_losers_there_is_no_profit_factor() {
    let mut trades = Trades::default();
    trades.add(&RoundTrip { net: 1.0, ..RoundTrip::default() });
    assert_eq!((trades.profit_factor(), trades.win_rate()), (None, Some(1.0)));
    assert_eq!(Trades::default().win_rate(), None);
}
