//! Run observer: record for the report, fill and order tables, progress.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use domain::{Amount, BalanceId, Command, Currency, Event, Mark, ReferenceData, Refusal, RiskScope, Text, Timestamp};
use indicatif::{ProgressBar, ProgressStyle};
use results::{
    Assumptions, FillsCsv, OrderOutcomes, OrdersCsv, RefusalSummary, RoundTripsCsv, RunRecorder, StrategyStop,
};
use runtime::simulation::{Observer, ObserverResult};
use strategy::Selection;
use tracing::{info, warn};

use super::missing_data::RecordedData;
use super::plan::SimulationPlan;
use crate::exit_failure::{Exit, ExitFailure};

/// Alarms that are logged one by one; further ones are only counted.
const ALARMS_LOGGED_MAX: u64 = 5;

pub(super) struct RunObserver {
    assumptions: Assumptions,
    base: Currency,
    recorded: RecordedData,
    /// Opening cash of accounts, in base currency.
    opening_cash: BTreeMap<BalanceId, Amount>,
    fills: PathBuf,
    orders: PathBuf,
    trips: PathBuf,
    tables: Option<OpenTables>,
    stopped: Vec<StrategyStop>,
    refusals: RefusalSummary,
    missing_data: Vec<String>,
    reference: Option<Arc<ReferenceData>>,
    alarms: u64,
    progress: RunProgressBar,
}

struct OpenTables {
    record: RunRecorder,
    deals: FillsCsv<BufWriter<File>>,
    orders: OrdersCsv<BufWriter<File>>,
    trips: RoundTripsCsv<BufWriter<File>>,
}

/// The result of the observation.
pub(super) struct ObservedRun {
    pub(super) record: RunRecorder,
    pub(super) refusals: RefusalSummary,
    pub(super) stopped: Vec<StrategyStop>,
    pub(super) orders: OrderOutcomes,
    pub(super) missing_data: Vec<String>,
    /// Accounts with opening cash.
    pub(super) accounts: usize,
}

impl RunObserver {
    pub(super) fn new(plan: &SimulationPlan, recorded: RecordedData, folder: &Path) -> Self {
        Self {
            assumptions: plan.assumptions,
            base: plan.base_currency,
            recorded,
            opening_cash: BTreeMap::new(),
            fills: folder.join("fills.csv"),
            orders: folder.join("orders.csv"),
            trips: folder.join("trades.csv"),
            tables: None,
            stopped: Vec::new(),
            refusals: RefusalSummary::default(),
            missing_data: Vec::new(),
            reference: None,
            alarms: 0,
            progress: RunProgressBar::new(),
        }
    }

    pub(super) fn finish(self) -> Result<ObservedRun, ExitFailure> {
        let missing = || ExitFailure::new(Exit::Failed, "the run ended before it began");
        let OpenTables { record, deals, orders, trips } = self.tables.ok_or_else(missing)?;
        deals.finish().map_err(|error| ExitFailure::io("write", &self.fills, &error))?;
        trips.finish().map_err(|error| ExitFailure::io("write", &self.trips, &error))?;
        let orders = orders.finish().map_err(|error| ExitFailure::io("write", &self.orders, &error))?;
        Ok(ObservedRun {
            record,
            refusals: self.refusals,
            stopped: self.stopped,
            orders,
            missing_data: self.missing_data,
            accounts: self.opening_cash.len(),
        })
    }

    fn count_alarm(&mut self, text: &str) {
        self.alarms += 1;
        if self.alarms <= ALARMS_LOGGED_MAX {
            warn!("{text}");
        }
    }
}

impl Observer for RunObserver {
    fn on_begin(&mut self, at: Timestamp, reference: &Arc<ReferenceData>) -> ObserverResult {
        let deals = open_table(&self.fills, |file| FillsCsv::new(file, reference.clone()))?;
        let orders = open_table(&self.orders, |file| OrdersCsv::new(file, reference.clone()))?;
        let opening_value = self.opening_cash.values().filter_map(|amount| f64::try_from(amount.0).ok()).sum();
        let record = RunRecorder::new(self.assumptions, self.base, reference.clone(), at, opening_value);
        let trips = open_table(&self.trips, |file| RoundTripsCsv::new(file, reference.clone()))?;
        self.tables = Some(OpenTables { record, deals, orders, trips });
        self.reference = Some(reference.clone());
        Ok(())
    }

    fn on_selection(&mut self, strategy: &Text, selection: &Selection) {
        let Some(reference) = &self.reference else { return };
        let unheard = self.recorded.missing_prices(strategy, selection, reference);
        unheard.iter().for_each(|sentence| warn!("{sentence}"));
        self.missing_data.extend(unheard);
    }

    fn on_events(&mut self, at: Timestamp, events: &[Event]) -> ObserverResult {
        for event in events {
            match event {
                Event::Alarm(alarm) => self.count_alarm(&alarm.text),
                Event::Cash(balance) if self.tables.is_none() => {
                    self.opening_cash.insert(balance.id, balance.amount);
                }
                _ => {}
            }
        }
        let Some(begun) = &mut self.tables else { return Ok(()) };
        begun.record.on_events(at, events);
        let OpenTables { record, trips, .. } = begun;
        for trip in record.drain_round_trips() {
            trips.write(&trip).map_err(|error| write_error(&self.trips, &error))?;
        }
        begun.deals.on_events(events).map_err(|error| write_error(&self.fills, &error))?;
        begun.orders.on_events(events).map_err(|error| write_error(&self.orders, &error))
    }

