//! A leader that waits for a standby: what it acknowledges is in the follower's own journal, and without a follower it acknowledges
//! nothing and says why.

use std::time::Duration;

use scenarios::server::{RunningServer, send_signal};
use scenarios::wait::wait_for;
use serde_json::Value;

use crate::binance::{resting, wait_for_session};
use crate::cluster::{TestCluster, open_orders, place, wait_for_health};
use crate::test_platform::TraderClient;

/// In the default timing.
const PULSES_TO_TAKEOVER: u64 = 6;
const NO_STANDBY: &str = "no standby has the last record";

/// Whether the journal of a member has an order, on disk.
fn has_order(cluster: &TestCluster, member: &str, id: &str) -> bool {
    let has = |bytes: &Vec<u8>| bytes.windows(id.len()).any(|window| window == id.as_bytes());
    cluster.segments(member).values().any(has)
}

fn status_of(cluster: &TestCluster, member: &str) -> Value {
    let text = cluster.client(member).get("/health/cluster").unwrap().body;
    serde_json::from_str(&text).unwrap()
}

/// Nobody is told that an order is there, and no venue gets it, while the follower is paused.
fn expect_nothing_is_acknowledged(cluster: &TestCluster, leader: &RunningServer, id: &str) {
    let mut client = leader.client().with_timeout(Duration::from_secs(60));
    let refused = client.submit(&resting(id));
    let problem: Value = serde_json::from_str(&refused.body).unwrap();
    assert_eq!(refused.status, 503, "{refused:?}");
    let code = problem["code"].as_str().unwrap_or_default();
    assert!(["outcome-unknown", "journal-stalled"].contains(&code), "{problem}");
    wait_for_health(&mut leader.client(), "/health/ready", 503, NO_STANDBY);
    // A takeover would be due after so many pulses, if there were none.
    let entry = || status_of(cluster, "a")["entry"].as_u64().unwrap();
    let shut_at = entry();
    wait_for("the leader to prove its lead meanwhile", || (entry() >= shut_at + PULSES_TO_TAKEOVER).then_some(()));
    let has_lease = || (status_of(cluster, "a")["lease"] == true).then_some(());
    wait_for("the leader to hold its lease", has_lease);
    let status = cluster.launcher("a").run_without_folder(&["ha", "status", &cluster.file("a")]);
    assert!(status.to_string().contains(NO_STANDBY), "{status}");
    assert_eq!(cluster.orders_at_venue(), 2, "the venue was sent nothing");
}

#[test]
fn an_order_is_acknowledged_when_a_standby_has_it_and_not_before() {
    let cluster = TestCluster::start(1);
    let first = cluster.start_member("a");
    // It leads, and tells by the interfaces of a follower why it does not begin to serve.
    wait_for_health(&mut first.client(), "/health/ready", 503, NO_STANDBY);
    wait_for_health(&mut first.client(), "/health/leader", 503, "");
    let second = cluster.start_member("b");
    first.wait_for_output("\"role\":\"leader\",\"epoch\":1");
    let mut client = first.client();
    wait_for_session(&mut client, "SUBSCRIBED");
    cluster.lab.credit_opening_balances(&mut client);
    for id in ["standby-one", "standby-two"] {
        place(&mut client, &[id]);
        assert!(has_order(&cluster, "b", id), "{id} was acknowledged before b had it");
    }
    let status = status_of(&cluster, "a");
    assert_eq!((&status["standbysRequired"], &status["standbys"]), (&Value::from(1), &Value::from(1)), "{status}");
    wait_for_health(&mut client, "/health/ready", 200, "leader, epoch 1");

    // The log goes on, so the leader keeps its lead for as long as the follower sleeps; it only tells nobody anything.
    send_signal(second.pid(), "STOP");
    expect_nothing_is_acknowledged(&cluster, &first, "standby-three");
    send_signal(second.pid(), "CONT");
    wait_for_health(&mut client, "/health/ready", 200, "leader, epoch 1");
    let known = open_orders(&mut client);
    assert!(known.starts_with(&["standby-one".to_owned()]) && known.len() >= 2, "{known:?}");
    place(&mut client, &["standby-four"]);
    assert!(has_order(&cluster, "b", "standby-four"));

    // A leader whose standby has gone stops, and does not claim that everything was acknowledged.
    second.stop();
    wait_for_health(&mut client, "/health/ready", 503, NO_STANDBY);
    send_signal(first.pid(), "TERM");
    let ended = first.wait();
    assert_eq!(ended.code, Some(1), "{ended}");
    assert!(ended.log.contains("stopped before a standby had the last record"), "{ended}");
    cluster.lab.stop();
}
