//! The FIX adapter of the running process, on a runtime of one thread whose clock the simulator moves.

use std::collections::BTreeMap;
use std::path::Path;

use adapter_fix::{FixAdapter, SteppedNetwork, open_stepped_adapter};
use adapters::venue_type::VenueContext;
use bus::Catalogue;
use domain::AdapterName;
use fix::UtcTimestamp;
use fix_net::SessionClock;

use super::lab_listener::LabListener;
use super::lab_setup::{ROUNDS_PER_STEP, venue_settings};
use super::number_disk::SimulatedNumberDisk;
use crate::clock::SimulatedClock;
use crate::disk::SimulatedDisk;
use crate::network::SteppedRuntime;

/// Of the data folder; client ids of requests are made with it.
pub(super) const INSTANCE_NUMBER: u64 = 7;

/// Its sessions, for the simulator to step.
pub(crate) struct LabAdapterSessions {
    runtime: SteppedRuntime,
}

impl LabAdapterSessions {
    /// Everything that is ready or due by now has its turn.
    pub(crate) fn step(&mut self, now: i64) {
        self.runtime.step_if_due(now);
    }
}

/// What the adapter needs of the process.
pub(crate) struct AdapterParts<'a> {
    pub(crate) name: &'a AdapterName,
    pub(crate) venue: &'a str,
    /// The folder of all venues' files.
    pub(crate) folder: &'a Path,
    pub(crate) clock: &'a SimulatedClock,
    pub(crate) disk: &'a SimulatedDisk,
    pub(crate) catalogue: Catalogue,
    pub(crate) listener: &'a LabListener,
}

pub(crate) fn open_adapter(parts: AdapterParts<'_>) -> Result<(FixAdapter, LabAdapterSessions), String> {
    let AdapterParts { name, venue, folder, clock, disk, catalogue, listener } = parts;
    let runtime = SteppedRuntime::new(clock.steady(), ROUNDS_PER_STEP)?;
    let wall = clock.clone();
    let network = SteppedNetwork {
        runtime: runtime.shared(),
        // As outside: by the wall of the machine.
        clock: SessionClock::new(move || UtcTimestamp::from_nanos(wall.wall())),
        dialer: listener.dialer(),
        numbers: SimulatedNumberDisk::of(disk),
    };
    let context = VenueContext {
        instance: INSTANCE_NUMBER,
        records: None,
        adapter: name.clone(),
        folder,
        clock: clock.shared(),
        catalogue,
        opening_quotes: &BTreeMap::new(),
        last_prices: &BTreeMap::new(),
        opening_cash: None,
    };
    let settings = venue_settings(venue, folder)?;
    let adapter = open_stepped_adapter(&settings, &context, network).map_err(|error| error.to_string())?;
    Ok((adapter, LabAdapterSessions { runtime }))
}
