//! Orders over FIX, through the real port of the real binary: sessions that trade, disconnect, reconnect and are
//! killed.

pub(crate) mod client;
mod account;
mod terms;
mod flows;
mod unknown_clients;
mod disconnects;
mod requests;
mod sequence_resets;
mod killed;
mod many_sessions;
mod overload;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use scenarios::server::RunningServer;
use scenarios::wait::wait_for;
use serde_json::{Value, json};

use crate::test_platform::{TestPlatform, TraderClient, limit};
use client::{FixClient, Message};

/// A session that keeps its numbers, beside the demo's own.
pub(crate) const STEADY: &str = "
[DEFAULT]
ConnectionType=acceptor
BeginString=FIX.4.4
StartTime=00:00:00
EndTime=00:00:00
NonStopSession=Y
ValidateIncomingMessage=N
SocketAcceptPort=0
FileLogPath=log
MaxOrdersPerSecond=0
[SESSION]
SenderCompID=RIALTO
TargetCompID=STEADY
";

/// The demo platform with another session file.
pub(crate) fn server_with(sessions: &str) -> TestPlatform {
    let server = TestPlatform::new();
    fs::create_dir_all(server.data().join("fix")).unwrap();
    fs::write(server.data().join("fix/sessions.cfg"), sessions).unwrap();
    server
}

pub(crate) fn buy(id: &str, quantity: u64, price: &str) -> String {
    format!("35=D|11={id}|54=1|38={quantity}|40=2|44={price}|48=1|59=1")
}

pub(crate) fn session(server: &RunningServer, id: &str) -> Value {
    let response = server.client().get("/rest/fix/sessions").unwrap();
    let sessions: Vec<Value> = serde_json::from_str(&response.body).unwrap();
    sessions.into_iter().find(|session| session["id"] == id).unwrap()
}

fn operate(server: &RunningServer, path: &str, body: &str) -> u16 {
    server.client().post(&format!("/rest/fix/sessions/{path}"), body).unwrap().status
}

fn reaches(server: &RunningServer, id: &str, state: &str) {
    wait_for(&format!("session {id} to be {state}"), || (session(server, id)["state"] == state).then_some(()));
}

fn exec_ids(messages: &[Message]) -> Vec<String> {
    messages.iter().filter_map(|message| message.get(17).map(str::to_owned)).collect()
}

#[test]
fn the_demo_takes_orders_over_fix() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = FixClient::new("CLIENT");
    client.log_on(server.port_address("fix"));
    client.send("35=D|11=m1|54=1|38=100|40=1|48=1");
    assert_eq!(client.wait_for_messages(3), ["8 m1 A/A 0/100", "8 m1 0/0 0/100", "8 m1 F/2 100/100"]);
    client.send(&buy("l1", 10, "250"));
    client.wait_for_messages(5);
    client.send("35=G|11=l2|41=l1|54=1|38=20|40=2|44=251|48=1");
    client.wait_for_messages(7);
    client.send("35=F|11=l3|41=l2|54=1|38=20|48=1");
    client.send("35=F|11=l4|41=nothing|54=1|38=20|48=1");
    client.send("35=D|11=bad|54=1|38=0.5|40=1|48=1");
    client.send("35=R|131=quote");
    client.wait_for_messages(12);
    let mut told = client.received_summaries().split_off(3);
    told.sort();
    let mut expected = [
        "8 l1 A/A 0/10",
        "8 l1 0/0 0/10",
        "8 l2 E/E 0/10",
        "8 l2 I/0 0/20",
        "8 l3 6/6 0/20",
        "8 l3 I/4 0/20",
        "9 l4 of nothing 39=8 102=1",
        "8 bad 8/8 0/0.5",
        "j Unsupported Message Type",
    ];
    expected.sort_unstable();
    assert_eq!(told, expected);
    let order = server.client().order("m1");
    assert_eq!((&order["source"], &order["status"]), (&json!("FIX:CLIENT"), &json!("EXECUTED")));
    client.log_out();
    server.stop();
}

#[test]
fn what_others_do_to_an_order_is_told_to_its_client() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = FixClient::new("CLIENT");
    client.log_on(server.port_address("fix"));
    client.send(&buy("mine", 10, "250"));
    client.wait_for_messages(2);
    server.client().place(&limit(1, "BUY", 5, "240"));
    assert_eq!(server.client().delete("/rest/execution/order/mine").unwrap().status, 200);
    client.wait_for_messages(4);
    assert_eq!(client.received_summaries()[2..], ["8 mine 6/6 0/10", "8 mine I/4 0/10"]);
    assert_eq!((client.received[3].get(41), client.received[3].get(58).is_some()), (None, true));
    server.stop();
}

