//! Questions to a follower: every GET of the description is answered as the leader answers it at the same sequence.

use scenarios::http::{HttpClient, HttpResponse};
use scenarios::wait::wait_for;
use serde_json::{Value, json};

use crate::binance::{BITCOIN, LabPlatform, order_of, place_when_priced, resting, wait_for_session};
use crate::cluster::{TestCluster, wait_for_health};
use crate::cluster_fix::with_fix;
use crate::test_platform::{TraderClient, with_id};

/// What a member says of itself. Each is named in docs/cluster.md.
const OWN: [&str; 10] = [
    "/asyncapi.json",
    "/health/cluster",
    "/health/leader",
    "/health/ready",
    "/metrics",
    "/rest/broker/url/main",
    "/rest/broker/url/ws",
    "/rest/cluster",
    "/rest/config-params",
    "/rest/log",
];

/// A path of the description, with something that is there.
fn concrete(path: &str) -> String {
    let path = path.replace("{intId}", "bought");
    match path.as_str() {
        "/rest/account/{name}" => "/rest/account/Lab".to_owned(),
        "/rest/forex" => "/rest/forex?baseCurrency=BTC&transactionCurrency=USDT".to_owned(),
        "/rest/marketdata/bar" => "/rest/marketdata/bar?security=1&barSize=SEC_1".to_owned(),
        "/rest/marketdata/book" => "/rest/marketdata/book?security=1".to_owned(),
        "/rest/security.search" => "/rest/security.search?query=BTC".to_owned(),
        "/rest/break/{id}" => "/rest/break/B1".to_owned(),
        // The oldest: a new one comes each second.
        "/rest/portfolio/history" => "/rest/portfolio/history?limit=1".to_owned(),
        _ => path.replace("{id}", "1"),
    }
}

fn sequence_of(answer: &HttpResponse) -> Option<&str> {
    answer.header("rialto-sequence")
}

/// Keys that say when the question was asked, or when the leader heard of prices, which are not in the journal.
const MOMENTS: [(&str, &str); 2] = [("/rest/adapter", "\"lastHeard\":"), ("/rest/portfolio/value", "\"dateTime\":")];

/// Status and body, without the moments.
fn told(path: &str, answer: &HttpResponse) -> String {
    let Some((_, key)) = MOMENTS.iter().find(|(of, _)| *of == path) else {
        return format!("{} {}", answer.status, answer.body);
    };
    let without = |part: &str| part.trim_start_matches(|digit: char| digit.is_ascii_digit()).to_owned();
    format!("{} {}", answer.status, answer.body.split(key).map(without).collect::<Vec<_>>().join(key))
}

/// Answers with prices, which have no sequence: a follower hears of them a moment later.
const PRICED: [&str; 4] = ["/rest/marketdata", "/rest/position", "/rest/portfolio", "/rest/forex"];

/// A look costs some milliseconds: this is far longer than a follower is behind.
const LOOKS_MAX: usize = 400;

/// Why the leader's answer is nothing to compare with: two members that both know nothing are equal.
fn unanswered(leader: &mut HttpClient, path: &str) -> Option<String> {
    let asked = concrete(path);
    assert!(!asked.contains('{'), "{path} needs something that is there");
    let answer = leader.get(&asked).unwrap();
    let is_empty = ["", "[]", "{}"].contains(&answer.body.trim());
    (answer.status != 200 || is_empty).then(|| format!("{asked}: {} {}\n", answer.status, answer.body))
}

/// How the answers at one sequence differ, or at any moment where they have none; none where they are equal.
fn difference(leader: &mut HttpClient, follower: &mut HttpClient, path: &str) -> Option<String> {
    let mut last = None;
    let is_priced = PRICED.iter().any(|priced| path.starts_with(priced));
    for _ in 0..LOOKS_MAX {
        let (first, second) = (leader.get(path).unwrap(), follower.get(path).unwrap());
        if told(path, &first) == told(path, &second) {
            return None;
        }
        let shown = format!("{path}\nleader:   {}\nfollower: {}\n", told(path, &first), told(path, &second));
        if !is_priced && sequence_of(&first).is_some() && sequence_of(&first) == sequence_of(&second) {
            return Some(shown);
        }
        last = Some(shown);
    }
    last
}

/// Fills of both sides, a position, and orders that ended without one.
fn trade(client: &mut HttpClient) {
    for (side, quantity, id) in [("BUY", "0.03", "bought"), ("SELL", "0.01", "sold")] {
        client.place(&with_id(order_of(BITCOIN, side, quantity), id));
        client.wait_for_status(id, "EXECUTED");
    }
    client.place(&resting("cancelled"));
    client.wait_for_status("cancelled", "SUBMITTED");
    assert_eq!(client.delete("/rest/execution/order/cancelled").unwrap().status, 200);
    client.wait_for_status("cancelled", "CANCELED");
    let mut immediate = resting("immediate");
    immediate["tif"] = "IOC".into();
    client.place(&immediate);
    let has_ended = |status: &Value| !["OPEN", "SUBMITTED"].iter().any(|open| status == open);
    wait_for("the end of an order that meets no other", || {
        has_ended(&client.order("immediate")["status"]).then_some(())
    });
}

