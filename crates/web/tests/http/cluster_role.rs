//! A server of a cluster: what a follower answers, and what it refuses.

use std::time::Duration;

use bus::cluster_overview::{
    ClusterMember, ClusterMemberStatus, ClusterOverview, LeadBeginning, LeadCause, LeaderGate, LogServersView,
};
use bus::operations::{ClusterRole, ClusterView};
use domain::{Answer, Timestamp};

use crate::test_server::{FakeOperations, TestServer, code, status};

const LEADER: &str = "http://10.0.0.2:9090";
const LAG: &str = "rialto-lag-millis: 40";

fn server(role: ClusterRole, leader: Option<&str>) -> TestServer {
    let program = FakeOperations { cluster: Some(view(role, leader)), ..FakeOperations::default() };
    TestServer::with_program(program, |_| Ok(Answer::Done))
}

fn view(role: ClusterRole, leader: Option<&str>) -> ClusterView {
    let lag = (role == ClusterRole::Follower).then_some(Duration::from_millis(40));
    ClusterView {
        member: "a".into(),
        role,
        is_eligible: true,
        epoch: 3,
        leader: leader.map(Into::into),
        lag,
        entry: 41,
        has_lease: role == ClusterRole::Leader,
        problem: None,
        may_not_lead: None,
        log_warning: None,
        leads_seen: 1,
        standbys_required: 1,
        standbys: 2,
        records_waiting: 0,
    }
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
fn a_leader_without_its_lease_is_no_leader_for_a_load_balancer() {
    let cut = ClusterView { has_lease: false, ..view(ClusterRole::Leader, Some(LEADER)) };
    let program = FakeOperations { cluster: Some(cut), ..FakeOperations::default() };
    let answer = TestServer::with_program(program, |_| Ok(Answer::Done)).get("/health/leader");
    let expected = "it led epoch 3, and its lease has run out";
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains(expected), "{answer}");
}

#[test]
fn a_member_says_who_it_is_and_a_server_alone_that_it_is_alone() {
    let writing =
        ClusterView { may_not_lead: Some("it writes a snapshot".into()), ..view(ClusterRole::Follower, Some(LEADER)) };
    let program = FakeOperations { cluster: Some(writing), ..FakeOperations::default() };
    let follower = TestServer::with_program(program, |_| Ok(Answer::Done)).get("/health/cluster");
    let expected = r#"{"member":"a","role":"follower","eligible":true,"epoch":3,"leader":"http://10.0.0.2:9090","lagMillis":40,"entry":41,"lease":false,"problem":null,"mayNotLead":"it writes a snapshot","logWarning":null,"standbysRequired":1,"standbys":null}"#;
    assert!(follower.contains(expected), "{follower}");
    let alone = TestServer::with_program(FakeOperations::default(), |_| Ok(Answer::Done)).get("/health/cluster");
    let expected = r#"{"member":null,"role":"alone","eligible":true,"epoch":null,"leader":null,"lagMillis":null,"entry":null,"lease":true,"problem":null,"mayNotLead":null,"logWarning":null,"standbysRequired":0,"standbys":null}"#;
    assert!(alone.contains(expected), "{alone}");
}

fn overview() -> ClusterOverview {
    let status = ClusterMemberStatus {
        age: Duration::from_millis(310),
        is_leader: true,
        is_eligible: true,
        epoch: 3,
        entry: 41,
        lag: None,
        has_lease: true,
        problem: None,
        may_not_lead: None,
        digest: None,
        standbys: Some((1, 2)),
    };
    let lead = LeadBeginning {
        epoch: 3,
        at: Timestamp(1_794_839_400_000_000_000),
        cause: LeadCause::HandOver,
        before: Some("a".into()),
        open_after: Some(Duration::from_millis(900)),
    };
    let member = |name: &str, address: &str, is_own, status| ClusterMember {
        name: name.into(),
        address: address.into(),
        is_own,
        status,
    };
    let age = Duration::from_secs(1);
    ClusterOverview {
        leader: Some("b".into()),
        gate: LeaderGate::Open,
        lead: Some(lead),
        log: Some(LogServersView { servers: 3, current: 1, leader: Some("n0".into()), age, problem: None }),
        members: vec![member("a", "http://10.0.0.1:9090", true, None), member("b", LEADER, false, Some(status))],
    }
}

#[test]
fn a_member_shows_the_whole_cluster_and_a_server_alone_that_it_is_none() {
    let program = FakeOperations {
        cluster: Some(view(ClusterRole::Follower, Some(LEADER))),
        overview: Some(overview()),
        ..FakeOperations::default()
    };
    let answer = TestServer::with_program(program, |_| Ok(Answer::Done)).get("/rest/cluster");
    let silent = r#"{"name":"a","address":"http://10.0.0.1:9090","own":true,"ageMillis":null,"role":null,"eligible":null,"epoch":null,"entry":null,"lagMillis":null,"lease":null,"problem":null,"mayNotLead":null,"digestSequence":null,"digestAgeMillis":null,"standbysRequired":null,"standbys":null}"#;
    let leader = r#"{"name":"b","address":"http://10.0.0.2:9090","own":false,"ageMillis":310,"role":"leader","eligible":true,"epoch":3,"entry":41,"lagMillis":null,"lease":true,"problem":null,"mayNotLead":null,"digestSequence":null,"digestAgeMillis":null,"standbysRequired":1,"standbys":2}"#;
    let expected = format!(
        r#"{{"member":"a","role":"follower","epoch":3,"leader":"b","gate":"OPEN","gateReason":null,"lead":{{"epoch":3,"since":1794839400000,"cause":"HAND_OVER","before":"a","openAfterMillis":900}},"log":{{"servers":3,"current":1,"majority":false,"leader":"n0","ageMillis":1000,"problem":null}},"members":[{silent},{leader}]}}"#
    );
    assert!(answer.contains(&expected), "{answer}");
    let alone = TestServer::with_program(FakeOperations::default(), |_| Ok(Answer::Done)).get("/rest/cluster");
    let expected = r#"{"member":null,"role":"alone","epoch":null,"leader":null,"gate":"OPEN","gateReason":null,"lead":null,"log":null,"members":[]}"#;
    assert!(alone.contains(expected), "{alone}");
}