#[test]
fn a_client_that_was_away_hears_what_happened_once() {
    let desk = server_with(STEADY);
    let mut server = desk.start();
    let mut client = FixClient::new("STEADY");
    client.log_on(server.port_address("fix"));
    client.send(&buy("a", 10, "250"));
    client.send(&buy("b", 10, "251"));
    client.wait_for_messages(4);
    client.log_out();
    assert_eq!(server.client().delete("/rest/execution/order/a").unwrap().status, 200);
    server.client().wait_for_status("a", "CANCELED");
    client.log_on(server.port_address("fix"));
    client.wait_for_messages(6);
    assert_eq!(client.received_summaries()[4..], ["8 a 6/6 0/10", "8 a I/4 0/10"]);
    client.disconnect();
    reaches(&server, "STEADY", "DISCONNECTED");
    assert_eq!(server.client().delete("/rest/execution/order/b").unwrap().status, 200);
    server.client().wait_for_status("b", "CANCELED");
    server.stop();
    server = desk.start();
    client.log_on(server.port_address("fix"));
    client.wait_for_messages(8);
    assert_eq!(client.received_summaries()[6..], ["8 b 6/6 0/10", "8 b I/4 0/10"]);
    all_again_is_the_same(&mut client);
    server.stop();
}

/// Asks for everything from the first number on; it is told again with the same ids, marked as what it is.
fn all_again_is_the_same(client: &mut FixClient) {
    let (before, count) = (exec_ids(&client.received), client.received.len());
    let next = client.next_in;
    client.send_admin("2", "7=1|16=0");
    client.next_in = 1;
    client.received.clear();
    client.wait_for_messages(count);
    assert_eq!(exec_ids(&client.received), before);
    assert!(client.received.iter().all(|message| message.get(43) == Some("Y") && message.get(122).is_some()));
    client.next_in = client.next_in.max(next);
}

#[test]
fn a_client_whose_numbers_begin_anew_gets_a_picture_of_each_order() {
    let desk = TestPlatform::new();
    let mut server = desk.start();
    let mut client = FixClient::new("CLIENT");
    client.log_on(server.port_address("fix"));
    client.send(&buy("open", 10, "250"));
    client.send(&buy("gone", 10, "251"));
    client.send("35=D|11=done|54=1|38=5|40=1|48=1");
    client.wait_for_messages(7);
    client.disconnect();
    reaches(&server, "CLIENT", "DISCONNECTED");
    assert_eq!(server.client().delete("/rest/execution/order/gone").unwrap().status, 200);
    server.client().wait_for_status("gone", "CANCELED");
    server.stop();
    server = desk.start();
    client.log_on_anew(server.port_address("fix"));
    client.wait_for_messages(10);
    assert_eq!(client.received_summaries()[7..], ["8 open I/0 0/10", "8 gone I/4 0/10", "8 done I/2 5/5"]);
    client.expect("1");
    client.disconnect();
    reaches(&server, "CLIENT", "DISCONNECTED");
    client.log_on_anew(server.port_address("fix"));
    client.wait_for_messages(11);
    assert_eq!(client.received_summaries()[10..], ["8 open I/0 0/10"]);
    server.stop();
}

#[test]
fn a_cut_line_loses_nothing_in_either_direction() {
    let desk = server_with(STEADY);
    let server = desk.start();
    let mut client = FixClient::new("STEADY");
    client.log_on(server.port_address("fix"));
    for n in 0..20 {
        client.send(&buy(&format!("n{n}"), 1, "250"));
    }
    client.disconnect();
    reaches(&server, "STEADY", "DISCONNECTED");
    client.log_on(server.port_address("fix"));
    client.send(&buy("last", 1, "250"));
    client.wait_for_accepted(21);
    each_order_is_told_once(&client, 21);
    server.stop();
}

