//! The simulated venues: each lives in our process but is reached like any other, through its adapter.

use std::sync::Arc;
use std::time::Duration;

use adapters::host::VenueBackoff;
use adapters::simulated::{LEDGER_COMPACT_BYTES, SimulatedAdapter, SimulatedVenueSettings, VenueControls};
use adapters::thread::{AdapterIo, spawn};
use crossbeam_channel::bounded;
use domain::{AdapterName, Decimal, Exchange, ReferenceData};
use venue_sim::book::SelfTradeRule;
use venue_sim::{Faults, ParticipantActivity, VenueConfig, VenueFees};

use super::adapter_sessions::AdapterSessions;
use super::disconnect_cycle::{self, VenueThread};
use super::engine_thread::EngineThread;
use super::listings::{SimulatedMarkets, listings};
use crate::config::{self, Config, ConfiguredVenue, Fraction, SIMULATED, VenueFault, VenueFaultKind};
use crate::data_dir::DataDir;
use crate::exit_failure::{Exit, ExitFailure};
use crate::reference::ReferenceSet;
use crate::traces::VENUES;

const NANOS_PER_MICRO: i64 = 1_000;
const NANOS_PER_MILLI: i64 = 1_000_000;

/// Running adapters, and those who cut their lines.
pub(super) struct SimulatedVenues(Vec<VenueThread>);

pub(super) fn open(
    config: &Config,
    data_dir: &DataDir,
    desk: &ReferenceSet,
    engine: &mut EngineThread,
    sessions: &AdapterSessions,
) -> Result<(SimulatedVenues, SimulatedMarkets), ExitFailure> {
    let folder = engine.folder.join(VENUES);
    std::fs::create_dir_all(&folder).map_err(|error| ExitFailure::io("create", &folder, &error))?;
    let reference = engine.bus.catalogue.current();
    let venues = config.venues(&reference).map_err(|problems| ExitFailure::configuration(&problems))?;
    config.check_restricted(&reference).map_err(|problems| ExitFailure::configuration(&problems))?;
    let (mut running, mut markets) = (Vec::with_capacity(venues.len()), SimulatedMarkets::default());
    for venue in venues {
        sessions.require(&venue.adapter);
        let settings = SimulatedVenueSettings {
            ledger: folder.join(format!("{}.ledger", venue.adapter)),
            venue: venue_config(config, &venue, &reference, desk)?,
            compact_at_bytes: LEDGER_COMPACT_BYTES,
        };
        let cut = disconnect_period(config, &venue);
        let (thread, controls) = start(settings, venue.adapter, data_dir, engine, &mut markets)?;
        running.push(thread);
        if let Some(period) = cut {
            running.push(
                disconnect_cycle::start(controls, period).map_err(|error| ExitFailure::io("start", &folder, &error))?,
            );
        }
    }
    Ok((SimulatedVenues(running), markets))
}

fn start(
    settings: SimulatedVenueSettings,
    adapter: AdapterName,
    data_dir: &DataDir,
    engine: &mut EngineThread,
    markets: &mut SimulatedMarkets,
) -> Result<(VenueThread, VenueControls), ExitFailure> {
    let failed = |error: &dyn std::fmt::Display| ExitFailure::new(Exit::Failed, format!("venue {adapter}: {error}"));
    let exchange = settings.venue.exchange.id;
    let venue = SimulatedAdapter::open(settings, data_dir.clock.now()).map_err(|error| failed(&error))?;
    let controls = venue.controls();
    markets.add(exchange, controls.clone());
    let (stop, stopped) = bounded(1);
    let outlet = engine.take_instruction_queue(&adapter).ok_or_else(|| failed(&"is configured twice"))?;
    let endpoints =
        AdapterIo { inbox: engine.bus.inbox.clone(), instructions: outlet, clock: engine.clock.clone(), stop: stopped };
    let thread = spawn(adapter.clone(), venue, endpoints, VenueBackoff::default()).map_err(|error| failed(&error))?;
    Ok(((stop, thread), controls))
}

