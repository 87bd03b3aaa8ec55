//! Tables of figures, months, securities, strategies and fills.

use std::collections::BTreeMap;

use super::numbers::{maybe, money, percent, plain, when};
use super::{escaped, put};
use crate::figures::Figures;
use crate::outcome::{Heading, Line, Month, Outcome, Stop, Unconverted};

/// A month's performance that has the strongest colour.
const FULL_COLOUR: f64 = 0.10;

/// Strategies that failed stand above everything: what follows was earned without them.
pub(super) fn stops(page: &mut String, stops: &[Stop]) {
    for Stop { at, strategy, reason } in stops {
        put(
            page,
            format_args!(
                "<p class=\"stopped\">{}: strategy {} {}. It was stopped; the others went on.</p>\n",
                when(*at),
                escaped(strategy),
                escaped(reason)
            ),
        );
    }
}

/// The few numbers that everybody looks for first.
pub(super) fn summary(page: &mut String, outcome: &Outcome) {
    let Figures { yearly, trades, .. } = &outcome.figures;
    let figures = &outcome.figures;
    let tiles = [
        ("Net liquidation value", format!("{} {}", money(figures.end_value), outcome.currency)),
        ("Total return", maybe(figures.total_return, percent)),
        ("CAGR", maybe(yearly.cagr, percent)),
        ("Sharpe", maybe(yearly.sharpe, plain)),
        ("Max drawdown", percent(figures.max_drawdown)),
        ("Trades", format!("{} ({} won)", trades.count, maybe(trades.win_rate(), percent))),
        ("Profit factor", maybe(trades.profit_factor(), plain)),
        ("Costs", money(figures.costs)),
    ];
    page.push_str("<section class=\"tiles\">");
    for (name, value) in tiles {
        put(page, format_args!("<div><span>{name}</span><strong>{}</strong></div>", escaped(&value)));
    }
    page.push_str("</section>\n");
}

pub(super) fn figures(outcome: &Outcome) -> String {
    let rows = rows(&outcome.figures);
    let mut tables = String::from("<div class=\"two\">");
    for half in rows.chunks(rows.len().div_ceil(2)) {
        tables.push_str("<table class=\"pairs\">");
        for (name, value) in half {
            put(&mut tables, format_args!("<tr><th>{name}</th><td>{value}</td></tr>"));
        }
        tables.push_str("</table>");
    }
    tables.push_str("</div>");
    tables
}

fn rows(figures: &Figures) -> Vec<(&'static str, String)> {
    let Figures { yearly, monthly, trades, .. } = figures;
    vec![
        ("From", when(figures.from)),
        ("To", when(figures.to)),
        ("Value at the start", money(figures.start_value)),
        ("Net liquidation value", money(figures.end_value)),
        ("Total return", maybe(figures.total_return, percent)),
        ("CAGR", maybe(yearly.cagr, percent)),
        ("Volatility, a year", maybe(yearly.volatility, percent)),
        ("Sharpe", maybe(yearly.sharpe, plain)),
        ("Sortino", maybe(yearly.sortino, plain)),
        ("Calmar", maybe(yearly.calmar, plain)),
        ("Max drawdown", percent(figures.max_drawdown)),
        ("Longest time below the peak, days", plain(figures.max_drawdown_days)),
        ("Months", monthly.months.to_string()),
        ("Average month", maybe(monthly.average, percent)),
        ("Deviation of months", maybe(monthly.deviation, percent)),
        ("Average year, from months", maybe(monthly.average_year, percent)),
        ("Deviation a year, from months", maybe(monthly.deviation_year, percent)),
        ("Sharpe, from months", maybe(monthly.sharpe, plain)),
        ("Calmar, from months", maybe(monthly.calmar, plain)),
        ("Best month", maybe(monthly.best, percent)),
        ("Worst month", maybe(monthly.worst, percent)),
        ("Round trips", trades.count.to_string()),
        ("Win rate", maybe(trades.win_rate(), percent)),
        ("Profit factor", maybe(trades.profit_factor(), plain)),
        ("Average win", maybe(trades.average_win(), money)),
        ("Average loss", maybe(trades.average_loss(), money)),
        ("Largest win", money(trades.largest_win)),
        ("Largest loss", money(trades.largest_loss)),
        ("Expectancy of a round trip", maybe(trades.expectancy(), money)),
        ("Average days held", maybe(trades.average_days(), plain)),
        ("Traded", money(figures.traded)),
        ("Turnover", maybe(figures.turnover, plain)),
        ("Costs", money(figures.costs)),
    ]
}

