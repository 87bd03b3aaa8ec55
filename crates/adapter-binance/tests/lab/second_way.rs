//! The WebSocket API fails or is renewed: REST is the second way for orders, and a renewal loses nothing.

use adapters::conformance::Harness;
use adapters::{OrderSession, ReportSink, SendOutcome};
use domain::Timestamp;
use domain::command::MarketData;
use domain::report::{LineKind, ReportKind};

use crate::harness::{LabHarness, terms};
use crate::lab::{now, run_value};
use crate::lab_trader::LabTrader;

#[derive(Default)]
struct Told(Vec<ReportKind>);

impl ReportSink for Told {
    fn on_report(&mut self, _: Option<Timestamp>, said: ReportKind) {
        if !matches!(said, ReportKind::Listed { .. }) {
            self.0.push(said);
        }
    }

    fn on_market_data(&mut self, _: MarketData) {}
}

fn reported(harness: &mut LabHarness) -> Vec<ReportKind> {
    harness.settle();
    let mut told = Told::default();
    harness.adapter.deliver(now(), &mut told).unwrap();
    told.0
}

fn logged_on() -> LabHarness {
    let mut harness = LabHarness::start("ED25519");
    harness.adapter.connect(now()).unwrap();
    harness.adapter.snapshot(now()).unwrap();
    assert_eq!(reported(&mut harness), []);
    harness
}

#[test]
fn without_the_websocket_api_orders_go_over_rest_once_and_end_as_the_venue_has_them() {
    for fault in [None, Some("taken-unknown"), Some("not-taken-unknown"), Some("cut-answer")] {
        let mut trader = LabTrader::log_on("ED25519");
        let rests = trader.place(terms("0.01", Some("20000")));
        assert!(trader.harness.switch_line(LineKind::Private, false));
        trader.cancel(rests);
        if let Some(fault) = fault {
            run_value(trader.harness.lab.arm(fault));
        }
        trader.place(terms("0.002", None));
        trader.place(terms("0.01", Some("20000")));
        assert!(trader.harness.switch_line(LineKind::Private, true));
        trader.place(terms("0.003", None));
        let ledger = run_value(trader.harness.lab.admin("/ledger"));
        assert_eq!(trader.differences(&ledger), Vec::<String>::new(), "{fault:?}");
        let sent = ledger["orders"].as_array().unwrap().iter().filter(|order| order["account"] == "ALPHA").count();
        let expected = if fault == Some("not-taken-unknown") { 3 } else { 4 };
        assert_eq!(sent, expected, "{fault:?}: each order was sent once");
    }
}

#[test]
fn a_connection_is_renewed_before_the_venue_ends_it_and_nothing_is_missed() {
    let mut harness = logged_on();
    let before = harness.next_order(terms("0.01", Some("20000")));
    assert_eq!(harness.adapter.submit(now(), &before), SendOutcome::Sent);
    assert_eq!(reported(&mut harness).len(), 1, "accepted");
    // The adapter is told the time: a day passes at once.
    harness.adapter.pump(now().plus_seconds(23 * 3_600 - 60));
    assert_eq!((reported(&mut harness), harness.adapter.renewed_connections()), (vec![], 0));
    harness.adapter.pump(now().plus_seconds(23 * 3_600 + 1));
    // While the new one is opened the old one trades.
    let cancel = domain::Order { request: 1, ..before };
    assert_eq!(harness.adapter.cancel(now(), &cancel), SendOutcome::Sent);
    let begun = std::time::Instant::now();
    let mut told = Vec::new();
    while harness.adapter.renewed_connections() == 0 {
        assert!(begun.elapsed() < crate::harness::WAIT_MAX, "no further connection was opened");
        told.extend(reported(&mut harness));
    }
    told.extend(reported(&mut harness));
    assert!(matches!(told[..], [ReportKind::Canceled { .. }]), "{told:?}");
    let after = harness.next_order(terms("0.002", None));
    assert_eq!(harness.adapter.submit(now(), &after), SendOutcome::Sent);
    // The engine books an execution once; the old connection may have told it too before it ended.
    let mut told = reported(&mut harness);
    told.dedup();
    assert!(matches!(told[..], [ReportKind::Accepted { .. }, ReportKind::Filled(_)]), "{told:?}");
}
