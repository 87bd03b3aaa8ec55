//! `rialto venues check NAME`: the first contact with a configured venue, for a user who has a network.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use adapters::thread::VenueThread;
use adapters::venue_type::{OpenVenue, VenueContext, VenueRecording};
use adapters::{ContactPlan, ContactStep, StepOutcome, first_contact};
use bus::Catalogue;
use clap::Args;
use domain::{Money, Price, ReferenceData, Security};

use crate::compose::venues::known_venue::KnownVenue;
use crate::config::{Config, ConfigArgs, ConfiguredVenue, Sources};
use crate::data_dir::DataDir;
use crate::data_dir::traces::VENUES;
use crate::exit_failure::{Exit, ExitFailure};
use crate::venues::venue_types;
use crate::{logging, signals};
use wire::nearest::hint;

/// How long one answer of the venue is waited for.
const PATIENCE_MILLIS: i64 = 30_000;
/// The setting that switches the recording on.
const RECORDING: &str = "recording";
/// The files of a venue that is simulated are in a folder of its own, which is removed.
const SIMULATED_FOLDER: &str = "venue-check";

#[derive(Debug, Args)]
pub struct VenueCheckArgs {
    /// Name of the venue in the configuration
    #[arg(value_name = "NAME")]
    name: String,
    /// What the order would buy: a symbol of the reference data, or the venue's own [default: the first one]
    #[arg(long, value_name = "SYMBOL")]
    security: Option<String>,
    /// Limit of the order, far below the market [default: from the venue's prices]
    #[arg(long, value_name = "PRICE")]
    limit: Option<String>,
    /// The order may leave for a venue where it could cost real money
    #[arg(long)]
    yes_live: bool,
    #[command(flatten)]
    config: ConfigArgs,
}

pub(crate) fn check(arguments: VenueCheckArgs) -> Result<(), ExitFailure> {
    let VenueCheckArgs { name, security, limit, yes_live, config } = arguments;
    let limit = limit.map(|text| price(&text)).transpose()?;
    let (config, venue) = load(config.into_sources(), &name)?;
    if venue.settings.is_on("allowLive") && !yes_live {
        return Err(refused(&format!(
            "{name} may trade with real money (allowLive). The check buys the smallest quantity far below the market and cancels it. \
             Add --yes-live to allow that"
        )));
    }
    logging::start(&config);
    let data_dir = DataDir::open(&config).map_err(explain_in_use)?;
    let known = KnownVenue::read(&config, &data_dir, &venue)?;
    config.check_venues(&known.reference).map_err(|problems| ExitFailure::configuration(&problems))?;
    if known.open_orders > 0 && venue.kind.is_live(&venue.settings) {
        let count = known.open_orders;
        return Err(refused(&format!(
            "{count} orders are open at {name}; the check would hear their reports instead of the server"
        )));
    }
    let stop = Arc::new(AtomicBool::new(false));
    let asked = stop.clone();
    signals::on_stop(move || asked.store(true, Ordering::Relaxed))
        .map_err(|error| ExitFailure::new(Exit::Failed, format!("cannot wait for signals: {error}")))?;
    VenueCheck { config: &config, venue: &venue, data_dir: &data_dir, known, limit, stop: &stop }
        .run(security.as_deref())
}

/// With the recording on, where the type has one.
fn load(mut sources: Sources, name: &str) -> Result<(Config, ConfiguredVenue), ExitFailure> {
    let read = |sources: &Sources| Config::load(sources).map_err(|problems| ExitFailure::configuration(&problems));
    let config = read(&sources)?;
    let venue = find(&config, name)?;
    let is_recordable = venue_types::tables(venue.kind).into_iter().flatten().any(|setting| setting.key == RECORDING);
    if !is_recordable {
        return Ok((config, venue));
    }
    sources.set.push(format!("venues.{name}.{RECORDING}=true"));
    let config = read(&sources)?;
    let venue = find(&config, name)?;
    Ok((config, venue))
}

pub(crate) fn find(config: &Config, name: &str) -> Result<ConfiguredVenue, ExitFailure> {
    let names: Vec<&str> = config.venues.iter().map(|venue| &**venue.settings.name()).collect();
    let found = config.venues.iter().find(|venue| &**venue.settings.name() == name);
    found.cloned().ok_or_else(|| {
        let known =
            if names.is_empty() { "none is configured".to_owned() } else { format!("known: {}", names.join(", ")) };
        refused(&format!("'{name}' is no venue{} ({known})", hint(name, names.iter().copied())))
    })
}

fn price(text: &str) -> Result<Price, ExitFailure> {
    text.parse().map_err(|_| refused(&format!("--limit: '{text}' is no price")))
}

fn refused(reason: &str) -> ExitFailure {
    ExitFailure::new(Exit::Refused, reason)
}

fn explain_in_use(failure: ExitFailure) -> ExitFailure {
    match failure.exit {
        Exit::InUse => ExitFailure::new(Exit::InUse, format!("{failure}: stop the server, then check the venue")),
        _ => failure,
    }
}

struct VenueCheck<'a> {
    config: &'a Config,
    venue: &'a ConfiguredVenue,
    data_dir: &'a DataDir,
    known: KnownVenue,
    limit: Option<Price>,
    stop: &'a AtomicBool,
}

