//! Results of a run: a page for people, figures for programs, tables for spreadsheets.

use std::fmt::Write;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use domain::Timestamp;
use results::{CurveSheet, DaySheet, Heading, OpenSheet, Outcome, Stop, rounded};
use runtime::simulation::Ended;

use super::onlooker::{Looked, Onlooker};
use super::plan::{Instance, Plan};
use super::stage::fill_rule;
use crate::failure::Failure;

pub(super) struct Report {
    heading: Heading,
    outcome: Outcome,
}

impl Report {
    pub(super) fn of(plan: &Plan, ended: &Ended, onlooker: Onlooker, took: f64) -> Result<Self, Failure> {
        let Looked { record, refusals, stopped, orders, unheard, accounts } = onlooker.finish()?;
        let heading = Heading {
            title: plan.title.clone(),
            settings: settings(plan, accounts),
            events: ended.events,
            orders,
            refusals,
            took,
            stopped,
            unheard,
            digest: ended.digest.clone(),
        };
        Ok(Self { heading, outcome: record.finish(ended.to) })
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), Failure> {
        put(folder.join("report.html"), results::page::write(&self.heading, &self.outcome))?;
        put(folder.join("results.json"), results::json::write(&self.heading, &self.outcome))?;
        sheet(folder.join("equity.csv"), |file| CurveSheet::write(&self.outcome, file))?;
        sheet(folder.join("days.csv"), |file| DaySheet::write(&self.outcome, file))?;
        sheet(folder.join("positions.csv"), |file| OpenSheet::write(&self.outcome, file))
    }

    /// The last line is the digest.
    pub(super) fn summary(&self, folder: &Path) -> String {
        let figures = &self.outcome.figures;
        let [from, to] = [figures.from, figures.to].map(to_the_second);
        let mut text = format!("{}: {from} to {to}\n", self.heading.title);
        for (name, value) in self.happened().into_iter().chain(self.brought()) {
            writeln!(text, "  {name:<16}{value}").expect("a string takes everything");
        }
        writeln!(text, "  {:<16}{}", "report", folder.join("report.html").display())
            .expect("a string takes everything");
        text.push_str(&self.why_nothing());
        writeln!(text, "digest: {}", self.heading.digest).expect("a string takes everything");
        text
    }

    fn happened(&self) -> Vec<(&'static str, String)> {
        let Heading { events, orders, took, stopped, refusals, unheard, .. } = &self.heading;
        let pace = *events as f64 / took.max(1e-9);
        let mut lines = vec![
            ("events", format!("{events} in {took:.2} s, {pace:.0} a second")),
            ("orders", orders.told()),
            ("fills", format!("{}, {} round trips", self.outcome.deals_in_all, self.outcome.figures.trades.count)),
        ];
        let unfilled = orders.canceled + orders.expired + orders.rejected;
        if unfilled > 0 {
            lines.push(("unfilled", format!("{unfilled} orders ended unfilled; orders.csv tells why")));
        }
        let stop = |Stop { at, strategy, reason }: &Stop| format!("{strategy} at {}: it {reason}", to_the_second(*at));
        lines.extend(stopped.iter().map(|stopped| ("stopped", stop(stopped))));
        lines.extend(unheard.iter().map(|sentence| ("unheard", sentence.clone())));
        lines.extend(refusals.by_code.iter().map(|(code, count)| ("refused", format!("{count} times {code}"))));
        lines.extend(refusals.first.as_ref().map(|first| ("first refused", first.clone())));
        lines
    }

    fn brought(&self) -> Vec<(&'static str, String)> {
        let Outcome { figures, currency, open, .. } = &self.outcome;
        let yearly = &figures.yearly;
        let drawdown = percent(Some(figures.max_drawdown));
        vec![
            ("net liq. value", format!("{:.2} {currency} ({})", figures.end_value, percent(figures.total_return))),
            ("realised P/L", format!("{:.2} {currency} before costs", figures.profit_loss.realized)),
            (
                "unrealised P/L",
                format!("{:.2} {currency} before costs, {}", figures.profit_loss.unrealized, positions(open.len())),
            ),
            ("CAGR", percent(yearly.cagr)),
            ("volatility", percent(yearly.volatility)),
            ("Sharpe, Sortino", format!("{}, {}", plain(yearly.sharpe), plain(yearly.sortino))),
            ("max. drawdown", format!("{drawdown}, {:.1} days", figures.max_drawdown_days)),
            ("win rate", format!("{} after costs", percent(figures.trades.win_rate()))),
            ("profit factor", format!("{} after costs", plain(figures.trades.profit_factor()))),
            ("turnover", plain(figures.turnover)),
            ("costs", format!("{:.2} {currency}", figures.costs)),
        ]
    }

    /// Explains a run without orders.
    fn why_nothing(&self) -> String {
        let Heading { orders, refusals, .. } = &self.heading;
        match (orders.all(), refusals.orders) {
            (0, 0) => "no order was placed: the strategies saw no reason to, or not the prices they wait for\n".into(),
            (0, refused) => format!("no order was taken: {refused} were refused, the first reason stands above\n"),
            _ => String::new(),
        }
    }
}

fn positions(open: usize) -> String {
    match open {
        0 => "no position open".into(),
        1 => "1 position open".into(),
        more => format!("{more} positions open"),
    }
}

fn percent(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), |value| format!("{} %", rounded(value * 100.0, 2)))
}

fn plain(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), |value| rounded(value, 2))
}

fn to_the_second(at: Timestamp) -> Timestamp {
    Timestamp(at.0 - at.0.rem_euclid(1_000_000_000))
}

fn put(path: PathBuf, text: String) -> Result<(), Failure> {
    fs::write(&path, text).map_err(|error| Failure::io("write", &path, &error))
}

fn sheet(path: PathBuf, write: impl FnOnce(BufWriter<File>) -> io::Result<()>) -> Result<(), Failure> {
    let written = File::create(&path).and_then(|file| write(BufWriter::new(file)));
    written.map_err(|error| Failure::io("write", &path, &error))
}

fn settings(plan: &Plan, accounts: usize) -> Vec<(String, String)> {
    let mut settings = vec![
        ("Fill rule".to_owned(), fill_rule(plan).to_string()),
        ("Order latency".to_owned(), format!("{} µs each way", plan.market.order_latency_nanos / 1_000)),
        ("Feed latency".to_owned(), format!("{} µs", plan.market.feed_latency_nanos / 1_000)),
        ("Slippage".to_owned(), format!("{} ticks", plan.market.slippage_ticks)),
        (
            "Fees".to_owned(),
            plan.market.fee_rate.map_or("of the security family".into(), |rate| format!("{rate} of the value")),
        ),
        ("Cash".to_owned(), cash(plan, accounts)),
    ];
    settings.extend(plan.data.iter().map(|data| (format!("Data of {}", data.security), data.name.clone())));
    settings.extend(plan.strategies.iter().map(|instance| (format!("Strategy {}", instance.name), told(instance))));
    settings
}

/// Opening cash of each account, and the number of accounts with it.
fn cash(plan: &Plan, accounts: usize) -> String {
    let each = format!("{} {}", plan.cash, plan.base_currency);
    if accounts == 1 { each } else { format!("{accounts} × {each}") }
}

fn told(instance: &Instance) -> String {
    let parameters: Vec<String> = instance.written.iter().map(|(name, text)| format!("{name}={text}")).collect();
    format!("{} {}", instance.of, parameters.join(" "))
}
