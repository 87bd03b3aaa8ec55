//! Rejected logons: they reveal nothing and change nothing, whatever client is logged on or connects later.

use std::fs;

use scenarios::wait::wait_for;
use serde_json::json;

use super::client::FixClient;
use super::{STEADY, buy, reaches, server_with, session};

/// The steady session with a password of its own, and one that no local client may use.
fn guarded() -> String {
    STEADY.to_owned()
        + "Username=desk\nPassword=open sesame\n[SESSION]\nSenderCompID=RIALTO\nTargetCompID=FAR\nAllowedRemoteAddresses=10.1.2.3\n"
}

const RIGHT: &str = "98=0|108=30|553=desk|554=open sesame";
const WRONG: &str = "98=0|108=30|553=desk|554=guess";

#[test]
fn a_caller_without_the_password_leaves_the_session_as_it_was() {
    let desk = server_with(&guarded());
    let server = desk.start();
    let mut client = FixClient::new("STEADY");
    client.log_on_with(server.port_address("fix"), RIGHT);
    client.send(&buy("a", 1, "250"));
    client.wait_for_messages(2);
    client.log_out();
    reaches(&server, "STEADY", "DISCONNECTED");
    let before = session(&server, "STEADY");
    for logon in [WRONG, "98=0|108=30", "98=0|108=30|553=desk", "98=0|108=-1|553=desk|554=guess"] {
        let mut stranger = FixClient::new("STEADY");
        stranger.next_out = client.next_out;
        stranger.connect(server.port_address("fix"));
        stranger.send_admin("A", logon);
        stranger.wait_for_disconnect();
        reaches(&server, "STEADY", "DISCONNECTED");
        let after = session(&server, "STEADY");
        assert_eq!([&after["nextIn"], &after["nextOut"]], [&before["nextIn"], &before["nextOut"]], "{logon}");
    }
    // Neither side misses anything, so nothing is asked for.
    let expected = client.next_in.to_string();
    assert_eq!(client.log_on_with(server.port_address("fix"), RIGHT).get(34), Some(expected.as_str()));
    client.send(&buy("b", 1, "250"));
    assert_eq!(client.wait_for_messages(4)[2..], ["8 b A/A 0/1", "8 b 0/0 0/1"]);
    server.stop();
    let log = fs::read_to_string(desk.data().join("fix/log/FIX.4.4-RIALTO-STEADY.messages.log")).unwrap();
    assert!(log.contains("|554=***|") && !log.contains("sesame") && !log.contains("|35=2|"), "{log}");
}

#[test]
fn a_caller_who_never_logs_on_costs_no_entry_of_the_journal() {
    let desk = server_with(&guarded());
    let server = desk.start();
    for _ in 0..3 {
        let mut stranger = FixClient::new("STEADY");
        stranger.connect(server.port_address("fix"));
        stranger.send_admin("A", WRONG);
        stranger.wait_for_disconnect();
        reaches(&server, "STEADY", "DISCONNECTED");
    }
    let told = || {
        let events = server.client().get("/rest/history/events?limit=1000").unwrap().body;
        events.matches(r#""adapter":"FIX","qualifier":"STEADY""#).count()
    };
    assert_eq!(told(), 0);
    let mut client = FixClient::new("STEADY");
    client.log_on_with(server.port_address("fix"), RIGHT);
    client.log_out();
    reaches(&server, "STEADY", "DISCONNECTED");
    wait_for("connect, log on and disconnect to be told", || (told() == 3).then_some(()));
    let audit = server.client().get("/rest/audit").unwrap().body;
    assert_eq!(audit.matches("wrong-credentials").count(), 1, "one row that counts: {audit}");
    server.stop();
}

#[test]
fn four_hundred_silent_sockets_keep_no_client_out() {
    let desk = server_with(STEADY);
    let server = desk.start();
    let door = server.port_address("fix");
    let silent: Vec<_> = (0..400).map(|_| std::net::TcpStream::connect(door).unwrap()).collect();
    let mut client = FixClient::new("STEADY");
    client.log_on(door);
    client.send(&buy("a", 1, "250"));
    assert_eq!(client.wait_for_messages(2), ["8 a A/A 0/1", "8 a 0/0 0/1"]);
    drop(silent);
    server.stop();
}

#[test]
fn a_second_caller_disturbs_nobody_and_hears_nothing() {
    let desk = server_with(&guarded());
    let server = desk.start();
    let mut client = FixClient::new("STEADY");
    client.log_on_with(server.port_address("fix"), RIGHT);
    let callers =
        [("STEADY", WRONG), ("STEADY", RIGHT), ("STEADY", "98=0|108=30|141=Y"), ("NOBODY", RIGHT), ("FAR", RIGHT)];
    for (n, (comp_id, logon)) in callers.into_iter().enumerate() {
        let mut other = FixClient::new(comp_id);
        other.connect(server.port_address("fix"));
        other.send_admin("A", logon);
        assert_eq!(other.receive(), None, "{comp_id} {logon}");
        assert_eq!(session(&server, "STEADY")["state"], json!("LOGGED_ON"));
        client.send(&buy(&format!("n{n}"), 1, "250"));
        client.wait_for_messages(2 * (n + 1));
    }
    assert_eq!(
        (session(&server, "FAR")["state"].clone(), session(&server, "FAR")["nextIn"].clone()),
        (json!("DISCONNECTED"), json!(1))
    );
    client.log_out();
    server.stop();
}

#[test]
fn a_password_says_nothing_where_there_are_no_users() {
    let desk = server_with(STEADY);
    let server = desk.start();
    let mut client = FixClient::new("STEADY");
    client.log_on_with(server.port_address("fix"), WRONG);
    client.send(&buy("a", 1, "250"));
    assert_eq!(client.wait_for_messages(2), ["8 a A/A 0/1", "8 a 0/0 0/1"]);
    client.log_out();
    server.stop();
}