impl VenueCheck<'_> {
    fn run(self, security: Option<&str>) -> Result<(), ExitFailure> {
        let now = self.data_dir.clock.now();
        // Another number than the platform's own and than any check's before: no order of this one is mistaken for another.
        let instance = u64::try_from(now.millis()).unwrap_or_default();
        let folder = self.folder()?;
        let opened = self.open(&folder, instance)?;
        let plan = ContactPlan {
            instance,
            venue: self.venue.settings.name().clone(),
            adapter: self.venue.adapter(),
            account: self.known.account,
            security: self.security(security, &opened)?,
            limit: self.limit,
            patience_millis: PATIENCE_MILLIS,
        };
        let OpenVenue { mut adapter, threads, recording, imports: _ } = opened;
        let clock = self.data_dir.clock.shared();
        let outcome = first_contact(&mut *adapter, clock, &plan, self.stop, &mut tell);
        // Its connections end before their recording is read.
        drop(adapter);
        VenueThread::stop_all(threads);
        let mut failures = outcome.failures();
        failures += usize::from(!told(&read_again(recording.as_deref())));
        if let Some(id) = outcome.left_open {
            let (name, symbol) = (&plan.venue, plan.security.symbol_at(&plan.venue));
            eprintln!(
                "rialto: an order may still be open at {name}: {symbol}, client id {id} (the venue may show it with an ending). Look at \
                 the venue's own list of orders and cancel it there"
            );
        }
        self.clean_up(&folder);
        match failures {
            0 if outcome.is_interrupted => Err(ExitFailure::new(Exit::Failed, "interrupted")),
            0 => Ok(()),
            failures => Err(ExitFailure::new(Exit::Failed, failed_text(failures))),
        }
    }

    /// A venue elsewhere knows our sequence numbers and rate limits, so its files count. A simulated one must not meet the check
    /// in its own ledger.
    fn folder(&self) -> Result<PathBuf, ExitFailure> {
        let is_elsewhere = self.venue.kind.is_live(&self.venue.settings);
        let folder = self.data_dir.lock.folder().join(if is_elsewhere { VENUES } else { SIMULATED_FOLDER });
        self.clean_up(&folder);
        std::fs::create_dir_all(&folder).map_err(|error| ExitFailure::io("create", &folder, &error))?;
        Ok(folder)
    }

    fn clean_up(&self, folder: &Path) {
        if folder.ends_with(SIMULATED_FOLDER) {
            // What is left is removed by the next check.
            let _ = std::fs::remove_dir_all(folder);
        }
    }

    fn open(&self, folder: &Path, instance: u64) -> Result<OpenVenue, ExitFailure> {
        let catalogue = Catalogue::default();
        catalogue.replace(Arc::new(self.known.reference.clone()));
        let currency = self.config.portfolio_base_currency;
        let context = VenueContext {
            instance,
            records: None,
            adapter: self.venue.adapter(),
            folder,
            clock: self.data_dir.clock.shared(),
            catalogue,
            opening_quotes: &self.data_dir.reference.opening_quotes(),
            last_prices: &BTreeMap::new(),
            opening_cash: self.config.demo_opening_cash.map(|amount| Money { amount, currency }),
        };
        let opened = self.venue.open(&context);
        opened.map_err(|error| ExitFailure::new(Exit::Failed, format!("venue {}: {error}", context.adapter)))
    }

    /// The one that was named, else the first that can be traded there.
    fn security(&self, named: Option<&str>, opened: &OpenVenue) -> Result<Arc<Security>, ExitFailure> {
        let (venue, exchanges) = (self.venue.settings.name(), opened.adapter.capabilities().exchanges);
        let reference: &ReferenceData = &self.known.reference;
        let mut listed = reference.securities.values().filter(|security| exchanges.contains(&security.exchange));
        let found = match named {
            Some(name) => listed.find(|security| &*security.symbol == name || &**security.symbol_at(venue) == name),
            None => listed.find(|security| security.tradeable),
        };
        found.cloned().ok_or_else(|| match named {
            Some(name) => refused(&format!("--security: no security of {venue}'s exchange has the symbol '{name}'")),
            None => refused(&format!("no security of {venue}'s exchange can be traded")),
        })
    }
}

/// The last step: what was recorded is read again by the adapter.
fn read_again(recording: Option<&dyn VenueRecording>) -> ContactStep {
    let outcome = match recording {
        None => StepOutcome::NotOffered("the venue type records nothing".to_owned()),
        Some(recording) => match recording.read_again() {
            Err(reason) => StepOutcome::Failed(reason),
            Ok(summary) if summary.not_understood.is_empty() => {
                let (count, path) = (summary.messages, recording.path().display());
                StepOutcome::Ok(format!("{count} messages, read again and understood, in {path}"))
            }
            Ok(summary) => {
                let (count, first) = (summary.not_understood.len(), &summary.not_understood[0]);
                let path = recording.path().display();
                StepOutcome::Failed(format!("{count} messages are not understood, the first: {first}; in {path}"))
            }
        },
    };
    ContactStep { name: "transcript", outcome }
}

fn failed_text(failures: usize) -> String {
    if failures == 1 { "one step failed".to_owned() } else { format!("{failures} steps failed") }
}

/// Whether the step passed, once it was told.
fn told(step: &ContactStep) -> bool {
    tell(step);
    !matches!(step.outcome, StepOutcome::Failed(_))
}

fn tell(step: &ContactStep) {
    let mut out = io::stdout().lock();
    // Who closed the output has had enough; the check goes on, because an order may be under way.
    let _ = writeln!(out, "{step}").and_then(|()| out.flush());
}
