//! A venue of the running process, with its adapter: a simulated one, or the lab behind the FIX adapter.

use std::path::Path;

use adapters::simulated::{SimulatedVenueSettings, VenueControls};
use adapters::{Adapter, AdapterHost, SimulatedAdapter, VenueBackoff};
use bus::Bus;

use crate::clock::SimulatedClock;
use crate::disk::SimulatedDisk;
use crate::lab_venue::{AdapterParts, LabAdapterSessions, LabListener, open_adapter};
use crate::market::Market;
use crate::market::seed_traits::SeedTraits;

/// A small one, so that every run compacts the venue's ledger many times.
const LEDGER_COMPACT_BYTES: u64 = 8 << 10;

pub(crate) struct HostedVenue {
    pub(crate) host: AdapterHost,
    kind: VenueKind,
}

enum VenueKind {
    Simulated(VenueControls),
    /// The sessions of the FIX adapter.
    Lab(LabAdapterSessions),
}

/// What a venue needs of the process.
pub(crate) struct VenueParts<'a> {
    pub(crate) bus: &'a Bus,
    /// The data folder.
    pub(crate) folder: &'a Path,
    pub(crate) disk: &'a SimulatedDisk,
    pub(crate) clock: &'a SimulatedClock,
    pub(crate) market: &'a Market,
    pub(crate) lab_listener: &'a LabListener,
    pub(crate) traits: &'a SeedTraits,
    pub(crate) seed: u64,
    pub(crate) has_late_requests: bool,
}

impl HostedVenue {
    pub(crate) fn open(parts: &VenueParts<'_>, venue: usize) -> Result<Self, String> {
        let folder = parts.folder.join("venues");
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let (adapter, kind) = match parts.traits.lab_venue == Some(venue) {
            true => open_lab(parts, venue, &folder)?,
            false => open_simulated(parts, venue, &folder)?,
        };
        let name = parts.market.adapter(venue).clone();
        let host = AdapterHost::attach(name, adapter, parts.bus.inbox.clone(), VenueBackoff::default());
        Ok(Self { host: host.map_err(|error| format!("{error:?}"))?, kind })
    }

    /// None for the lab, which is elsewhere.
    pub(crate) fn controls(&self) -> Option<&VenueControls> {
        match &self.kind {
            VenueKind::Simulated(controls) => Some(controls),
            VenueKind::Lab(_) => None,
        }
    }

    /// Sessions with the lab have their turn; whether the host has something to deliver then.
    pub(crate) fn step_sessions(&mut self, now: i64) -> bool {
        let VenueKind::Lab(sessions) = &mut self.kind else { return false };
        sessions.step(now);
        self.host.waker().try_recv().is_ok()
    }
}

fn open_simulated(
    parts: &VenueParts<'_>,
    venue: usize,
    folder: &Path,
) -> Result<(Box<dyn Adapter>, VenueKind), String> {
    let VenueParts { market, seed, has_late_requests, traits, .. } = parts;
    let settings = SimulatedVenueSettings {
        ledger: folder.join(market.ledger_name(venue)),
        venue: market.venue(venue, *seed, *has_late_requests, traits),
        compact_at_bytes: LEDGER_COMPACT_BYTES,
    };
    let adapter = SimulatedAdapter::open_on(parts.disk.shared(), settings, parts.clock.now());
    let adapter = adapter.map_err(|error| error.to_string())?;
    let kind = VenueKind::Simulated(adapter.controls());
    Ok((Box::new(adapter), kind))
}

fn open_lab(parts: &VenueParts<'_>, venue: usize, folder: &Path) -> Result<(Box<dyn Adapter>, VenueKind), String> {
    let VenueParts { market, clock, disk, lab_listener, bus, .. } = parts;
    let parts = AdapterParts {
        name: market.adapter(venue),
        venue: market.venue_name(venue),
        folder,
        clock,
        disk,
        catalogue: bus.catalogue.clone(),
        listener: lab_listener,
    };
    let (adapter, sessions) = open_adapter(parts)?;
    Ok((Box::new(adapter), VenueKind::Lab(sessions)))
}
