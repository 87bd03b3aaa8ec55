//! Results of a run: a page for people, figures for programs, tables for spreadsheets.

use std::fmt::Write;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use domain::Timestamp;
use results::{DailyValuesCsv, EquityCsv, OpenPositionsCsv, ReportHeading, RunResults, StrategyStop, rounded};
use runtime::simulation::SimulationResult;

use super::inputs::fill_rule;
use super::plan::{PlannedStrategy, SimulationPlan};
use super::run_observer::{ObservedRun, RunObserver};
use crate::exit_failure::ExitFailure;

pub(super) struct SimulationReport {
    heading: ReportHeading,
    outcome: RunResults,
}

impl SimulationReport {
    pub(super) fn from_run(
        plan: &SimulationPlan,
        ended: &SimulationResult,
        observer: RunObserver,
        took: f64,
    ) -> Result<Self, ExitFailure> {
        let ObservedRun { record, refusals, stopped, orders, missing_data: unheard, accounts } = observer.finish()?;
        let heading = ReportHeading {
            title: plan.title.clone(),
            settings: settings(plan, accounts),
            events: ended.events,
            orders,
            refusals,
            took,
            stopped,
            missing_data: unheard,
            digest: ended.digest.clone(),
        };
        Ok(Self { heading, outcome: record.finish(ended.to) })
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), ExitFailure> {
        write_file(folder.join("report.html"), results::page::write(&self.heading, &self.outcome))?;
        write_file(folder.join("results.json"), results::json::write(&self.heading, &self.outcome))?;
        sheet(folder.join("equity.csv"), |file| EquityCsv::write(&self.outcome, file))?;
        sheet(folder.join("days.csv"), |file| DailyValuesCsv::write(&self.outcome, file))?;
        sheet(folder.join("positions.csv"), |file| OpenPositionsCsv::write(&self.outcome, file))
    }

    /// The last line is the digest.
    pub(super) fn summary(&self, folder: &Path) -> String {
        let figures = &self.outcome.figures;
        let [from, to] = [figures.from, figures.to].map(to_the_second);
        let mut text = format!("{}: {from} to {to}\n", self.heading.title);
        for (name, value) in self.activity_rows().into_iter().chain(self.result_rows()) {
            writeln!(text, "  {name:<16}{value}").expect("a string takes everything");
        }
        writeln!(text, "  {:<16}{}", "report", folder.join("report.html").display())
            .expect("a string takes everything");
        text.push_str(&self.no_orders_hint());
        writeln!(text, "digest: {}", self.heading.digest).expect("a string takes everything");
        text
    }

    fn activity_rows(&self) -> Vec<(&'static str, String)> {
        let ReportHeading { events, orders, took, stopped, refusals, missing_data: unheard, .. } = &self.heading;
        let pace = *events as f64 / took.max(1e-9);
        let mut lines = vec![
            ("events", format!("{events} in {took:.2} s, {pace:.0} a second")),
            ("orders", orders.summary()),
            ("fills", format!("{}, {} round trips", self.outcome.fill_count, self.outcome.figures.trades.count)),
        ];
        let unfilled = orders.canceled + orders.expired + orders.rejected;
        if unfilled > 0 {
            lines.push(("unfilled", format!("{unfilled} orders ended unfilled; orders.csv tells why")));
        }
        let stop = |StrategyStop { at, strategy, reason }: &StrategyStop| {
            format!("{strategy} at {}: it {reason}", to_the_second(*at))
        };
        lines.extend(stopped.iter().map(|stopped| ("stopped", stop(stopped))));
        lines.extend(unheard.iter().map(|sentence| ("unheard", sentence.clone())));
        lines.extend(refusals.by_code.iter().map(|(code, count)| ("refused", format!("{count} times {code}"))));
        lines.extend(refusals.first.as_ref().map(|first| ("first refused", first.clone())));
        lines
    }

    fn result_rows(&self) -> Vec<(&'static str, String)> {
        let RunResults { figures, currency, open, .. } = &self.outcome;
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
    fn no_orders_hint(&self) -> String {
        let ReportHeading { orders, refusals, .. } = &self.heading;
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

fn write_file(path: PathBuf, text: String) -> Result<(), ExitFailure> {
    fs::write(&path, text).map_err(|error| ExitFailure::io("write", &path, &error))
}

fn sheet(path: PathBuf, write: impl FnOnce(BufWriter<File>) -> io::Result<()>) -> Result<(), ExitFailure> {
    let written = File::create(&path).and_then(|file| write(BufWriter::new(file)));
    written.map_err(|error| ExitFailure::io("write", &path, &error))
}

fn settings(plan: &SimulationPlan, accounts: usize) -> Vec<(String, String)> {
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
    settings.extend(
        plan.strategies.iter().map(|instance| (format!("Strategy {}", instance.name), strategy_text(instance))),
    );
    settings
}

/// Opening cash of each account, and the number of accounts with it.
fn cash(plan: &SimulationPlan, accounts: usize) -> String {
    let each = format!("{} {}", plan.cash, plan.base_currency);
    if accounts == 1 { each } else { format!("{accounts} × {each}") }
}

fn strategy_text(instance: &PlannedStrategy) -> String {
    let parameters: Vec<String> = instance.written.iter().map(|(name, text)| format!("{name}={text}")).collect();
    format!("{} {}", instance.of, parameters.join(" "))
}
