//! The ledger of a simulated venue: it stays small, and a compaction changes nothing that a client can see.

use std::fs;

use adapters::simulated::SimulatedVenueSettings;
use adapters::{OrderSession, ReportSink, SendOutcome, SimulatedAdapter};
use domain::command::MarketData;
use domain::report::{ReportKind, VenueSnapshot};
use domain::{OrderId, Timestamp};
use tempfile::TempDir;
use venue_sim::VenueRecord;

use crate::fixture::{order, terms};
use crate::harness::{read, settings};
use crate::market::START;

const SMALL_BYTES: u64 = 2_048;

#[derive(Default)]
struct Heard(Vec<ReportKind>);

impl ReportSink for Heard {
    fn on_report(&mut self, _: Option<Timestamp>, said: ReportKind) {
        self.0.push(said);
    }

    fn on_market_data(&mut self, _: MarketData) {}
}

/// A venue with one client.
struct VenueFixture {
    folder: TempDir,
    compact_at_bytes: u64,
    venue: SimulatedAdapter,
    now: Timestamp,
}

impl VenueFixture {
    fn open(compact_at_bytes: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let venue = start(&folder, compact_at_bytes, START);
        Self { folder, compact_at_bytes, venue, now: START }
    }

    /// The process ends without a word, and starts again a second later.
    fn restart(self) -> Self {
        let Self { folder, compact_at_bytes, venue, now } = self;
        drop(venue);
        let now = now.plus_seconds(1);
        let venue = start(&folder, compact_at_bytes, now);
        Self { folder, compact_at_bytes, venue, now }
    }

    /// An order a second: every fourth trades, every fourth is cancelled, every fourth changed; the rest stays in the book
    /// until it is cancelled ten orders later.
    fn trade(&mut self, orders: std::ops::Range<u64>) {
        for id in orders {
            let limit = if id.is_multiple_of(4) { "10.01" } else { "9" };
            assert_eq!(self.venue.submit(self.now, &order(id, limit)), SendOutcome::Sent);
            self.deliver();
            match id % 4 {
                1 => drop(self.venue.cancel(self.now, &order(id, limit))),
                2 => drop(self.venue.modify(self.now, &order(id, limit), terms(50, "9.01"))),
                _ => {}
            }
            let older = id.saturating_sub(10);
            drop(self.venue.cancel(self.now, &order(older, "9")));
            self.deliver();
        }
    }

    fn deliver(&mut self) -> Vec<ReportKind> {
        self.now = self.now.plus_seconds(1);
        let mut heard = Heard::default();
        self.venue.deliver(self.now, &mut heard).unwrap();
        heard.0
    }

    /// Without the instant of the question.
    fn snapshot(&mut self) -> VenueSnapshot {
        VenueSnapshot { as_of: None, ..self.venue.snapshot(self.now).unwrap() }
    }

    fn ledger_bytes(&self) -> u64 {
        fs::metadata(settings(&self.folder).ledger).unwrap().len()
    }
}

fn start(folder: &TempDir, compact_at_bytes: u64, at: Timestamp) -> SimulatedAdapter {
    let settings = SimulatedVenueSettings { compact_at_bytes, ..settings(folder) };
    let mut venue = SimulatedAdapter::open(settings, at).unwrap();
    venue.connect(at).unwrap();
    venue
}

#[test]
fn a_compacted_venue_answers_as_one_that_kept_every_record() {
    let (mut compacted, mut whole) = (VenueFixture::open(SMALL_BYTES), VenueFixture::open(u64::MAX));
    for orders in [1..60, 60..61, 61..200] {
        for venue in [&mut compacted, &mut whole] {
            venue.trade(orders.clone());
        }
        assert_eq!(compacted.snapshot(), whole.snapshot());
        (compacted, whole) = (compacted.restart(), whole.restart());
        assert_eq!(compacted.snapshot(), whole.snapshot());
    }
    let records = read(&settings(&compacted.folder).ledger);
    assert!(matches!(records[0], VenueRecord::Compacted(_)), "{:?}", records[0]);
    // All of 200 orders are kept here, so the gain is small.
    assert!(compacted.ledger_bytes() < whole.ledger_bytes());
}

#[test]
fn an_order_that_the_venue_has_had_is_not_taken_twice_after_a_compaction() {
    let mut venue = VenueFixture::open(SMALL_BYTES);
    venue.trade(1..100);
    let mut venue = venue.restart();
    assert_eq!(venue.venue.submit(venue.now, &order(5, "9")), SendOutcome::Sent);
    let canceled = ReportKind::Canceled { order: OrderId(5), reason: None };
    assert_eq!(venue.deliver(), [canceled], "the last report on it is repeated");
}
