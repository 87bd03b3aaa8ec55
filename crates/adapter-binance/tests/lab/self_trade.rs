//! Self-trade prevention of the venue: the mode that is configured is sent, and what it ends is ended here, with a reason and without
//! a fill.

use std::thread;
use std::time::{Duration, Instant};

use adapter_binance::protocol::requests::BinanceRequest;
use adapters::{OrderSession, ReportSink, SendOutcome};
use domain::command::MarketData;
use domain::order::OrderTerms;
use domain::report::{InquiryResult, ReportKind};
use domain::{Decimal, Order, OrderId, Side, TimeInForce, Timestamp};

use crate::harness::{LabHarness, WAIT_MAX, terms};
use crate::lab::{now, run_value};
use crate::orders::ticket;

/// What became of each order.
#[derive(Default)]
struct Told(Vec<(OrderId, String)>);

impl ReportSink for Told {
    fn on_report(&mut self, _: Option<Timestamp>, said: ReportKind) {
        let told = match said {
            ReportKind::Accepted { order, .. } => (order, "accepted".to_owned()),
            ReportKind::Expired { order, reason, .. } => {
                (order, format!("expired: {}", reason.map(|reason| reason.to_string()).unwrap_or_default()))
            }
            ReportKind::Filled(fill) => (fill.order, "filled".to_owned()),
            ReportKind::Replaced { order, terms, .. } => (order, format!("is {}", terms.quantity)),
            ReportKind::Inquiry(answer) => match answer.result {
                InquiryResult::Found(seen, fills) => {
                    let filled: Decimal = fills.iter().map(|fill| fill.quantity.0).sum();
                    (
                        answer.order,
                        format!("found: {} of {}, {:?}", filled.normalize(), seen.terms.quantity, seen.state),
                    )
                }
                InquiryResult::NotFound => (answer.order, "not found".to_owned()),
            },
            ReportKind::Rejected { order, reason } => (order, reason.to_string()),
            _ => return,
        };
        self.0.push(told);
    }

    fn on_market_data(&mut self, _: MarketData) {}
}

/// A buy that rests alone at the best price, and a sell that meets it.
fn meet(word: &str) -> (LabHarness, Vec<(u64, String)>) {
    let mut harness = LabHarness::start_with("ED25519", &[("selfTrade", word)]);
    harness.adapter.connect(now()).unwrap();
    harness.adapter.snapshot(now()).unwrap();
    let rests = harness.next_order(terms("0.01", Some("60000")));
    let meets = Order { side: Side::Sell, ..harness.next_order(terms("0.01", Some("60000"))) };
    let meets = Order { terms: OrderTerms { tif: TimeInForce::Gtc, ..meets.terms }, ..meets };
    let mut told = Told::default();
    for order in [rests, meets] {
        assert_eq!(harness.adapter.submit(now(), &order), SendOutcome::Sent);
        let begun = Instant::now();
        while !told.0.iter().any(|(id, _)| *id == order.id) || !harness.adapter.is_settled() {
            assert!(begun.elapsed() < WAIT_MAX, "{:?}", told.0);
            harness.adapter.deliver(now(), &mut told).unwrap();
            thread::sleep(Duration::from_millis(1));
        }
    }
    harness.settle();
    harness.adapter.deliver(now(), &mut told).unwrap();
    (harness, told.0.into_iter().map(|(id, what)| (id.0, what)).collect())
}

