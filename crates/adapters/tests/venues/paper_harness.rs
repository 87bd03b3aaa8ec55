//! Paper mode around a venue that a test writes, with time controlled by the test.

use std::sync::Arc;

use adapters::conformance::{DurableView, Harness, OrderIntent};
use adapters::simulated::{LEDGER_COMPACT_BYTES, SimulatedVenueSettings, VenueControls};
use adapters::{Adapter, OrderSession, PaperAdapter, SendOutcome, SimulatedAdapter};
use bus::Catalogue;
use domain::order::OrderTerms;
use domain::report::{LineKind, ListingStatus, VenueListing};
use domain::{Currency, Decimal, Order, ReferenceData, SecurityId, Timestamp};
use tempfile::TempDir;
use venue_sim::{
    Deposit, Faults, ListedSecurity, OpeningQuotes, ParticipantActivity, VenueConfig, VenueFees, VenueSimulator,
};

use crate::fixture::{order, terms};
use crate::harness::read;
use crate::market::{START, venue};
use crate::scripted_prices::{ScriptedPrices, ScriptedVenue};

/// The only security.
pub(crate) const SECURITY: SecurityId = SecurityId(7);
const STEP_NANOS: i64 = 2_000_000;

pub(crate) struct PaperHarness {
    folder: TempDir,
    pub(crate) real: ScriptedVenue,
    pub(crate) adapter: PaperAdapter,
    controls: VenueControls,
    pub(crate) now: Timestamp,
    orders: u64,
    /// Somebody else copies the next order.
    is_copied: bool,
}

impl PaperHarness {
    /// The real venue shows 10,000 at 9.99 and at 10.01.
    pub(crate) fn new() -> Self {
        let (folder, real) = (tempfile::tempdir().unwrap(), ScriptedVenue::default());
        real.quote(SECURITY, (10_000, "9.99"), (10_000, "10.01"));
        let adapter = open(&folder, &real, START);
        let controls = adapter.controls();
        Self { folder, real, adapter, controls, now: START, orders: 0, is_copied: false }
    }
}

fn settings(folder: &TempDir) -> SimulatedVenueSettings {
    let quiet = venue();
    let bare = |listing: ListedSecurity| ListedSecurity { opening: OpeningQuotes::NONE, ..listing };
    let venue = VenueConfig {
        listings: quiet.listings.into_iter().map(bare).collect(),
        activity: ParticipantActivity::Followed,
        latency_nanos: 0,
        fees: Some(VenueFees { maker: Decimal::ZERO, taker: Decimal::new(1, 3) }),
        deposits: vec![Deposit { account: samples::order(1).account, currency: Currency::USD, amount: 100_000.into() }],
        ..quiet
    };
    SimulatedVenueSettings { ledger: folder.path().join("PAPER.ledger"), venue, compact_at_bytes: LEDGER_COMPACT_BYTES }
}

fn open(folder: &TempDir, real: &ScriptedVenue, at: Timestamp) -> PaperAdapter {
    let mut reference = ReferenceData::default();
    reference.exchanges.insert(samples::EXCHANGE, Arc::new(samples::exchange()));
    reference.securities.insert(SECURITY, Arc::new(samples::stock(SECURITY.0, "TEST")));
    let catalogue = Catalogue::default();
    catalogue.replace(Arc::new(reference));
    let simulated = SimulatedAdapter::open(settings(folder), at).unwrap();
    PaperAdapter::new(ScriptedPrices(real.clone()), simulated, samples::EXCHANGE, catalogue)
}

impl Harness for PaperHarness {
    fn adapter(&mut self) -> &mut dyn Adapter {
        &mut self.adapter
    }

    fn now(&self) -> Timestamp {
        self.now
    }

    fn advance(&mut self) {
        self.now = Timestamp(self.now.0 + STEP_NANOS);
    }

    fn order(&mut self, aim: OrderIntent) -> Order {
        if std::mem::take(&mut self.is_copied) {
            self.controls.set_faults(Faults::default());
        }
        self.orders += 1;
        order(self.orders, if aim == OrderIntent::Rest { "9" } else { "11" })
    }

    fn other_terms(&self, _: &Order) -> OrderTerms {
        terms(60, "9.05")
    }

    fn disconnect(&mut self) {
        self.real.cut(true);
    }

    fn reconnect(&mut self) {
        self.real.cut(false);
    }

    fn lose_reports(&mut self, lost: bool) -> bool {
        self.controls.set_faults(Faults { drop_one_in: lost.into(), ..Faults::default() });
        true
    }

    fn switch_line(&mut self, line: LineKind, up: bool) -> bool {
        if line == LineKind::Prices {
            self.real.switch_prices(up);
        }
        line == LineKind::Prices
    }

    /// It copies an order of the adapter's.
    fn place_elsewhere(&mut self, aim: OrderIntent) -> bool {
        let like = self.order(aim);
        self.controls.set_faults(Faults { strangers_every: 1, ..Faults::default() });
        self.is_copied = true;
        self.adapter.submit(self.now, &like) == SendOutcome::Sent
    }

    fn change_listing(&mut self) -> bool {
        self.controls.announce(SECURITY, VenueListing::new(ListingStatus::Halted));
        true
    }

    fn restart(&mut self) {
        self.adapter = open(&self.folder, &self.real, self.now);
        self.controls = self.adapter.controls();
    }

    /// What another venue would know that starts from the same ledger.
    fn durable_view(&self) -> Option<DurableView> {
        let SimulatedVenueSettings { ledger, venue, .. } = settings(&self.folder);
        let now = self.now;
        Some(Box::new(move || {
            let mut heir = VenueSimulator::new(venue.clone(), now).unwrap();
            heir.restore(read(&ledger), now);
            heir.snapshot()
        }))
    }
}
