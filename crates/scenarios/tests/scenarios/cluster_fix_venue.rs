//! A venue over FIX whose sequence numbers go on from one connection to the next, behind a cluster: the member that takes over goes on with the
//! session, though the files with its numbers are on another machine.

use std::net::SocketAddr;

use scenarios::http::HttpClient;
use scenarios::server::ServerLauncher;
use scenarios::wait::wait_for;
use serde_json::json;

use crate::binance::{BITCOIN, LabPlatform, decimal, wait_for_session};
use crate::cluster::{TestCluster, open_orders, place};
use crate::test_platform::{TraderClient, limit, with_id};

/// The lab by the shipped dialect with resends.
fn at_generic_fix() -> LabPlatform {
    let mut lab = LabPlatform::new("BETA");
    let face = lab.lab.address("fix44").parse::<SocketAddr>().unwrap().port().to_string();
    let venue = [
        ("type", "fix"),
        ("dialect", "generic-44"),
        ("environment", "testnet"),
        ("host", "127.0.0.1"),
        ("tls", "false"),
        ("port", &face),
        ("senderCompId", "BETA"),
        ("targetCompId", "LAB"),
        ("marketDataPort", &face),
        ("marketDataSenderCompId", "ALPHA"),
    ];
    let launch = ServerLauncher::in_folder(&lab.folder.path().join("data"))
        .set("reference.path", lab.folder.path().join("reference").display())
        .set("simulated.venues", "")
        .set("portfolio.baseCurrency", "USDT")
        .set("demo.openingCash", "")
        .set("auth.anonymousRole", "admin");
    lab.launch = venue.iter().fold(launch, |launch, (key, value)| launch.set(&format!("venues.LAB.{key}"), value));
    lab
}

fn buy(client: &mut HttpClient, id: &str) {
    let mut order = with_id(limit(BITCOIN, "BUY", 1, "65000"), id);
    order["quantity"] = json!("0.01");
    client.place(&order);
    client.wait_for_status(id, "EXECUTED");
}

/// What the venue has filled of our account.
fn bought_at_venue(cluster: &TestCluster) -> String {
    let filled: domain::Decimal = cluster.lab.ledger("orders").iter().map(|order| decimal(&order["filled"])).sum();
    filled.normalize().to_string()
}

#[test]
fn the_member_that_takes_over_goes_on_with_the_session_of_a_fix_venue() {
    let cluster = TestCluster::with_members(&["a", "b"], 0, at_generic_fix());
    let first = cluster.start_member("a");
    first.wait_for_output("\"role\":\"leader\",\"epoch\":1");
    let mut client = first.client();
    wait_for_session(&mut client, "SUBSCRIBED");
    cluster.lab.credit_opening_balances(&mut client);
    place(&mut client, &["one", "two"]);
    buy(&mut client, "filled-by-a");
    let second = cluster.start_member("b");
    wait_for("the follower to have the orders", || (open_orders(&mut second.client()) == ["one", "two"]).then_some(()));

    // A leader that is paused would hold its connection, and a venue takes no second one of the same client.
    first.stop();
    second.wait_for_output("\"role\":\"leader\",\"epoch\":2");
    let mut client = second.client();
    wait_for_session(&mut client, "SUBSCRIBED");
    place(&mut client, &["three"]);
    buy(&mut client, "filled-by-b");

    // Its own file has numbers that were used long ago.
    let first = cluster.start_member("a");
    let (file, data) = (cluster.file("b"), cluster.data("b").display().to_string());
    let follows = || (open_orders(&mut first.client()) == open_orders(&mut client)).then_some(());
    wait_for("the first to follow", follows);
    let handed = cluster.launcher("b").run_without_folder(&["ha", "hand-over", &file, "--data-dir", &data]);
    assert_eq!(handed.code, Some(0), "{handed}");
    assert_eq!(second.wait().code, Some(0));
    first.wait_for_output("\"role\":\"leader\",\"epoch\":3");
    let mut client = first.client();
    wait_for_session(&mut client, "SUBSCRIBED");
    place(&mut client, &["four"]);
    buy(&mut client, "filled-by-a-again");

    assert_eq!(open_orders(&mut client), ["four", "one", "three", "two"]);
    assert_eq!(cluster.orders_at_venue(), 7, "each order is there, once");
    let position = client.get_json("/rest/position").as_array().unwrap().iter().find_map(|position| {
        (position["securityId"] == BITCOIN).then(|| decimal(&position["quantity"]).normalize().to_string())
    });
    assert_eq!(position.unwrap(), bought_at_venue(&cluster));
    first.stop();
    cluster.lab.stop();
}
