//! Script language of the tests: a line is an event, `=>`, and the commands of the strategy. Each line is a minute
//! later.
//!
//! `bar 1 12 9 10` is a bar of security 1 with high, low and close; `tick 1 9 10` a bid and an offer; `book 1 5@9 7@10` the
//! best levels, `book 1 5@9/2@8 7@10` with a second one; `bars 10 20` are bars of securities 1 and 2 that closed together; `wait` lets a minute pass.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::command::StrategyPhase;
use domain::{
    Bar, BarSize, BookLevel, Decimal, Event, OrderBook, Price, Quantity, ReferenceData, SecurityId, StaleCause, Tick,
    Timestamp,
};
use strategy::{PriceHistory, Strategy, StrategyIdentity, StrategyRunner, samples};

use crate::market::{Market, STRATEGY};

/// Runs the script of a sample with these settings and compares the whole output.
#[track_caller]
pub(crate) fn check(sample: &str, settings: &[(&str, &str)], story: &str) {
    let written: BTreeMap<_, _> = settings.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let strategy = samples::registry().build(sample, &written, &reference()).unwrap();
    check_strategy(strategy, story);
}

#[track_caller]
pub(crate) fn check_strategy(strategy: Box<dyn Strategy>, story: &str) {
    let mut market = Market::new(runner(strategy));
    let told: Vec<&str> = story.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let happened: Vec<String> = told.iter().map(|line| play(&mut market, line)).collect();
    let expected: Vec<String> = told.iter().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(happened.join("\n"), expected.join("\n"));
}

pub(crate) fn runner(strategy: Box<dyn Strategy>) -> StrategyRunner {
    StrategyRunner::new(StrategyIdentity { id: STRATEGY, name: "TEST".into(), run: 1 }, strategy, Arc::new(reference()))
}

pub(crate) fn reference() -> ReferenceData {
    let stocks = [(1, "ONE"), (2, "TWO"), (3, "TWIN"), (4, "TWIN")];
    let securities =
        stocks.into_iter().map(|(id, symbol)| (SecurityId(id), Arc::new(::samples::stock(id, symbol)))).collect();
    ReferenceData { securities, ..ReferenceData::default() }
}

fn play(market: &mut Market, line: &str) -> String {
    let happens = line.split("=>").next().unwrap_or_default().trim();
    let words: Vec<&str> = happens.split_whitespace().collect();
    market.now = market.now.plus_seconds(60);
    happen(market, &words);
    market.runner.advance(market.now);
    market.obey();
    let said = std::mem::take(&mut market.said);
    let left = words.join(" ");
    if said.is_empty() { left } else { format!("{left} => {}", said.join(", ")) }
}

fn happen(market: &mut Market, words: &[&str]) {
    match *words {
        ["wait"] => {}
        ["bar", security, high, low, close] => {
            let bar = bar(market.now, security, high, low, close);
            quote(market, bar.security, bar.close, bar.close);
            market.publish(Event::Bar(Arc::new(bar)));
        }
        ["bars", ref closes @ ..] => {
            for (place, close) in closes.iter().enumerate() {
                let bar = bar(market.now, &(place + 1).to_string(), close, close, close);
                quote(market, bar.security, bar.close, bar.close);
                market.publish(Event::Bar(Arc::new(bar)));
            }
        }
        ["tick", security, bid, ask] => {
            let tick = tick(market.now, security, bid, ask);
            quote(market, tick.security, price(bid), price(ask));
            market.publish(Event::Tick(Arc::new(tick)));
        }
        ["gap", security, bid, ask, cause] => {
            let stale = StaleCause::ALL.into_iter().find(|known| known.name() == cause);
            let tick = Tick { stale, ..tick(market.now, security, bid, ask) };
            market.publish(Event::Tick(Arc::new(tick)));
        }
        ["book", security, bids, asks] => {
            let (bids, asks) = (levels(bids), levels(asks));
            let security = SecurityId(security.parse().unwrap());
            quote(market, security, bids[0].price, asks[0].price);
            market.publish(Event::Book(Arc::new(OrderBook {
                security,
                feed: "paper".into(),
                at: market.now,
                bids,
                asks,
            })));
        }
        [phase] => {
            let phase = StrategyPhase::ALL.into_iter().find(|known| known.name() == phase).expect("a phase");
            market.runner.enter_phase(phase, market.now, &PriceHistory::default());
        }
        _ => panic!("nothing happens that is called {words:?}"),
    }
}

fn quote(market: &mut Market, security: SecurityId, bid: Price, ask: Price) {
    market.quoted(security, bid, ask);
    market.fill_what_crosses();
}

pub(crate) fn bar(at: Timestamp, security: &str, high: &str, low: &str, close: &str) -> Bar {
    let (high, low, close) = (price(high), price(low), price(close));
    let security = SecurityId(security.parse().unwrap());
    let size = BarSize::Min1;
    Bar { security, feed: "paper".into(), at, size, open: close, high, low, close, vol: Quantity::ZERO, vwap: None }
}

pub(crate) fn tick(at: Timestamp, security: &str, bid: &str, ask: &str) -> Tick {
    let (bid, ask) = (Some(price(bid)), Some(price(ask)));
    Tick { at, bid, ask, ..::samples::tick(security.parse().unwrap()) }
}

fn levels(text: &str) -> Vec<BookLevel> {
    text.split('/').map(level).collect()
}

fn level(text: &str) -> BookLevel {
    let (quantity, at) = text.split_once('@').expect("quantity@price");
    BookLevel { quantity: quantity.parse().unwrap(), price: price(at) }
}

fn price(text: &str) -> Price {
    Price(Decimal::from_str_exact(text).unwrap())
}
