//! Figures with their definitions: as a tooltip on the name, and in a list below.

use super::html::{append, escaped};
use crate::page::html::{count, maybe, money, percent, plain, when};
use crate::run_results::{Figures, RunResults};

struct Row {
    name: &'static str,
    value: String,
    /// Empty where the name is clear.
    means: &'static str,
}

fn row(name: &'static str, value: String, means: &'static str) -> Row {
    Row { name, value, means }
}

pub(super) fn figures(outcome: &RunResults) -> String {
    let rows = rows(&outcome.figures);
    let mut tables = String::from("<div class=\"two\">");
    for half in rows.chunks(rows.len().div_ceil(2)) {
        tables.push_str("<table class=\"pairs\">");
        for Row { name, value, means } in half {
            let means = escaped(means);
            append(&mut tables, format_args!("<tr><th title=\"{means}\">{name}</th><td>{value}</td></tr>"));
        }
        tables.push_str("</table>");
    }
    tables.push_str("</div>");
    definitions(&mut tables, &rows);
    tables
}

fn definitions(page: &mut String, rows: &[Row]) {
    page.push_str("<details><summary>What the figures mean</summary><dl>");
    let exposure = row("Exposure", String::new(), EXPOSURE);
    for Row { name, means, .. } in rows.iter().chain([&exposure]).filter(|row| !row.means.is_empty()) {
        append(page, format_args!("<dt>{name}</dt><dd>{}</dd>", escaped(means)));
    }
    page.push_str("</dl></details>");
}

/// Also shown above its chart.
pub(super) const EXPOSURE: &str = "quantity × price × contract size of all positions, long and short added and not \
                                   netted, as a part of the net liquidation value";

fn rows(figures: &Figures) -> Vec<Row> {
    let mut rows = values(figures);
    rows.extend(returns(figures));
    rows.extend(months(figures));
    rows.extend(trades(figures));
    rows
}

fn values(figures: &Figures) -> Vec<Row> {
    let brought = figures.profit_loss;
    vec![
        row("From", when(figures.from), "when trading began"),
        row("To", when(figures.to), "the last instant that was played"),
        row("Value at the start", money(figures.start_value), "opening cash, in base currency"),
        row("Net liquidation value", money(figures.end_value), "cash and positions at their last prices, after costs"),
        row(
            "Realised P/L",
            money(brought.realized),
            "of what was bought and sold again, before costs, each part at the rate of its booking",
        ),
        row(
            "Unrealised P/L",
            money(brought.unrealized),
            "of what is still held, before costs, at its last prices and rates",
        ),
        row("Total return", maybe(figures.total_return, percent), "last value / first value - 1"),
    ]
}

fn returns(figures: &Figures) -> Vec<Row> {
    let yearly = figures.yearly;
    vec![
        row("CAGR", maybe(yearly.cagr, percent), "(last / first) ^ (1 / years) - 1; absent below a month"),
        row(
            "Volatility, a year",
            maybe(yearly.volatility, percent),
            "standard deviation of daily returns × √days per year",
        ),
        row(
            "Sharpe",
            maybe(yearly.sharpe, plain),
            "mean daily return above the risk-free rate / its standard deviation × √days per year",
        ),
        row("Sortino", maybe(yearly.sortino, plain), "as Sharpe, against the deviation of losing days alone"),
        row("Calmar", maybe(yearly.calmar, plain), "CAGR / max drawdown"),
        row("Max drawdown", percent(figures.max_drawdown), "lowest value / highest value before - 1"),
        row(
            "Longest time below the peak, days",
            plain(figures.max_drawdown_days),
            "until it was reached again, or the end",
        ),
    ]
}

fn months(figures: &Figures) -> Vec<Row> {
    let monthly = figures.monthly;
    vec![
        row("Months", monthly.months.to_string(), ""),
        row("Average month", maybe(monthly.average, percent), "mean of the monthly returns"),
        row("Deviation of months", maybe(monthly.deviation, percent), "standard deviation of the monthly returns"),
        row(
            "Average year, from months",
            maybe(monthly.average_year, percent),
            "geometric mean month, to the 12th power",
        ),
        row("Deviation a year, from months", maybe(monthly.deviation_year, percent), "deviation of months × √12"),
        row(
            "Sharpe, from months",
            maybe(monthly.sharpe, plain),
            "(average year - risk-free rate) / deviation a year; from two months on",
        ),
        row("Calmar, from months", maybe(monthly.calmar, plain), "average year / max drawdown; from two months on"),
        row("Best month", maybe(monthly.best, percent), ""),
        row("Worst month", maybe(monthly.worst, percent), ""),
    ]
}

fn trades(figures: &Figures) -> Vec<Row> {
    let trades = &figures.trades;
    vec![
        row("Round trips", count(trades.count), "positions from flat to flat; a flip ends one and begins the next"),
        row("Win rate", maybe(trades.win_rate(), percent), "round trips with a gain after costs / all round trips"),
        row(
            "Profit factor",
            maybe(trades.profit_factor(), plain),
            "sum of the winners / sum of the losers, after costs",
        ),
        row("Average win", maybe(trades.average_win(), money), ""),
        row("Average loss", maybe(trades.average_loss(), money), ""),
        row("Largest win", money(trades.largest_win), ""),
        row("Largest loss", money(trades.largest_loss), ""),
        row(
            "Expectancy of a round trip",
            maybe(trades.expectancy(), money),
            "what one brought on average, after costs",
        ),
        row("Average days held", maybe(trades.average_days(), plain), ""),
        row("Traded", money(figures.traded), "sum of all fills, price × quantity × contract size"),
        row("Turnover", maybe(figures.turnover, plain), "traded / average value over time"),
        row(
            "Costs",
            money(figures.costs),
            "commissions and fees: start value + realised + unrealised - costs is the net value",
        ),
    ]
}
