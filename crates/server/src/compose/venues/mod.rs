//! The venues: each is opened by its type and runs on a thread of its own.

pub(crate) mod venue_accounts;
pub(crate) mod known_venue;
pub(crate) mod adapter_sessions;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use adapters::host::VenueBackoff;
use adapters::thread::{AdapterIo, VenueThread, spawn};
use adapters::venue_type::{ImportListener, OpenVenue, VenueContext};
use adapters::{AdapterRecords, OverlapRecord};
use crossbeam_channel::bounded;
use domain::{AdapterName, Money, Price, SecurityId};

use super::engine_thread::EngineThread;
use crate::config::Config;
use crate::data_dir::traces::VENUES;
use crate::exit_failure::{Exit, ExitFailure};
use crate::reference::ReferenceSet;
use adapter_sessions::AdapterSessions;

/// The threads of all venues.
pub(super) struct RunningVenues(Vec<VenueThread>);

/// Those that receive imported reference data.
pub(super) type ImportListeners = Vec<Box<dyn ImportListener>>;

pub(super) fn open(
    config: &Config,
    reference: &ReferenceSet,
    last_prices: &BTreeMap<SecurityId, Price>,
    engine: &mut EngineThread,
    sessions: &AdapterSessions,
    (instance, is_first_start): (u64, bool),
) -> Result<(RunningVenues, ImportListeners), ExitFailure> {
    let folder = engine.folder.join(VENUES);
    std::fs::create_dir_all(&folder).map_err(|error| ExitFailure::io("create", &folder, &error))?;
    let known = engine.bus.catalogue.current();
    config.check_venues(&known).map_err(|problems| ExitFailure::configuration(&problems))?;
    config.check_restricted(&known).map_err(|problems| ExitFailure::configuration(&problems))?;
    let opening_quotes = reference.opening_quotes();
    // Cash of a later start is not credited, so venues get none either.
    let credited = config.demo_opening_cash.filter(|_| is_first_start);
    let opening_cash = credited.map(|amount| Money { amount, currency: config.portfolio_base_currency });
    let (mut threads, mut imports) = (Vec::new(), Vec::new());
    for venue in &config.venues {
        let adapter = venue.adapter();
        let log_on_failed = sessions.require(&adapter);
        // Only another member of a cluster could go on for it.
        let records = engine.lease.as_ref().map(|_| AdapterRecords::new(engine.ledger.clone(), adapter.clone()));
        let overlap = OverlapRecord::read(records.clone()).map_err(|error| failure(&adapter, &error))?;
        let context = VenueContext {
            instance,
            records,
            adapter: adapter.clone(),
            folder: &folder,
            clock: engine.clock.clone(),
            catalogue: engine.bus.catalogue.clone(),
            opening_quotes: &opening_quotes,
            last_prices,
            opening_cash,
        };
        let opened = venue.open(&context).map_err(|error| failure(&adapter, &error))?;
        let OpenVenue { adapter: venue_adapter, imports: listener, threads: own, recording: _ } = opened;
        threads.push(start(&adapter, venue_adapter, engine, (overlap, log_on_failed))?);
        threads.extend(own);
        imports.extend(listener);
    }
    Ok((RunningVenues(threads), imports))
}

fn start(
    name: &AdapterName,
    adapter: Box<dyn adapters::Adapter>,
    engine: &mut EngineThread,
    (overlap, log_on_failed): (OverlapRecord, Arc<AtomicBool>),
) -> Result<VenueThread, ExitFailure> {
    let (stop, stopped) = bounded(1);
    let instructions =
        engine.take_instruction_queue(name).ok_or_else(|| failure(name, &"the engine has no queue for it"))?;
    let io = AdapterIo {
        inbox: engine.bus.inbox.clone(),
        instructions,
        clock: engine.clock.clone(),
        stop: stopped,
        lease: engine.lease.clone(),
        overlap,
        log_on_failed,
    };
    let thread = spawn(name.clone(), adapter, io, VenueBackoff::default()).map_err(|error| failure(name, &error))?;
    Ok(VenueThread::new(stop, thread))
}

fn failure(adapter: &AdapterName, reason: &dyn std::fmt::Display) -> ExitFailure {
    ExitFailure::new(Exit::Failed, format!("venue {adapter}: {reason}"))
}

impl RunningVenues {
    pub(super) fn stop(self) {
        VenueThread::stop_all(self.0);
    }
}
