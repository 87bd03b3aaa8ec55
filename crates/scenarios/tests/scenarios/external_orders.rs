//! Orders that another client places at the venue: adopted once, visible, cancelled, claimed, and the same after a restart.

use scenarios::http::HttpClient;
use scenarios::wait::wait_for;
use serde_json::{Value, json};

use crate::test_platform::{AAPL, TestPlatform, TraderClient, limit, with_id};

/// All external orders that there ever were, oldest first.
fn external_orders(client: &mut HttpClient) -> Vec<Value> {
    client.get_json("/rest/history/order?source=EXTERNAL&sort=OLDEST").as_array().unwrap().clone()
}

fn wait_for_external(client: &mut HttpClient, place: usize, status: &str) -> Value {
    wait_for("an external order", || {
        external_orders(client).get(place).filter(|order| order["status"] == status).cloned()
    })
}

/// Strategy and quantity of the open positions in a security.
fn held(client: &mut HttpClient) -> Vec<(String, Value)> {
    let strategies = client.get_json("/rest/strategy");
    let name = |id: &Value| strategies.as_array().unwrap().iter().find(|row| row["id"] == *id).unwrap()["name"].clone();
    let positions = client.get_json(&format!("/rest/position?security={AAPL}"));
    let open = positions.as_array().unwrap().iter().filter(|row| row["quantity"] != json!(0));
    open.map(|row| (name(&row["strategyId"]).as_str().unwrap().to_owned(), row["quantity"].clone())).collect()
}

#[test]
fn an_order_from_elsewhere_is_adopted_cancelled_claimed_and_known_after_a_restart() {
    let desk = TestPlatform::new().set("simulated.faults", "*:strangers=1");
    let server = desk.start();
    let mut client = server.client();
    client.place(&with_id(limit(AAPL, "BUY", 1, "250"), "rests"));
    let rests = wait_for_external(&mut client, 0, "SUBMITTED");
    let id = rests["intId"].as_str().unwrap();
    let seen = ["side", "quantity", "limit", "source", "filledQuantity"].map(|field| rests[field].clone());
    assert_eq!(seen, [json!("BUY"), json!(1), json!(250), json!("EXTERNAL"), json!(0)]);
    let changed = client.post("/rest/execution/modify/order/limit", &json!({"intId": id, "limit": 251}).to_string());
    assert_eq!(changed.unwrap().status, 409);
    assert_eq!(client.delete(&format!("/rest/execution/order/{id}")).unwrap().status, 200);
    client.wait_for_status(id, "CANCELED");

    client.place(&with_id(limit(AAPL, "BUY", 2, "400"), "trades"));
    client.wait_for_status("trades", "EXECUTED");
    let traded = wait_for_external(&mut client, 1, "EXECUTED");
    assert_eq!(held(&mut client), [("SERVER".to_owned(), json!(2)), ("EXTERNAL".to_owned(), json!(2))]);
    let claim = format!("/rest/order/{}/claim", traded["intId"].as_str().unwrap());
    assert_eq!(client.post(&claim, r#"{"strategy": "SERVER"}"#).unwrap().status, 200);
    assert_eq!(held(&mut client), [("SERVER".to_owned(), json!(4))]);
    assert_eq!(client.post(&claim, r#"{"strategy": "SERVER"}"#).unwrap().status, 409);

    let before = (external_orders(&mut client), client.account_state());
    assert_eq!(before.0.len(), 2);
    server.stop();
    let server = desk.start();
    let mut client = server.client();
    assert_eq!((external_orders(&mut client), client.account_state()), before);
    server.stop();
}
