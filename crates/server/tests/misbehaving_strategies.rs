//! Strategies that misbehave in a live server: each is stopped alone, and the others go on.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

use std::path::PathBuf;

use scenarios::http::HttpClient;
use scenarios::server::{RunningServer, ServerLauncher};
use scenarios::wait::wait_for;
use serde_json::Value;

/// AAPL of the demo's desk; it opens at 272.39 to 272.41.
const AAPL: &str = "1";

fn launch(folder: &tempfile::TempDir, members: &[&str]) -> ServerLauncher {
    ServerLauncher::with_program(&misbehaving_strategies(), &folder.path().join("data"))
        .set("strategies.instances", instances(members))
        .set("strategies.hangSeconds", 1)
        .set("strategies.ordersPerSecond", 20)
}

fn instances(members: &[&str]) -> String {
    let instance = |member: &&str| format!("{}:{member} security={AAPL}", member.to_uppercase());
    members.iter().map(instance).collect::<Vec<_>>().join(",")
}

/// Cargo puts examples beside the tests.
fn misbehaving_strategies() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join("examples").join("misbehaving_strategies")
}

fn json(client: &mut HttpClient, path: &str) -> Value {
    serde_json::from_str(&client.get(path).unwrap().body).unwrap()
}

fn phase(client: &mut HttpClient, name: &str) -> String {
    let strategies = json(client, "/rest/strategy");
    let found = strategies.as_array().unwrap().iter().find(|strategy| strategy["name"] == name);
    found.map_or_else(String::new, |strategy| strategy["phase"].as_str().unwrap_or("-").to_owned())
}

fn open_orders(client: &mut HttpClient, name: &str) -> usize {
    json(client, &format!("/rest/execution/order?strategy={name}")).as_array().unwrap().len()
}

/// The number of the newest beat of the one that behaves.
fn beats(client: &mut HttpClient) -> u64 {
    let events = json(client, "/rest/history/events?after=0&limit=1000");
    let beats = events.as_array().unwrap().iter().filter(|event| event.to_string().contains("\"beat\""));
    beats.count() as u64
}

fn wait_until(server: &RunningServer, what: &str, mut is_so: impl FnMut(&mut HttpClient) -> bool) {
    let mut client = server.client();
    wait_for(what, || is_so(&mut client).then_some(()));
}

/// The failing one leaves with its orders cancelled; the steady one keeps phase and order and counts on.
#[track_caller]
fn is_stopped_alone(member: &str, said: &str) -> RunningServer {
    let folder = tempfile::tempdir().unwrap();
    let server = launch(&folder, &[member, "steady"]).start();
    let name = member.to_uppercase();
    wait_until(&server, "its end", |client| phase(client, &name) == "EXIT");
    wait_until(&server, "the cancel of its orders", |client| open_orders(client, &name) == 0);
    assert!(server.log().contains(said), "{}", server.log());
    let mut client = server.client();
    assert_eq!((phase(&mut client, "STEADY").as_str(), open_orders(&mut client, "STEADY")), ("RUN", 1));
    let before = beats(&mut client);
    wait_until(&server, "the next beat", |client| beats(client) > before);
    server
}

#[test]
fn one_that_panics_is_stopped_alone() {
    is_stopped_alone("panicker", "PANICKER panicked: the panicker panics").stop();
}

#[test]
fn one_that_hangs_has_its_feed_cut() {
    is_stopped_alone("hanger", "HANGER hangs").stop();
}

#[test]
fn one_that_floods_is_stopped_by_the_risk_gate_and_may_start_again_when_the_gate_is_open() {
    let server = is_stopped_alone("flooder", "FLOODER floods");
    let mut client = server.client();
    let states = client.get("/rest/risk/state").unwrap().body;
    assert!(states.contains("\"HALTED\"") && states.contains("it floods"), "{states}");
    server.stop();
}

#[test]
fn a_strategy_is_stopped_and_started_at_run_time() {
    let folder = tempfile::tempdir().unwrap();
    let server = launch(&folder, &["steady"]).start();
    let mut client = server.client();
    assert_eq!((phase(&mut client, "STEADY").as_str(), open_orders(&mut client, "STEADY")), ("RUN", 1));
    assert_eq!(client.post("/rest/strategy/STEADY/start", "").unwrap().status, 409);
    assert_eq!(client.post("/rest/strategy/STEADY/stop", "").unwrap().status, 200);
    assert_eq!(phase(&mut client, "STEADY"), "EXIT");
    wait_until(&server, "the cancel of its order", |client| open_orders(client, "STEADY") == 0);
    assert_eq!(client.post("/rest/strategy/STEADY/stop", "").unwrap().status, 409);
    assert_eq!(client.post("/rest/strategy/STEADY/start", "").unwrap().status, 200);
    assert_eq!(phase(&mut client, "STEADY"), "RUN");
    assert_eq!(client.post("/rest/strategy/SERVER/start", "").unwrap().status, 409);
    server.stop();
}

#[test]
fn a_restart_begins_a_new_life_with_the_orders_of_the_old_one_known() {
    let folder = tempfile::tempdir().unwrap();
    let launch = launch(&folder, &["steady"]);
    let server = launch.start();
    wait_until(&server, "a beat", |client| beats(client) > 0);
    server.kill();
    let server = launch.start();
    let mut client = server.client();
    // The old order is known and was not cancelled, because a kill is no EXIT.
    assert_eq!((phase(&mut client, "STEADY").as_str(), open_orders(&mut client, "STEADY")), ("RUN", 2));
    // EXIT cancels both: that of this life and that of the one before.
    client.post("/rest/strategy/STEADY/stop", "").unwrap();
    wait_until(&server, "the cancel of its orders", |client| open_orders(client, "STEADY") == 0);
    server.stop();
}

