//! What the venue holds, beside our own books.

use scenarios::http::HttpClient;
use scenarios::wait::wait_for;
use serde_json::{Value, json};

use crate::test_platform::{AAPL, TestPlatform, TraderClient, body_of, fields, limit, market};

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
    // The statement from before the stop is shown until the venue has stated its cash again.
    wait_for("the statement after the restart", || {
        (fields(&stated(&mut server.client(), 1), &shown) == traded).then_some(())
    });
    assert_eq!(fields(&stated(&mut server.client(), 2), &shown), opening);
    server.stop();
}

/// All breaks that are kept.
fn breaks(client: &mut HttpClient) -> Vec<Value> {
    client.get_json("/rest/break?state=ALL").as_array().unwrap().clone()
}

#[test]
fn cash_that_the_venue_does_not_have_is_a_break_that_keeps_positions_closed_until_it_is_repaired() {
    let desk = TestPlatform::new().set("reconciliation.statementsSeconds", 1).set("risk.breakLimit", 5);
    let server = desk.start();
    let mut client = server.client();
    stated(&mut client, 1);
    // Fills and statements overtake each other, and none of that is a difference.
    for side in ["BUY", "SELL", "BUY", "SELL", "BUY"] {
        let order = client.place(&market(AAPL, side, 10));
        client.wait_for_status(&order, "EXECUTED");
    }
    assert_eq!(breaks(&mut client), [] as [Value; 0]);
    let booked = r#"{"type": "CREDIT", "price": 7.5, "currency": "USD", "accountId": 1}"#;
    assert_eq!(client.post("/rest/transaction", booked).unwrap().status, 200);
    let found = wait_for("a break", || breaks(&mut client).first().cloned());
    assert_eq!(
        fields(&found, &["id", "kind", "state", "currency", "difference", "repair"]),
        json!({
            "id": "B1", "kind": "CASH", "state": "OPEN", "currency": "USD", "difference": "-7.5",
            "repair": "books a correction of -7.5 USD",
        })
    );
    let refused = client.submit(&market(AAPL, "BUY", 1));
    assert_eq!((refused.status, &body_of(&refused)["code"]), (422, &json!("break-open")));
    let reducing = client.place(&market(AAPL, "SELL", 10));
    client.wait_for_status(&reducing, "EXECUTED");
    // What was traded since the last statement may be the very thing that is missing: the next one says so.
    wait_for("a statement with the reduction, which the repair waits for", || {
        let repaired = client.post("/rest/break/B1/repair", r#"{"comment": "typed by mistake"}"#).unwrap();
        let is_outdated = repaired.status == 409 && body_of(&repaired)["code"] == json!("break-outdated");
        assert!(repaired.status == 200 || is_outdated, "{repaired:?}");
        (repaired.status == 200).then_some(())
    });
    let opened = client.place(&market(AAPL, "BUY", 1));
    client.wait_for_status(&opened, "EXECUTED");
    wait_for("books that equal the statement", || {
        let balance = stated(&mut client, 1);
        (balance["amount"] == balance["venueTotal"]).then_some(())
    });
    assert_eq!(breaks(&mut client).len(), 1);
    server.stop();
}