/// Every order has one A/A and one 0/0, and no two reports share an id. That the venue's answer was missed for a while may
/// be told between.
fn each_order_is_told_once(client: &FixClient, orders: usize) {
    let mut told: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for message in client.received.iter().filter(|message| message.get(150) != Some("I")) {
        told.entry(message.get(11).unwrap()).or_default().push(message.summary());
    }
    assert_eq!(told.len(), orders);
    for (id, reports) in &told {
        assert_eq!(*reports, [format!("8 {id} A/A 0/1"), format!("8 {id} 0/0 0/1")]);
    }
    let ids: BTreeSet<_> = exec_ids(&client.received).into_iter().collect();
    assert_eq!(ids.len(), client.received.len());
}

#[test]
fn a_server_that_is_killed_in_the_middle_of_the_flow_loses_and_doubles_nothing() {
    const ROUNDS: usize = 1;
    const ORDERS: usize = 60;
    let desk = server_with(STEADY).set("risk.ordersPerSecond", "");
    let mut server = desk.start();
    let mut client = FixClient::new("STEADY");
    client.log_on(server.port_address("fix"));
    for round in 0..ROUNDS {
        for n in 0..ORDERS {
            client.send(&buy(&format!("r{round}-{n}"), 1, "250"));
        }
        client.wait_for_accepted(round * ORDERS + ORDERS / 4);
        server.kill();
        server = desk.start();
        client.log_on(server.port_address("fix"));
        client.wait_for_accepted((round + 1) * ORDERS);
    }
    each_order_is_told_once(&client, ROUNDS * ORDERS);
    let open = server.client().get("/rest/execution/order").unwrap();
    let open: Vec<Value> = serde_json::from_str(&open.body).unwrap();
    let known: BTreeSet<_> = open.iter().map(|order| order["intId"].as_str().unwrap()).collect();
    assert_eq!((open.len(), known.len()), (ROUNDS * ORDERS, ROUNDS * ORDERS));
    all_again_is_the_same(&mut client);
    server.stop();
}

#[test]
fn a_server_that_stops_says_goodbye_and_goes_on_where_it_was() {
    let desk = server_with(STEADY);
    let server = desk.start();
    let mut client = FixClient::new("STEADY");
    client.log_on(server.port_address("fix"));
    client.send(&buy("x", 1, "250"));
    client.wait_for_messages(2);
    let stopping = std::thread::spawn(move || server.stop());
    assert_eq!(client.expect("5").get(58), Some("the server stops"));
    client.send_admin("5", "");
    client.wait_for_disconnect();
    stopping.join().unwrap();
    let server = desk.start();
    // The Logout that answered was counted, so nothing is asked for.
    let next = json!(client.next_out);
    assert_eq!(session(&server, "STEADY")["nextIn"], next);
    let logon = client.log_on(server.port_address("fix"));
    assert_eq!(logon.get(43), None);
    client.send("35=F|11=y|41=x|54=1|48=1");
    client.wait_for_messages(4);
    assert_eq!(client.received_summaries()[2..], ["8 y 6/6 0/1", "8 y I/4 0/1"]);
    server.stop();
}

#[test]
fn who_may_log_on_is_settled_before_anything_changes() {
    let desk = server_with(STEADY);
    let server = desk.start();
    let mut client = FixClient::new("STEADY");
    client.log_on(server.port_address("fix"));
    client.log_out();
    let boss = r#"{"name": "boss", "password": "correct horse battery", "role": "ADMIN"}"#;
    assert_eq!(server.client().post("/rest/user", boss).unwrap().status, 200);
    let (next_in, next_out) = (client.next_in, client.next_out);
    for logon in ["98=0|108=30", "98=0|108=30|141=Y", "98=0|108=30|553=boss|554=wrong"] {
        (client.next_in, client.next_out) = (next_in, if logon.contains("141=Y") { 1 } else { next_out });
        client.connect(server.port_address("fix"));
        client.send_admin("A", logon);
        // A client that requests a sequence reset can be sent the reason; for any other a Logout would use up a number.
        if logon.contains("141=Y") {
            let goodbye = client.next_any("5");
            assert!(goodbye.get(58).unwrap().contains("login-needed"), "{goodbye:?}");
        }
        client.wait_for_disconnect();
    }
    (client.next_in, client.next_out) = (next_in, next_out);
    client.connect(server.port_address("fix"));
    client.send_admin("A", "98=0|108=30|553=boss|554=correct horse battery");
    let logon = client.next_any("A");
    assert_eq!((logon.get(141), logon.get(34)), (None, Some(next_in.to_string().as_str())));
    client.send(&buy("mine", 1, "250"));
    client.wait_for_messages(2);
    server.stop();
    let log = fs::read_to_string(desk.data().join("fix/log/FIX.4.4-RIALTO-STEADY.messages.log")).unwrap();
    assert!(log.contains("553=boss|554=***|") && !log.contains("correct horse"), "{log}");
}

