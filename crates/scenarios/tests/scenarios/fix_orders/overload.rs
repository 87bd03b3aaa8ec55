//! Clients that send faster than the engine answers: every counted message has its answer, and no other client is
//! delayed.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use scenarios::server::RunningServer;
use scenarios::wait::wait_for;

use super::client::{FixClient, Message};
use super::{STEADY, buy, reaches, server_with, session};
use crate::test_platform::{TestPlatform, TraderClient, int_id_in, limit};

/// Orders of each client, and as many cancels: many times what the engine has room for in these stories.
const ORDERS: usize = 250;
const CLIENTS: [&str; 4] = ["ONE", "TWO", "THREE", "FOUR"];

/// An engine with room for little, and four clients beside the steady one.
fn narrow(waiting: usize) -> TestPlatform {
    let session = |client: &&str| format!("[SESSION]\nSenderCompID=RIALTO\nTargetCompID={client}\n");
    let sessions = STEADY.to_owned() + &CLIENTS.iter().map(session).collect::<String>();
    let server = server_with(&sessions).set("risk.ordersPerSecond", "").set("risk.maxOpenOrders", "");
    server.set("commands.waiting", waiting).set("commands.perSession", 8)
}

fn is_answer(message: &Message) -> bool {
    match message.kind() {
        "8" => matches!(message.get(150), Some("A" | "8" | "6")),
        "9" | "j" => true,
        _ => false,
    }
}

/// How many first answers each request got, by its ClOrdID.
fn answers(heard: &[Message]) -> BTreeMap<&str, usize> {
    let mut answers = BTreeMap::new();
    for name in heard.iter().filter(|message| is_answer(message)).filter_map(|message| message.get(11)) {
        *answers.entry(name).or_default() += 1;
    }
    answers
}

/// Sends orders, and after each its cancel, as fast as the connection accepts them.
fn flood(comp_id: &str, door: SocketAddr) -> FixClient {
    let mut client = FixClient::new(comp_id);
    client.log_on(door);
    for n in 0..ORDERS {
        client.send(&buy(&format!("{comp_id}-{n}"), 1, "250"));
        client.send(&format!("35=F|11={comp_id}-{n}c|41={comp_id}-{n}|54=1|48=1"));
    }
    client
}

#[test]
fn every_message_that_was_counted_has_one_answer_however_many_come_at_once() {
    let desk = narrow(16);
    let server = desk.start();
    let door = server.port_address("fix");
    let flooding = CLIENTS.map(|comp_id| thread::spawn(move || flood(comp_id, door)));
    for (comp_id, flooded) in CLIENTS.into_iter().zip(flooding) {
        let mut client = flooded.join().unwrap();
        // Part of it was taken, part was not: the next Logon brings what is missing, in both directions.
        client.disconnect();
        reaches(&server, comp_id, "DISCONNECTED");
        client.log_on(door);
        client.receive_until("an answer to every message", |client| answers(&client.received).len() == 2 * ORDERS);
        assert!(answers(&client.received).values().all(|count| *count == 1), "{:?}", answers(&client.received));
        let refused = |message: &&Message| matches!(message.kind(), "9" | "j") || message.get(150) == Some("8");
        assert_eq!(client.received.iter().find(refused), None, "no cancel overtook its order, and nobody was too busy");
        // The first Logon and everything behind it is counted.
        assert!(session(&server, comp_id)["nextIn"].as_u64() > Some(1 + 2 * ORDERS as u64), "{comp_id}");
        client.log_out();
    }
    server.stop();
}

/// Sends orders until the story is over.
fn flood_until(over: Arc<AtomicBool>, comp_id: &'static str, door: SocketAddr) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut client = FixClient::new(comp_id);
        client.log_on(door);
        for number in 1.. {
            if over.load(Ordering::Relaxed) {
                return;
            }
            client.send(&buy(&format!("{comp_id}-{number}"), 1, "1"));
            // A client that reads nothing at all stops its own connection.
            if number % 64 == 0 {
                client.wait_for_messages(number / 2);
            }
        }
    })
}

