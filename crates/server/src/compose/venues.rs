//! The simulated venues: each lives in our process but is reached like any other, through its adapter.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use adapters::host::Backoff;
use adapters::simulated::{Controls, Settings, Simulated};
use adapters::thread::{Doors, spawn};
use crossbeam_channel::{Sender, bounded};
use domain::{AdapterName, Decimal, Exchange, ReferenceData};
use venue_sim::book::SelfTrade;
use venue_sim::{Activity, Faults, Fees, VenueConfig};

use super::cuts;
use super::engine::Engine;
use super::health::Health;
use super::listings::{Markets, listings};
use crate::config::{self, Config, Fault, Fraction, SIMULATED, Venue, VenueFault};
use crate::failure::{Exit, Failure};
use crate::ground::Ground;
use crate::reference::Desk;
use crate::traces::VENUES;

const NANOS_PER_MICRO: i64 = 1_000;
const NANOS_PER_MILLI: i64 = 1_000_000;

/// What a thread is ended by, and waited for with.
pub(super) type Worker = (Sender<()>, JoinHandle<()>);

/// Running adapters, and those who cut their lines.
pub(super) struct Venues(Vec<Worker>);

pub(super) fn open(
    config: &Config,
    ground: &Ground,
    desk: &Desk,
    engine: &mut Engine,
    (health, markets): (&Health, &Markets),
) -> Result<Venues, Failure> {
    let folder = engine.folder.join(VENUES);
    std::fs::create_dir_all(&folder).map_err(|error| Failure::io("create", &folder, &error))?;
    let reference = engine.bus.catalogue.now();
    let venues = config.venues(&reference).map_err(|problems| Failure::configuration(&problems))?;
    let mut running = Vec::with_capacity(venues.len());
    for venue in venues {
        health.expect(&venue.adapter);
        let settings = Settings {
            ledger: folder.join(format!("{}.ledger", venue.adapter)),
            venue: venue_config(config, &venue, &reference, desk)?,
        };
        let cut = cut_every(config, &venue);
        let (thread, controls) = start(settings, venue.adapter, ground, engine, markets)?;
        running.push(thread);
        if let Some(period) = cut {
            running.push(cuts::start(controls, period).map_err(|error| Failure::io("start", &folder, &error))?);
        }
    }
    Ok(Venues(running))
}

fn start(
    settings: Settings,
    adapter: AdapterName,
    ground: &Ground,
    engine: &mut Engine,
    markets: &Markets,
) -> Result<(Worker, Controls), Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::new(Exit::Failed, format!("venue {adapter}: {error}"));
    let exchange = settings.venue.exchange.id;
    let venue = Simulated::open(settings, ground.clock.now()).map_err(|error| failed(&error))?;
    let controls = venue.controls();
    markets.add(exchange, controls.clone());
    let (stop, stopped) = bounded(1);
    let outlet = engine.take_outlet(&adapter).ok_or_else(|| failed(&"is configured twice"))?;
    let doors = Doors { inbox: engine.bus.inbox.clone(), outlet, clock: engine.clock.clone(), stop: stopped };
    let thread = spawn(adapter.clone(), venue, doors, Backoff::default()).map_err(|error| failed(&error))?;
    Ok(((stop, thread), controls))
}

fn venue_config(
    config: &Config,
    venue: &Venue,
    reference: &ReferenceData,
    desk: &Desk,
) -> Result<VenueConfig, Failure> {
    let exchange = only_exchange(venue, reference)?;
    Ok(VenueConfig {
        name: venue.adapter.0.clone(),
        feed: venue.adapter.0.clone(),
        listings: listings(exchange.id, reference, desk),
        exchange,
        seed: config.demo_seed,
        activity: match config.demo_activity {
            config::Activity::Off => Activity::Off,
            config::Activity::Calm => Activity::Calm,
            config::Activity::Busy => Activity::Busy,
        },
        latency_nanos: config.simulated_latency_micros.0 * NANOS_PER_MICRO,
        fees: fees(config),
        self_trade: SelfTrade::CancelNewest,
        faults: faults(config, venue),
    })
}

/// None where no fee is configured; a rate that is not counts as nothing.
fn fees(config: &Config) -> Option<Fees> {
    let rates = [config.simulated_maker_fee_percent, config.simulated_taker_fee_percent];
    let of_worth =
        |rate: Option<Fraction<-10, 10>>| rate.map_or(Decimal::ZERO, |percent| percent.0 / Decimal::ONE_HUNDRED);
    let [maker, taker] = rates.map(of_worth);
    rates.iter().any(Option::is_some).then_some(Fees { maker, taker })
}

/// What the configuration wishes to go wrong at this venue.
fn faults(config: &Config, venue: &Venue) -> Faults {
    let none = Faults { seed: config.demo_seed, ..Faults::default() };
    wishes(config, venue).fold(none, |faults, fault| match fault {
        Fault::Reject(reject_every) => Faults { reject_every, ..faults },
        Fault::Delay(millis) => Faults { delay_nanos: i64::from(millis) * NANOS_PER_MILLI, ..faults },
        Fault::Duplicate(duplicate_one_in) => Faults { duplicate_one_in, ..faults },
        Fault::Drop(drop_one_in) => Faults { drop_one_in, ..faults },
        Fault::Reorder(reorder_one_in) => Faults { reorder_one_in, ..faults },
        Fault::Disconnect => Faults { disconnected: true, ..faults },
        Fault::Mute => Faults { muted: true, ..faults },
        // Comes and goes: see `cuts`.
        Fault::Cut(_) => faults,
    })
}

fn wishes<'a>(config: &'a Config, venue: &'a Venue) -> impl Iterator<Item = Fault> + 'a {
    let meant = |wish: &&VenueFault| {
        wish.qualifier.as_ref().is_none_or(|qualifier| AdapterName::new(SIMULATED, Some(qualifier)) == venue.adapter)
    };
    config.simulated_faults.iter().filter(meant).map(|wish| wish.fault)
}

fn cut_every(config: &Config, venue: &Venue) -> Option<Duration> {
    wishes(config, venue).find_map(|fault| match fault {
        Fault::Cut(millis) => Some(Duration::from_millis(millis.into())),
        _ => None,
    })
}

fn only_exchange(venue: &Venue, reference: &ReferenceData) -> Result<Arc<Exchange>, Failure> {
    let found = match venue.exchanges[..] {
        [id] => reference.exchanges.get(&id).cloned(),
        _ => None,
    };
    found.ok_or_else(|| {
        let text = format!("simulated.venues: {} must serve exactly one exchange", venue.adapter);
        Failure::new(Exit::Refused, text)
    })
}

impl Venues {
    /// All are told first, so that none waits for another.
    pub(super) fn leave(self) {
        let threads: Vec<_> = self.0.into_iter().map(|(_stop, thread)| thread).collect();
        for thread in threads {
            // A venue's thread that panicked has said so in the log.
            drop(thread.join());
        }
    }
}
