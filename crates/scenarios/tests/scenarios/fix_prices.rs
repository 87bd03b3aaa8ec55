//! Prices of a venue over FIX on the real server: they are not used while the line is down.

use std::net::SocketAddr;

use scenarios::http::HttpClient;
use scenarios::lab::{LabProcess, write_reference};
use scenarios::proxy::CuttableProxy;
use scenarios::server::ServerLauncher;
use scenarios::wait::wait_for;
use serde_json::{Value, json};

use crate::binance::{BITCOIN, resting};
use crate::test_platform::{TraderClient, body_of};

fn tick(client: &mut HttpClient) -> Value {
    client.get_json(&format!("/rest/marketdata/tick?security={BITCOIN}"))[0].clone()
}

fn wait_for_stale(client: &mut HttpClient, stale: &Value) -> Value {
    let is_so = |tick: &Value| tick["bid"].is_number() && tick["stale"] == *stale;
    wait_for(&format!("prices with stale {stale}"), || Some(tick(client)).filter(is_so))
}

#[test]
fn prices_over_fix_are_stale_while_their_line_is_cut_and_nothing_is_opened_on_them() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(&folder.path().join("lab"), &["activity=off"]);
    write_reference(&folder.path().join("reference"));
    let face = lab.address("fix44").parse::<SocketAddr>().unwrap();
    let prices = CuttableProxy::to(face);
    let venue = [
        ("type", "fix"),
        ("dialect", "generic-44"),
        ("environment", "testnet"),
        ("host", "127.0.0.1"),
        ("tls", "false"),
        ("senderCompId", "BETA"),
        ("marketDataSenderCompId", "ALPHA"),
        ("targetCompId", "LAB"),
    ];
    let launch = ServerLauncher::in_folder(&folder.path().join("data"))
        .set("reference.path", folder.path().join("reference").display())
        .set("simulated.venues", "")
        .set("portfolio.baseCurrency", "USDT")
        .set("demo.openingCash", "")
        .set("auth.anonymousRole", "admin")
        .set("venues.LAB.port", face.port())
        .set("venues.LAB.marketDataPort", prices.address().port());
    let launch = venue.iter().fold(launch, |launch, (key, value)| launch.set(&format!("venues.LAB.{key}"), value));
    let server = launch.start();
    let mut client = server.client();
    let credit = json!({ "type": "CREDIT", "price": "1000000", "currency": "USDT", "accountId": 1 });
    assert_eq!(client.post("/rest/transaction", &credit.to_string()).unwrap().status, 200);
    let live = wait_for_stale(&mut client, &Value::Null);
    assert_eq!(live["feed"], "FIX-LAB");
    client.place(&resting("before"));
    client.wait_for_status("before", "SUBMITTED");

    prices.cut();
    wait_for_stale(&mut client, &json!("DISCONNECTED"));
    let refused = client.submit(&resting("meanwhile"));
    assert_eq!((refused.status, &body_of(&refused)["code"]), (422, &json!("stale-price")));

    prices.restore();
    wait_for_stale(&mut client, &Value::Null);
    client.place(&resting("after"));
    client.wait_for_status("after", "SUBMITTED");
    server.stop();
    lab.stop();
}