/// An order by REST, which may have to be sent again where there is no room for it.
fn place(server: &RunningServer) -> String {
    wait_for("an order to find room", || {
        let answer = server.client().submit(&limit(1, "BUY", 1, "2"));
        assert!([200, 503].contains(&answer.status), "{answer:?}");
        (answer.status == 200).then(|| int_id_in(&answer))
    })
}

#[test]
fn a_flood_of_four_sessions_refuses_nobody_else_a_cancel_or_the_kill_switch() {
    let desk = narrow(8);
    let server = desk.start();
    let over = Arc::new(AtomicBool::new(false));
    let flooding = CLIENTS.map(|comp_id| flood_until(over.clone(), comp_id, server.port_address("fix")));
    let mut client = FixClient::new("STEADY");
    client.log_on(server.port_address("fix"));
    for n in 0..10 {
        client.send(&buy(&format!("mine{n}"), 1, "250"));
        client.send(&format!("35=F|11=out{n}|41=mine{n}|54=1|48=1"));
        let name = format!("out{n}");
        client.receive_until("the cancel to be taken", |client| answers(&client.received).contains_key(name.as_str()));
        let order = place(&server);
        let canceled = server.client().delete(&format!("/rest/execution/order/{order}")).unwrap();
        assert_eq!(canceled.status, 200, "{canceled:?}");
        // Of an account without trading, so that the flood continues.
        let kill = server.client().post("/rest/risk/kill", r#"{"scope": "ACCOUNT-3", "reason": "drill"}"#).unwrap();
        assert_eq!(kill.status, 200, "{kill:?}");
    }
    over.store(true, Ordering::Relaxed);
    let refused = |message: &&Message| matches!(message.kind(), "9" | "j") || message.get(150) == Some("8");
    assert_eq!(client.received.iter().find(refused), None);
    flooding.into_iter().for_each(|thread| thread.join().unwrap());
    server.stop();
}

#[test]
fn cancels_are_held_back_only_by_their_own_throttle() {
    let desk = server_with(&(STEADY.to_owned() + "MaxOrdersPerSecond=1\nMaxCancelsPerSecond=2\n"));
    let server = desk.start();
    let mut client = FixClient::new("STEADY");
    client.log_on(server.port_address("fix"));
    client.send(&buy("a", 1, "250"));
    client.wait_for_messages(2);
    for n in 0..20 {
        client.send(&format!("35=F|11=x{n}|41=nothing|54=1|48=1"));
    }
    client.wait_for_messages(22);
    let too_fast = |message: &&Message| message.get(58).is_some_and(|text| text.contains("too-many-cancels"));
    let held_back = client.received[2..].iter().filter(too_fast).count();
    assert!(client.received[2..].iter().all(|message| message.kind() == "9"), "{:?}", client.received_summaries());
    assert!((1..=18).contains(&held_back), "{:?}", client.received_summaries());
    server.stop();
}

#[test]
fn mass_cancels_count_as_cancels() {
    let desk = server_with(&(STEADY.to_owned() + "ExtendedMessages=Y\nMaxCancelsPerSecond=2\n"));
    let server = desk.start();
    let mut client = FixClient::new("STEADY");
    client.log_on(server.port_address("fix"));
    for n in 0..20 {
        client.send(&format!("35=q|11=all{n}|530=7"));
    }
    client.wait_for_messages(20);
    assert!(client.received.iter().all(|message| message.kind() == "r"), "{:?}", client.received_summaries());
    let too_fast = |message: &&Message| message.get(58).is_some_and(|text| text.contains("too-many-cancels"));
    let held_back: Vec<_> = client.received.iter().filter(too_fast).collect();
    assert!((1..=18).contains(&held_back.len()), "{:?}", client.received_summaries());
    assert!(held_back.iter().all(|message| message.get(531) == Some("0")), "{:?}", client.received_summaries());
    server.stop();
}
