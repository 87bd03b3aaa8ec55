//! Lines to a venue that fail apart, on the real server: what it shows, what it takes, and how orders are settled meanwhile.

use scenarios::http::HttpClient;
use scenarios::wait::wait_for;
use serde_json::{Value, json};

use crate::test_platform::{AAPL, TestPlatform, TraderClient, body_of, fields, limit, with_id};

/// Of the only venue: whether its lines are up, and what it is open for.
fn lines(client: &mut HttpClient) -> Value {
    let adapters = client.get_json("/rest/adapter");
    let adapter = &adapters[0];
    let up: Vec<Value> = adapter["lines"].as_array().unwrap().iter().map(|line| line["up"].clone()).collect();
    json!([adapter["openFor"], up])
}

#[test]
fn without_its_private_line_a_venue_takes_only_what_reduces_a_position_and_orders_are_settled_by_asking() {
    let desk = TestPlatform::new();
    let server = desk.start();
    server.client().place(&with_id(limit(AAPL, "BUY", 1, "400"), "bought"));
    server.client().wait_for_status("bought", "EXECUTED");
    assert_eq!(lines(&mut server.client()), json!(["ORDERS", [true, true, true]]));
    server.stop();

    let server = desk.launch.clone().set("simulated.faults", "*:noPrivate").start();
    let mut client = server.client();
    assert_eq!(lines(&mut client), json!(["REDUCE", [true, false, true]]));
    let ready = client.get("/health/ready").unwrap();
    assert_eq!(ready.status, 503);
    let detail = "the PRIVATE line is down: switched off by a fault of the simulated venue";
    assert!(body_of(&ready).to_string().contains(detail), "{}", body_of(&ready));
    let refused = client.submit(&limit(AAPL, "BUY", 1, "400"));
    assert_eq!((refused.status, &body_of(&refused)["code"]), (503, &json!("line-down")));
    client.place(&with_id(limit(AAPL, "SELL", 1, "250"), "sold"));
    let sold = client.wait_for_status("sold", "EXECUTED");
    assert_eq!(fields(&sold, &["inDoubt"]), json!({ "inDoubt": false }));
    server.stop();
}

#[test]
fn prices_of_a_venue_that_is_cut_off_are_marked_until_whole_ones_come() {
    let desk = TestPlatform::new();
    let server = desk.launch.clone().set("simulated.faults", "*:cut=2000").start();
    let mut client = server.client();
    let mut tick = || client.get_json(&format!("/rest/marketdata/tick?security={AAPL}"))[0].clone();
    let lost = wait_for("lost prices", || Some(tick()).filter(|tick| tick["stale"] == "DISCONNECTED"));
    assert!(lost["bid"].is_number() && lost["ask"].is_number(), "{lost}");
    let live = wait_for("live prices", || Some(tick()).filter(|tick| tick["stale"].is_null()));
    assert!(live["dateTime"].as_i64() > lost["dateTime"].as_i64(), "{lost} {live}");
    server.stop();
}
