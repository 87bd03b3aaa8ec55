//! REST orders: rest, trade, cancel; positions and cash follow.

use scenarios::http::HttpClient;
use serde_json::{Value, json};

use crate::test_platform::{AAPL, SAP, TestPlatform, TraderClient, body_of, fields, int_id_in, limit, market, with_id};

/// What a trader looks at in an order.
const SEEN: [&str; 7] = ["objectType", "side", "quantity", "status", "filledQuantity", "remainingQuantity", "avgPrice"];

#[test]
fn a_limit_order_rests_where_its_location_says() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let response = client.submit(&limit(AAPL, "BUY", 100, "250"));
    assert_eq!((response.status, response.body.as_str()), (200, ""));
    assert_eq!(response.header("content-length"), Some("0"));
    assert_eq!(response.header("location"), Some("/rest/execution/order/ALPHA-1"));
    let order = client.wait_for_status("ALPHA-1", "SUBMITTED");
    let expected = json!({
        "objectType": "LimitOrder", "side": "BUY", "quantity": 100, "status": "SUBMITTED", "filledQuantity": 0,
        "remainingQuantity": 100, "avgPrice": null
    });
    assert_eq!(fields(&order, &SEEN), expected);
    let routed = fields(&order, &["limit", "tif", "securityId", "accountId", "exchangeId", "strategyId", "source"]);
    let expected = json!({
        "limit": 250, "tif": "GTC", "securityId": 1, "accountId": 1, "exchangeId": 1, "strategyId": 1, "source": "REST"
    });
    assert_eq!(routed, expected);
    assert_eq!(client.get_json("/rest/execution/order"), json!([order]));
    server.stop();
}

#[test]
fn a_market_order_takes_the_standing_quotes_and_moves_position_and_cash() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let bought = client.place(&market(AAPL, "BUY", 100));
    let order = client.wait_for_status(&bought, "EXECUTED");
    let expected = json!({
        "objectType": "MarketOrder", "side": "BUY", "quantity": 100, "status": "EXECUTED", "filledQuantity": 100,
        "remainingQuantity": 0, "avgPrice": 272.41
    });
    assert_eq!(fields(&order, &SEEN), expected);
    assert_eq!(client.get_json("/rest/execution/order"), json!([]), "what is done is no longer open");
    assert_eq!(held(&mut client, AAPL), json!({ "quantity": 100, "cost": 27241, "avgPrice": 272.41, "realizedPL": 0 }));
    // 100 at 272.41, and 0.0055 a share for commissions and fee.
    assert_eq!(cash(&mut client, 1), json!([{ "currency": "USD", "amount": 972758.45 }]));
    server.stop();
}

#[test]
fn an_order_larger_than_the_best_quote_walks_the_book() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let bought = client.place(&market(AAPL, "BUY", 500));
    let order = client.wait_for_status(&bought, "EXECUTED");
    // 300 at 272.41, the next 200 at 272.42.
    assert_eq!(fields(&order, &["filledQuantity", "avgPrice"]), json!({ "filledQuantity": 500, "avgPrice": 272.414 }));
    server.stop();
}

#[test]
fn a_round_trip_realises_its_loss() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    for side in ["BUY", "SELL"] {
        let order = client.place(&market(AAPL, side, 10));
        client.wait_for_status(&order, "EXECUTED");
    }
    // Bought at 272.41, sold at 272.39; it stays in the list because it was closed today.
    let closed = held(&mut client, AAPL);
    assert_eq!(fields(&closed, &["quantity", "cost"]), json!({ "quantity": 0, "cost": 0 }));
    let cash = cash(&mut client, 1);
    assert_eq!(cash, json!([{ "currency": "USD", "amount": 999999.69 }]));
    server.stop();
}

#[test]
fn a_limit_order_that_reaches_the_market_trades_at_the_better_price() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let bought = client.place(&limit(SAP, "BUY", 10, "212"));
    let order = client.wait_for_status(&bought, "EXECUTED");
    let expected = json!({ "accountId": 2, "exchangeId": 2, "avgPrice": 210.55 });
    assert_eq!(fields(&order, &["accountId", "exchangeId", "avgPrice"]), expected);
    server.stop();
}