fn administer(client: &mut HttpClient, method: &str, path: &str, body: &Value) {
    let answer = match method {
        "PUT" => client.put(path, &body.to_string()),
        _ => client.post(path, &body.to_string()),
    };
    let answer = answer.unwrap();
    assert_eq!(answer.status, 200, "{method} {path}: {answer:?}");
}

/// Users, tokens, settings, a scope that was halted and one that is restricted, and a timer.
fn administer_all(client: &mut HttpClient) {
    let calls = [
        ("PUT", "/rest/settings", json!({ "layout": "wide" })),
        ("POST", "/rest/token", json!({ "name": "robot", "role": "VIEWER", "days": 7 })),
        ("POST", "/rest/user", json!({ "name": "anna", "password": "correct horse", "role": "ADMIN" })),
        ("PUT", "/rest/risk/state", json!({ "scope": "SECURITY-2", "state": "HALTED", "reason": "news" })),
        ("PUT", "/rest/risk/state", json!({ "scope": "SECURITY-2", "state": "ACTIVE", "reason": "read" })),
        ("PUT", "/rest/risk/state", json!({ "scope": "SECURITY-4", "state": "REDUCING", "reason": "lunch" })),
        ("PUT", "/rest/risk/dead-man-timer", json!({ "scope": "ACCOUNT-1", "seconds": 3_600 })),
    ];
    calls.iter().for_each(|(method, path, body)| administer(client, method, path, body));
}

/// Cash that the venue does not have, and values of the portfolio.
fn wait_for_break_and_samples(client: &mut HttpClient) {
    let credit = json!({ "type": "CREDIT", "price": "7.5", "currency": "USDT", "accountId": 1 });
    administer(client, "POST", "/rest/transaction", &credit);
    let is_of_cash = |found: &Value| found["currency"] == "USDT" && found["difference"] == "-7.5";
    wait_for("a break", || client.get_json("/rest/break").as_array().unwrap().iter().any(is_of_cash).then_some(()));
    let samples = concrete("/rest/portfolio/history");
    wait_for("a sample of values", || (client.get_json(&samples) != json!([])).then_some(()));
}

/// Breaks are found, and values sampled, within seconds. Without a limit no break keeps an order from the venue.
fn lab() -> LabPlatform {
    let mut lab = LabPlatform::new("BETA");
    for key in ["reconciliation.statementsSeconds", "portfolio.sampleSeconds"] {
        lab.launch = lab.launch.set(key, 1);
    }
    lab
}

#[test]
fn every_get_of_a_follower_is_the_leaders_at_the_same_sequence() {
    let cluster = TestCluster::with_members(&["a", "b"], 0, lab());
    let first = with_fix(&cluster, "a", 0).start();
    first.wait_for_output("\"role\":\"leader\",\"epoch\":1");
    let mut leader = first.client();
    wait_for_session(&mut leader, "SUBSCRIBED");
    cluster.lab.credit_opening_balances(&mut leader);
    place_when_priced(&mut leader, &resting("one"));
    leader.wait_for_status("one", "SUBMITTED");
    trade(&mut leader);
    administer_all(&mut leader);
    wait_for_break_and_samples(&mut leader);
    let second = with_fix(&cluster, "b", 0).start();
    let mut follower = second.client();
    wait_for_health(&mut follower, "/health/ready", 200, "follower");
    // The first question waits until the leader is heard; where that takes long it says so, and never that there is no price.
    wait_for("the leader's prices", || {
        let first = follower.get_json("/rest/marketdata/tick?security=1")[0].clone();
        assert!(first["bid"].is_number() || first["stale"].is_string(), "{first}");
        first["bid"].is_number().then_some(())
    });

    let bars = concrete("/rest/marketdata/bar");
    wait_for("a bar of the trades", || (leader.get_json(&bars) != json!([])).then_some(()));
    let described = leader.get_json("/openapi.json");
    let paths = described["paths"].as_object().unwrap().iter();
    let read: Vec<_> = paths.filter(|(_, methods)| methods["get"] != Value::Null).map(|(path, _)| path).collect();
    assert!(OWN.iter().all(|own| read.iter().any(|path| path == own)), "{read:?}");
    let compared: Vec<_> = read.iter().filter(|path| !OWN.contains(&path.as_str())).collect();
    assert!(compared.len() > 30, "{compared:?}");
    let unanswered: String = compared.iter().filter_map(|path| unanswered(&mut leader, path)).collect();
    assert_eq!(unanswered, "");
    let different: String =
        compared.iter().filter_map(|path| difference(&mut leader, &mut follower, &concrete(path))).collect();
    assert_eq!(different, "");
    second.stop();
    first.stop();
    cluster.lab.stop();
}
