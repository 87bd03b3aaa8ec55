//! HTML report: one file, light and dark, no script, no network.

mod chart;
mod glossary;
mod html;
mod time_axis;
mod tables;

use domain::Side;

use crate::run_results::{ReportHeading, ReportedFill, RunResults};
use chart::{Chart, Scale, Sign};
use html::{append, count, escaped, percent, price, round_money, when};

/// Fills that the table shows.
const FILLS_IN_TABLE_MAX: usize = 200;

pub fn write(heading: &ReportHeading, outcome: &RunResults) -> String {
    let mut page = String::with_capacity(256 * 1024);
    head(&mut page, heading, outcome);
    tables::stops(&mut page, &heading.stopped);
    tables::missing_data(&mut page, &heading.missing_data);
    tables::summary(&mut page, outcome);
    section(&mut page, "Equity", &equity(outcome));
    section(&mut page, "Drawdown", &drawdown(outcome));
    section(&mut page, "Monthly returns, in %", &tables::months(&outcome.months));
    section(&mut page, "Exposure", &exposure(outcome));
    section(&mut page, "Trades on price", &prices(outcome));
    section(&mut page, "By strategy", &tables::lines("Strategy", &outcome.strategies));
    section(&mut page, "By security", &tables::lines("Security", &outcome.securities));
    section(&mut page, "Open at the end", &tables::open(outcome));
    section(&mut page, "Figures", &(glossary::figures(outcome) + &tables::unconverted(outcome)));
    section(&mut page, "Fills", &tables::fills(outcome, FILLS_IN_TABLE_MAX));
    section(&mut page, "How it was run", &tables::settings(heading));
    page.push_str("</main></body></html>\n");
    page
}

fn head(page: &mut String, heading: &ReportHeading, outcome: &RunResults) {
    let title = escaped(&heading.title);
    append(
        page,
        format_args!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
             <meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light dark\">\
             <style>{}</style></head><body><main><header><h1>{title}</h1>",
            include_str!("style.css")
        ),
    );
    let [from, to] = [outcome.figures.from, outcome.figures.to].map(when);
    append(page, format_args!("<p class=\"note\">{from} to {to}, UTC</p>"));
    append(page, format_args!("<p class=\"digest\">digest <code>{}</code></p></header>\n", escaped(&heading.digest)));
}

fn section(page: &mut String, title: &str, body: &str) {
    append(page, format_args!("<section><h2>{title}</h2>{body}</section>\n"));
}

fn equity(outcome: &RunResults) -> String {
    let chart = Chart::new(&outcome.equity, Scale::Fitted);
    chart
        .area("equity")
        .level(outcome.figures.start_value)
        .labelled(round_money)
        .finish(&format!("Equity in {}", outcome.currency))
}

fn drawdown(outcome: &RunResults) -> String {
    let chart = Chart::new(&outcome.drawdown, Scale::WithZero);
    chart.area("fall").labelled(percent).finish("Drawdown, as a part of the peak before it")
}

fn exposure(outcome: &RunResults) -> String {
    let chart = Chart::new(&outcome.exposure, Scale::WithZero);
    let chart =
        chart.area("exposure").labelled(percent).finish("Gross value of all positions, as a part of the equity");
    let means = escaped(glossary::EXPOSURE);
    format!("<p class=\"note\">The {means}.</p>{chart}")
}

/// One price chart for each traded security, with marks for the sampled fills.
fn prices(outcome: &RunResults) -> String {
    let mut charts = String::new();
    for (security, symbol, points) in &outcome.prices {
        let deals: Vec<&ReportedFill> = outcome.marked_fills.iter().filter(|deal| deal.security == *security).collect();
        if deals.is_empty() {
            continue;
        }
        let mut chart = Chart::new(points, Scale::Fitted).line("price").labelled(price);
        for deal in &deals {
            chart = chart.mark(deal.at, crate::rates::to_f64(deal.price.0), sign(deal.side), &fill_label(deal));
        }
        append(
            &mut charts,
            format_args!("<h3>{}</h3>{}", escaped(symbol), chart.finish(&format!("Price of {symbol}"))),
        );
    }
    let (shown, all) = (outcome.marked_fills.len() as u64, outcome.fill_count);
    if shown < all {
        let (shown, all) = (count(shown), count(all));
        append(
            &mut charts,
            format_args!("<p class=\"note\">{shown} of {all} fills are marked, from all of the run.</p>"),
        );
    }
    if charts.is_empty() { "<p class=\"note\">Nothing was traded.</p>".into() } else { charts }
}

fn sign(side: Side) -> Sign {
    match side {
        Side::Buy => Sign::Up,
        Side::Sell => Sign::Down,
    }
}

fn fill_label(deal: &ReportedFill) -> String {
    let side = crate::csv::side(deal.side);
    format!("{} {side} {} @ {} ({})", when(deal.at), deal.quantity, deal.price, deal.rule)
}
