//! Prices over FIX on the real server: who may read them, a client that reads slowly, and prices that come from another Rialto and may be old.

use scenarios::http::HttpRequest;
use scenarios::proxy::CuttableProxy;
use scenarios::wait::wait_for;
use serde_json::json;

use crate::fix_orders::client::{FixClient, Message};
use crate::fix_orders::{STEADY, server_with, session};
use crate::rialto_venue::Chain;
use crate::test_platform::{AAPL, TraderClient, body_of, market, with_id};

/// A session for prices beside that of the orders.
fn with_prices(name: &str) -> String {
    format!(
        "[SESSION]\nSenderCompID=RIALTO\nTargetCompID={name}\nMarketData=Y\nResetOnLogon=Y\nMaxSubscriptions=10000\n"
    )
}

const TOP: &str = "263=1|264=1|265=1|267=2|269=0|269=1|146=1|55=AAPL";

/// `AskSize Condition` of the newest entry of the offer in a message.
fn offer(message: &Message) -> Option<(String, String)> {
    let mut found = None;
    let mut is_offer = false;
    let (mut size, mut condition) = (None, None);
    for (tag, value) in &message.0 {
        match tag {
            269 => is_offer = value == "1",
            271 if is_offer => size = Some(value.clone()),
            276 if is_offer => condition = Some(value.clone()),
            _ => {}
        }
        if let (Some(size), Some(condition)) = (&size, &condition) {
            found = Some((size.clone(), condition.clone()));
        }
    }
    found
}

#[test]
fn a_viewer_may_read_prices_and_a_stranger_may_not() {
    let desk = server_with(&(STEADY.to_owned() + &with_prices("PRICES")));
    let server = desk.start();
    let mut rest = server.client();
    let token = |name: &str, role: &str| json!({ "name": name, "role": role, "days": 1 }).to_string();
    let mut issue = |name, role| {
        let issued = rest.post("/rest/token", &token(name, role)).unwrap();
        body_of(&issued)["token"].as_str().unwrap().to_owned()
    };
    let (admin, viewer) = (issue("admin", "ADMIN"), issue("viewer", "VIEWER"));
    let boss = r#"{"name": "boss", "password": "correct horse battery", "role": "ADMIN"}"#;
    assert_eq!(rest.post("/rest/user", boss).unwrap().status, 200);
    let address = server.port_address("fix");
    let credentials = format!("98=0|108=30|553=viewer|554={viewer}");
    let mut client = FixClient::new("PRICES");
    client.log_on_with(address, &credentials);
    client.send(&format!("35=V|262=p|{TOP}"));
    client.wait_for_messages(1);
    assert_eq!(client.received[0].kind(), "W");
    // It does not trade, and without a token there are no prices either.
    let mut trader = FixClient::new("STEADY");
    trader.connect(address);
    trader.send_admin("A", &credentials);
    trader.wait_for_disconnect();
    let headers = [("Authorization", &*format!("Bearer {admin}"))];
    let revoke = HttpRequest { method: "DELETE", path: "/rest/token/viewer", headers: &headers, body: None };
    assert_eq!(rest.send(&revoke).unwrap().status, 200);
    assert_eq!(client.expect("5").get(58), Some("forbidden: what you logged on with is no longer valid"));
    client.send_admin("5", "");
    client.wait_for_disconnect();
    let mut stranger = FixClient::new("PRICES");
    stranger.connect(address);
    stranger.send_admin("A", "98=0|108=30");
    stranger.wait_for_disconnect();
    server.stop();
}

/// More than the server keeps for a client: it has several megabytes for this one, which reads nothing.
#[test]
fn a_client_that_reads_slowly_gets_the_newest_price_and_not_every_one() {
    const REQUESTS: usize = 4_000;
    const ORDERS: usize = 40;
    let desk = server_with(&(STEADY.to_owned() + &with_prices("PRICES")));
    let server = desk.start();
    let mut client = FixClient::new("PRICES");
    client.log_on(server.port_address("fix"));
    for number in 0..REQUESTS {
        client.send(&format!("35=V|262=p{number}|{}", TOP.replace("264=1", "264=0")));
    }
    let mut rest = server.client();
    for number in 0..ORDERS {
        let id = format!("o{number}");
        rest.place(&with_id(market(AAPL, "BUY", 1), &id));
        rest.wait_for_status(&id, "EXECUTED");
    }
    let left = rest.get_json("/rest/marketdata/tick?security=1")[0]["volAsk"].to_string();
    assert_eq!(left, (300 - ORDERS).to_string());
    // Every request ends with the newest price.
    let mut newest = std::collections::BTreeMap::new();
    let mut updates = 0;
    while newest.len() < REQUESTS || newest.values().any(|size| *size != left) {
        let message = client.receive().expect("the line holds");
        if let (Some(request), Some((size, _))) = (message.get(262), offer(&message)) {
            updates += usize::from(message.kind() == "X");
            newest.insert(request.to_owned(), first_offer(&message).unwrap_or(size));
        }
    }
    assert!(updates < REQUESTS * ORDERS / 2, "{updates} updates, though it did not read");
    server.stop();
}

/// The size of the best offer, where the message has it.
fn first_offer(message: &Message) -> Option<String> {
    let mut is_best = false;
    let mut is_offer = false;
    for (tag, value) in &message.0 {
        match tag {
            269 => is_offer = value == "1",
            270 => is_best = is_offer && value == "272.41",
            271 if is_best => return Some(value.clone()),
            _ => {}
        }
    }
    None
}

#[test]
fn prices_of_another_rialto_are_the_same_and_say_when_they_may_be_old() {
    let sessions = STEADY.to_owned() + &with_prices("SCREEN");
    let chain = Chain::with_front(&sessions, |usual| usual.to_owned() + &with_prices("FEED"));
    let back = chain.back.start();
    let line = CuttableProxy::to(back.port_address("fix"));
    let front = chain.front.set("venues.BACK.marketDataPort", line.address().port()).set("simulated.venues", "");
    let front = front.set("venues.BACK.marketDataSenderCompId", "FEED").start();
    let price = |stale: serde_json::Value| {
        let is_so = move |tick: &serde_json::Value| tick["bid"].is_number() && tick["stale"] == stale;
        wait_for("a price in front", || {
            Some(front.client().get_json("/rest/marketdata/tick?security=1")[0].clone()).filter(&is_so)
        })
    };
    let (ours, theirs) = (price(json!(null)), back.client().get_json("/rest/marketdata/tick?security=1")[0].clone());
    assert_eq!((&ours["bid"], &ours["ask"]), (&theirs["bid"], &theirs["ask"]));
    let mut client = FixClient::new("SCREEN");
    client.seconds_ahead = 0;
    client.log_on(front.port_address("fix"));
    client.send(&format!("35=V|262=p|{TOP}"));
    client.wait_for_messages(1);
    assert_eq!(offer(&client.received[0]), Some(("300".into(), "A".into())));
    line.cut();
    client.receive_until("the price to be old", |client| {
        client.received.last().and_then(offer).is_some_and(|(_, condition)| condition == "B")
    });
    let text = client.received.last().unwrap().get(58).unwrap_or_default().to_owned();
    assert_eq!(text, "DISCONNECTED: the connection to the feed was lost");
    line.restore();
    client.receive_until("the price to be live", |client| {
        client.received.last().and_then(offer).is_some_and(|(_, condition)| condition == "A")
    });
    assert_eq!(session(&back, "FEED")["state"], "LOGGED_ON");
    front.stop();
    back.stop();
}
