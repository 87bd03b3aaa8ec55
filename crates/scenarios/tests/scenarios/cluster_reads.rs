//! Questions to a follower: every GET of the description is answered as the leader answers it at the same sequence.

use scenarios::http::{HttpClient, HttpResponse};
use scenarios::wait::wait_for;
use serde_json::Value;

use crate::binance::{BITCOIN, order_of, place_when_priced, resting, wait_for_session};
use crate::cluster::{TestCluster, wait_for_health};
use crate::test_platform::{TraderClient, with_id};

/// What a member says of itself, and prices, which only the leader has. Each is named in docs/cluster.md.
const OWN: [&str; 15] = [
    "/health/cluster",
    "/health/leader",
    "/health/ready",
    "/metrics",
    "/rest/audit",
    "/rest/broker/url/main",
    "/rest/broker/url/ws",
    "/rest/config-params",
    "/rest/fix/sessions",
    "/rest/log",
    "/rest/marketdata/bar",
    "/rest/marketdata/book",
    "/rest/marketdata/tick",
    "/rest/portfolio/value",
    "/rest/subscription/marketdata/supported-feed",
];

/// A path of the description, with something that is there.
fn concrete(path: &str) -> String {
    let path = path.replace("{intId}", "one");
    match path.as_str() {
        "/rest/account/{name}" => "/rest/account/Lab".to_owned(),
        "/rest/forex" => "/rest/forex?baseCurrency=BTC&transactionCurrency=USDT".to_owned(),
        "/rest/security.search" => "/rest/security.search?query=BTC".to_owned(),
        _ => path.replace("{id}", "1").replace("{name}", "nobody"),
    }
}

fn sequence_of(answer: &HttpResponse) -> Option<&str> {
    answer.header("rialto-sequence")
}

/// Both answers at one sequence, where they have one.
fn answers(leader: &mut HttpClient, follower: &mut HttpClient, path: &str) -> (String, String) {
    wait_for(&format!("both members to be at one sequence of {path}"), || {
        let (first, second) = (leader.get(path).unwrap(), follower.get(path).unwrap());
        let told = |answer: &HttpResponse| format!("{} {}", answer.status, answer.body);
        let is_level = sequence_of(&first) == sequence_of(&second);
        (is_level && (sequence_of(&first).is_some() || told(&first) == told(&second)))
            .then(|| (told(&first), told(&second)))
    })
}

#[test]
fn every_get_of_a_follower_is_the_leaders_at_the_same_sequence() {
    let cluster = TestCluster::start(0);
    let first = cluster.start_member("a");
    first.wait_for_output("\"role\":\"leader\",\"epoch\":1");
    let mut leader = first.client();
    wait_for_session(&mut leader, "SUBSCRIBED");
    cluster.lab.credit_opening_balances(&mut leader);
    place_when_priced(&mut leader, &resting("one"));
    leader.wait_for_status("one", "SUBMITTED");
    leader.place(&with_id(order_of(BITCOIN, "BUY", "0.01"), "bought"));
    leader.wait_for_status("bought", "EXECUTED");
    let second = cluster.start_member("b");
    let mut follower = second.client();
    wait_for_health(&mut follower, "/health/ready", 200, "follower");

    let described = leader.get_json("/openapi.json");
    let paths = described["paths"].as_object().unwrap().iter();
    let read: Vec<_> = paths.filter(|(_, methods)| methods["get"] != Value::Null).map(|(path, _)| path).collect();
    assert!(OWN.iter().all(|own| read.iter().any(|path| path == own)), "{read:?}");
    let compared: Vec<_> = read.iter().filter(|path| !OWN.contains(&path.as_str())).collect();
    assert!(compared.len() > 30, "{compared:?}");
    for path in compared {
        let path = concrete(path);
        let (of_leader, of_follower) = answers(&mut leader, &mut follower, &path);
        assert_eq!(of_follower, of_leader, "{path}");
    }
    drop(second);
    first.stop();
    cluster.lab.stop();
}