    fn on_marks(&mut self, at: Timestamp, marks: &[Mark]) -> ObserverResult {
        if let Some(begun) = &mut self.tables {
            let priced = marks.iter().filter_map(|mark| Some((mark.security, mark.reference()?)));
            priced.for_each(|(security, price)| begun.record.on_price(at, security, price));
        }
        Ok(())
    }

    fn on_day_end(&mut self, at: Timestamp) -> ObserverResult {
        if let Some(begun) = &mut self.tables {
            begun.record.on_day_end(at);
        }
        Ok(())
    }

    fn on_data_end(&mut self) {
        if let Some(begun) = &mut self.tables {
            begun.orders.on_data_end();
        }
    }

    fn on_refusal(&mut self, at: Timestamp, strategy: &Text, command: &Command, refusal: &Refusal) {
        record_refusal(&mut self.refusals, (at, strategy), command, refusal, self.reference.as_deref());
    }

    fn on_failure(&mut self, at: Timestamp, strategy: &Text, failure: &domain::command::StrategyFailure) {
        warn!("{at} strategy {strategy} {}; it is stopped, the others go on", failure.text);
        if let Some(begun) = &mut self.tables {
            begun.orders.on_strategy_stopped(strategy);
        }
        self.stopped.push(StrategyStop { at, strategy: strategy.clone(), reason: failure.text.clone() });
    }

    fn on_progress(&mut self, events: u64, read: u64, total: u64) {
        self.progress.show(events, read, total);
    }
}

fn open_table<S>(path: &Path, begin: impl FnOnce(BufWriter<File>) -> io::Result<S>) -> Result<S, String> {
    File::create(path).and_then(|file| begin(BufWriter::new(file))).map_err(|error| write_error(path, &error))
}

fn write_error(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}

/// A progress bar on a terminal, a log line every tenth elsewhere; both with events a second.
struct RunProgressBar {
    began: Instant,
    bar: Option<ProgressBar>,
    tenths: u64,
}

impl RunProgressBar {
    fn new() -> Self {
        let style = ProgressStyle::with_template("simulating {wide_bar} {percent} % {eta} {msg}").expect("known words");
        let bar = io::stderr().is_terminal().then(|| ProgressBar::new(0).with_style(style));
        Self { began: Instant::now(), bar, tenths: 0 }
    }

    fn show(&mut self, events: u64, read: u64, total: u64) {
        let pace = format!("{:.0} events/s", events as f64 / self.began.elapsed().as_secs_f64().max(1e-9));
        if let Some(bar) = &self.bar {
            bar.set_length(total);
            bar.set_position(read);
            bar.set_message(pace);
            return;
        }
        let tenths = read.saturating_mul(10).checked_div(total).unwrap_or(0);
        if tenths > self.tenths {
            self.tenths = tenths;
            info!("simulated {} %, {pace}", tenths * 10);
        }
    }
}

impl Drop for RunProgressBar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Refusals of a kind that are logged one by one; further ones are only counted.
const REFUSALS_LOGGED_MAX: u64 = 5;

/// Counts a refusal, and logs the first ones of its kind.
fn record_refusal(
    refusals: &mut RefusalSummary,
    (at, strategy): (Timestamp, &Text),
    command: &Command,
    refusal: &Refusal,
    reference: Option<&ReferenceData>,
) {
    let told = format!("{at} {strategy}: {}", reason(refusal, reference));
    refusals.orders += u64::from(matches!(command, Command::Place(_)));
    let count = refusals.by_code.entry(refusal.code()).or_default();
    *count += 1;
    if *count <= REFUSALS_LOGGED_MAX {
        warn!("{told}");
    }
    refusals.first.get_or_insert(told);
}

/// The rule and the reason; a scope by its name, since the ids of strategies in a plan are not known to the user.
fn reason(refusal: &Refusal, reference: Option<&ReferenceData>) -> String {
    let code = refusal.code();
    match refusal {
        Refusal::Limit { scope, value, limit, .. } => {
            let (value, limit) = (value.normalize(), limit.normalize());
            format!("{code}: {value} is above the limit of {limit} for {}", scope_name(*scope, reference))
        }
        Refusal::TradingState { scope, state } => {
            format!("{code}: trading is {} for {}", state.name(), scope_name(*scope, reference))
        }
        other => format!("{code}: {other}"),
    }
}

fn scope_name(scope: RiskScope, reference: Option<&ReferenceData>) -> String {
    let name = reference.and_then(|data| match scope {
        RiskScope::Platform => None,
        RiskScope::Account(id) => Some(format!("account {}", data.accounts.get(&id)?.name)),
        RiskScope::Strategy(id) => Some(format!("strategy {}", data.strategies.get(&id)?.name)),
        RiskScope::Security(id) => Some(format!("security {}", data.securities.get(&id)?.symbol)),
    });
    name.unwrap_or_else(|| if scope == RiskScope::Platform { "the platform".into() } else { scope.to_string() })
}
