//! End of day, while a server runs and while it does not. Orders are placed at noon; the clock of the next start is
//! moved to the end of the day.

use scenarios::wait::wait_for;
use serde_json::{Value, json};

use crate::test_platform::{AAPL, TestPlatform, TraderClient, limit, market, with_id};

/// From noon to midnight, where the day of the platform and of the round-the-clock exchange ends.
const NOON_TO_MIDNIGHT: i64 = 12 * 3_600;

#[test]
fn a_day_order_expires_when_its_exchange_s_day_ends() {
    let desk = TestPlatform::new();
    let day = place_at_noon(&desk, day_order());
    let server = desk.launch_at(NOON_TO_MIDNIGHT - 2).start();
    let order = server.client().wait_for_status(&day, "CANCELED");
    assert!(order["reason"].is_string(), "{order}");
    server.stop();
}

#[test]
fn a_day_order_expires_while_the_server_sleeps() {
    let desk = TestPlatform::new();
    let day = place_at_noon(&desk, day_order());
    let server = desk.launch_at(NOON_TO_MIDNIGHT + 60).start();
    let order = server.client().wait_for_status(&day, "CANCELED");
    assert!(order["reason"].is_string(), "{order}");
    server.stop();
}

#[test]
fn the_platform_s_day_rolls_while_the_server_runs() {
    let desk = TestPlatform::new();
    let done = place_at_noon(&desk, market(AAPL, "BUY", 1));
    let kept = place_at_noon(&desk, limit(AAPL, "BUY", 1, "250"));
    let server = desk.launch_at(NOON_TO_MIDNIGHT - 2).start();
    let mut client = server.client();
    wait_for("yesterday's trade to leave the list of today", || {
        (client.get_json("/rest/transaction/daily") == json!([])).then_some(())
    });
    assert_eq!(client.order(&done)["status"], json!("EXECUTED"), "what ended yesterday can still be looked up");
    assert_eq!(client.order(&kept)["status"], json!("SUBMITTED"), "what is open stays");
    assert_eq!(client.get_json("/rest/position")[0]["quantity"], json!(1), "what is held stays");
    let again = with_id(limit(AAPL, "BUY", 1, "250"), &done);
    assert_eq!(client.submit(&again).status, 409, "an id is taken for ever");
    server.stop();
}

#[test]
fn a_server_that_slept_over_midnight_rolls_at_its_start() {
    let desk = TestPlatform::new();
    let done = place_at_noon(&desk, market(AAPL, "BUY", 1));
    let server = desk.launch_at(3 * 24 * 3_600).start();
    let mut client = server.client();
    let path = format!("/rest/execution/order/{done}");
    wait_for("the old order to leave the list of today", || (client.get(&path).unwrap().status == 404).then_some(()));
    server.stop();
}

fn day_order() -> Value {
    let mut order = limit(AAPL, "BUY", 1, "250");
    order["tif"] = json!("DAY");
    order
}

/// Places an order, waits until the venue has dealt with it, and stops the server.
fn place_at_noon(desk: &TestPlatform, order: Value) -> String {
    let server = desk.start();
    let mut client = server.client();
    let placed = client.place(&order);
    wait_for("the venue to answer", || (client.order(&placed)["status"] != json!("OPEN")).then_some(()));
    server.stop();
    placed
}