/// A minute bar each, up to that many, as somebody would bring them.
fn bring_history(folder: &tempfile::TempDir, bars: i64) {
    let minutes = folder.path().join("data/bars/MIN_1");
    std::fs::create_dir_all(&minutes).unwrap();
    let row = |number: i64| format!("{},1,9,1,{}\n", 1_735_689_600_000 + number * 60_000, 2 + number % 7);
    let rows: String = (0..bars).map(row).collect();
    std::fs::write(minutes.join(format!("{AAPL}.csv")), format!("dateTime,open,high,low,close\n{rows}")).unwrap();
}

fn past_told(client: &mut HttpClient) -> Vec<String> {
    let events = json(client, "/rest/history/events?after=0&limit=1000");
    let told = events.as_array().unwrap().iter().filter(|event| event["event"]["name"] == "past");
    told.map(|event| event["event"]["body"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_strategy_warms_up_with_stored_bars_also_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    bring_history(&folder, 12_000);
    let launch = launch(&folder, &["historian"]).set("demo.historyDays", 0);
    for lives in 1..=2 {
        let server = launch.start();
        // The newest ten thousand of twelve thousand; the last is number 11,999.
        let told = "10000 bars, the last at 3".to_owned();
        wait_until(&server, "what it knows", |client| past_told(client) == vec![told.clone(); lives]);
        server.stop();
    }
}

/// Everything that a failure leaves: an alarm, an event with the reason, and the reason beside the phase.
#[test]
fn a_strategy_that_hangs_raises_an_alarm_and_shows_why_until_it_begins_again() {
    let server = is_stopped_alone("hanger", "HANGER hangs");
    let mut client = server.client();
    let hangs = "hangs: a callback does not return, so it gets no more events";
    let strategies = json(&mut client, "/rest/strategy");
    let hanger = strategies.as_array().unwrap().iter().find(|strategy| strategy["name"] == "HANGER").unwrap();
    assert_eq!((&hanger["phase"], &hanger["lastError"]), (&"EXIT".into(), &hangs.into()));
    let past = json(&mut client, "/rest/history/events?after=0&limit=1000");
    let events = past.as_array().unwrap().iter().map(|event| &event["event"]);
    let exit = events.clone().find(|event| event["phase"] == "EXIT" && event["strategyName"] == "HANGER").unwrap();
    assert_eq!((&exit["failure"], &exit["reason"]), (&"hung".into(), &hangs.into()));
    let alarm = format!("strategy HANGER {hangs}");
    assert!(events.clone().any(|event| event.to_string().contains(&alarm) && event.to_string().contains("ERROR")));
    server.stop();
}

/// The journal tells how each ended, so a replay with the strategies agrees with the session and ends like it.
#[test]
fn a_session_with_failures_comes_out_the_same_again() {
    let folder = tempfile::tempdir().unwrap();
    let members = ["panicker", "hanger", "flooder", "steady"];
    let launch = launch(&folder, &members).set("journal.ticks", "all");
    let server = launch.start();
    for name in ["PANICKER", "HANGER", "FLOODER"] {
        wait_until(&server, "its end", |client| phase(client, name) == "EXIT");
    }
    let log = server.stop().log;
    let digest = log.split("digest=").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap().to_owned();
    let data = folder.path().join("data");
    let instances = format!("strategies.instances={}", instances(&members));
    let settings = ["--set", instances.as_str(), "--set", "strategies.hangSeconds=1"];
    let words = ["simulate", "--from-journal", data.to_str().unwrap(), "--strategies"];
    let ended = launch.run(&[&words[..], &settings].concat());
    assert_eq!(ended.code, Some(0), "{ended}");
    assert!(ended.output.contains("and so is its digest"), "{ended}");
    assert!(ended.output.contains(&format!("digest: {}", digest.trim_matches('"'))), "{digest} {ended}");
}

#[test]
fn a_misspelt_strategy_or_parameter_stops_the_start_with_a_suggestion() {
    let folder = tempfile::tempdir().unwrap();
    let launch = launch(&folder, &[]).set(
        "strategies.instances",
        "A:moving-avarage-cross security=1,B:moving-average-cross security=1 fats=3,C:steady security=NONE",
    );
    let ended = launch.expect_refused();
    assert_eq!(ended.code, Some(2), "{ended}");
    // The log of the parts that stop may come between.
    let told: String = ended.log.split_inclusive('\n').filter(|line| line.starts_with("  ")).collect();
    assert_eq!(
        told,
        "  strategies.instances: A: no strategy is called moving-avarage-cross; there are breakout, flooder, hanger, \
         historian, market-making, moving-average-cross, pairs, panicker, reporter, requoter, steady; did you mean 'moving-average-cross'?
  strategies.instances: B: strategy moving-average-cross, parameter fats: is not known; there are security, fast, slow, \
         quantity, prices; did you mean 'fast'?
  strategies.instances: C: strategy steady, parameter security: 'NONE' is not the symbol or the id of a security
"
    );
}