/// What no figure has, because nobody could say what it was worth.
pub(super) fn unconverted(outcome: &Outcome) -> String {
    let mut notes = String::new();
    for (currency, Unconverted { traded, costs, trips }) in &outcome.unconverted {
        put(
            &mut notes,
            format_args!(
                "<p class=\"note\">Not in these figures, because no rate of {currency} was known yet: {} {currency} \
                 traded, {} {currency} of costs, {trips} round trips.</p>",
                money(*traded),
                money(*costs)
            ),
        );
    }
    notes
}

/// A row a year, a cell a month, coloured by what it brought.
pub(super) fn months(months: &[Month]) -> String {
    let mut years: BTreeMap<i16, [Option<f64>; 12]> = BTreeMap::new();
    for month in months {
        let place = usize::try_from(month.first.0.month() - 1).unwrap_or(0);
        years.entry(month.first.0.year()).or_default()[place] = Some(month.performance);
    }
    let mut table = String::from("<div class=\"wide\"><table class=\"months\"><tr><th></th>");
    for name in ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Year"] {
        put(&mut table, format_args!("<th>{name}</th>"));
    }
    table.push_str("</tr>");
    for (year, performances) in years {
        put(&mut table, format_args!("<tr><th>{year}</th>"));
        performances.iter().for_each(|performance| month(&mut table, *performance));
        let whole: f64 = performances.iter().flatten().map(|performance| 1.0 + performance).product();
        month(&mut table, Some(whole - 1.0));
        table.push_str("</tr>");
    }
    table.push_str("</table></div>");
    table
}

fn month(table: &mut String, performance: Option<f64>) {
    let Some(performance) = performance else {
        table.push_str("<td></td>");
        return;
    };
    let colour = if performance < 0.0 { "loss" } else { "gain" };
    let strength = (performance.abs() / FULL_COLOUR * 60.0).clamp(5.0, 60.0);
    put(
        table,
        format_args!(
            "<td style=\"background:color-mix(in srgb,var(--{colour}) {strength:.0}%,transparent)\">{:.1}</td>",
            performance * 100.0
        ),
    );
}

pub(super) fn lines(heading: &str, lines: &[Line]) -> String {
    let mut table = format!(
        "<div class=\"wide\"><table class=\"rows\"><tr><th>{heading}</th><th>Fills</th><th>Round trips</th>\
         <th>Win rate</th><th>Profit factor</th><th>Traded</th><th>Costs</th><th>Result</th></tr>"
    );
    for line in lines {
        let colour = if line.result < 0.0 { "loss" } else { "gain" };
        put(
            &mut table,
            format_args!(
                "<tr><th>{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"{colour}\">{}</td></tr>",
                escaped(&line.name),
                line.deals,
                line.trades.count,
                maybe(line.trades.win_rate(), percent),
                maybe(line.trades.profit_factor(), plain),
                money(line.traded),
                money(line.costs),
                money(line.result),
            ),
        );
    }
    table.push_str("</table></div>");
    table
}

/// The first fills with the rule that made each.
pub(super) fn deals(outcome: &Outcome, at_most: usize) -> String {
    let names: BTreeMap<_, _> = outcome.prices.iter().map(|(id, symbol, _)| (*id, symbol)).collect();
    let mut table = String::from(
        "<div class=\"wide\"><table class=\"rows\"><tr><th>Time (UTC)</th><th>Order</th><th>Security</th><th>Side</th>\
         <th>Quantity</th><th>Price</th><th>Fill rule</th></tr>",
    );
    for deal in outcome.deals.iter().take(at_most) {
        let symbol = names.get(&deal.security).map_or_else(|| deal.security.to_string(), ToString::to_string);
        put(
            &mut table,
            format_args!(
                "<tr><th>{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                when(deal.at),
                escaped(&deal.order),
                escaped(&symbol),
                crate::csv::side(deal.side),
                deal.quantity,
                deal.price,
                escaped(&deal.rule),
            ),
        );
    }
    table.push_str("</table></div>");
    if outcome.deals_in_all > at_most as u64 {
        put(
            &mut table,
            format_args!("<p class=\"note\">{} fills in all; fills.csv has every one.</p>", outcome.deals_in_all),
        );
    }
    table
}

pub(super) fn settings(heading: &Heading) -> String {
    let mut table = String::from("<table class=\"pairs\">");
    for (name, value) in &heading.settings {
        put(&mut table, format_args!("<tr><th>{}</th><td>{}</td></tr>", escaped(name), escaped(value)));
    }
    let Heading { events, orders, took, .. } = heading;
    let [events, orders] = [events, orders].map(ToString::to_string);
    for (name, value) in [("Events", events), ("Orders", orders), ("Execution time", format!("{took:.2} s"))] {
        put(&mut table, format_args!("<tr><th>{name}</th><td>{value}</td></tr>"));
    }
    table.push_str("</table>");
    table
}
