//! Orders over REST to venues that speak FIX: QuickFIX's sample programs, on the real server.

use scenarios::http::HttpClient;
use scenarios::wait::wait_for;
use serde_json::{Value, json};

use self::program::QuickfixProgram;
use crate::test_platform::{AAPL, TestPlatform, TraderClient, fields, limit, with_id};

/// The programs as processes, as the adapter's own tests have them.
#[path = "../../../adapter-fix/tests/programs/program.rs"]
#[allow(dead_code, reason = "the scenarios need the compiled ones alone")]
mod program;

/// A platform with the program as its venue BROKER. Its account is the one after those of the demo.
fn platform_at(program: &QuickfixProgram, dialect: &str) -> TestPlatform {
    let settings = [
        ("type", "fix"),
        ("exchange", "RCM"),
        ("dialect", dialect),
        ("environment", "live"),
        ("host", "127.0.0.1"),
        ("tls", "false"),
        ("senderCompId", "RIALTO"),
        ("targetCompId", "VENUE"),
    ];
    let desk = TestPlatform::new().set("auth.anonymousRole", "admin").set("recovery.answerWithinSeconds", 2);
    let desk = desk.set("venues.BROKER.port", program.port);
    settings.iter().fold(desk, |desk, (key, value)| desk.set(&format!("venues.BROKER.{key}"), value))
}

fn broker(client: &mut HttpClient) -> Value {
    let accounts = client.get_json("/rest/account");
    let found = accounts.as_array().unwrap().iter().find(|account| account["name"] == "BROKER");
    found.unwrap_or_else(|| panic!("no account of the venue: {accounts}"))["id"].clone()
}

fn wait_until_open(client: &mut HttpClient) {
    let is_open = || {
        let adapters = client.get_json("/rest/adapter");
        let adapter = adapters.as_array().unwrap().iter().find(|adapter| adapter["name"] == "FIX-BROKER").cloned();
        adapter.filter(|adapter| adapter["openFor"] == "ORDERS")
    };
    wait_for("the venue to be open for orders", is_open);
}

fn day(security: u64, side: &str, quantity: u64, account: &Value, int_id: &str) -> Value {
    let mut order = with_id(limit(security, side, quantity, "250"), int_id);
    order["tif"] = json!("DAY");
    order["accountId"] = account.clone();
    order
}

/// Of the venue's account.
fn positions(client: &mut HttpClient, account: &Value) -> Vec<Value> {
    let positions = client.get_json("/rest/position");
    let own = positions.as_array().unwrap().iter().filter(|position| position["accountId"] == *account);
    own.map(|position| fields(position, &["securityId", "quantity"])).collect()
}

#[test]
fn orders_become_fills_and_positions_and_a_restart_of_either_side_loses_and_doubles_nothing() {
    let mut executor = QuickfixProgram::start("executor", "FIX.4.4");
    let desk = platform_at(&executor, "quickfix-executor");
    let server = desk.start();
    let mut client = server.client();
    wait_until_open(&mut client);
    let account = broker(&mut client);
    client.place(&day(AAPL, "BUY", 100, &account, "first"));
    client.wait_for_status("first", "EXECUTED");

    // The first execution after its restart has the ExecID of the first one before.
    executor.restart();
    wait_for("the venue to be lost", || server.log().contains("venue session lost").then_some(()));
    wait_until_open(&mut client);
    client.place(&day(AAPL, "BUY", 30, &account, "second"));
    client.wait_for_status("second", "EXECUTED");
    let held = [json!({ "securityId": AAPL, "quantity": 130 })];
    assert_eq!(positions(&mut client, &account), held);
    drop(server);

    let server = desk.start();
    let mut client = server.client();
    wait_until_open(&mut client);
    client.place(&day(AAPL, "SELL", 50, &account, "third"));
    client.wait_for_status("third", "EXECUTED");
    assert_eq!(positions(&mut client, &account), [json!({ "securityId": AAPL, "quantity": 80 })]);
    server.stop();
}

#[test]
fn a_cancel_that_is_not_answered_leaves_the_order_in_doubt() {
    let mut ordermatch = QuickfixProgram::start("ordermatch", "FIX.4.2");
    let desk = platform_at(&ordermatch, "quickfix-ordermatch");
    let server = desk.start();
    let mut client = server.client();
    wait_until_open(&mut client);
    let account = broker(&mut client);
    client.place(&day(AAPL, "BUY", 100, &account, "kept"));
    client.wait_for_status("kept", "SUBMITTED");
    client.place(&day(AAPL, "BUY", 100, &account, "lost"));
    client.wait_for_status("lost", "SUBMITTED");
    client.delete("/rest/execution/order/kept").unwrap();
    client.wait_for_status("kept", "CANCELED");

    // It forgets its orders, and answers nothing to the cancel of one that it does not know.
    ordermatch.restart();
    wait_for("the venue to be lost", || server.log().contains("venue session lost").then_some(()));
    wait_until_open(&mut client);
    client.delete("/rest/execution/order/lost").unwrap();
    // What comes behind the cancel is answered: it was read.
    client.place(&day(AAPL, "BUY", 100, &account, "next"));
    client.wait_for_status("next", "SUBMITTED");
    let order = client.order("lost");
    assert_eq!(fields(&order, &["status", "inDoubt"]), json!({ "status": "PENDING_CANCEL", "inDoubt": true }));
    server.stop();
}
