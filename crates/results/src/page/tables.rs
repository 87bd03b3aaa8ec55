//! Tables of months, securities, strategies, open positions, and fills.

use std::collections::BTreeMap;

use domain::Price;

use super::html::{append, escaped};
use crate::page::html::{count, maybe, money, percent, plain, when};
use crate::run_results::{
    Figures, Month, RefusalSummary, ReportHeading, ResultRow, RunResults, StrategyStop, Trades, Unconverted,
};

/// The monthly return with the strongest colour.
const FULL_COLOUR: f64 = 0.10;

/// Failed strategies come first: the results below are without them.
pub(super) fn stops(page: &mut String, stops: &[StrategyStop]) {
    for StrategyStop { at, strategy, reason } in stops {
        append(
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

/// Strategies that waited for missing data did not trade for that reason.
pub(super) fn missing_data(page: &mut String, sentences: &[String]) {
    for sentence in sentences {
        append(page, format_args!("<p class=\"stopped\">{}.</p>\n", escaped(sentence)));
    }
}

/// The most important figures.
pub(super) fn summary(page: &mut String, outcome: &RunResults) {
    let Figures { yearly, trades, .. } = &outcome.figures;
    let figures = &outcome.figures;
    let tiles = [
        ("Net liquidation value", format!("{} {}", money(figures.end_value), outcome.currency)),
        ("Total return", maybe(figures.total_return, percent)),
        ("Realised P/L, before costs", money(figures.profit_loss.realized)),
        ("Unrealised P/L", money(figures.profit_loss.unrealized)),
        ("CAGR", maybe(yearly.cagr, percent)),
        ("Sharpe", maybe(yearly.sharpe, plain)),
        ("Max drawdown", percent(figures.max_drawdown)),
        ("Round trips won, after costs", won(trades)),
        ("Profit factor, after costs", maybe(trades.profit_factor(), plain)),
        ("Costs", money(figures.costs)),
    ];
    page.push_str("<section class=\"tiles\">");
    for (name, value) in tiles {
        append(page, format_args!("<div><span>{name}</span><strong>{}</strong></div>", escaped(&value)));
    }
    page.push_str("</section>\n");
}

fn won(trades: &Trades) -> String {
    trades.win_rate().map_or("–".into(), |rate| format!("{} of {}", percent(rate), count(trades.count)))
}

/// Trades that are in no figure, because their rate is unknown.
pub(super) fn unconverted(outcome: &RunResults) -> String {
    let mut notes = String::new();
    for (currency, Unconverted { traded, costs, trips }) in &outcome.unconverted {
        append(
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

/// A row per year, a cell per month, coloured by its return.
pub(super) fn months(months: &[Month]) -> String {
    let mut years: BTreeMap<i16, [Option<f64>; 12]> = BTreeMap::new();
    for month in months {
        let place = usize::try_from(month.first.0.month() - 1).unwrap_or(0);
        years.entry(month.first.0.year()).or_default()[place] = Some(month.performance);
    }
    let mut table = String::from("<div class=\"wide\"><table class=\"months\"><tr><th></th>");
    for name in ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Year"] {
        append(&mut table, format_args!("<th>{name}</th>"));
    }
    table.push_str("</tr>");
    for (year, performances) in years {
        append(&mut table, format_args!("<tr><th>{year}</th>"));
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
    append(
        table,
        format_args!(
            "<td style=\"background:color-mix(in srgb,var(--{colour}) {strength:.0}%,transparent)\">{:.1}</td>",
            performance * 100.0
        ),
    );
}

pub(super) fn lines(heading: &str, lines: &[ResultRow]) -> String {
    let mut table = format!(
        "<div class=\"wide\"><table class=\"rows\"><tr><th>{heading}</th><th>Fills</th><th>Round trips</th>\
         <th>Win rate</th><th>Profit factor</th><th>Traded</th><th>Costs</th><th>Realised</th><th>Unrealised</th>\
         <th>Result</th></tr>"
    );
    for line in lines {
        let brought = line.profit_loss;
        append(
            &mut table,
            format_args!(
                "<tr><th>{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>{}{}{}</tr>",
                escaped(&line.name),
                count(line.fills),
                count(line.trades.count),
                maybe(line.trades.win_rate(), percent),
                maybe(line.trades.profit_factor(), plain),
                money(line.traded),
                money(line.costs),
                gain_cell(brought.realized),
                gain_cell(brought.unrealized),
                gain_cell(line.result()),
            ),
        );
    }
    table.push_str("</table></div><p class=\"note\">Realised and unrealised are before costs; win rate, profit factor and result are after costs.</p>");
    table
}

/// A cell coloured as a gain or a loss.
fn gain_cell(amount: f64) -> String {
    let colour = match amount {
        amount if amount > 0.0 => " class=\"gain\"",
        amount if amount < 0.0 => " class=\"loss\"",
        _ => "",
    };
    format!("<td{colour}>{}</td>", money(amount))
}

/// Positions that were open at the end of the run.
pub(super) fn open(outcome: &RunResults) -> String {
    if outcome.open.is_empty() {
        return "<p class=\"note\">Nothing was held when the run was over.</p>".into();
    }
    let mut table = format!(
        "<div class=\"wide\"><table class=\"rows\"><tr><th>Security</th><th>Strategy</th><th>Quantity</th>\
         <th>Average price</th><th title=\"what the other side bids or asks, else the last price\">Last</th><th>Unrealised P/L, {}</th></tr>",
        outcome.currency
    );
    for open in &outcome.open {
        let price = |price: Option<Price>| price.map_or("–".into(), |price| price.to_string());
        let (security, strategy) = (escaped(&open.security), escaped(&open.strategy));
        append(
            &mut table,
            format_args!(
                "<tr><th>{security}</th><td>{strategy}</td><td>{}</td><td>{}</td><td>{}</td>{}</tr>",
                open.quantity,
                price(open.average_price),
                price(open.price),
                open.unrealized.map_or("<td>–</td>".into(), gain_cell),
            ),
        );
    }
    table.push_str("</table></div>");
    table
}

/// The first fills, with their fill rules.
pub(super) fn fills(outcome: &RunResults, at_most: usize) -> String {
    let names: BTreeMap<_, _> = outcome.prices.iter().map(|(id, symbol, _)| (*id, symbol)).collect();
    let (shown, all) = (outcome.fills.len().min(at_most), outcome.fill_count);
    let mut table = format!("<details><summary>The first {shown} of {}</summary>", count(all));
    table.push_str(
        "<div class=\"wide\"><table class=\"rows\"><tr><th>Time (UTC)</th><th>Order</th><th>Security</th><th>Side</th>\
         <th>Quantity</th><th>Price</th><th>Fill rule</th></tr>",
    );
    for deal in outcome.fills.iter().take(at_most) {
        let symbol = names.get(&deal.security).map_or_else(|| deal.security.to_string(), ToString::to_string);
        append(
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
    table.push_str("</table></div></details>");
    if shown as u64 != all {
        table.push_str("<p class=\"note\">fills.csv has every one.</p>");
    }
    table
}

pub(super) fn settings(heading: &ReportHeading) -> String {
    let mut table = String::from("<table class=\"pairs\">");
    for (name, value) in &heading.settings {
        append(&mut table, format_args!("<tr><th>{}</th><td>{}</td></tr>", escaped(name), escaped(value)));
    }
    let ReportHeading { events, orders, took, .. } = heading;
    let mut run = vec![("Events", count(*events)), ("Orders", orders.summary())];
    run.extend(refused(&heading.refusals).map(|told| ("Refused", told)));
    run.push(("Execution time", format!("{took:.2} s")));
    for (name, value) in run {
        append(&mut table, format_args!("<tr><th>{name}</th><td>{}</td></tr>", escaped(&value)));
    }
    table.push_str("</table>");
    table
}

fn refused(refusals: &RefusalSummary) -> Option<String> {
    let first = refusals.first.as_ref()?;
    let counts: Vec<String> = refusals.by_code.iter().map(|(code, count)| format!("{count} {code}")).collect();
    Some(format!("{}; the first: {first}", counts.join(", ")))
}
