//! A strategy at a FIX venue: its prices come over FIX, its orders go out over FIX, and another Rialto is the venue.

use scenarios::http::HttpClient;
use scenarios::wait::wait_for;
use serde_json::{Value, json};

use crate::fix_orders::STEADY;
use crate::rialto_venue::{Chain, expect_equal_journals};
use crate::test_platform::{AAPL, TraderClient};

const MAKER: &str = "MAKER:market-making security=AAPL quantity=10 maxPosition=50 distance=1";
/// The session for prices behind.
const FEED: &str = "[SESSION]\nSenderCompID=RIALTO\nTargetCompID=FEED\nMarketData=Y\nResetOnLogon=Y\n";

/// Sides of the strategy's orders that have traded.
fn traded_sides(front: &mut HttpClient) -> Vec<Value> {
    let orders = front.get_json("/rest/history/order?strategy=MAKER&limit=1000");
    let traded = orders.as_array().unwrap().iter().filter(|order| order["filledQuantity"] != json!(0));
    traded.map(|order| order["side"].clone()).collect()
}

#[test]
fn a_strategy_quotes_at_a_fix_venue_by_prices_of_that_venue_and_is_filled_there() {
    let chain = Chain::with_front(STEADY, |usual| usual.to_owned() + FEED);
    let chain = Chain {
        back: chain.back.set("demo.activity", "busy"),
        // Only the venue has prices, and the strategy's orders have no other way.
        front: chain
            .front
            .set("simulated.venues", "")
            .set("strategies.instances", MAKER)
            .set("venues.BACK.marketDataPort", chain.line.address().port())
            .set("venues.BACK.marketDataSenderCompId", "FEED"),
        line: chain.line,
    };
    let [front, back] = chain.start();
    let mut client = front.client();
    wait_for("fills of both quotes", || {
        let sides = traded_sides(&mut client);
        ["BUY", "SELL"].iter().all(|side| sides.contains(&json!(side))).then_some(())
    });
    assert_eq!(client.post("/rest/strategy/MAKER/stop", "").unwrap().status, 200);
    wait_for("the cancel of its quotes", || (client.get_json("/rest/execution/order") == json!([])).then_some(()));
    wait_for("the same positions on both sides", || {
        let held = [front.client(), back.client()].map(|mut client| held(&mut client));
        (held[0] == held[1]).then_some(())
    });
    front.stop();
    back.stop();
    assert!(expect_equal_journals(&chain) >= 2);
}

/// Of the security that is quoted, in the account that trades here.
fn held(client: &mut HttpClient) -> Value {
    let positions = client.get_json("/rest/position");
    let held = positions.as_array().unwrap().iter().find(|position| position["securityId"] == AAPL).cloned();
    held.map_or(json!(0), |position| position["quantity"].clone())
}
