//! The dialect of Binance spot: signed log-ons over TLS, numbers that begin at 1, trade ids of a symbol, fees in any asset.

use adapters::SendOutcome;
use domain::order::OrderTerms;
use domain::{Order, OrderKind, SecurityId, Side, TimeInForce};
use expect_test::expect;
use tempfile::TempDir;

use crate::lab::Lab;
use crate::prices::{BITCOIN, is_the_same, some_order};
use crate::proxy::Proxy;
use crate::test_adapter::{TestAdapter, VenueAddress, order};
use domain::SeededRng;

fn adapter_at(lab: &Lab, folder: &TempDir, port: u16, further: &[(&str, &str)]) -> TestAdapter {
    let address = VenueAddress { port, sender: "RIALTO", target: "SPOT" };
    let (certificate, key) = (lab.certificate(), lab.credentials("ALPHA", "ED25519"));
    let settings = [
        ("tls", "true"),
        ("trustedCertificates", certificate.as_str()),
        ("credentials", key.as_str()),
        ("recoveryVenue", "REST"),
    ];
    TestAdapter::open_with(folder, "binance-spot", &address, &[&settings[..], further].concat())
}

fn limit(id: u64, quantity: &str, limit: &str) -> Order {
    let kind = OrderKind::Limit { limit: limit.parse().unwrap() };
    let terms = OrderTerms { quantity: quantity.parse().unwrap(), kind, tif: TimeInForce::Gtc };
    Order { terms, security: SecurityId(2), ..order(id, Side::Buy) }
}

#[test]
fn orders_live_and_end_over_signed_sessions() {
    let (lab, folder) = (Lab::start(), tempfile::tempdir().unwrap());
    let mut desk = adapter_at(&lab, &folder, lab.port("binanceFixOrderEntry"), &[]);
    let mut told = String::new();
    let mut tell = |desk: &mut TestAdapter, step: &str, reports: usize| {
        told += &format!("{step}\n");
        desk.reports(reports).iter().for_each(|report| told += &format!("    {report}\n"));
    };
    desk.connect();
    desk.submit(&limit(1, "0.01", "59000"));
    tell(&mut desk, "an order far from the market", 1);
    assert_eq!(desk.cancel(&Order { request: 1, ..limit(1, "0.01", "59000") }), SendOutcome::Sent);
    tell(&mut desk, "cancelled", 1);
    desk.submit(&limit(2, "0.01", "65000"));
    tell(&mut desk, "an order that takes", 2);
    let mut sale = limit(3, "0.01", "1");
    (sale.side, sale.terms.kind, sale.terms.tif) = (Side::Sell, OrderKind::Market, TimeInForce::Ioc);
    desk.submit(&sale);
    tell(&mut desk, "sold at the market", 2);
    desk.submit(&limit(4, "0.0000001", "59000"));
    tell(&mut desk, "a quantity that the venue does not take", 1);
    assert_eq!(desk.cancel(&Order { request: 1, ..limit(9, "0.01", "59000") }), SendOutcome::Sent);
    tell(&mut desk, "the cancel of an order that was never sent", 1);
    expect![[r#"
        an order far from the market
            1 accepted
        cancelled
            1 cancelled
        an order that takes
            2 accepted
            2 filled 0.01 @ 60000.01 (BTCUSDT:2)
        sold at the market
            3 accepted
            3 filled 0.01 @ 59999.99 (BTCUSDT:3)
        a quantity that the venue does not take
            4 rejected: Filter failure: LOT_SIZE
        the cancel of an order that was never sent
            9 cancel refused: Unknown order sent.
            9 in doubt: the venue refused a request about the order, and may not have it as it is here
    "#]]
    .assert_eq(&told);
    let refused = "venue-no-replace: the venue takes no replaces";
    let terms = limit(1, "0.02", "59000").terms;
    assert_eq!(desk.replace(&limit(1, "0.01", "59000"), terms), SendOutcome::NotSent(refused.into()));
}

#[test]
fn after_a_cut_the_next_sender_comp_id_logs_on_though_the_last_one_is_blocked() {
    let (lab, folder) = (Lab::start(), tempfile::tempdir().unwrap());
    let proxy = Proxy::start(lab.port("binanceFixOrderEntry"));
    let mut desk = adapter_at(&lab, &folder, proxy.port(), &[]);
    for id in 1..=3 {
        desk.connect();
        desk.submit(&limit(id, "0.01", "59000"));
        assert_eq!(desk.reports(1), [format!("{id} accepted")]);
        proxy.cut();
        desk.lose();
    }
}

#[test]
fn a_key_of_another_kind_is_refused_before_anything_is_sent() {
    let (lab, folder) = (Lab::start(), tempfile::tempdir().unwrap());
    let address = VenueAddress { port: lab.port("binanceFixOrderEntry"), sender: "RIALTO", target: "SPOT" };
    let key = lab.credentials("ALPHA", "HMAC");
    let settings = [("credentials", key.as_str()), ("recoveryVenue", "REST")];
    let refusal = TestAdapter::refusal(&folder, "binance-spot", &address, &settings);
    assert_eq!(refusal, "venues.MAIN.credentials: has a key for HMAC, and the dialect signs with Ed25519");
}

#[test]
fn the_book_over_a_signed_session_is_that_of_the_venue() {
    let (lab, folder) = (Lab::start(), tempfile::tempdir().unwrap());
    let port = lab.port("binanceFixMarketData").to_string();
    let mut desk = adapter_at(
        &lab,
        &folder,
        lab.port("binanceFixOrderEntry"),
        &[("marketDataPort", &port), ("marketDataSenderCompId", "PRICES")],
    );
    desk.connect();
    desk.subscribe(BITCOIN);
    assert_eq!(desk.reports(2), ["PRICES down", "PRICES up"]);
    let mut random = SeededRng::from_seed(11);
    for id in 1..=40 {
        desk.submit(&some_order(id, &mut random));
        if id % 20 == 0 {
            desk.book_until(|book| is_the_same(book, &lab.depth("BTCUSDT")));
        }
    }
}