fn statuses(harness: &LabHarness) -> Vec<String> {
    let ledger = run_value(harness.lab.ledger());
    let own = ledger["orders"].as_array().unwrap().iter().filter(|order| order["account"] == "ALPHA");
    own.map(|order| order["status"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_configured_mode_ends_the_newest_the_resting_or_both_and_nothing_is_filled() {
    let prevented = "expired: self-trade prevention";
    let cases = [
        ("refuse-newest", vec![(1, "accepted"), (2, "accepted"), (2, prevented)], ["NEW", "EXPIRED_IN_MATCH"]),
        ("cancel-resting", vec![(1, "accepted"), (2, "accepted"), (1, prevented)], ["EXPIRED_IN_MATCH", "NEW"]),
        (
            "cancel-both",
            vec![(1, "accepted"), (2, "accepted"), (1, prevented), (2, prevented)],
            ["EXPIRED_IN_MATCH", "EXPIRED_IN_MATCH"],
        ),
    ];
    for (word, expected, at_venue) in cases {
        let (harness, mut told) = meet(word);
        told.sort_by_key(|(id, what)| (what.clone(), *id));
        let mut expected: Vec<(u64, String)> = expected.into_iter().map(|(id, what)| (id, what.to_owned())).collect();
        expected.sort_by_key(|(id, what)| (what.clone(), *id));
        assert_eq!(told, expected, "{word}");
        assert_eq!(statuses(&harness), at_venue, "{word}");
    }
}

#[test]
fn with_allow_the_account_trades_with_itself() {
    let (harness, told) = meet("allow");
    assert_eq!(told.iter().filter(|(_, what)| what == "filled").count(), 2, "{told:?}");
    assert_eq!(statuses(&harness), ["FILLED", "FILLED"]);
}

/// Until this was told of an order.
fn deliver_until(harness: &mut LabHarness, told: &mut Told, order: OrderId, what: &str) {
    let begun = Instant::now();
    while !told.0.iter().any(|(id, said)| *id == order && said == what) {
        assert!(begun.elapsed() < WAIT_MAX, "{what}: {:?}", told.0);
        harness.adapter.deliver(now(), told).unwrap();
        thread::sleep(Duration::from_millis(1));
    }
}

/// A buy of 0.03 loses 0.01 to a sell of the same account, is amended to 0.015, and fills.
#[test]
fn with_reduce_both_the_larger_order_goes_on_with_exactly_what_is_left() {
    let mut harness = LabHarness::start_with("ED25519", &[("selfTrade", "reduce-both")]);
    harness.adapter.connect(now()).unwrap();
    harness.adapter.snapshot(now()).unwrap();
    let mut told = Told::default();
    let mut buys = harness.next_order(terms("0.03", Some("60000")));
    let sells = Order { side: Side::Sell, ..harness.next_order(terms("0.01", Some("60000"))) };
    assert_eq!(harness.adapter.submit(now(), &buys), SendOutcome::Sent);
    deliver_until(&mut harness, &mut told, buys.id, "accepted");
    assert_eq!(harness.adapter.submit(now(), &sells), SendOutcome::Sent);
    deliver_until(&mut harness, &mut told, sells.id, "expired: self-trade prevention");
    deliver_until(&mut harness, &mut told, buys.id, "is 0.02");

    // The venue counts what it prevented in the quantity of an amendment; we do not.
    buys.terms.quantity = "0.02".parse().unwrap();
    buys.request += 1;
    let lower = OrderTerms { quantity: "0.015".parse().unwrap(), ..buys.terms };
    assert_eq!(harness.adapter.modify(now(), &buys, lower), SendOutcome::Sent);
    deliver_until(&mut harness, &mut told, buys.id, "is 0.015");
    buys.terms = lower;

    let others = BinanceRequest::place(&ticket("BTCUSDT", Side::Sell, "0.015", Some("60000"), "R9-1-0"));
    let answer = run_value(harness.lab.rest_of("BETA", "HMAC").call(&others));
    assert!(answer.outcome.is_ok(), "{answer:?}");
    deliver_until(&mut harness, &mut told, buys.id, "filled");
    assert_eq!(harness.adapter.inquire(now(), &buys), SendOutcome::Sent);
    deliver_until(&mut harness, &mut told, buys.id, "found: 0.015 of 0.015, Live");
    assert_eq!(told.0.iter().filter(|(_, what)| what == "filled").count(), 1, "{:?}", told.0);
    assert_eq!(statuses(&harness), ["FILLED", "EXPIRED_IN_MATCH"]);
    let ledger = run_value(harness.lab.ledger());
    let first = &ledger["orders"][0];
    assert_eq!(
        (first["quantity"].as_str(), first["filled"].as_str()),
        (Some("0.02500000"), Some("0.01500000")),
        "{first}"
    );
}
