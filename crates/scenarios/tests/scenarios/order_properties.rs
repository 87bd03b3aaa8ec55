//! Order properties end to end, over REST and over FIX, in a market that stands still: AAPL is quoted at 272.39 to 272.41,
//! 300 each.

use scenarios::http::HttpClient;
use serde_json::{Value, json};

use crate::fix_orders::client::FixClient;
use crate::test_platform::{AAPL, TestPlatform, TraderClient, body_of, fields, limit, market};

fn with(mut order: Value, properties: &Value) -> Value {
    let more = properties.as_object().unwrap().clone();
    order.as_object_mut().unwrap().extend(more);
    order
}

/// Quantity at a price in the book, as everybody sees it.
fn shown(client: &mut HttpClient, side: &str, price: f64) -> Value {
    let book = client.get_json(&format!("/rest/marketdata/book?security={AAPL}"));
    let book = if book.is_array() { book[0].clone() } else { book };
    let levels = book[side].as_array().unwrap().clone();
    levels.iter().find(|level| level["price"] == json!(price)).map_or(Value::Null, |level| level["quantity"].clone())
}

fn position(client: &mut HttpClient) -> Value {
    client
        .get_json("/rest/position?security=AAPL")
        .as_array()
        .and_then(|list| Some(list.first()?["quantity"].clone()))
        .unwrap_or(json!(0))
}

#[test]
fn rest_orders_keep_their_properties_to_the_letter() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();

    let takes = client.place(&with(limit(AAPL, "BUY", 10, "272.41"), &json!({ "postOnly": true })));
    let rejected = client.wait_for_status(&takes, "REJECTED");
    assert!(rejected["reason"].as_str().unwrap().contains("would-take"), "{rejected}");
    let rests = client.place(&with(limit(AAPL, "BUY", 10, "272.40"), &json!({ "postOnly": true })));
    assert_eq!(client.wait_for_status(&rests, "SUBMITTED")["postOnly"], json!(true));

    let iceberg = client.place(&with(limit(AAPL, "BUY", 500, "200"), &json!({ "displayQuantity": 20 })));
    assert_eq!(client.wait_for_status(&iceberg, "SUBMITTED")["displayQuantity"], json!(20));

    let ioc = |least: u64| json!({ "securityId": AAPL, "side": "BUY", "quantity": 400, "limit": "272.41", "tif": "IOC", "minQuantity": least });
    let nothing = client.place(&ioc(301));
    let ended = client.wait_for_status(&nothing, "CANCELED");
    assert_eq!(ended["filledQuantity"], json!(0), "{ended}");
    let part = client.place(&ioc(100));
    assert_eq!(client.wait_for_status(&part, "CANCELED")["filledQuantity"], json!(300));
    assert_eq!(position(&mut client), json!(300));

    for (order, code) in [
        (with(market(AAPL, "BUY", 10), &json!({ "postOnly": true })), "property-not-allowed"),
        (with(limit(AAPL, "BUY", 10, "272"), &json!({ "minQuantity": 5 })), "property-not-allowed"),
        (with(limit(AAPL, "BUY", 10, "272"), &json!({ "displayQuantity": 11 })), "too-large"),
    ] {
        let refused = client.submit(&order);
        assert_eq!((refused.status, body_of(&refused)["code"].clone()), (422, json!(code)), "{order}");
        let checked =
            body_of(&client.post("/rest/risk/check", &with(order, &json!({ "tif": "DAY" })).to_string()).unwrap());
        assert_ne!(checked["accepted"], json!(true), "{checked}");
    }
    server.stop();
}

