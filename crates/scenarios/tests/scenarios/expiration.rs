//! Futures and options that expire while the server is down. They are traded on the day before; the clock of the next
//! start is moved behind the weekend.

use scenarios::http::{HttpClient, HttpRequest};
use scenarios::wait::wait_for;
use serde_json::{Value, json};

use crate::test_platform::{AAPL, TestPlatform, TraderClient, fields, limit, market};

const DAY: i64 = 24 * 3_600;
/// 2027-03-18 12:00 UTC, a Thursday; the securities below expire on Friday.
const THURSDAY: i64 = 122 * DAY;
/// 2027-03-22 12:00 UTC.
const MONDAY: i64 = 126 * DAY;

/// 50 dollars a point, settled in cash; quoted at 6779.75 to 6780.25.
const ES: u64 = 24;
/// On 100 Apple each, which are delivered: the right to buy at 280, and to sell at 260.
const CALL: u64 = 27;
const PUT: u64 = 28;
/// On 10 times the Euro Stoxx 50, settled in cash, in euro: the right to buy at 5800.
const INDEX_CALL: u64 = 29;

#[test]
fn what_expired_over_the_weekend_is_settled_at_the_start() {
    let desk = TestPlatform::new();
    let resting = trade_on_thursday(&desk);
    let server = desk.launch_at(MONDAY).start();
    let mut client = server.client();
    let canceled = client.wait_for_status(&resting, "CANCELED");
    assert_eq!(canceled["filledQuantity"], json!(0));
    assert_eq!(
        booked_today(&mut client),
        [
            "EXPIRATION -2 of 24 at 6780.25: settled at the last price",
            "EXPIRATION -3 of 27 at 0: exercised: AAPL at 300, the settlement price",
            "BUY 300 of 1 at 280: delivery of AAPL270319C280",
            "EXPIRATION 1 of 28 at 0: expired worthless: AAPL at 300, the settlement price",
            "EXPIRATION -4 of 29 at 12.5: exercised: SX5E at 5812.5, the settlement price",
        ]
    );
    assert_eq!(open(&mut client), json!([{ "securityId": AAPL, "quantity": 300, "cost": 84_000 }]));
    // By hand: 1,000,000 - 3 × 14.25 × 100 for calls + 11.05 × 100 for the put - 300 × 280 for Apple - 7.3 of costs; the futures
    // were bought at what became their last price. In euro 4 × (12.5 - 159.4) × 10 - 2.6 of costs.
    assert_eq!(
        cash(&mut client),
        json!([
            { "accountId": 1, "currency": "USD", "amount": 1_000_000 },
            { "accountId": 2, "currency": "USD", "amount": 912_822.7 },
            { "accountId": 2, "currency": "EUR", "amount": -5_878.6 },
        ])
    );
    let refused = client.submit(&market(ES, "BUY", 1));
    assert_eq!(refused.status, 422);
    assert!(refused.body.contains("security-expired"), "{}", refused.body);
    let settled = books(&mut client);
    server.stop();
    let server = desk.launch_at(MONDAY + 60).start();
    assert_eq!(books(&mut server.client()), settled, "a replay settles nothing twice");
    server.stop();
}

/// Two futures, three calls, a put that is owed, an option on an index, and an order that rests. Apple will settle at 300.
fn trade_on_thursday(desk: &TestPlatform) -> String {
    let server = desk.launch_at(THURSDAY).start();
    let mut client = server.client();
    for (security, side, quantity) in [(ES, "BUY", 2), (CALL, "BUY", 3), (PUT, "SELL", 1), (INDEX_CALL, "BUY", 4)] {
        let order = client.place(&market(security, side, quantity));
        client.wait_for_status(&order, "EXECUTED");
    }
    let resting = client.place(&limit(ES, "BUY", 1, "6000"));
    client.wait_for_status(&resting, "SUBMITTED");
    for (security, price) in [(AAPL, "300"), (23, "5812.5")] {
        let price = json!({ "securityId": security, "price": price, "date": "2027-03-19" }).to_string();
        let (method, path, body) = ("PUT", "/rest/marketdata/settlement", Some(price.as_str()));
        let given = client.send(&HttpRequest { method, path, body, ..HttpRequest::default() }).unwrap();
        assert_eq!(given.status, 200, "{given:?}");
    }
    // The last price of the future must be known before the server goes to sleep.
    wait_for("a price of the future", || {
        let held = client.get_json("/rest/position");
        let future = held.as_array().unwrap().iter().find(|held| held["securityId"] == json!(ES))?;
        (!future["marketPrice"].is_null()).then_some(())
    });
    server.stop();
    resting
}

/// Oldest first.
fn booked_today(client: &mut HttpClient) -> Vec<String> {
    let told = client.get_json("/rest/transaction/daily");
    let line = |booked: &Value| {
        assert_eq!(booked["settlementDate"], json!("2027-03-19"));
        let [kind, why] = ["type", "description"].map(|key| booked[key].as_str().unwrap());
        let [quantity, security, price] = ["quantity", "securityId", "price"].map(|key| &booked[key]);
        format!("{kind} {quantity} of {security} at {price}: {why}")
    };
    told.as_array().unwrap().iter().rev().map(line).collect()
}

fn books(client: &mut HttpClient) -> (Vec<String>, Value, Value) {
    (booked_today(client), open(client), cash(client))
}

fn open(client: &mut HttpClient) -> Value {
    let held = client.get_json("/rest/position");
    let open = held.as_array().unwrap().iter().filter(|held| held["quantity"] != json!(0));
    open.map(|held| fields(held, &["securityId", "quantity", "cost"])).collect()
}

fn cash(client: &mut HttpClient) -> Value {
    let balances = client.get_json("/rest/portfolio/balance");
    balances.as_array().unwrap().iter().map(|held| fields(held, &["accountId", "currency", "amount"])).collect()
}
