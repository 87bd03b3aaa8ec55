//! The kill switch without a network: a command, a signal, a file.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use scenarios::http::HttpClient;
use scenarios::server::RunningServer;
use scenarios::wait::wait_for;
use serde_json::{Value, json};

use crate::test_platform::{AAPL, TestPlatform, TraderClient, limit};

fn state_of(client: &mut HttpClient, scope: &str) -> Value {
    let states = client.get_json("/rest/risk/state");
    let found = states.as_array().unwrap().iter().find(|state| state["scope"] == json!(scope)).cloned();
    found.unwrap_or(Value::Null)["state"].clone()
}

fn is_killed(client: &mut HttpClient, int_id: &str) {
    wait_for("the halt", || (state_of(client, "PLATFORM") == json!("HALTED")).then_some(()));
    wait_for("the cancel", || (client.order(int_id)["status"] == json!("CANCELED")).then_some(()));
}

fn audited(client: &mut HttpClient) -> Value {
    let audit = client.get_json("/rest/audit");
    let entries = audit.as_array().unwrap().iter();
    let ours = entries.filter(|entry| entry["door"] == json!("CLI"));
    ours.map(|entry| json!([entry["action"], entry["outcome"]])).collect()
}

fn signal(server: &RunningServer, name: &str) {
    let told = Command::new("sh").args(["-c", "kill -$1 $0", &server.pid().to_string(), name]).status();
    assert!(told.unwrap().success());
}

#[test]
fn a_command_kills_and_says_what_it_did() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let int_id = client.place(&limit(AAPL, "BUY", 1, "250"));
    let socket = fs::metadata(desk.data().join("control.sock")).unwrap();
    assert_eq!(socket.permissions().mode() & 0o777, 0o600, "only the owner may ask");
    let refused = desk.launch.run(&["kill", "--scope", "ACCOUNT-99"]);
    assert_eq!((refused.code, refused.log.trim_end()), (Some(2), "rialto: not killed: ACCOUNT-99 is not known"));
    let senseless = desk.launch.run(&["kill", "--scope", "EVERYTHING"]);
    assert_eq!(senseless.code, Some(2), "{senseless}");
    let killed = desk.launch.run(&["kill", "--scope", "PLATFORM", "--reason", "the network is down"]);
    assert_eq!(killed.code, Some(0), "{killed}");
    assert!(killed.output.starts_with("PLATFORM is halted, 1 orders are being cancelled (sequence "), "{killed}");
    is_killed(&mut client, &int_id);
    assert_eq!(audited(&mut client), json!([["kill", "done"]]));
    server.stop();
}

#[test]
fn a_command_tells_how_the_server_is() {
    let desk = TestPlatform::new();
    let absent = desk.launch.run(&["status"]);
    assert_eq!(absent.code, Some(1));
    assert!(absent.log.trim_end().ends_with("data: no server runs on it"), "{absent}");
    let server = desk.start();
    let status = desk.launch.run(&["status"]);
    assert_eq!(status.code, Some(0), "{status}");
    let lines: Vec<_> = status.output.lines().map(str::trim_end).collect();
    assert!(lines[0].starts_with("rialto ") && lines[0].ends_with(", ready"), "{status}");
    assert!(lines.iter().any(|line| line.starts_with("  ok      journal: durable up to ")), "{status}");
    desk.launch.run(&["kill", "--scope", "ACCOUNT-1"]);
    let status = desk.launch.run(&["status"]);
    assert!(status.output.contains("\n  ACCOUNT-1 HALTED"), "{status}");
    server.stop();
}

#[test]
fn a_signal_kills_everything() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let int_id = client.place(&limit(AAPL, "BUY", 1, "250"));
    signal(&server, "USR1");
    is_killed(&mut client, &int_id);
    wait_for("the audit", || (audited(&mut client) == json!([["SIGUSR1", "done"]])).then_some(()));
    server.stop();
}

#[test]
fn a_file_in_the_data_folder_kills_everything_once() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let int_id = client.place(&limit(AAPL, "BUY", 1, "250"));
    fs::write(desk.data().join("kill"), "").unwrap();
    is_killed(&mut client, &int_id);
    wait_for("the file to be put away", || desk.data().join("kill.done").exists().then_some(()));
    assert!(!desk.data().join("kill").exists());
    wait_for("the audit", || (audited(&mut client) == json!([["the file kill", "done"]])).then_some(()));
    server.stop();
}
