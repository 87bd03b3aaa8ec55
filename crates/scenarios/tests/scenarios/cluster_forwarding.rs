//! Clients of a follower give commands: the leader carries them out as theirs, once, and its answer is theirs.

use std::fs;
use std::thread;
use std::time::Duration;

use scenarios::http::{HttpClient, HttpRequest, HttpResponse};
use scenarios::server::{RunningServer, send_signal};
use scenarios::wait::wait_for;
use serde_json::{Value, json};

use crate::binance::{place_when_priced, resting, wait_for_session};
use crate::cluster::{FENCED, TestCluster, open_orders, wait_for_health};
use crate::test_platform::{TraderClient, path_of};

const PASSWORD: &str = "correct horse battery";

fn code_of(response: &HttpResponse) -> (u16, String) {
    let problem: Value = serde_json::from_str(&response.body).unwrap_or_default();
    (response.status, problem["code"].as_str().unwrap_or_default().to_owned())
}

/// An order of somebody who has logged in at this member.
fn submit_as(client: &mut HttpClient, headers: &[(&str, &str)], order: &Value) -> HttpResponse {
    let body = order.to_string();
    client.send(&HttpRequest { method: "POST", path: path_of(order), headers, body: Some(&body) }).unwrap()
}

/// A member that follows, and has read everything.
fn follower(cluster: &TestCluster, member: &str) -> RunningServer {
    let server = cluster.start_member(member);
    wait_for_health(&mut server.client(), "/health/ready", 200, "follower");
    server
}

/// Who the engine has noted for an order, asked at the leader.
fn user_of(client: &mut HttpClient, id: &str) -> Value {
    client.order(id)["submittedBy"].clone()
}

/// The session of a user who logs in at this member.
fn log_in(client: &mut HttpClient, user: &str) -> String {
    let told = client.post("/rest/login", &json!({ "user": user, "password": PASSWORD }).to_string()).unwrap();
    assert_eq!(told.status, 200, "{told:?}");
    told.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
}

/// Whose session a member takes it for.
fn owner_of(client: &mut HttpClient, session: &str) -> Value {
    let headers = [("Cookie", session)];
    let who = HttpRequest { method: "GET", path: "/rest/login", headers: &headers, body: None };
    let told = client.send(&who).unwrap();
    serde_json::from_str::<Value>(&told.body).unwrap()["user"].clone()
}

#[test]
fn a_client_of_a_follower_places_orders_at_the_leader_under_its_own_name() {
    let cluster = TestCluster::start(0);
    let first = cluster.start_member("a");
    first.wait_for_output("\"role\":\"leader\",\"epoch\":1");
    let mut leader = first.client();
    wait_for_session(&mut leader, "SUBSCRIBED");
    let second = follower(&cluster, "b");
    let mut client = second.client();
    // Every command goes this way: the bookings of the administrator too.
    cluster.lab.credit_opening_balances(&mut client);
    place_when_priced(&mut client, &resting("one"));
    assert_eq!(open_orders(&mut client), ["one"], "whoever was told of it finds it at the same member");
    client.wait_for_status("one", "SUBMITTED");
    assert_eq!(code_of(&client.submit(&resting("one"))), (409, "duplicate-order".to_owned()));

    let user = json!({ "name": "anna", "role": "ADMIN", "password": PASSWORD }).to_string();
    let added = client.post("/rest/user", &user).unwrap();
    assert_eq!(added.status, 200, "{added:?}");
    let session = log_in(&mut client, "anna");
    let ordered = submit_as(&mut client, &[("Cookie", &session)], &resting("two"));
    assert_eq!(ordered.status, 200, "the session is known to the follower alone: {ordered:?}");
    // Where nobody is admitted without a login, that is 401.
    let known = [&mut client, &mut leader].map(|member| owner_of(member, &session));
    assert_eq!(known, [json!("anna"), Value::Null], "a load balancer of screens must be sticky");
    assert!(ordered.header("location").is_some_and(|place| place.contains("two")), "{ordered:?}");
    assert_eq!(user_of(&mut leader, "two"), "anna");
    assert_eq!(client.delete("/rest/execution/order/one").unwrap().status, 200);
    wait_for("the cancel", || (open_orders(&mut client) == ["two"]).then_some(()));

    // The leader is paused with an order on its way to it.
    send_signal(first.pid(), "STOP");
    let mut hopeful = second.client().with_timeout(Duration::from_secs(60));
    let sent = thread::spawn(move || hopeful.submit(&resting("three")));
    second.wait_for_output("\"role\":\"leader\",\"epoch\":2");
    assert_eq!(code_of(&sent.join().unwrap()), (503, "outcome-unknown".to_owned()));
    let mut client = second.client();
    wait_for_session(&mut client, "SUBSCRIBED");
    // Sent again with the same id it is placed once, whatever became of the first.
    place_when_priced(&mut client, &resting("three"));
    client.wait_for_status("three", "SUBMITTED");
    send_signal(first.pid(), "CONT");
    let ended = first.wait();
    assert_eq!(ended.code, Some(FENCED), "{ended}");
    assert_eq!((open_orders(&mut client), cluster.orders_at_venue()), (vec!["three".into(), "two".into()], 3));

    // The old leader is a follower like any other.
    let first = follower(&cluster, "a");
    let mut client = first.client();
    place_when_priced(&mut client, &resting("four"));
    client.wait_for_status("four", "SUBMITTED");
    assert_eq!(cluster.orders_at_venue(), 4);
    second.stop();
    first.wait_for_output("\"role\":\"leader\",\"epoch\":3");
    first.stop();
    cluster.lab.stop();
}

fn is_halted(client: &mut HttpClient) -> Option<Value> {
    let states = client.get_json("/rest/risk/state");
    let platform = states.as_array().unwrap().iter().find(|state| state["scope"] == "PLATFORM")?;
    (platform["state"] == "HALTED").then(|| platform["reason"].clone())
}

#[test]
fn a_kill_by_signal_or_file_at_a_follower_is_done_by_the_leader() {
    let cluster = TestCluster::start(0);
    let first = cluster.start_member("a");
    first.wait_for_output("\"role\":\"leader\",\"epoch\":1");
    let mut leader = first.client();
    let second = follower(&cluster, "b");
    send_signal(second.pid(), "USR1");
    let reason = wait_for("the halt by the signal", || is_halted(&mut leader));
    assert_eq!(reason, json!("SIGUSR1 at member b"));

    let active = json!({ "scope": "PLATFORM", "state": "ACTIVE", "reason": "read" }).to_string();
    assert_eq!(leader.put("/rest/risk/state", &active).unwrap().status, 200);
    fs::write(cluster.data("b").join("kill"), "").unwrap();
    wait_for("the file to be put away", || cluster.data("b").join("kill.done").exists().then_some(()));
    assert_eq!(is_halted(&mut leader), Some(json!("the file kill at member b")));

    // Nobody leads who could do it: whoever leads next does.
    assert_eq!(leader.put("/rest/risk/state", &active).unwrap().status, 200);
    first.kill();
    send_signal(second.pid(), "USR1");
    second.wait_for_output("\"role\":\"leader\",\"epoch\":2");
    let mut leader = second.client();
    let reason = wait_for("the halt by the new leader", || is_halted(&mut leader));
    assert_eq!(reason, json!("SIGUSR1"));
    second.stop();
    cluster.lab.stop();
}
