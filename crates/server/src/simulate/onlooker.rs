//! Run observer: record for the report, fill and order tables, progress.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use domain::{Amount, BalanceId, Command, Currency, Event, Mark, ReferenceData, Refusal, Text, Timestamp};
use indicatif::{ProgressBar, ProgressStyle};
use results::{Assumptions, DealSheet, Fates, OrderSheet, Record, Refusals, Stop, TripSheet};
use runtime::simulation::{Seen, Witness};
use strategy::Selection;
use tracing::{info, warn};

use super::plan::Plan;
use super::refusals;
use super::unheard::Recorded;
use crate::failure::{Exit, Failure};

/// Alarms that are logged one by one; further ones are only counted.
const TOLD_MAX: u64 = 5;

pub(super) struct Onlooker {
    assumptions: Assumptions,
    base: Currency,
    recorded: Recorded,
    /// Opening cash of accounts, in base currency.
    opening_cash: BTreeMap<BalanceId, Amount>,
    fills: PathBuf,
    orders: PathBuf,
    trips: PathBuf,
    begun: Option<Begun>,
    stopped: Vec<Stop>,
    refusals: Refusals,
    unheard: Vec<String>,
    reference: Option<Arc<ReferenceData>>,
    alarms: u64,
    progress: Telling,
}

struct Begun {
    record: Record,
    deals: DealSheet<BufWriter<File>>,
    orders: OrderSheet<BufWriter<File>>,
    trips: TripSheet<BufWriter<File>>,
}

/// The result of the observation.
pub(super) struct Looked {
    pub(super) record: Record,
    pub(super) refusals: Refusals,
    pub(super) stopped: Vec<Stop>,
    pub(super) orders: Fates,
    pub(super) unheard: Vec<String>,
    /// Accounts with opening cash.
    pub(super) accounts: usize,
}

impl Onlooker {
    pub(super) fn new(plan: &Plan, recorded: Recorded, folder: &Path) -> Self {
        Self {
            assumptions: plan.assumptions,
            base: plan.base_currency,
            recorded,
            opening_cash: BTreeMap::new(),
            fills: folder.join("fills.csv"),
            orders: folder.join("orders.csv"),
            trips: folder.join("trades.csv"),
            begun: None,
            stopped: Vec::new(),
            refusals: Refusals::default(),
            unheard: Vec::new(),
            reference: None,
            alarms: 0,
            progress: Telling::new(),
        }
    }

    pub(super) fn finish(self) -> Result<Looked, Failure> {
        let missing = || Failure::new(Exit::Failed, "the run ended before it began");
        let Begun { record, deals, orders, trips } = self.begun.ok_or_else(missing)?;
        deals.finish().map_err(|error| Failure::io("write", &self.fills, &error))?;
        trips.finish().map_err(|error| Failure::io("write", &self.trips, &error))?;
        let orders = orders.finish().map_err(|error| Failure::io("write", &self.orders, &error))?;
        Ok(Looked {
            record,
            refusals: self.refusals,
            stopped: self.stopped,
            orders,
            unheard: self.unheard,
            accounts: self.opening_cash.len(),
        })
    }

    fn alarm(&mut self, text: &str) {
        self.alarms += 1;
        if self.alarms <= TOLD_MAX {
            warn!("{text}");
        }
    }
}

impl Witness for Onlooker {
    fn begin(&mut self, at: Timestamp, reference: &Arc<ReferenceData>) -> Seen {
        let deals = sheet(&self.fills, |file| DealSheet::new(file, reference.clone()))?;
        let orders = sheet(&self.orders, |file| OrderSheet::new(file, reference.clone()))?;
        let opening_value = self.opening_cash.values().filter_map(|amount| f64::try_from(amount.0).ok()).sum();
        let record = Record::new(self.assumptions, self.base, reference.clone(), at, opening_value);
        let trips = sheet(&self.trips, |file| TripSheet::new(file, reference.clone()))?;
        self.begun = Some(Begun { record, deals, orders, trips });
        self.reference = Some(reference.clone());
        Ok(())
    }

    fn want(&mut self, strategy: &Text, selection: &Selection) {
        let Some(reference) = &self.reference else { return };
        let unheard = self.recorded.unheard(strategy, selection, reference);
        unheard.iter().for_each(|sentence| warn!("{sentence}"));
        self.unheard.extend(unheard);
    }

    fn see(&mut self, at: Timestamp, events: &[Event]) -> Seen {
        for event in events {
            match event {
                Event::Alarm(alarm) => self.alarm(&alarm.text),
                Event::Cash(balance) if self.begun.is_none() => {
                    self.opening_cash.insert(balance.id, balance.amount);
                }
                _ => {}
            }
        }
        let Some(begun) = &mut self.begun else { return Ok(()) };
        begun.record.see(at, events);
        let Begun { record, trips, .. } = begun;
        for trip in record.take_trips() {
            trips.write(&trip).map_err(|error| unwritten(&self.trips, &error))?;
        }
        begun.deals.see(events).map_err(|error| unwritten(&self.fills, &error))?;
        begun.orders.see(events).map_err(|error| unwritten(&self.orders, &error))
    }

    fn mark(&mut self, at: Timestamp, marks: &[Mark]) -> Seen {
        if let Some(begun) = &mut self.begun {
            let priced = marks.iter().filter_map(|mark| Some((mark.security, mark.reference()?)));
            priced.for_each(|(security, price)| begun.record.price(at, security, price));
        }
        Ok(())
    }

    fn end_day(&mut self, at: Timestamp) -> Seen {
        if let Some(begun) = &mut self.begun {
            begun.record.end_day(at);
        }
        Ok(())
    }

    fn end_data(&mut self) {
        if let Some(begun) = &mut self.begun {
            begun.orders.end_data();
        }
    }

    fn refuse(&mut self, at: Timestamp, strategy: &Text, command: &Command, refusal: &Refusal) {
        refusals::note(&mut self.refusals, (at, strategy), command, refusal, self.reference.as_deref());
    }

    fn fall(&mut self, at: Timestamp, strategy: &Text, failure: &domain::command::Failure) {
        warn!("{at} strategy {strategy} {}; it is stopped, the others go on", failure.text);
        if let Some(begun) = &mut self.begun {
            begun.orders.stop(strategy);
        }
        self.stopped.push(Stop { at, strategy: strategy.clone(), reason: failure.text.clone() });
    }

    fn progress(&mut self, events: u64, read: u64, total: u64) {
        self.progress.show(events, read, total);
    }
}

fn sheet<S>(path: &Path, begin: impl FnOnce(BufWriter<File>) -> io::Result<S>) -> Result<S, String> {
    File::create(path).and_then(|file| begin(BufWriter::new(file))).map_err(|error| unwritten(path, &error))
}

fn unwritten(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}

/// A progress bar on a terminal, a log line every tenth elsewhere; both with events a second.
struct Telling {
    began: Instant,
    bar: Option<ProgressBar>,
    tenths: u64,
}

impl Telling {
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

impl Drop for Telling {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
