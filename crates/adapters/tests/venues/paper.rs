//! Paper mode: what the real venue's prices do to orders, and what never leaves.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use adapters::conformance::{Harness, RuleOutcome, RuleVerdict};
use adapters::paper::check_books;
use adapters::venue_type::VenueContext;
use adapters::{MarketFeed, OrderSession, ReportSink, SendOutcome, check};
use bus::Catalogue;
use domain::command::MarketData;
use domain::order::OrderTerms;
use domain::report::{LineKind, ReportKind};
use domain::{AdapterName, Order, OrderKind, OrderProperty, Side, TimeInForce, Timestamp, Trade};
use expect_test::{Expect, expect};

use crate::fixture::{order, terms};
use crate::market::START;
use crate::paper_harness::{PaperHarness, SECURITY};

#[test]
fn paper_mode_keeps_every_rule() {
    let outcomes = check(PaperHarness::new);
    let not_kept = outcomes.iter().filter(|outcome| outcome.verdict != RuleVerdict::Passed);
    assert_eq!(not_kept.map(RuleOutcome::to_string).collect::<Vec<_>>(), [""; 0]);
}

/// Connected, with the engine's subscription.
struct PaperTrader {
    harness: PaperHarness,
    told: ToldReports,
}

/// What is told, a line each.
#[derive(Default)]
struct ToldReports(String);

impl ReportSink for ToldReports {
    fn on_report(&mut self, _: Option<Timestamp>, said: ReportKind) {
        let line = match said {
            ReportKind::Accepted { order, .. } => format!("accepted {order}"),
            ReportKind::Rejected { order, reason } => format!("rejected {order}: {reason}"),
            ReportKind::Filled(fill) => {
                let fee = fill.fee.map(|fee| fee.to_string()).unwrap_or_default();
                format!("filled {}: {} @ {}, fee {fee}", fill.order, fill.quantity, fill.price)
            }
            ReportKind::Canceled { order, reason } => {
                format!("canceled {order}: {}", reason.as_deref().unwrap_or("as asked"))
            }
            ReportKind::Replaced { order, terms, .. } => format!("replaced {order}: {}", terms.quantity),
            ReportKind::ReplaceRejected { order, reason } => format!("replace of {order} refused: {reason}"),
            ReportKind::Line { line, up, .. } => format!("{line:?} {}", if up { "up" } else { "down" }),
            ReportKind::Statement(statement) => {
                let cash = statement
                    .cash
                    .iter()
                    .map(|cash| format!("{} {} (locked {})", cash.total, cash.currency, cash.locked));
                let held = statement
                    .positions
                    .iter()
                    .map(|position| format!("{} of {}", position.quantity, position.security));
                format!("holds {}", cash.chain(held).collect::<Vec<_>>().join(", "))
            }
            other => format!("{other:?}"),
        };
        self.0 += &format!("    {line}\n");
    }

    fn on_market_data(&mut self, data: MarketData) {
        match data {
            MarketData::Tick(tick) => self.0 += &format!("    {} / {}\n", tick.bid.unwrap(), tick.ask.unwrap()),
            MarketData::Gap(gap) => self.0 += &format!("    gap: {}\n", gap.cause.name()),
            MarketData::Book(_) | MarketData::Trade(_) => {}
        }
    }
}

impl PaperTrader {
    fn open() -> Self {
        let mut trader = Self { harness: PaperHarness::new(), told: ToldReports::default() };
        trader.connect();
        trader
    }

    fn connect(&mut self) {
        let now = self.harness.now;
        self.harness.adapter.connect(now).unwrap();
        assert_eq!(self.harness.adapter.subscribe(now, SECURITY), SendOutcome::Sent);
        self.deliver("connected");
    }

    /// Runs a request and everything that follows from it.
    fn send(&mut self, what: &str, request: impl FnOnce(&mut PaperHarness) -> SendOutcome) {
        assert_eq!(request(&mut self.harness), SendOutcome::Sent, "{what}");
        self.deliver(what);
    }

    fn deliver(&mut self, what: &str) {
        self.told.0 += &format!("{what}\n");
        self.harness.advance();
        self.harness.adapter.deliver(self.harness.now, &mut self.told).unwrap();
    }

    fn submit(&mut self, what: &str, order: &Order) {
        self.send(what, |harness| harness.adapter.submit(harness.now, order));
    }

    fn state(&mut self) {
        let account = samples::order(1).account;
        self.send("statement", |harness| harness.adapter.ask_statement(harness.now, account));
    }

    fn assert(&self, expected: &Expect) {
        expected.assert_eq(&self.told.0);
    }
}

fn market(id: u64, side: Side, quantity: i64) -> Order {
    let terms = OrderTerms { quantity: quantity.into(), kind: OrderKind::Market, tif: TimeInForce::Gtc };
    Order { side, terms, ..order(id, "1") }
}

