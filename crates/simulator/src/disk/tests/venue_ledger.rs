//! The ledger of the simulated venue on a disk that loses its power: what the venue has reported is there, and it starts.

use adapters::simulated::SimulatedVenueSettings;
use adapters::{OrderSession, ReportSink, SendOutcome, SimulatedAdapter};
use domain::command::MarketData;
use domain::order::OrderTerms;
use domain::report::ReportKind;
use domain::{Order, OrderId, OrderKind, SecurityId, TimeInForce, Timestamp};

use crate::disk::SimulatedDisk;
use crate::market::Market;
use crate::market::seed_traits::SeedTraits;
use crate::schedule::Fault;

const START: Timestamp = Timestamp(1_780_574_400_000_000_000);
const SEEDS: u64 = 60;
/// Small, so that the ledger is compacted several times.
const COMPACT_AT_BYTES: u64 = 4_096;

/// Orders that the venue has reported as accepted.
#[derive(Default)]
struct Accepted(Vec<OrderId>);

impl ReportSink for Accepted {
    fn on_report(&mut self, _: Option<Timestamp>, said: ReportKind) {
        if let ReportKind::Accepted { order, .. } = said {
            self.0.push(order);
        }
    }

    fn on_market_data(&mut self, _: MarketData) {}
}

struct VenueOnDisk {
    folder: tempfile::TempDir,
    disk: SimulatedDisk,
    seed: u64,
    now: Timestamp,
    accepted: Accepted,
}

impl VenueOnDisk {
    fn new(seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, disk: SimulatedDisk::new(seed), seed, now: START, accepted: Accepted::default() }
    }

    fn start(&self) -> SimulatedAdapter {
        let settings = SimulatedVenueSettings {
            ledger: self.folder.path().join("venue.ledger"),
            venue: Market::small_world(None, false).venue(0, self.seed, false, &SeedTraits::of_seed(self.seed)),
            compact_at_bytes: COMPACT_AT_BYTES,
        };
        let mut venue = SimulatedAdapter::open_on(self.disk.shared(), settings, self.now)
            .unwrap_or_else(|error| panic!("seed {}: the venue does not start: {error}", self.seed));
        venue.connect(self.now).unwrap();
        venue
    }

    fn submit(&self, venue: &mut SimulatedAdapter, orders: std::ops::Range<u64>) {
        for id in orders {
            assert_eq!(venue.submit(self.now, &order(id)), SendOutcome::Sent);
        }
    }

    /// Fails where the power goes meanwhile.
    fn deliver(&mut self, venue: &mut SimulatedAdapter) -> bool {
        self.now = self.now.plus_seconds(1);
        venue.deliver(self.now, &mut self.accepted).is_ok()
    }

    /// The power goes and comes again: all that was reported is there.
    fn cut_and_start(&mut self) -> SimulatedAdapter {
        self.disk.power_cut().unwrap();
        self.now = self.now.plus_seconds(1);
        let mut venue = self.start();
        let known: Vec<_> = venue.snapshot(self.now).unwrap().orders.iter().map(|held| held.order).collect();
        let lost: Vec<_> = self.accepted.0.iter().filter(|order| !known.contains(order)).collect();
        assert!(lost.is_empty(), "seed {}: orders {lost:?} were reported and are lost", self.seed);
        venue
    }
}

fn order(id: u64) -> Order {
    let kind = OrderKind::Limit { limit: "1".parse().unwrap() };
    let terms = OrderTerms { quantity: 1.into(), kind, tif: TimeInForce::Gtc };
    Order {
        terms,
        security: SecurityId(1),
        adapter: Market::small_world(None, false).adapter(0).clone(),
        ..samples::order(id)
    }
}

#[test]
fn a_power_cut_with_many_records_on_their_way_leaves_a_venue_that_starts() {
    for seed in 0..SEEDS {
        let mut world = VenueOnDisk::new(seed);
        let mut venue = world.start();
        world.submit(&mut venue, 1..20);
        assert!(world.deliver(&mut venue));
        // Written or not, they are not synced.
        world.submit(&mut venue, 20..80);
        drop(venue);
        drop(world.cut_and_start());
    }
}

#[test]
fn a_power_cut_at_any_operation_also_of_a_compaction_loses_nothing_that_was_reported() {
    for seed in 0..SEEDS {
        let mut world = VenueOnDisk::new(seed);
        let mut venue = world.start();
        let mut next = 1;
        for round in 0..12 {
            let operation = u32::try_from(1 + (seed + 5 * round) % 17).unwrap();
            world.disk.end_at(operation, Fault::PowerCut { operation });
            while world.deliver(&mut venue) {
                world.submit(&mut venue, next..next + 7);
                next += 7;
            }
            drop(venue);
            venue = world.cut_and_start();
        }
    }
}
