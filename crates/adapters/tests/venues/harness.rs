//! Harness of the simulated venue, with time controlled by the test.

use std::path::Path;

use adapters::conformance::{DurableView, FailedHalf, Harness, OrderIntent};
use adapters::simulated::{LEDGER_COMPACT_BYTES, SimulatedAdapter, SimulatedVenueSettings, VenueControls};
use adapters::{Adapter, SendOutcome};
use domain::order::OrderTerms;
use domain::report::{LineKind, ListingStatus, ReplaceKind, VenueListing};
use domain::{Decimal, Order, Quantity, Timestamp};
use storage::append_log::AppendLog;
use tempfile::TempDir;
use venue_sim::{Faults, LinesDown, ReplaceHalf, VenueConfig, VenueFees, VenueRecord, VenueSimulator};

use crate::fixture::{order, terms};
use crate::market::{LATENCY_NANOS, START, venue};

/// The venue, and whatever `A` puts around its adapter.
pub(crate) struct SimulatedHarness<A> {
    folder: TempDir,
    wrap: Box<dyn Fn(SimulatedAdapter) -> A>,
    adapter: A,
    controls: VenueControls,
    now: Timestamp,
    orders: u64,
    /// Somebody else copies the next order.
    is_copied: bool,
    listing_changes: i64,
    replace: ReplaceKind,
}

impl<A: Adapter> SimulatedHarness<A> {
    pub(crate) fn around(wrap: impl Fn(SimulatedAdapter) -> A + 'static) -> Self {
        Self::replacing(ReplaceKind::InPlace, wrap)
    }

    /// A venue that replaces orders in this way.
    pub(crate) fn replacing(replace: ReplaceKind, wrap: impl Fn(SimulatedAdapter) -> A + 'static) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let simulated = open(&folder, replace, START);
        let controls = simulated.controls();
        let adapter = wrap(simulated);
        Self {
            folder,
            wrap: Box::new(wrap),
            adapter,
            controls,
            now: START,
            orders: 0,
            is_copied: false,
            listing_changes: 0,
            replace,
        }
    }
}

pub(crate) fn settings(folder: &TempDir) -> SimulatedVenueSettings {
    SimulatedVenueSettings {
        ledger: folder.path().join("venue.log"),
        venue: venue(),
        compact_at_bytes: LEDGER_COMPACT_BYTES,
    }
}

/// With fees, so that statements and fills can disagree about them.
fn open(folder: &TempDir, replace: ReplaceKind, at: Timestamp) -> SimulatedAdapter {
    let fees = Some(VenueFees { maker: Decimal::ZERO, taker: Decimal::new(1, 3) });
    let settings = settings(folder);
    let venue = VenueConfig { fees, replace, ..settings.venue };
    SimulatedAdapter::open(SimulatedVenueSettings { venue, ..settings }, at).unwrap()
}

impl<A: Adapter> Harness for SimulatedHarness<A> {
    fn adapter(&mut self) -> &mut dyn Adapter {
        &mut self.adapter
    }

    fn now(&self) -> Timestamp {
        self.now
    }

    fn advance(&mut self) {
        self.now = Timestamp(self.now.0 + 2 * LATENCY_NANOS);
    }

    fn order(&mut self, aim: OrderIntent) -> Order {
        if std::mem::take(&mut self.is_copied) {
            self.controls.set_faults(Faults::default());
        }
        self.orders += 1;
        let limit = match aim {
            OrderIntent::Rest => "9",
            OrderIntent::Trade => "11",
        };
        order(self.orders, limit)
    }

    fn other_terms(&self, _: &Order) -> OrderTerms {
        terms(60, "9.05")
    }

    fn disconnect(&mut self) {
        self.controls.set_faults(Faults { disconnected: true, ..Faults::default() });
    }

    fn reconnect(&mut self) {
        self.controls.set_faults(Faults::default());
    }

    fn lose_reports(&mut self, lost: bool) -> bool {
        self.controls.set_faults(Faults { drop_one_in: lost.into(), ..Faults::default() });
        true
    }

    fn switch_line(&mut self, line: LineKind, up: bool) -> bool {
        let lines_down = LinesDown {
            trading: line == LineKind::Trading && !up,
            private: line == LineKind::Private && !up,
            prices: line == LineKind::Prices && !up,
        };
        self.controls.set_faults(Faults { lines_down, ..Faults::default() });
        true
    }

    /// It copies an order of the adapter's.
    fn place_elsewhere(&mut self, aim: OrderIntent) -> bool {
        let like = self.order(aim);
        self.controls.set_faults(Faults { strangers_every: 1, ..Faults::default() });
        self.is_copied = true;
        self.adapter.submit(self.now, &like) == SendOutcome::Sent
    }

    fn change_listing(&mut self) -> bool {
        self.listing_changes += 1;
        let lot = Some(Quantity::from(self.listing_changes));
        let security = order(1, "9").security;
        self.controls.announce(security, VenueListing { lot, ..VenueListing::new(ListingStatus::Trading) });
        true
    }

    fn fail_half(&mut self, half: FailedHalf) -> bool {
        let replace_half = match half {
            FailedHalf::None => None,
            FailedHalf::Cancel => Some(ReplaceHalf::Placed),
            FailedHalf::Place => Some(ReplaceHalf::Canceled),
            FailedHalf::Both => Some(ReplaceHalf::Neither),
        };
        self.controls.set_faults(Faults { replace_half, ..Faults::default() });
        true
    }

    fn restart(&mut self) {
        let simulated = open(&self.folder, self.replace, self.now);
        self.controls = simulated.controls();
        self.adapter = (self.wrap)(simulated);
    }

    /// What another venue would know that starts from the same ledger.
    fn durable_view(&self) -> Option<DurableView> {
        let SimulatedVenueSettings { ledger, venue, .. } = settings(&self.folder);
        let (now, venue) = (self.now, VenueConfig { replace: self.replace, ..venue });
        Some(Box::new(move || {
            let mut heir = VenueSimulator::new(venue.clone(), now).unwrap();
            heir.restore(read(&ledger), now);
            heir.snapshot()
        }))
    }
}

pub(crate) fn read(ledger: &Path) -> Vec<VenueRecord> {
    let mut records = Vec::new();
    let mut replay = |payload: &[u8]| {
        records.extend(VenueRecord::decode_batch(payload).unwrap());
        Ok(())
    };
    AppendLog::open(ledger, &mut replay).unwrap();
    records
}
