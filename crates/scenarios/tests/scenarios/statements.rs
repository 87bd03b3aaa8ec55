//! What the venue holds, beside our own books.

use scenarios::http::HttpClient;
use scenarios::wait::wait_for;
use serde_json::{Value, json};

use crate::test_platform::{AAPL, TestPlatform, TraderClient, fields, limit, market};

/// The balance of an account in dollars, once the venue has stated it.
fn stated(client: &mut HttpClient, account: u64) -> Value {
    wait_for("a statement", || {
        let balances = client.get_json(&format!("/rest/portfolio/balance?account={account}"));
        let dollars = balances.as_array().unwrap().iter().find(|balance| balance["currency"] == "USD").cloned();
        dollars.filter(|balance| !balance["venueTotal"].is_null())
    })
}

#[test]
fn after_a_restart_the_venue_states_the_same_cash_as_our_books_and_what_orders_lock() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let shown = ["amount", "venueTotal", "venueLocked"];
    let opening = json!({ "amount": 1_000_000, "venueTotal": 1_000_000, "venueLocked": 0 });
    assert_eq!(fields(&stated(&mut client, 1), &shown), opening);
    let bought = client.place(&market(AAPL, "BUY", 100));
    client.wait_for_status(&bought, "EXECUTED");
    let resting = client.place(&limit(AAPL, "BUY", 5, "200"));
    client.wait_for_status(&resting, "SUBMITTED");
    server.stop();
    let server = desk.start();
    // 100 × 272.41 and 0.55 of commissions and fees.
    let traded = json!({ "amount": 972_758.45, "venueTotal": 972_758.45, "venueLocked": 1_000 });
    assert_eq!(fields(&stated(&mut server.client(), 1), &shown), traded);
    assert_eq!(fields(&stated(&mut server.client(), 2), &shown), opening);
    server.stop();
}
