//! A venue of the running process, with its adapter: a simulated one, or the lab behind the FIX adapter.

use std::path::Path;

use adapters::simulated::{SimulatedVenueSettings, VenueControls};
use adapters::{Adapter, AdapterHost, SimulatedAdapter, VenueBackoff};
use bus::Bus;

use crate::lab_venue::{AdapterParts, AdapterSessions, open_adapter};
use crate::platform::Machine;

/// A small one, so that every run compacts the venue's ledger many times.
const LEDGER_COMPACT_BYTES: u64 = 8 << 10;

pub(crate) struct OpenVenue {
    pub(crate) host: AdapterHost,
    kind: VenueKind,
}

enum VenueKind {
    Simulated(VenueControls),
    /// The sessions of the FIX adapter.
    Lab(AdapterSessions),
}

impl OpenVenue {
    pub(crate) fn open(machine: &Machine, bus: &Bus, venue: usize) -> Result<Self, String> {
        let folder = machine.folder.join("venues");
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let (adapter, kind) = match machine.traits.lab_venue == Some(venue) {
            true => open_lab(machine, bus, venue, &folder)?,
            false => open_simulated(machine, venue)?,
        };
        let name = machine.market.adapter(venue).clone();
        let host = AdapterHost::attach(name, adapter, bus.inbox.clone(), VenueBackoff::default());
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

fn open_simulated(machine: &Machine, venue: usize) -> Result<(Box<dyn Adapter>, VenueKind), String> {
    let settings = SimulatedVenueSettings {
        ledger: machine.ledger(venue),
        venue: machine.market.venue(venue, machine.seed, machine.has_late_requests, &machine.traits),
        compact_at_bytes: LEDGER_COMPACT_BYTES,
    };
    let adapter = SimulatedAdapter::open_on(machine.disk.shared(), settings, machine.clock.now())
        .map_err(|error| machine.text(&error))?;
    let kind = VenueKind::Simulated(adapter.controls());
    Ok((Box::new(adapter), kind))
}

fn open_lab(
    machine: &Machine,
    bus: &Bus,
    venue: usize,
    folder: &Path,
) -> Result<(Box<dyn Adapter>, VenueKind), String> {
    let Machine { market, clock, switchboard, .. } = machine;
    let parts = AdapterParts {
        name: market.adapter(venue),
        venue: market.venue_name(venue),
        folder,
        clock,
        catalogue: bus.catalogue.clone(),
        switchboard,
    };
    let (adapter, sessions) = open_adapter(parts).map_err(|error| machine.text(&error))?;
    Ok((Box::new(adapter), VenueKind::Lab(sessions)))
}
