//! More open orders than fit into the queue to a venue: a mass cancel cancels all of them.

use scenarios::server::RunningServer;
use scenarios::wait::wait_for;
use serde_json::{Value, json};

use super::client::FixClient;
use super::{STEADY, buy, server_with};
use crate::test_platform::{TestPlatform, body_of};
use crate::watchers::{TopicWatcher, patient};

/// `bus::INSTRUCTIONS_MAX` is 8,192.
const ORDERS: usize = 9_000;
/// Sent at a time before the answers are read.
const HANDFUL: usize = 500;

#[test]
fn the_kill_switch_leaves_no_order_alive() {
    let desk = spacious_server();
    let server = desk.start();
    rest_many(&server);
    let killed = server.client().post("/rest/risk/kill", r#"{"scope": "PLATFORM", "reason": "fire"}"#).unwrap();
    assert_eq!(body_of(&killed)["cancels"], json!(ORDERS));
    wait_for("every order to be gone", || open(&server).is_empty().then_some(()));
    server.stop();
}

#[test]
fn a_mass_cancel_leaves_no_order_alive_also_where_the_server_dies() {
    let desk = spacious_server();
    let server = desk.start();
    let mut client = rest_many(&server);
    client.send("35=q|11=all|530=7");
    assert_eq!(client.expect("r").get(533), Some(&*ORDERS.to_string()));
    server.kill();
    let server = desk.start();
    wait_for("every order to be gone", || open(&server).is_empty().then_some(()));
    server.stop();
}

#[test]
fn whoever_watches_a_mass_cancel_hears_that_every_order_is_canceled() {
    let desk = spacious_server();
    let server = desk.start();
    let mut client = rest_many(&server);
    let mut watcher = TopicWatcher::join(patient(server.port_address("brokerTcp")), &[">"]);
    client.send("35=q|11=all|530=7");
    assert_eq!(client.expect("r").get(533), Some(&*ORDERS.to_string()));
    assert_eq!(watcher.hear_cancels(ORDERS).len(), ORDERS);
    server.stop();
}

/// Nothing limits how many orders there are.
fn spacious_server() -> TestPlatform {
    server_with(&(STEADY.to_owned() + "ExtendedMessages=Y\n"))
        .set("risk.ordersPerSecond", "")
        .set("risk.maxOpenOrders", "")
}

/// All at one price far away, each confirmed by the venue.
fn rest_many(server: &RunningServer) -> FixClient {
    let mut client = FixClient::new("STEADY");
    client.log_on(server.port_address("fix"));
    for begun in (0..ORDERS).step_by(HANDFUL) {
        (begun..begun + HANDFUL).for_each(|n| client.send(&buy(&format!("o{n}"), 1, "1")));
        client.wait_for_messages(2 * (begun + HANDFUL));
    }
    assert_eq!(open(server).len(), ORDERS);
    client
}

fn open(server: &RunningServer) -> Vec<Value> {
    serde_json::from_str(&server.client().get("/rest/execution/order").unwrap().body).unwrap()
}
