//! A venue that changes no order: new terms are refused before they leave, over REST, in the dry run and over FIX.

use serde_json::json;

use crate::fix_orders::client::FixClient;
use crate::fix_orders::{STEADY, buy, server_with};
use crate::test_platform::{AAPL, TraderClient, body_of, fields, limit};

#[test]
fn new_terms_are_refused_where_the_venue_can_not_replace() {
    let platform = server_with(STEADY).set("venues.ALPHA.replace", "none");
    let server = platform.start();
    let mut client = server.client();
    let adapters = client.get_json("/rest/adapter");
    let alpha = adapters.as_array().unwrap().iter().find(|adapter| adapter["name"] == "SIMULATED-ALPHA");
    assert_eq!(alpha.map(|alpha| alpha["replace"].clone()), Some(json!("NONE")), "{adapters}");

    let order = client.place(&limit(AAPL, "BUY", 10, "250"));
    client.wait_for_status(&order, "SUBMITTED");
    let lower = json!({ "objectType": "LimitOrder", "intId": order, "quantity": 5 }).to_string();
    let refused = client.post("/rest/execution/modify/order/limit", &lower).unwrap();
    assert_eq!((refused.status, body_of(&refused)["code"].clone()), (422, json!("venue-replace")));
    let checked = body_of(&client.post("/rest/risk/check/modify", &lower).unwrap());
    assert_eq!(fields(&checked, &["accepted", "code"]), json!({ "accepted": false, "code": "venue-replace" }));

    let mut session = FixClient::new("STEADY");
    session.log_on(server.port_address("fix"));
    session.send(&buy("mine", 10, "250"));
    session.wait_for_messages(2);
    session.send("35=G|11=other|41=mine|54=1|38=5|40=2|44=250|48=1");
    session.wait_for_messages(3);
    assert_eq!(session.received_summaries()[2], "9 other of mine 39=0 102=2");
    let text = session.received[2].get(58).unwrap_or_default().to_owned();
    assert!(text.starts_with("venue-replace: "), "{text}");

    // Both are as they were, and can be cancelled.
    for (id, quantity) in [(order.as_str(), 10), ("mine", 10)] {
        assert_eq!(
            fields(&client.order(id), &["status", "quantity"]),
            json!({ "status": "SUBMITTED", "quantity": quantity })
        );
        assert_eq!(client.delete(&format!("/rest/execution/order/{id}")).unwrap().status, 200);
        client.wait_for_status(id, "CANCELED");
    }
    session.log_out();
    server.stop();
}
