//! Prices over FIX from the lab, beside those of its REST face.

use domain::order::OrderTerms;
use domain::{BookLevel, Order, OrderBook, OrderKind, SecurityId, SeededRng, Side, TimeInForce};
use serde_json::Value;

use crate::lab::Lab;
use crate::proxy::Proxy;
use crate::test_adapter::{TestAdapter, order};

pub(crate) const BITCOIN: SecurityId = SecurityId(2);
const ORDERS: u64 = 60;

/// Price and quantity of each level, without zeros at the end.
fn levels(side: &[BookLevel]) -> Vec<(String, String)> {
    let text = |number: domain::Decimal| number.normalize().to_string();
    side.iter().map(|level| (text(level.price.0), text(level.quantity.0))).collect()
}

fn shown_by_rest(side: &Value) -> Vec<(String, String)> {
    let text = |number: &Value| {
        let number: domain::Decimal = number.as_str().unwrap().parse().unwrap();
        number.normalize().to_string()
    };
    side.as_array().unwrap().iter().map(|level| (text(&level[0]), text(&level[1]))).collect()
}

pub(crate) fn is_the_same(book: &OrderBook, depth: &Value) -> bool {
    levels(&book.bids) == shown_by_rest(&depth["bids"]) && levels(&book.asks) == shown_by_rest(&depth["asks"])
}

/// Some rest, some take; each has its own price.
pub(crate) fn some_order(id: u64, random: &mut SeededRng) -> Order {
    let side = if random.below(2) == 0 { Side::Buy } else { Side::Sell };
    let limit = 59_900 + random.below(200);
    let kind = OrderKind::Limit { limit: limit.to_string().parse().unwrap() };
    let quantity = format!("0.0{}", 1 + random.below(9)).parse().unwrap();
    let terms = OrderTerms { quantity, kind, tif: TimeInForce::Gtc };
    Order { terms, security: BITCOIN, ..order(id, side) }
}

fn the_book_is_that_of_the_venue(face: &str, dialect: &'static str) {
    let (lab, folder) = (Lab::start(), tempfile::tempdir().unwrap());
    let mut desk = TestAdapter::open(&folder, dialect, &lab.address(face));
    desk.connect();
    desk.subscribe(BITCOIN);
    let mut random = SeededRng::from_seed(7);
    for id in 1..=ORDERS {
        let placed = some_order(id, &mut random);
        desk.submit(&placed);
        if random.below(3) == 0 {
            desk.cancel(&Order { request: 1, ..placed });
        }
        if id % 10 == 0 {
            let book = desk.book_until(|book| is_the_same(book, &lab.depth("BTCUSDT")));
            assert!(book.bids[0].price < book.asks[0].price, "{book:?}");
        }
    }
}

#[test]
fn the_book_of_fix_44_is_that_of_the_venue() {
    the_book_is_that_of_the_venue("fix44", "generic-44");
}

#[test]
fn the_book_of_fix_42_is_that_of_the_venue() {
    the_book_is_that_of_the_venue("fix42", "generic-42");
}

#[test]
fn a_session_for_prices_alone_fails_apart_from_the_orders() {
    let (lab, folder) = (Lab::start(), tempfile::tempdir().unwrap());
    let proxy = Proxy::start(lab.port("fix44"));
    let port = proxy.port().to_string();
    let settings = [("marketDataPort", port.as_str()), ("marketDataSenderCompId", "BETA")];
    let mut desk = TestAdapter::open_with(&folder, "generic-44", &lab.address("fix44"), &settings);
    desk.connect();
    desk.subscribe(BITCOIN);
    assert_eq!(desk.reports(2), ["PRICES down", "PRICES up"]);
    desk.book_until(|book| is_the_same(book, &lab.depth("BTCUSDT")));
    proxy.cut();
    assert_eq!(desk.reports(1), ["PRICES down"]);
    let mut resting = some_order(1, &mut SeededRng::from_seed(1));
    (resting.side, resting.terms.kind) = (Side::Buy, OrderKind::Limit { limit: "59000".parse().unwrap() });
    desk.submit(&resting);
    let mut told = desk.reports(2);
    told.sort();
    assert_eq!(told, ["1 accepted", "PRICES up"]);
    let book = desk.book_until(|book| is_the_same(book, &lab.depth("BTCUSDT")));
    assert!(book.bids.iter().any(|level| level.price == "59000".parse().unwrap()), "{book:?}");
}
