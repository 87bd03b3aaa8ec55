//! The lab changes what it takes while the adapter trades.

use std::thread;
use std::time::{Duration, Instant};

use adapters::{OrderSession, ReportSink, SendOutcome};
use domain::command::MarketData;
use domain::report::{ListingStatus, ReportKind, VenueListing};
use domain::{Order, OrderId, Timestamp};

use crate::harness::{BITCOIN, LabHarness, terms};
use crate::lab::{now, run_value};

/// A wait for the lab that takes longer than this has failed, on any machine.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// What the engine would be told.
#[derive(Default)]
struct Told(Vec<ReportKind>);

impl ReportSink for Told {
    fn on_report(&mut self, _: Option<Timestamp>, said: ReportKind) {
        self.0.push(said);
    }

    fn on_market_data(&mut self, _: MarketData) {}
}

impl Told {
    /// The newest listing; all are of the one security that we have.
    fn listing(&self) -> Option<VenueListing> {
        self.0.iter().rev().find_map(|said| match said {
            ReportKind::Listed { security, listing } => {
                assert_eq!(*security, BITCOIN);
                Some(*listing)
            }
            _ => None,
        })
    }

    fn rejection(&self, order: OrderId) -> Option<String> {
        self.0.iter().find_map(|said| match said {
            ReportKind::Rejected { order: rejected, reason } if *rejected == order => Some(reason.to_string()),
            _ => None,
        })
    }
}

fn connected() -> (LabHarness, Told) {
    let (mut harness, mut told) = (LabHarness::start("ED25519"), Told::default());
    harness.adapter.connect(now()).unwrap();
    harness.adapter.snapshot(now()).unwrap();
    deliver(&mut harness, &mut told);
    (harness, told)
}

fn deliver(harness: &mut LabHarness, told: &mut Told) {
    harness.adapter.deliver(now(), told).unwrap();
}

fn deliver_until<T>(harness: &mut LabHarness, told: &mut Told, what: &str, seen: impl Fn(&Told) -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        deliver(harness, told);
        if let Some(seen) = seen(told) {
            return seen;
        }
        assert!(begun.elapsed() < WAIT_MAX, "{what}: {:?}", told.0);
        thread::sleep(Duration::from_millis(5));
    }
}

fn submit(harness: &mut LabHarness, quantity: &str, limit: &str) -> Order {
    let order = harness.next_order(terms(quantity, Some(limit)));
    assert_eq!(harness.adapter.submit(now(), &order), SendOutcome::Sent);
    order
}

fn orders_in(harness: &LabHarness) -> usize {
    run_value(harness.lab.ledger())["orders"].as_array().unwrap().len()
}

#[test]
fn a_refusal_by_filters_makes_the_adapter_look_again_and_refuse_by_itself() {
    let (mut harness, mut told) = connected();
    let before = told.listing().unwrap();
    assert_eq!((before.status, before.tick), (ListingStatus::Trading, Some("0.01".parse().unwrap())));

    run_value(harness.lab.arm("filters-change"));
    let order = submit(&mut harness, "0.01", "20000.01");
    let refused = deliver_until(&mut harness, &mut told, "the venue refuses", |told| told.rejection(order.id));
    assert_eq!(refused, "venue-price: Filter failure: PRICE_FILTER (-1013 INVALID_MESSAGE)");
    let is_new = |told: &Told| told.listing().filter(|listing| *listing != before);
    let after = deliver_until(&mut harness, &mut told, "the change is told", is_new);
    let expected = VenueListing {
        tick: Some("0.1".parse().unwrap()),
        lot: Some("0.0001".parse().unwrap()),
        quantity_min: Some("0.0001".parse().unwrap()),
        ..before
    };
    assert_eq!(after, expected);

    let known = orders_in(&harness);
    let order = submit(&mut harness, "0.01", "20000.01");
    let refused = deliver_until(&mut harness, &mut told, "the adapter refuses", |told| told.rejection(order.id));
    assert_eq!(refused, "venue-tick: the price 20000.01 is no multiple of 0.1");
    assert_eq!(orders_in(&harness), known, "it never left");
    let listings = told.0.iter().filter(|said| matches!(said, ReportKind::Listed { .. })).count();
    assert_eq!(listings, 2, "only changes are told");
}

#[test]
fn a_list_that_the_venue_refused_is_asked_for_again_soon() {
    let (mut harness, mut told) = connected();
    let before = told.listing().unwrap();
    run_value(harness.lab.arm("rate-limited"));
    harness.adapter.ask_for_listings(now());
    harness.settle();
    // It does not ask, since the question of before is younger than the usual pause.
    assert!(harness.try_change_listing());
    harness.settle();
    deliver(&mut harness, &mut told);
    assert_eq!(told.listing(), Some(before), "nothing is asked before the venue's pause is over");

    harness.adapter.deliver(now().plus_seconds(31), &mut told).unwrap();
    let is_new = |told: &Told| told.listing().filter(|listing| *listing != before);
    let after = deliver_until(&mut harness, &mut told, "the change is told", is_new);
    assert_eq!(after.tick, Some("0.1".parse().unwrap()));
}

#[test]
fn a_closed_market_has_a_stable_code_before_the_venue_s_words() {
    let (mut harness, mut told) = connected();
    run_value(harness.lab.arm("cancel-only"));
    let order = submit(&mut harness, "0.01", "20000");
    let refused = deliver_until(&mut harness, &mut told, "the venue refuses", |told| told.rejection(order.id));
    assert_eq!(refused, "venue-halted: Market is closed. (-2010 NEW_ORDER_REJECTED)");
}