#[test]
fn a_reduce_only_order_never_flips_also_when_another_order_fills_first() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let bought = client.place(&market(AAPL, "BUY", 100));
    client.wait_for_status(&bought, "EXECUTED");
    let take_profit = client.place(&with(limit(AAPL, "SELL", 100, "300"), &json!({ "reduceOnly": true })));
    client.wait_for_status(&take_profit, "SUBMITTED");
    let sold = client.place(&market(AAPL, "SELL", 70));
    client.wait_for_status(&sold, "EXECUTED");
    let left = client.wait_for_status(&take_profit, "SUBMITTED");
    assert_eq!(fields(&left, &["quantity", "reduceOnly"]), json!({ "quantity": 30, "reduceOnly": true }), "{left}");
    let all = client.place(&market(AAPL, "SELL", 30));
    client.wait_for_status(&all, "EXECUTED");
    client.wait_for_status(&take_profit, "CANCELED");
    assert_eq!(position(&mut client), json!(0));
    let refused = client.submit(&with(limit(AAPL, "SELL", 1, "300"), &json!({ "reduceOnly": true })));
    assert_eq!((refused.status, body_of(&refused)["code"].clone()), (422, json!("would-flip")));
    server.stop();
}

#[test]
fn fix_orders_have_the_same_properties_under_their_tags() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let mut fix = FixClient::new("CLIENT");
    fix.log_on(server.port_address("fix"));
    let mut answer = |order: &str, id: &str| {
        fix.send(order);
        loop {
            let report = fix.expect("8");
            let is_last = matches!(report.get(39), Some("0" | "2" | "4" | "8" | "C"));
            if report.get(11) == Some(id) && is_last {
                return report;
            }
        }
    };
    let taker = answer("35=D|11=p1|54=1|38=10|40=2|44=272.41|48=1|59=1|18=6", "p1");
    assert_eq!(taker.get(39), Some("8"), "post only: {taker:?}");
    let rests = answer("35=D|11=p2|54=1|38=10|40=2|44=272.4|48=1|59=1|18=6", "p2");
    assert_eq!((rests.get(39), rests.get(18)), (Some("0"), Some("6")));
    let iceberg = answer("35=D|11=p3|54=1|38=500|40=2|44=200|48=1|59=1|111=20", "p3");
    assert_eq!((iceberg.get(39), iceberg.get(111)), (Some("0"), Some("20")));
    let nothing = answer("35=D|11=p4|54=1|38=400|40=2|44=272.41|48=1|59=3|110=301", "p4");
    assert_ne!(nothing.get(39), Some("8"), "{nothing:?}");
    let ended = client.wait_for_status("p4", "CANCELED");
    assert_eq!(ended["filledQuantity"], json!(0));
    let flips = answer("35=D|11=p5|54=2|38=10|40=2|44=300|48=1|59=1|18=E", "p5");
    assert_eq!((flips.get(39), flips.get(103)), (Some("8"), Some("99")), "{flips:?}");
    let bought = answer("35=D|11=p6|54=1|38=10|40=1|48=1", "p6");
    assert!(matches!(bought.get(39), Some("0" | "2")));
    client.wait_for_status("p6", "EXECUTED");
    let reduces = answer("35=D|11=p7|54=2|38=10|40=2|44=300|48=1|59=1|18=E", "p7");
    assert_eq!((reduces.get(39), reduces.get(18)), (Some("0"), Some("E")));
    assert_eq!(client.order("p7")["reduceOnly"], json!(true));
    server.stop();
}

#[test]
fn the_adapters_say_what_their_venues_offer() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let adapters = client.get_json("/rest/adapter");
    let offered = json!(["postOnly", "displayQuantity", "minQuantity", "reduceOnly"]);
    let told: Vec<_> =
        adapters.as_array().unwrap().iter().map(|one| fields(one, &["name", "orderProperties"])).collect();
    assert_eq!(
        told,
        [
            json!({ "name": "SIMULATED-ALPHA", "orderProperties": offered }),
            json!({ "name": "SIMULATED-BETA", "orderProperties": offered }),
        ]
    );
    let rests = client.place(&with(limit(AAPL, "BUY", 500, "272.40"), &json!({ "displayQuantity": 20 })));
    client.wait_for_status(&rests, "SUBMITTED");
    scenarios::wait::wait_for("the shown part in the book", || {
        (shown(&mut client, "bids", 272.4) == json!(20)).then_some(())
    });
    server.stop();
}
