//! Positions that are closed whatever rests, and orders of one account that must not meet.

use scenarios::http::{HttpClient, HttpRequest};
use serde_json::{Value, json};

use crate::test_platform::{AAPL, SAP, TestPlatform, TraderClient, body_of, fields, int_id_in, limit, market};

fn stop(quantity: u64, price: &str) -> Value {
    json!({ "securityId": AAPL, "side": "SELL", "quantity": quantity, "stop": price, "tif": "GTC" })
}

/// Places a stop that the venue has taken.
fn protect(client: &mut HttpClient, quantity: u64, price: &str) -> String {
    let answer = client.post("/rest/execution/order/stop", &stop(quantity, price).to_string()).unwrap();
    assert_eq!(answer.status, 200, "{answer:?}");
    let protection = int_id_in(&answer);
    client.wait_for_status(&protection, "SUBMITTED");
    protection
}

fn buy_100(client: &mut HttpClient) {
    let bought = client.place(&market(AAPL, "BUY", 100));
    client.wait_for_status(&bought, "EXECUTED");
}

/// Closes the first position, or reduces it by a quantity; gives the order that does it.
fn close(client: &mut HttpClient, quantity: Option<u64>) -> String {
    let answer = match quantity {
        None => client.delete("/rest/position/1"),
        Some(quantity) => client.post("/rest/position/reduce/1", &quantity.to_string()),
    };
    let answer = answer.unwrap();
    assert_eq!(answer.status, 200, "{answer:?}");
    int_id_in(&answer)
}

fn position(client: &mut HttpClient) -> Value {
    client.get_json("/rest/position?security=AAPL")[0]["quantity"].clone()
}

fn set_self_trade(client: &mut HttpClient, scope: &str, policy: &str) {
    let body = json!({ "scope": scope, "selfTrade": policy }).to_string();
    let put = HttpRequest { method: "PUT", path: "/rest/risk/limit", body: Some(&body), ..HttpRequest::default() };
    let answer = client.send(&put).unwrap();
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[test]
fn a_close_cancels_the_protective_stop_and_ends_flat() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    buy_100(&mut client);
    let protection = protect(&mut client, 100, "260");
    let closing = close(&mut client, None);
    let closed = client.wait_for_status(&closing, "EXECUTED");
    assert_eq!(fields(&closed, &["quantity", "filledQuantity"]), json!({ "quantity": 100, "filledQuantity": 100 }));
    assert_eq!(client.order(&protection)["status"], json!("CANCELED"));
    assert_eq!(client.order(&protection)["reason"], json!("position-closed"));
    assert_eq!(position(&mut client), json!(0));
    server.stop();
}

#[test]
fn a_reduction_leaves_the_rest_protected() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    buy_100(&mut client);
    let protection = protect(&mut client, 100, "260");
    let reducing = close(&mut client, Some(50));
    client.wait_for_status(&reducing, "EXECUTED");
    let left = client.order(&protection);
    let names = ["status", "quantity", "reason"];
    assert_eq!(fields(&left, &names), json!({ "status": "SUBMITTED", "quantity": 50, "reason": "position-closed" }));
    assert_eq!(position(&mut client), json!(50));
    server.stop();
}

/// The venue takes a minute to answer, so that the server is sure to be killed while the close waits.
#[test]
fn a_close_that_waits_outlives_a_crash_and_is_rejected_when_its_time_is_up() {
    let desk = TestPlatform::new();
    let server = desk.start();
    buy_100(&mut server.client());
    let protection = protect(&mut server.client(), 100, "260");
    server.stop();
    let slow = desk.launch.clone().set("simulated.latencyMicros", 60_000_000);
    let server = slow.start();
    let closing = close(&mut server.client(), None);
    let waiting = server.client().order(&closing);
    let reason = format!("waits for the venue to cancel order {protection}");
    assert_eq!(fields(&waiting, &["status", "reason"]), json!({ "status": "OPEN", "reason": reason }));
    server.stop();
    let server = slow.start();
    let rejected = server.client().wait_for_status(&closing, "REJECTED");
    let reason = format!("would-flip: the venue has not cancelled or reduced order {protection} within 5 s");
    assert_eq!(rejected["reason"], json!(reason));
    assert_eq!(position(&mut server.client()), json!(100));
    server.stop();
}

#[test]
fn market_orders_there_and_back_are_never_refused() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let orders: Vec<_> =
        (0..200).flat_map(|_| ["BUY", "SELL"]).map(|side| client.place(&market(AAPL, side, 1))).collect();
    orders.iter().for_each(|order| drop(client.wait_for_status(order, "EXECUTED")));
    assert_eq!(position(&mut client), json!(0));
    server.stop();
}

#[test]
fn an_order_for_the_auction_meets_only_those_for_the_same_auction() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let at_the_close = |side: &str| json!({ "securityId": SAP, "side": side, "quantity": 1, "tif": "ATC" });
    let selling = client.place(&at_the_close("SELL"));
    client.place(&market(SAP, "BUY", 1));
    let refused = client.submit(&at_the_close("BUY"));
    let problem = body_of(&refused);
    let detail = format!("would trade with the account's own order {selling}");
    assert_eq!((refused.status, &problem["code"], &problem["detail"]), (422, &json!("self-trade"), &json!(detail)));
    server.stop();
}

#[test]
fn a_resting_order_gives_way_where_the_account_wants_it_so() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let resting = client.place(&limit(AAPL, "BUY", 1, "272.40"));
    client.wait_for_status(&resting, "SUBMITTED");
    let refused = body_of(&client.submit(&market(AAPL, "SELL", 1)));
    assert_eq!(refused["code"], json!("self-trade"));
    set_self_trade(&mut client, "ACCOUNT-1", "CANCEL_RESTING");
    let selling = client.place(&market(AAPL, "SELL", 1));
    client.wait_for_status(&selling, "EXECUTED");
    let cancelled = client.order(&resting);
    let reason = format!("self-trade: order {selling} of the same account meets it");
    assert_eq!(fields(&cancelled, &["status", "reason"]), json!({ "status": "CANCELED", "reason": reason }));

    set_self_trade(&mut client, "ACCOUNT-1", "CANCEL_BOTH");
    let resting = client.place(&limit(AAPL, "BUY", 1, "272.40"));
    client.wait_for_status(&resting, "SUBMITTED");
    let selling = client.place(&market(AAPL, "SELL", 1));
    let ended = client.order(&selling);
    let reason = format!("self-trade: would trade with the account's own order {resting}");
    assert_eq!(fields(&ended, &["status", "reason"]), json!({ "status": "CANCELED", "reason": reason }));
    client.wait_for_status(&resting, "CANCELED");
    server.stop();
}
