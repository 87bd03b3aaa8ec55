//! The lease of a leader: an order that was handed to the network and waits there does not leave once another process may lead.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use adapters::{OrderSession, ReportSink, SendLease, SendOutcome};
use domain::Timestamp;
use domain::command::MarketData;
use domain::report::ReportKind;

use crate::harness::{LabHarness, WAIT_MAX, terms};
use crate::lab::{now, run_value};

/// What was said of orders.
#[derive(Default)]
struct Told(Vec<String>);

impl ReportSink for Told {
    fn on_report(&mut self, _: Option<Timestamp>, said: ReportKind) {
        match said {
            ReportKind::Accepted { order, .. } => self.0.push(format!("{} accepted", order.0)),
            ReportKind::NotSent { order, reason } => self.0.push(format!("{} not sent: {reason}", order.0)),
            _ => {}
        }
    }

    fn on_market_data(&mut self, _: MarketData) {}
}

#[test]
fn an_order_that_waits_for_the_network_does_not_leave_without_the_lease() {
    let mut harness = LabHarness::start("ED25519");
    let is_held = Arc::new(AtomicBool::new(true));
    let lease = Arc::clone(&is_held);
    harness.adapter.set_lease(SendLease::new(move || lease.load(Ordering::SeqCst)));
    harness.adapter.connect(now()).unwrap();
    harness.adapter.snapshot(now()).unwrap();
    let mut told = Told::default();
    for held in [true, false] {
        is_held.store(held, Ordering::SeqCst);
        let order = harness.next_order(terms("0.01", Some("20000")));
        assert_eq!(harness.adapter.submit(now(), &order), SendOutcome::Sent, "it is handed to the network");
        let (begun, known) = (Instant::now(), told.0.len());
        while told.0.len() == known {
            assert!(begun.elapsed() < WAIT_MAX, "{:?}", told.0);
            harness.adapter.deliver(now(), &mut told).unwrap();
            thread::sleep(Duration::from_millis(1));
        }
    }
    let expected = ["1 accepted", "2 not sent: the lease of this server has run out, another one may lead"];
    assert_eq!(told.0, expected);
    let ledger = run_value(harness.lab.ledger());
    let own = ledger["orders"].as_array().unwrap().iter().filter(|order| order["account"] == "ALPHA").count();
    assert_eq!(own, 1, "{ledger}");
}
