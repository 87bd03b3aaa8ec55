//! A venue whose connection stands and loses reports and requests: every order is settled by asking, without a new log-on.

use scenarios::wait::wait_for;
use serde_json::json;

use crate::evidence::{JournalEvidence, VenueLedgers};
use crate::test_platform::{AAPL, TestPlatform, TraderClient, limit, with_id};

const ORDERS: u64 = 8;

#[test]
fn orders_whose_reports_are_lost_are_settled_while_the_connection_stands() {
    let desk = TestPlatform::new().set("simulated.faults", "*:drop=3");
    let server = desk.start();
    let mut client = server.client();
    for number in 0..ORDERS {
        client.place(&with_id(limit(AAPL, "BUY", 1, "400"), &format!("trades-{number}")));
        client.place(&with_id(limit(AAPL, "BUY", 1, "250"), &format!("rests-{number}")));
    }
    for number in 0..ORDERS {
        let traded = client.wait_for_status(&format!("trades-{number}"), "EXECUTED");
        let rests = client.wait_for_status(&format!("rests-{number}"), "SUBMITTED");
        assert_eq!([&traded["inDoubt"], &rests["inDoubt"]], [&json!(false); 2]);
    }
    server.stop();
    let (journal, venues) = (JournalEvidence::read(desk.data()), VenueLedgers::read(desk.data()));
    assert_eq!(venues.submitted.len() as u64, 2 * ORDERS);
    let booked: Vec<_> = journal.fills.keys().collect();
    assert_eq!(booked, venues.executions.keys().collect::<Vec<_>>());
}

#[test]
fn orders_that_are_lost_on_their_way_are_rejected_and_never_sent_again() {
    let desk = TestPlatform::new().set("simulated.faults", "*:lose=2");
    let server = desk.start();
    let mut client = server.client();
    let ids: Vec<String> = (0..ORDERS).map(|number| format!("perhaps-{number}")).collect();
    for id in &ids {
        client.place(&with_id(limit(AAPL, "BUY", 1, "250"), id));
    }
    let mut arrived = 0;
    for id in &ids {
        let order = wait_for("the venue's answer", || Some(client.order(id)).filter(|order| order["status"] != "OPEN"));
        match order["status"].as_str() {
            Some("SUBMITTED") => arrived += 1,
            _ => assert_eq!(
                (&order["status"], &order["reason"]),
                (&json!("REJECTED"), &json!("the order never reached the venue"))
            ),
        }
    }
    server.stop();
    assert_eq!(VenueLedgers::read(desk.data()).submitted.len(), arrived);
    assert!(arrived < ids.len(), "no order was lost");
}