#[test]
fn a_resting_order_is_cancelled_once() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let resting = client.place(&limit(AAPL, "SELL", 10, "300"));
    client.wait_for_status(&resting, "SUBMITTED");
    let path = format!("/rest/execution/order/{resting}");
    let response = client.delete(&path).unwrap();
    assert_eq!((response.status, response.body.as_str()), (200, ""));
    let order = client.wait_for_status(&resting, "CANCELED");
    assert_eq!(
        fields(&order, &["filledQuantity", "remainingQuantity"]),
        json!({ "filledQuantity": 0, "remainingQuantity": 0 })
    );
    let again = client.delete(&path).unwrap();
    assert_eq!((again.status, &body_of(&again)["code"]), (409, &json!("order-closed")));
    server.stop();
}

#[test]
fn a_second_order_with_a_known_id_meets_the_first_one() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let order = with_id(limit(AAPL, "BUY", 10, "250"), "desk/7");
    let placed = client.submit(&order);
    assert_eq!(placed.header("location"), Some("/rest/execution/order/desk%2F7"));
    client.wait_for_status("desk%2F7", "SUBMITTED");
    let again = client.submit(&order);
    assert_eq!((again.status, again.header("location")), (409, placed.header("location")));
    let problem = body_of(&again);
    let live = client.order("desk%2F7");
    assert_eq!((&problem["code"], &problem["order"]), (&json!("duplicate-order"), &live));
    assert_eq!(client.get_json("/rest/execution/order"), json!([live]), "there is still one");
    server.stop();
}

#[test]
fn an_id_is_never_given_twice() {
    let desk = TestPlatform::new();
    let mut given = Vec::new();
    for _ in 0..2 {
        let server = desk.start();
        let mut client = server.client();
        for _ in 0..2 {
            let response = client.post("/rest/next-order-id", "1").unwrap();
            assert_eq!(response.status, 200, "{response:?}");
            given.push(body_of(&response).as_str().unwrap().to_owned());
        }
        given.push(client.place(&limit(AAPL, "BUY", 1, "250")));
        server.stop();
    }
    assert_eq!(given, ["ALPHA-1", "ALPHA-2", "ALPHA-3", "ALPHA-4", "ALPHA-5", "ALPHA-6"]);
}

#[test]
fn an_id_that_was_given_can_be_brought() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let given = body_of(&client.post("/rest/next-order-id", "2").unwrap());
    assert_eq!(given, json!("BETA-1"));
    let response = client.submit(&with_id(limit(SAP, "BUY", 1, "200"), "BETA-1"));
    assert_eq!(int_id_in(&response), "BETA-1");
    server.stop();
}

#[test]
fn accounts_and_securities_are_listed() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let accounts = client.get_json("/rest/account");
    let shown: Vec<_> = accounts.as_array().unwrap().iter().map(|a| fields(a, &["id", "name", "active"])).collect();
    let expected = json!([
        { "id": 1, "name": "Rialto Desk", "active": true },
        { "id": 2, "name": "San Marco Desk", "active": true },
        { "id": 3, "name": "San Marco Reserve", "active": false },
    ]);
    assert_eq!(json!(shown), expected);
    let securities = client.get_json("/rest/security");
    let apple = &securities.as_array().unwrap()[0];
    assert_eq!(
        (securities.as_array().unwrap().len(), &apple["symbol"], &apple["objectType"]),
        (33, &json!("AAPL"), &json!("Stock"))
    );
    assert_eq!(client.get_json("/rest/position"), json!([]));
    assert_eq!(client.get_json("/rest/execution/order"), json!([]));
    server.stop();
}

fn held(client: &mut HttpClient, security: u64) -> Value {
    let positions = client.get_json(&format!("/rest/position?security={security}"));
    fields(&positions[0], &["quantity", "cost", "avgPrice", "realizedPL"])
}

fn cash(client: &mut HttpClient, account: u64) -> Value {
    let balances = client.get_json(&format!("/rest/portfolio/balance?account={account}"));
    balances.as_array().unwrap().iter().map(|balance| fields(balance, &["currency", "amount"])).collect()
}
