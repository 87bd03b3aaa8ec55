//! Paper mode on the real server: prices of the venue lab, fills of our own, and nothing of it in the lab's ledger.

use std::collections::BTreeMap;
use std::path::Path;

use domain::Decimal;
use scenarios::http::HttpClient;
use scenarios::lab::{LabProcess, write_reference};
use scenarios::server::ServerLauncher;
use scenarios::wait::wait_for;
use serde_json::{Value, json};

use crate::binance::{BITCOIN, decimal, order_of, our_totals, resting, wait_for_session};
use crate::test_platform::{TraderClient, fields, limit, with_id};

const OPENING_CASH: u32 = 100_000;

/// Without a key, and with an address of the order entry where nobody listens.
fn launcher(folder: &Path, lab: &LabProcess) -> ServerLauncher {
    let venue = [
        ("type", "binance-spot".to_owned()),
        ("environment", "testnet".to_owned()),
        ("paper", "true".to_owned()),
        ("takerFeePercent", "0.1".to_owned()),
        ("account", "Paper".to_owned()),
        ("trustedCertificates", folder.join("lab/tls/cert.pem").display().to_string()),
        ("rest", format!("http://{}", lab.address("binanceRest"))),
        ("wsApi", "ws://127.0.0.1:9/ws-api/v3".to_owned()),
        ("streams", format!("ws://{}", lab.address("binanceStreams"))),
    ];
    let launch = ServerLauncher::in_folder(&folder.join("data"))
        .set("reference.path", folder.join("reference").display())
        .set("simulated.venues", "")
        .set("portfolio.baseCurrency", "USDT")
        .set("demo.openingCash", OPENING_CASH);
    venue.into_iter().fold(launch, |launch, (key, value)| launch.set(&format!("venues.LOOK.{key}"), value))
}

/// Everything that the lab has of its accounts.
fn lab_books(lab: &LabProcess) -> Value {
    let (status, ledger) = lab.get("admin", "/ledger");
    assert_eq!(status, 200);
    ledger
}

fn best_offer(lab: &LabProcess) -> Decimal {
    let (status, depth) = lab.get("binanceRest", "/api/v3/depth?symbol=BTCUSDT&limit=5");
    assert_eq!(status, 200, "{depth}");
    decimal(&depth["asks"][0][0])
}

/// The venue's own price is here.
fn wait_for_offer(client: &mut HttpClient, offer: Decimal) {
    wait_for("the venue's price", || {
        let ask = &client.get_json(&format!("/rest/marketdata/tick?security={BITCOIN}"))[0]["ask"];
        (!ask.is_null() && decimal(ask) == offer).then_some(())
    });
}

/// The simulated venue's own statement agrees with our books.
fn wait_for_statement(client: &mut HttpClient, cash: Decimal) {
    wait_for("a statement", || {
        let balances = client.get_json("/rest/portfolio/balance");
        let dollars = balances.as_array().unwrap().iter().find(|balance| balance["currency"] == "USDT").cloned();
        dollars.filter(|balance| !balance["venueTotal"].is_null() && decimal(&balance["venueTotal"]) == cash)
    });
}

#[test]
fn without_a_key_orders_fill_at_the_venues_prices_and_never_reach_it_and_a_restart_keeps_them() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(&folder.path().join("lab"), &["activity=off"]);
    write_reference(&folder.path().join("reference"));
    let (before, offer) = (lab_books(&lab), best_offer(&lab));
    let launch = launcher(folder.path(), &lab);
    let server = launch.start();
    let mut client = server.client();
    wait_for_session(&mut client, "SUBSCRIBED");
    let shown = fields(&client.get_json("/rest/adapter")[0], &["name", "simulated", "orders", "proof"]);
    let expected = json!({ "name": "BINANCE-SPOT-LOOK", "simulated": true, "orders": "PAPER", "proof": "LAB" });
    assert_eq!(shown, expected);

    wait_for_offer(&mut client, offer);
    client.place(&with_id(order_of(BITCOIN, "BUY", "0.01"), "buys"));
    client.wait_for_status("buys", "EXECUTED");
    let quantity = Decimal::new(1, 2);
    let (value, fee) = (quantity * offer, quantity * offer / Decimal::ONE_THOUSAND);
    let cash = (Decimal::from(OPENING_CASH) - value - fee).normalize();
    let expected: BTreeMap<String, Decimal> = [("BTC".to_owned(), quantity), ("USDT".to_owned(), cash)].into();
    assert_eq!(our_totals(&mut client), expected);
    client.place(&resting("rests"));
    client.wait_for_status("rests", "SUBMITTED");
    // The venue takes no order of so little worth, so paper mode does not either.
    let mut tiny = with_id(limit(BITCOIN, "BUY", 1, "20000"), "tiny");
    tiny["quantity"] = json!("0.00001");
    let refused = client.submit(&tiny);
    assert_eq!((refused.status, refused.body.contains("venue-notional")), (422, true), "{refused:?}");
    server.stop();

    let server = launch.start();
    let mut client = server.client();
    wait_for_session(&mut client, "SUBSCRIBED");
    assert_eq!(our_totals(&mut client), expected);
    wait_for_statement(&mut client, cash);
    client.wait_for_status("rests", "SUBMITTED");
    assert_eq!(client.delete("/rest/execution/order/rests").unwrap().status, 200);
    client.wait_for_status("rests", "CANCELED");
    assert_eq!(lab_books(&lab), before, "the venue saw nothing of it");
    server.stop();
}
