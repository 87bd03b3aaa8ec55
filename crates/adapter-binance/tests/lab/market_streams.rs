//! Connections that are renewed, and market streams that were confirmed and do not send.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use adapter_binance::protocol::market_answers::DepthSnapshot;
use adapter_binance::protocol::requests::BinanceRequest;
use adapters::conformance::OrderIntent;
use adapters::{MarketFeed, OrderSession, ReportSink, SendOutcome};
use domain::command::MarketData;
use domain::report::ReportKind;
use domain::{OrderBook, StaleCause, Timestamp};

use crate::harness::{BITCOIN, LabHarness, WAIT_MAX, terms};
use crate::lab::{now, run_value};
use crate::market_data::change_book;

/// Everything that the adapter has told.
#[derive(Default)]
struct Told {
    reports: Vec<ReportKind>,
    prices: Vec<MarketData>,
}

impl ReportSink for Told {
    fn on_report(&mut self, _: Option<Timestamp>, said: ReportKind) {
        // What others do on the account is another story.
        if !matches!(said, ReportKind::Listed { .. } | ReportKind::External(_)) {
            self.reports.push(said);
        }
    }

    fn on_market_data(&mut self, data: MarketData) {
        self.prices.push(data);
    }
}

impl Told {
    fn gaps(&self) -> Vec<StaleCause> {
        let gap = |data: &MarketData| match data {
            MarketData::Gap(gap) => Some(gap.cause),
            _ => None,
        };
        self.prices.iter().filter_map(gap).collect()
    }

    fn last_book(&self) -> Option<&OrderBook> {
        self.prices.iter().rev().find_map(|data| match data {
            MarketData::Book(book) => Some(book),
            _ => None,
        })
    }

    /// Whether quotes, trades and books have come, but for the one of this number.
    fn has_all_but(&self, silent: Option<usize>) -> bool {
        let has = [
            self.prices.iter().any(|data| matches!(data, MarketData::Tick(_))),
            !self.trades().is_empty(),
            self.last_book().is_some(),
        ];
        has.iter().enumerate().all(|(index, has)| *has || silent == Some(index + 1))
    }

    fn trades(&self) -> Vec<&str> {
        let trades = self.prices.iter().filter_map(|data| match data {
            MarketData::Trade(trade) => trade.ext_id.as_deref(),
            _ => None,
        });
        trades.collect()
    }
}

fn logged_on() -> LabHarness {
    let mut harness = LabHarness::start("ED25519");
    log_on(&mut harness);
    harness
}

fn log_on(harness: &mut LabHarness) {
    harness.adapter.connect(now()).unwrap();
    harness.adapter.snapshot(now()).unwrap();
    harness.settle();
}

/// With the time so many seconds ahead, until the story is where it is awaited.
fn deliver_until(
    harness: &mut LabHarness,
    ahead: i64,
    told: &mut Told,
    mut is_there: impl FnMut(&LabHarness, &Told) -> bool,
) {
    let begun = Instant::now();
    loop {
        harness.adapter.deliver(now().plus_seconds(ahead), told).unwrap();
        if is_there(harness, told) {
            return;
        }
        assert!(begun.elapsed() < WAIT_MAX, "{:?} {:?}", told.reports, told.gaps());
        thread::sleep(Duration::from_millis(5));
    }
}

fn is_settled(harness: &LabHarness, _: &Told) -> bool {
    harness.adapter.is_settled()
}

fn subscribe(harness: &mut LabHarness, told: &mut Told) {
    assert_eq!(harness.adapter.subscribe(now(), BITCOIN), SendOutcome::Sent);
    deliver_until(harness, 0, told, |_, told| told.last_book().is_some());
}

#[test]
fn a_new_connection_of_market_streams_takes_over_and_nothing_is_missed() {
    let (mut harness, mut told) = (logged_on(), Told::default());
    subscribe(&mut harness, &mut told);
    // The adapter is told the time: a day passes at once.
    harness.adapter.pump(now().plus_seconds(23 * 3_600 + 1));
    let rest = harness.lab.rest("HMAC");
    let mut changes = 0;
    deliver_until(&mut harness, 0, &mut told, |harness, _| {
        changes += 1;
        if changes % 20 == 0 {
            run_value(change_book(&rest, "BTCUSDT", changes));
        }
        harness.adapter.renewed_price_connections() == 1
    });
    // The new one alone brings these.
    harness.place_as_other(OrderIntent::Trade);
    let theirs: DepthSnapshot = run_value(rest.read(&BinanceRequest::depth("BTCUSDT", 5_000)));
    let is_newest = |book: &OrderBook| {
        let bids = book.bids.iter().map(|level| (level.price.0, level.quantity.0));
        bids.eq(theirs.bids.iter().take(20).map(|level| (level.price, level.quantity)))
            && book.asks[0].quantity.0 == theirs.asks[0].quantity
    };
    let has_come = |_: &LabHarness, told: &Told| told.last_book().is_some_and(is_newest) && !told.trades().is_empty();
    deliver_until(&mut harness, 0, &mut told, has_come);
    assert_eq!((told.gaps(), &told.reports[..]), (vec![], &[][..]));
    let once: BTreeSet<&str> = told.trades().into_iter().collect();
    assert_eq!(once.len(), told.trades().len(), "{:?}", told.trades());
}