fn venue_config(
    config: &Config,
    venue: &ConfiguredVenue,
    reference: &ReferenceData,
    desk: &ReferenceSet,
) -> Result<VenueConfig, ExitFailure> {
    let exchange = only_exchange(venue, reference)?;
    Ok(VenueConfig {
        name: venue.adapter.0.clone(),
        feed: venue.adapter.0.clone(),
        listings: listings(exchange.id, reference, desk),
        exchange,
        seed: config.demo_seed,
        activity: match config.demo_activity {
            config::MarketActivity::Off => ParticipantActivity::Off,
            config::MarketActivity::Calm => ParticipantActivity::Calm,
            config::MarketActivity::Busy => ParticipantActivity::Busy,
        },
        latency_nanos: config.simulated_latency_micros.0 * NANOS_PER_MICRO,
        request_life_nanos: request_life_nanos(config, venue),
        fees: fees(config),
        self_trade: SelfTradeRule::CancelNewest,
        faults: faults(config, venue),
    })
}

/// None where no fee is configured; a rate that is not counts as nothing.
fn fees(config: &Config) -> Option<VenueFees> {
    let rates = [config.simulated_maker_fee_percent, config.simulated_taker_fee_percent];
    let of_worth =
        |rate: Option<Fraction<-10, 10>>| rate.map_or(Decimal::ZERO, |percent| percent.0 / Decimal::ONE_HUNDRED);
    let [maker, taker] = rates.map(of_worth);
    rates.iter().any(Option::is_some).then_some(VenueFees { maker, taker })
}

/// Requests that come late come within this time.
const LATE_REQUEST_MAX_NANOS: i64 = 5_000 * NANOS_PER_MILLI;

fn request_life_nanos(config: &Config, venue: &ConfiguredVenue) -> i64 {
    let is_late = configured_faults(config, venue).any(|fault| matches!(fault, VenueFaultKind::Late(_)));
    if is_late { LATE_REQUEST_MAX_NANOS } else { 0 }
}

/// What the configuration wishes to go wrong at this venue.
fn faults(config: &Config, venue: &ConfiguredVenue) -> Faults {
    let none = Faults { seed: config.demo_seed, ..Faults::default() };
    configured_faults(config, venue).fold(none, |faults, fault| match fault {
        VenueFaultKind::Reject(reject_every) => Faults { reject_every, ..faults },
        VenueFaultKind::Delay(millis) => Faults { delay_nanos: i64::from(millis) * NANOS_PER_MILLI, ..faults },
        VenueFaultKind::Duplicate(duplicate_one_in) => Faults { duplicate_one_in, ..faults },
        VenueFaultKind::Drop(drop_one_in) => Faults { drop_one_in, ..faults },
        VenueFaultKind::Reorder(reorder_one_in) => Faults { reorder_one_in, ..faults },
        VenueFaultKind::Disconnect => Faults { disconnected: true, ..faults },
        VenueFaultKind::Mute => Faults { muted: true, ..faults },
        VenueFaultKind::Lose(lose_one_in) => Faults { lose_one_in, ..faults },
        VenueFaultKind::Late(late_one_in) => Faults { late_one_in, ..faults },
        // Comes and goes: see `cuts`.
        VenueFaultKind::Cut(_) => faults,
    })
}

fn configured_faults<'a>(config: &'a Config, venue: &'a ConfiguredVenue) -> impl Iterator<Item = VenueFaultKind> + 'a {
    let meant = |wish: &&VenueFault| {
        wish.qualifier.as_ref().is_none_or(|qualifier| AdapterName::new(SIMULATED, Some(qualifier)) == venue.adapter)
    };
    config.simulated_faults.iter().filter(meant).map(|wish| wish.fault)
}

fn disconnect_period(config: &Config, venue: &ConfiguredVenue) -> Option<Duration> {
    configured_faults(config, venue).find_map(|fault| match fault {
        VenueFaultKind::Cut(millis) => Some(Duration::from_millis(millis.into())),
        _ => None,
    })
}

fn only_exchange(venue: &ConfiguredVenue, reference: &ReferenceData) -> Result<Arc<Exchange>, ExitFailure> {
    let found = match venue.exchanges[..] {
        [id] => reference.exchanges.get(&id).cloned(),
        _ => None,
    };
    found.ok_or_else(|| {
        let text = format!("simulated.venues: {} must serve exactly one exchange", venue.adapter);
        ExitFailure::new(Exit::Refused, text)
    })
}

impl SimulatedVenues {
    /// All are told first, so that none waits for another.
    pub(super) fn stop(self) {
        let threads: Vec<_> = self.0.into_iter().map(|(_stop, thread)| thread).collect();
        for thread in threads {
            // A venue's thread that panicked has said so in the log.
            drop(thread.join());
        }
    }
}