#[test]
fn orders_fill_at_the_real_venues_touch_by_what_it_shows_and_cash_and_positions_follow() {
    let mut trader = PaperTrader::open();
    trader.submit("buys 100 at market", &market(1, Side::Buy, 100));
    trader.submit("rests at 9.90", &order(2, "9.9"));
    trader.state();
    trader.harness.real.quote(SECURITY, (500, "9.85"), (30, "9.88"));
    trader.deliver("30 are offered below it");
    let trade = Trade {
        security: SECURITY,
        feed: "REAL".into(),
        at: START,
        price: "9.9".parse().unwrap(),
        quantity: 50.into(),
        aggressor: Some(Side::Sell),
        ext_id: None,
    };
    trader.harness.real.trade(trade);
    trader.deliver("50 trade at its limit");
    trader.state();
    trader.assert(&expect![[r#"
        connected
            9.99 / 10.01
        buys 100 at market
            accepted 1
            filled 1: 100 @ 10.01, fee 1.001
        rests at 9.90
            accepted 2
        statement
            holds 98997.999 USD (locked 990), 100 of 7
        30 are offered below it
            9.85 / 9.88
            filled 2: 30 @ 9.9, fee 0
        50 trade at its limit
            filled 2: 50 @ 9.9, fee 0
        statement
            holds 98205.999 USD (locked 198), 180 of 7
    "#]]);
}

#[test]
fn an_order_is_replaced_and_cancelled_and_a_restart_keeps_it() {
    let mut trader = PaperTrader::open();
    let rests = order(1, "9");
    trader.submit("rests", &rests);
    trader.send("replaced", |harness| harness.adapter.modify(harness.now, &rests, terms(60, "9.05")));
    trader.harness.restart();
    trader.connect();
    let known = trader.harness.adapter.snapshot(trader.harness.now).unwrap();
    assert_eq!(
        known.orders.iter().map(|order| (order.order, order.terms)).collect::<Vec<_>>(),
        [(rests.id, terms(60, "9.05"))]
    );
    assert!(known.complete);
    trader.send("cancelled", |harness| harness.adapter.cancel(harness.now, &rests));
    trader.state();
    trader.assert(&expect![[r#"
        connected
            9.99 / 10.01
        rests
            accepted 1
        replaced
            replaced 1: 60
        connected
            9.99 / 10.01
        cancelled
            canceled 1: as asked
        statement
            holds 100000 USD (locked 0)
    "#]]);
}

#[test]
fn without_prices_a_limit_rests_and_a_market_order_finds_nobody() {
    let mut trader = PaperTrader::open();
    trader.harness.real.switch_prices(false);
    trader.deliver("prices fail");
    trader.submit("buys at market", &market(1, Side::Buy, 100));
    trader.submit("rests at 11", &order(2, "11"));
    trader.harness.real.switch_prices(true);
    trader.deliver("prices are back");
    trader.assert(&expect![[r#"
        connected
            9.99 / 10.01
        prices fail
            Prices down
        buys at market
            accepted 1
            canceled 1: no-liquidity: no counterparty in the book
        rests at 11
            accepted 2
        prices are back
            Prices up
            9.99 / 10.01
            filled 2: 100 @ 10.01, fee 1.001
    "#]]);
}

#[test]
fn a_security_whose_prices_are_lost_trades_at_none_of_them() {
    let mut trader = PaperTrader::open();
    trader.harness.real.refuse_prices(SECURITY);
    trader.deliver("its prices are lost");
    trader.submit("buys at market", &market(1, Side::Buy, 100));
    trader.harness.real.quote(SECURITY, (500, "9.99"), (500, "10.02"));
    trader.deliver("they are back");
    trader.submit("buys at market", &market(2, Side::Buy, 100));
    trader.assert(&expect![[r#"
        connected
            9.99 / 10.01
        its prices are lost
            gap: REFUSED
        buys at market
            accepted 1
            canceled 1: no-liquidity: no counterparty in the book
        they are back
            9.99 / 10.02
        buys at market
            accepted 2
            filled 2: 100 @ 10.02, fee 1.002
    "#]]);
}

#[test]
fn what_the_real_venue_would_refuse_is_refused() {
    let mut trader = PaperTrader::open();
    trader.harness.real.allow_at_most(100);
    let rests = order(1, "9");
    trader.submit("rests", &rests);
    trader.submit("too much", &market(2, Side::Buy, 101));
    trader.send("too much", |harness| harness.adapter.modify(harness.now, &rests, terms(101, "9")));
    trader.harness.real.allow_at_most(10);
    trader.submit("the first again", &rests);
    trader.assert(&expect![[r#"
        connected
            9.99 / 10.01
        rests
            accepted 1
        too much
            rejected 2: venue-quantity: too much
        too much
            replace of 1 refused: venue-quantity: too much
        the first again
            accepted 1
    "#]]);
}

#[test]
fn it_offers_what_both_venues_offer() {
    let offered = PaperHarness::new().adapter.capabilities();
    assert_eq!((offered.order_properties, offered.lines), (vec![OrderProperty::PostOnly], vec![LineKind::Prices]));
    assert!(offered.simulated && offered.expires_orders && offered.lists.statement && offered.lists.open_orders);
}

#[test]
fn the_books_of_a_venue_are_paper_or_real_and_never_both() {
    let folder = tempfile::tempdir().unwrap();
    let (quotes, prices) = (BTreeMap::new(), BTreeMap::new());
    let context = VenueContext {
        instance: 1,
        records: None,
        adapter: AdapterName::new("BINANCE-SPOT", Some("MAIN")),
        folder: folder.path(),
        clock: Arc::new(|| START),
        catalogue: Catalogue::default(),
        opening_quotes: &quotes,
        last_prices: &prices,
        opening_cash: None,
    };
    let real = [folder.path().join("BINANCE-SPOT-MAIN.symbols")];
    let check = |is_paper| check_books(is_paper, &real, &context).map_err(|error| error.to_string());
    assert_eq!((check(true), check(false)), (Ok(()), Ok(())));
    let touch = |path: &Path| fs::write(path, "").unwrap();
    touch(&context.file("ledger"));
    let refused = "BINANCE-SPOT-MAIN has traded on paper; the real venue needs another name";
    assert_eq!((check(true), check(false)), (Ok(()), Err(refused.to_owned())));
    touch(&real[0]);
    let refused = "BINANCE-SPOT-MAIN has traded at the real venue; paper mode needs a venue of another name";
    assert_eq!(check(true), Err(refused.to_owned()));
}
