//! Determinism: two fresh servers with the same orders end in the same state.

use scenarios::http::HttpClient;
use serde_json::{Value, json};

use crate::test_platform::{AAPL, SAP, TestPlatform, TraderClient, limit, market, with_id};

#[test]
fn two_desks_that_are_told_the_same_end_alike() {
    let pictures = [told(), told()];
    assert_eq!(pictures[0], pictures[1]);
    let (orders, positions) = (&pictures[0]["orders"], &pictures[0]["positions"]);
    assert_eq!((orders.as_array().unwrap().len(), positions.as_array().unwrap().len()), (2, 3));
}

/// The end of a short day, with orders in three markets that walk the book, rest, trade and are cancelled.
fn told() -> Value {
    let desk = TestPlatform::new().set("demo.seed", 7);
    let server = desk.start();
    let mut client = server.client();
    let orders = [
        (market(AAPL, "BUY", 700), "EXECUTED"),
        (limit(AAPL, "BUY", 5, "272.40"), "SUBMITTED"),
        (market(SAP, "SELL", 20), "EXECUTED"),
        (limit(SAP, "SELL", 10, "230"), "SUBMITTED"),
        (market(6, "BUY", 10_000), "EXECUTED"),
        (market(AAPL, "BUY", 200), "EXECUTED"),
    ];
    for (number, (order, status)) in orders.iter().enumerate() {
        let id = format!("told-{number}");
        client.place(&with_id(order.clone(), &id));
        client.wait_for_status(&id, status);
    }
    client.delete("/rest/execution/order/told-3").unwrap();
    client.wait_for_status("told-3", "CANCELED");
    let minted = client.place(&limit(SAP, "BUY", 10, "190"));
    client.wait_for_status(&minted, "SUBMITTED");
    let mut picture = client.account_state();
    picture["done"] = json!(average_prices(&mut client));
    server.stop();
    picture
}

fn average_prices(client: &mut HttpClient) -> Vec<Value> {
    ["told-0", "told-2", "told-4", "told-5"].map(|id| client.order(id)["avgPrice"].clone()).into()
}
