//! What is written when the run is over: a page for people, figures for programs, tables for spreadsheets.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use domain::Timestamp;
use results::{CurveSheet, Heading, Outcome, Stop};
use runtime::simulation::Ended;

use super::onlooker::{Looked, Onlooker};
use super::plan::{Instance, Plan};
use super::stage::fill_rule;
use crate::failure::Failure;

pub(super) struct Report {
    heading: Heading,
    outcome: Outcome,
    refusals: BTreeMap<&'static str, u64>,
    unfilled: u64,
}

impl Report {
    pub(super) fn of(plan: &Plan, ended: &Ended, onlooker: Onlooker, took: f64) -> Result<Self, Failure> {
        let Looked { record, refusals, stopped, unfilled } = onlooker.finish()?;
        let heading = Heading {
            title: plan.title.clone(),
            settings: settings(plan),
            events: ended.events,
            orders: ended.orders,
            took,
            stopped,
            digest: ended.digest.clone(),
        };
        Ok(Self { heading, outcome: record.finish(ended.to), refusals, unfilled })
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), Failure> {
        put(folder.join("report.html"), results::page::write(&self.heading, &self.outcome))?;
        put(folder.join("results.json"), results::json::write(&self.heading, &self.outcome))?;
        let path = folder.join("equity.csv");
        let written = File::create(&path).and_then(|file| CurveSheet::write(&self.outcome, BufWriter::new(file)));
        written.map_err(|error| Failure::io("write", &path, &error))
    }

    /// The last line is the digest.
    pub(super) fn summary(&self, folder: &Path) -> String {
        let Outcome { figures, currency, deals_in_all, .. } = &self.outcome;
        let percent = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{:.2} %", value * 100.0));
        let plain = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.2}"));
        let Heading { title, events, orders, took, stopped, digest, .. } = &self.heading;
        let [from, to] = [figures.from, figures.to].map(to_the_second);
        let mut text = format!("{title}: {from} to {to}\n");
        let mut line = |name: &str, value: String| {
            writeln!(text, "  {name:<16}{value}").expect("a string takes everything");
        };
        line("events", format!("{events} in {took:.2} s, {:.0} a second", *events as f64 / took.max(1e-9)));
        line("orders", format!("{orders}, {deals_in_all} fills, {} round trips", figures.trades.count));
        if self.unfilled > 0 {
            line("unfilled", format!("{} orders ended unfilled; orders.csv tells why", self.unfilled));
        }
        for Stop { at, strategy, reason } in stopped {
            line("stopped", format!("{strategy} at {}: it {reason}", to_the_second(*at)));
        }
        for (code, count) in &self.refusals {
            line("refused", format!("{count} times {code}"));
        }
        line("net liq. value", format!("{:.2} {currency} ({})", figures.end_value, percent(figures.total_return)));
        line("CAGR", percent(figures.yearly.cagr));
        line("volatility", percent(figures.yearly.volatility));
        line("Sharpe, Sortino", format!("{}, {}", plain(figures.yearly.sharpe), plain(figures.yearly.sortino)));
        line(
            "max. drawdown",
            format!("{}, {:.1} days", percent(Some(figures.max_drawdown)), figures.max_drawdown_days),
        );
        line("win rate", percent(figures.trades.win_rate()));
        line("profit factor", plain(figures.trades.profit_factor()));
        line("turnover", plain(figures.turnover));
        line("costs", format!("{:.2} {currency}", figures.costs));
        line("report", folder.join("report.html").display().to_string());
        if *orders == 0 {
            text.push_str("no order was placed: the strategies saw no reason to, or not the prices they wait for\n");
        }
        writeln!(text, "digest: {digest}").expect("a string takes everything");
        text
    }
}

fn to_the_second(at: Timestamp) -> Timestamp {
    Timestamp(at.0 - at.0.rem_euclid(1_000_000_000))
}

fn put(path: PathBuf, text: String) -> Result<(), Failure> {
    fs::write(&path, text).map_err(|error| Failure::io("write", &path, &error))
}

fn settings(plan: &Plan) -> Vec<(String, String)> {
    let mut settings = vec![
        ("Fill rule".to_owned(), fill_rule(plan).to_string()),
        ("Order latency".to_owned(), format!("{} µs each way", plan.market.order_latency_nanos / 1_000)),
        ("Feed latency".to_owned(), format!("{} µs", plan.market.feed_latency_nanos / 1_000)),
        ("Slippage".to_owned(), format!("{} ticks", plan.market.slippage_ticks)),
        (
            "Fees".to_owned(),
            plan.market.fee_rate.map_or("of the security family".into(), |rate| format!("{rate} of the value")),
        ),
        ("Cash".to_owned(), format!("{} {}", plan.cash, plan.base_currency)),
    ];
    settings.extend(plan.data.iter().map(|data| (format!("Data of {}", data.security), data.name.clone())));
    settings.extend(plan.strategies.iter().map(|instance| (format!("Strategy {}", instance.name), told(instance))));
    settings
}

fn told(instance: &Instance) -> String {
    let parameters: Vec<String> = instance.written.iter().map(|(name, text)| format!("{name}={text}")).collect();
    format!("{} {}", instance.of, parameters.join(" "))
}
