//! Harness of the simulated venue, with time controlled by the test.

use std::path::Path;

use adapters::Adapter;
use adapters::kit::{Aim, Harness, Witness};
use adapters::simulated::{Controls, Settings, Simulated};
use domain::order::Terms;
use domain::{Order, Timestamp};
use storage::append_log::AppendLog;
use tempfile::TempDir;
use venue_sim::{Faults, Record, Venue};

use crate::desk::{order, terms};
use crate::market::{LATENCY_NANOS, START, venue};

/// The venue, and whatever `A` puts around its adapter.
pub(crate) struct World<A> {
    folder: TempDir,
    wrap: Box<dyn Fn(Simulated) -> A>,
    adapter: A,
    controls: Controls,
    now: Timestamp,
    orders: u64,
}

impl<A: Adapter> World<A> {
    pub(crate) fn around(wrap: impl Fn(Simulated) -> A + 'static) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let simulated = open(&folder, START);
        let controls = simulated.controls();
        let adapter = wrap(simulated);
        Self { folder, wrap: Box::new(wrap), adapter, controls, now: START, orders: 0 }
    }
}

pub(crate) fn settings(folder: &TempDir) -> Settings {
    Settings { ledger: folder.path().join("venue.log"), venue: venue() }
}

fn open(folder: &TempDir, at: Timestamp) -> Simulated {
    Simulated::open(settings(folder), at).unwrap()
}

impl<A: Adapter> Harness for World<A> {
    fn adapter(&mut self) -> &mut dyn Adapter {
        &mut self.adapter
    }

    fn now(&self) -> Timestamp {
        self.now
    }

    fn pass(&mut self) {
        self.now = Timestamp(self.now.0 + 2 * LATENCY_NANOS);
    }

    fn order(&mut self, aim: Aim) -> Order {
        self.orders += 1;
        let limit = match aim {
            Aim::Rest => "9",
            Aim::Trade => "11",
        };
        order(self.orders, limit)
    }

    fn other_terms(&self, _: &Order) -> Terms {
        terms(60, "9.05")
    }

    fn cut(&mut self) {
        self.controls.set_faults(Faults { disconnected: true, ..Faults::default() });
    }

    fn mend(&mut self) {
        self.controls.set_faults(Faults::default());
    }

    fn restart(&mut self) {
        let simulated = open(&self.folder, self.now);
        self.controls = simulated.controls();
        self.adapter = (self.wrap)(simulated);
    }

    /// What another venue would know that starts from the same ledger.
    fn witness(&self) -> Option<Witness> {
        let Settings { ledger, venue } = settings(&self.folder);
        let now = self.now;
        Some(Box::new(move || {
            let mut heir = Venue::new(venue.clone(), now).unwrap();
            heir.restore(read(&ledger), now);
            heir.picture()
        }))
    }
}

pub(crate) fn read(ledger: &Path) -> Vec<Record> {
    let mut records = Vec::new();
    let mut replay = |payload: &[u8]| {
        records.push(minicbor::decode(payload).unwrap());
        Ok(())
    };
    AppendLog::open(ledger, &mut replay).unwrap();
    records
}
