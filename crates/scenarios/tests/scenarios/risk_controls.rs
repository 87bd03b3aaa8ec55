//! Risk controls through the real server: dead-man timers over a restart, limits of the configuration, trading rights.

use scenarios::http::{HttpClient, HttpRequest};
use scenarios::wait::wait_for;
use serde_json::{Value, json};

use crate::test_platform::{AAPL, TestPlatform, TraderClient, body_of, limit, path_of, with_id};

fn state_of(client: &mut HttpClient, scope: &str) -> Value {
    let states = client.get_json("/rest/risk/state");
    let found = states.as_array().unwrap().iter().find(|state| state["scope"] == json!(scope)).cloned();
    found.unwrap_or_default()
}

#[test]
fn a_dead_man_timer_that_nobody_renews_kills_its_account() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let int_id = client.place(&limit(AAPL, "BUY", 1, "250"));
    let arm = |client: &mut HttpClient, body: &str| {
        let request = HttpRequest { method: "PUT", path: "/rest/risk/dead-man-timer", headers: &[], body: Some(body) };
        body_of(&client.send(&request).unwrap())
    };
    let armed = arm(&mut client, r#"{"scope": "ACCOUNT-1", "seconds": 3600}"#);
    assert_eq!((&armed["scope"], &armed["seconds"]), (&json!("ACCOUNT-1"), &json!(3600)));
    assert_eq!(client.get_json("/rest/risk/dead-man-timer"), json!([armed]));
    assert_eq!(state_of(&mut client, "ACCOUNT-1"), Value::Null);
    arm(&mut client, r#"{"scope": "ACCOUNT-1", "seconds": 1}"#);
    wait_for("the halt", || (state_of(&mut client, "ACCOUNT-1")["state"] == json!("HALTED")).then_some(()));
    client.wait_for_status(&int_id, "CANCELED");
    let state = state_of(&mut client, "ACCOUNT-1");
    assert_eq!(state["reason"], json!("the dead-man timer was not renewed within 1 s"));
    assert_eq!(state["changedBy"], json!("dead-man timer"));
    assert_eq!(client.get_json("/rest/risk/dead-man-timer"), json!([]));
    let log = client.get_json("/rest/log");
    assert!(log.to_string().contains("dead-man timer was not renewed"), "the alarm is in the log: {log}");
    server.stop();
}

#[test]
fn a_dead_man_timer_that_ran_out_while_the_server_was_down_fires_at_the_start() {
    let desk = TestPlatform::new().set("risk.deadManSeconds", 3600);
    let server = desk.start();
    let mut client = server.client();
    assert_eq!(client.get_json("/rest/risk/dead-man-timer")[0]["seconds"], json!(3600));
    server.stop();
    let server = desk.launch_at(2 * 3600).start();
    let mut client = server.client();
    wait_for("the halt", || (state_of(&mut client, "PLATFORM")["state"] == json!("HALTED")).then_some(()));
    server.stop();
}

#[test]
fn limits_of_the_configuration_hold_and_a_misspelt_one_is_refused() {
    let desk = TestPlatform::new().set("risk.restrictedSecurities", AAPL).set("risk.messagesPerSecond", 1000);
    let server = desk.start();
    let mut client = server.client();
    let refused = client.submit(&limit(AAPL, "BUY", 1, "250"));
    assert_eq!((refused.status, body_of(&refused)["code"].as_str().unwrap()), (422, "restricted-security"));
    let limits = client.get_json("/rest/risk/limit")[0].clone();
    assert_eq!((&limits["restrictedSecurities"], &limits["messagesPerSecond"]), (&json!([AAPL]), &json!(1000)));
    server.stop();
    let ended = desk.launch.run(&["check-config", "--set", "risk.restrictedSecurities=999"]);
    assert_eq!(ended.code, Some(2), "{ended}");
    assert!(ended.log.contains("risk.restrictedSecurities: no security has the id 999"), "{ended}");
}

#[test]
fn a_token_trades_what_it_may_and_a_change_of_its_rights_counts_at_once() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let mut token = |body: Value| {
        let issued = client.post("/rest/token", &body.to_string()).unwrap();
        format!("Bearer {}", body_of(&issued)["token"].as_str().unwrap())
    };
    let admin = token(json!({ "name": "admin", "role": "ADMIN", "days": 1 }));
    let robot = token(json!({ "name": "robot", "role": "TRADER", "days": 1, "securities": [2] }));
    let boss = r#"{"name": "boss", "password": "correct horse battery", "role": "ADMIN"}"#;
    assert_eq!(client.post("/rest/user", boss).unwrap().status, 200);
    let mut call = |bearer: &str, method: &str, path: &str, body: &str| {
        let headers = [("Authorization", bearer)];
        let response = client.send(&HttpRequest { method, path, headers: &headers, body: Some(body) }).unwrap();
        let code = if response.status == 200 { "-".to_owned() } else { body_of(&response)["code"].to_string() };
        format!("{} {}", response.status, code.trim_matches('"'))
    };
    let order = |id: &str| with_id(limit(AAPL, "BUY", 1, "250"), id);
    let mut place = |id: &str| call(&robot, "POST", path_of(&order(id)), &order(id).to_string());
    assert_eq!(place("A"), "403 security-not-permitted");
    let path = "/rest/token/robot/rights";
    assert_eq!(call(&admin, "PUT", path, r#"{"accounts": [2], "securities": [1, 2]}"#), "200 -");
    let mut place = |id: &str| call(&robot, "POST", path_of(&order(id)), &order(id).to_string());
    assert_eq!(place("B"), "403 account-not-permitted");
    assert_eq!(call(&admin, "PUT", path, r#"{"interfaces": ["FIX"]}"#), "200 -");
    let mut place = |id: &str| call(&robot, "POST", path_of(&order(id)), &order(id).to_string());
    assert_eq!(place("C"), "403 interface-not-permitted");
    assert_eq!(call(&admin, "PUT", path, "{}"), "200 -");
    assert_eq!(call(&robot, "POST", path_of(&order("D")), &order("D").to_string()), "200 -");
    assert_eq!(call(&admin, "PUT", path, r#"{"accounts": [999]}"#), "422 unknown-account");
    let headers = [("Authorization", &*admin)];
    let get = HttpRequest { method: "GET", path: "/rest/audit?limit=1000", headers: &headers, body: None };
    let audit = body_of(&client.send(&get).unwrap()).to_string();
    for told in ["this user may not trade security 1", "token robot, may trade accounts 2; securities 1,2"] {
        assert!(audit.contains(told), "{told} is in {audit}");
    }
    server.stop();
}