/// The venue announces the end of the market streams, and ends them ten seconds later: by then a new connection has taken over.
#[test]
fn an_announced_shutdown_of_market_streams_renews_them_without_a_gap() {
    let (mut harness, mut told) = (logged_on(), Told::default());
    subscribe(&mut harness, &mut told);
    run_value(harness.lab.arm_streams("server-shutdown"));
    let rest = harness.lab.rest("HMAC");
    let mut changes = 0;
    let mut change = || {
        changes += 1;
        if changes % 50 == 0 {
            run_value(change_book(&rest, "BTCUSDT", changes));
        }
    };
    deliver_until(&mut harness, 0, &mut told, |harness, _| {
        change();
        harness.adapter.renewed_price_connections() == 1
    });
    // Until the lab has ended the old one, and the new one has brought something since.
    deliver_until(&mut harness, 0, &mut told, |harness, _| {
        change();
        let shown = run_value(harness.lab.admin("/state"));
        shown["sessions"].as_array().unwrap().iter().filter(|session| session["face"] == "streams").count() == 1
    });
    told.prices.retain(|data| matches!(data, MarketData::Gap(_)));
    deliver_until(&mut harness, 0, &mut told, |_, told| {
        change();
        told.last_book().is_some()
    });
    assert_eq!((told.gaps(), &told.reports[..]), (vec![], &[][..]));
    assert!(harness.adapter.are_prices_up());
}

#[test]
fn a_stream_that_was_confirmed_and_never_sends_is_a_gap_until_a_new_subscription_sends() {
    // Best quotes, trades and differences, in the order in which they are subscribed.
    for silent in [Some(1), Some(2), Some(3), None] {
        let (mut harness, mut told) = (logged_on(), Told::default());
        if let Some(from) = silent {
            run_value(harness.lab.arm_from("stream-never", from));
        }
        subscribe(&mut harness, &mut told);
        deliver_until(&mut harness, 1, &mut told, is_settled);
        assert_eq!(told.gaps(), [], "{silent:?}");
        told.prices.clear();
        harness.place_as_other(OrderIntent::Trade);
        deliver_until(&mut harness, 32, &mut told, |harness, told| {
            harness.adapter.is_settled() && told.has_all_but(silent)
        });
        assert_eq!(told.gaps(), [], "{silent:?}: the event may be on its way");
        deliver_until(&mut harness, 40, &mut told, is_settled);
        let expected: Vec<_> = silent.iter().map(|_| StaleCause::MissedUpdates).collect();
        assert_eq!(told.gaps(), expected, "{silent:?}");
        if silent.is_none() {
            continue;
        }
        told.prices.clear();
        deliver_until(&mut harness, 41, &mut told, is_settled);
        assert!(told.last_book().is_none(), "{silent:?}: it has not sent yet");
        harness.place_as_other(OrderIntent::Trade);
        deliver_until(&mut harness, 42, &mut told, |_, told| told.last_book().is_some());
        assert_eq!(told.gaps(), []);
    }
}

/// The lab ends the private events of one of the two connections, whichever sends first. Of the one in use that ends the
/// session; then it is tried again.
#[test]
fn the_end_of_a_connection_that_was_replaced_does_not_end_the_session() {
    let mut harness = LabHarness::start("ED25519");
    for _ in 0..20 {
        log_on(&mut harness);
        harness.adapter.pump(now().plus_seconds(23 * 3_600 + 1));
        let mut told = Told::default();
        deliver_until(&mut harness, 0, &mut told, |harness, _| harness.adapter.renewed_connections() == 1);
        run_value(harness.lab.arm("key-expired"));
        harness.place_as_other(OrderIntent::Rest);
        let begun = Instant::now();
        while harness.adapter.deliver(now(), &mut told).is_ok() && !told.reports.contains(&ReportKind::Gap) {
            assert!(begun.elapsed() < WAIT_MAX, "{:?}", told.reports);
            thread::sleep(Duration::from_millis(1));
        }
        if !harness.adapter.is_lost() {
            let order = harness.next_order(terms("0.01", Some("20000")));
            assert_eq!(harness.adapter.submit(now(), &order), SendOutcome::Sent);
            let is_accepted = |said: &ReportKind| matches!(said, ReportKind::Accepted { .. });
            return deliver_until(&mut harness, 0, &mut told, |_, told| told.reports.iter().any(is_accepted));
        }
        harness.adapter.disconnect(now());
    }
    panic!("the session ended with every connection that was replaced");
}
