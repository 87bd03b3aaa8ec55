//! A server of a cluster: what a follower answers, and what it refuses.

use std::time::Duration;

use bus::operations::{ClusterRole, ClusterView};
use domain::Answer;

use crate::test_server::{FakeOperations, TestServer, code, status};

const LEADER: &str = "http://10.0.0.2:9090";
const LAG: &str = "rialto-lag-millis: 40";

fn server(role: ClusterRole, leader: Option<&str>) -> TestServer {
    let lag = (role == ClusterRole::Follower).then_some(Duration::from_millis(40));
    let cluster = Some(ClusterView {
        member: "a".into(),
        role,
        is_eligible: true,
        epoch: 3,
        leader: leader.map(Into::into),
        lag,
        entry: 41,
        has_lease: role == ClusterRole::Leader,
        problem: None,
        leads_seen: 1,
        standbys_required: 1,
        standbys: 2,
        records_waiting: 0,
    });
    TestServer::with_program(FakeOperations { cluster, ..FakeOperations::default() }, |_| Ok(Answer::Done))
}

#[test]
fn a_follower_refuses_what_changes_something_and_names_the_leader() {
    let follower = server(ClusterRole::Follower, Some(LEADER));
    let refused = follower.post("/rest/transaction/reset-cash-balances", "");
    assert_eq!(code(&refused), "503 not-leader");
    assert!(refused.contains(LEADER) && refused.contains("had no effect"), "{refused}");
    let unknown = server(ClusterRole::Follower, None).post("/rest/transaction/reset-cash-balances", "");
    assert!(unknown.contains("no leader is known yet"), "{unknown}");
    // Whoever stops a member stops that one.
    assert_eq!(status(&follower.post("/rest/runtime/exit-vm", "")), "HTTP/1.1 200 OK");
}

#[test]
fn a_follower_answers_questions_and_says_how_old_they_may_be() {
    let answer = server(ClusterRole::Follower, Some(LEADER)).get("/rest/config-params");
    assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.contains(LAG), "{answer}");
    let answer = server(ClusterRole::Leader, None).get("/rest/config-params");
    assert!(!answer.contains("rialto-lag"), "{answer}");
}

#[test]
fn only_a_leader_and_a_server_alone_are_leaders() {
    let alone = TestServer::with_program(FakeOperations::default(), |_| Ok(Answer::Done));
    assert_eq!(status(&alone.get("/health/leader")), "HTTP/1.1 200 OK");
    let leader = server(ClusterRole::Leader, Some(LEADER));
    assert!(leader.get("/health/leader").contains("it leads epoch 3"));
    assert_eq!(status(&leader.post("/rest/transaction/reset-cash-balances", "")), "HTTP/1.1 200 OK");
    let follower = server(ClusterRole::Follower, Some(LEADER)).get("/health/leader");
    assert!(
        follower.starts_with("HTTP/1.1 503") && follower.contains("http://10.0.0.2:9090 leads epoch 3"),
        "{follower}"
    );
}

#[test]
fn a_member_says_who_it_is_and_a_server_alone_that_it_is_alone() {
    let follower = server(ClusterRole::Follower, Some(LEADER)).get("/health/cluster");
    let expected = r#"{"member":"a","role":"follower","eligible":true,"epoch":3,"leader":"http://10.0.0.2:9090","lagMillis":40,"entry":41,"lease":false,"problem":null,"standbysRequired":1,"standbys":null}"#;
    assert!(follower.contains(expected), "{follower}");
    let alone = TestServer::with_program(FakeOperations::default(), |_| Ok(Answer::Done)).get("/health/cluster");
    let expected = r#"{"member":null,"role":"alone","eligible":true,"epoch":null,"leader":null,"lagMillis":null,"entry":null,"lease":true,"problem":null,"standbysRequired":0,"standbys":null}"#;
    assert!(alone.contains(expected), "{alone}");
}