#[test]
fn operators_see_and_steer_a_session() {
    let desk = server_with(STEADY);
    let server = desk.start();
    let mut client = FixClient::new("STEADY");
    client.log_on(server.port_address("fix"));
    reaches(&server, "STEADY", "LOGGED_ON");
    let seen = session(&server, "STEADY");
    assert_eq!((&seen["nextIn"], &seen["nextOut"], &seen["peer"]), (&json!(2), &json!(2), &json!("127.0.0.1")));
    assert!(seen["lastReceived"].is_number() && seen["nextReset"].is_null(), "{seen}");
    assert_eq!(operate(&server, "STEADY/numbers", r#"{"nextOut": 40}"#), 409);
    assert_eq!(operate(&server, "NOBODY/logout", ""), 404);
    assert_eq!(operate(&server, "STEADY/logout", ""), 200);
    assert_eq!(client.expect("5").get(58), Some("logged out by an operator"));
    client.send_admin("5", "");
    client.wait_for_disconnect();
    reaches(&server, "STEADY", "DISCONNECTED");
    let ready = server.client().get("/health/ready").unwrap();
    assert_eq!(ready.status, 200, "a client that left is no trouble of ours: {}", ready.body);
    assert!(!ready.body.contains("FIX"), "its session is no line to a venue: {}", ready.body);
    assert_eq!(operate(&server, "STEADY/numbers", r#"{"nextIn": 7, "nextOut": 40}"#), 200);
    (client.next_out, client.next_in) = (7, 40);
    assert_eq!(client.log_on(server.port_address("fix")).get(34), Some("40"));
    assert_eq!(operate(&server, "STEADY/reset", ""), 200);
    client.wait_for_disconnect();
    reaches(&server, "STEADY", "DISCONNECTED");
    assert_eq!(client.log_on_anew(server.port_address("fix")).get(34), Some("1"));
    let audit = server.client().get("/rest/audit").unwrap().body;
    assert!(["logout", "numbers", "reset"].iter().all(|act| audit.contains(&format!("/STEADY/{act}"))), "{audit}");
    let events = server.client().get("/rest/history/events?limit=1000").unwrap().body;
    for state in ["CONNECTED", "LOGGED_ON", "DISCONNECTED"] {
        let told = format!(r#""adapter":"FIX","qualifier":"STEADY","state":"{state}""#);
        assert!(events.contains(&told), "{state}: {events}");
    }
    server.stop();
}

#[test]
fn orders_go_with_their_client_where_that_is_agreed() {
    let sessions = STEADY.to_owned() + "CancelOnDisconnect=DAY\n";
    let desk = server_with(&sessions);
    let server = desk.start();
    let mut client = FixClient::new("STEADY");
    client.log_on(server.port_address("fix"));
    client.send(&buy("stays", 1, "250"));
    client.send("35=D|11=goes|54=1|38=1|40=2|44=250|48=1|59=0");
    client.wait_for_messages(4);
    client.disconnect();
    server.client().wait_for_status("goes", "CANCELED");
    client.log_on(server.port_address("fix"));
    client.wait_for_messages(6);
    assert_eq!(client.received_summaries()[4..], ["8 goes 6/6 0/1", "8 goes I/4 0/1"]);
    assert_eq!(server.client().order("stays")["status"], json!("SUBMITTED"));
    server.stop();
}

#[test]
fn an_order_with_two_quantities_is_not_traded_on_one_of_them() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = FixClient::new("CLIENT");
    client.log_on(server.port_address("fix"));
    client.send("35=D|11=x|54=1|38=100|40=1|48=1|38=10000");
    client.send("35=F|11=y|41=x|41=z|54=1|48=1");
    // What belongs into a group comes as often as it likes.
    client.send("35=D|11=g|54=1|38=100|40=2|44=250|48=1|453=2|448=a|448=b");
    client.wait_for_messages(4);
    assert_eq!(client.received_summaries()[..2], ["3 Tag appears more than once", "3 Tag appears more than once"]);
    assert_eq!(client.received_summaries()[2..], ["8 g A/A 0/100", "8 g 0/0 0/100"]);
    let reasons: Vec<_> = client.received[..2].iter().map(|reject| (reject.get(371), reject.get(373))).collect();
    assert_eq!(reasons, [(Some("38"), Some("13")), (Some("41"), Some("13"))]);
    // Nor where the field is unknown.
    client.send("35=D|11=u|54=1|38=100|40=2|44=250|48=1|9001=x|9001=y");
    client.wait_for_messages(5);
    assert_eq!((client.received[4].get(371), client.received[4].get(373)), (Some("9001"), Some("13")));
    server.stop();
}

#[test]
fn an_order_that_is_sent_again_is_not_held_back_from_its_answer() {
    let sessions = STEADY.to_owned() + "MaxOrdersPerSecond=1\n";
    let desk = server_with(&sessions);
    let server = desk.start();
    let mut client = FixClient::new("STEADY");
    client.log_on(server.port_address("fix"));
    client.send(&buy("a", 1, "250"));
    let again = buy("a", 1, "250").replace("35=D|", "35=D|97=Y|");
    for _ in 0..5 {
        client.send(&again);
    }
    client.send(&again.replace("11=a", "11=new"));
    client.wait_for_messages(8);
    let mut told = client.received_summaries();
    told.sort();
    let state = |told: &&String| told.starts_with("8 a I/");
    assert_eq!(told.iter().filter(state).count(), 5, "{told:?}");
    assert!(told.contains(&"8 new 8/8 0/1".to_owned()), "{told:?}");
    server.stop();
}

#[test]
fn a_question_about_all_orders_is_answered_whole() {
    // More than a session's queue takes.
    const ORDERS: usize = 8_500;
    let sessions = STEADY.to_owned() + "ExtendedMessages=Y\n";
    let desk = server_with(&sessions).set("risk.ordersPerSecond", "").set("risk.maxOpenOrders", "");
    let server = desk.start();
    let mut client = FixClient::new("STEADY");
    client.log_on(server.port_address("fix"));
    for n in 0..ORDERS {
        client.send(&buy(&format!("n{n}"), 1, "1"));
    }
    // Taken and confirmed, each of them.
    client.wait_for_messages(2 * ORDERS);
    client.received.clear();
    client.send("35=AF|584=all|585=7");
    client.wait_for_messages(ORDERS);
    let named: BTreeSet<_> = client.received.iter().filter_map(|message| message.get(11)).collect();
    assert_eq!((named.len(), client.received[0].get(911)), (ORDERS, Some("8500")));
    let last: Vec<_> = client.received.iter().filter(|message| message.get(912) == Some("Y")).collect();
    assert_eq!(last, [client.received.last().unwrap()]);
    server.stop();
}

#[test]
fn a_session_may_ask_for_more_and_be_held_back() {
    let sessions = STEADY.to_owned() + "ExtendedMessages=Y\nStandardExecTypes=Y\nMaxOrdersPerSecond=2\n";
    let desk = server_with(&sessions);
    let server = desk.start();
    let mut client = FixClient::new("STEADY");
    client.log_on(server.port_address("fix"));
    client.send("35=AF|584=all|585=7");
    client.wait_for_messages(1);
    assert_eq!((client.received_summaries()[0].as_str(), client.received[0].get(911)), ("8 NONE I/8 0/0", Some("0")));
    client.send(&buy("a", 1, "250"));
    client.send(&buy("b", 1, "250"));
    client.send(&buy("c", 1, "250"));
    client.send("35=F|11=a2|41=a|54=1|48=1");
    client.wait_for_messages(8);
    let told: BTreeSet<String> = client.received_summaries().into_iter().collect();
    assert!(told.contains("8 c 8/8 0/1") && told.contains("8 a2 4/4 0/1"), "{told:?}");
    client.send("35=H|11=b|54=1|48=1");
    client.wait_for_messages(9);
    assert_eq!(client.received_summaries()[8], "8 b I/0 0/1");
    client.send("35=H|11=nothing|54=1|48=1");
    client.wait_for_messages(10);
    assert_eq!(
        (client.received_summaries()[9].as_str(), client.received[9].get(103)),
        ("8 nothing I/8 0/0", Some("5"))
    );
    client.send("35=q|11=mass|530=7");
    client.wait_for_messages(13);
    let told: BTreeSet<String> = client.received_summaries().split_off(10).into_iter().collect();
    assert_eq!(told, BTreeSet::from(["r -", "8 b 6/6 0/1", "8 b 4/4 0/1"].map(str::to_owned)));
    server.stop();
}
