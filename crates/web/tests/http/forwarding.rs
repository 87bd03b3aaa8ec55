//! Commands that a client gives a follower of a cluster: the follower authenticates and forwards, the leader decides and answers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use access::UserRole;
use bus::forwarding::{ForwardedRequest, ForwardedResponse, ForwardingError};
use bus::operations::{ClusterRole, ClusterView};
use domain::Answer;

use crate::fake_operations::FakeForwarder;
use crate::test_server::{FakeOperations, TestServer, code, status};

const PATH: &str = "/rest/transaction/reset-cash-balances";

fn view(role: ClusterRole) -> ClusterView {
    ClusterView {
        member: "a".into(),
        role,
        is_eligible: true,
        epoch: 3,
        leader: Some("http://10.0.0.2:9090".into()),
        lag: Some(Duration::from_millis(40)),
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

/// A follower whose leader answers like this.
fn follower(answer: Result<ForwardedResponse, ForwardingError>) -> (TestServer, Arc<FakeForwarder>) {
    let forwarder = Arc::new(FakeForwarder { answer, forwarded: Mutex::default() });
    let program = FakeOperations {
        cluster: Some(view(ClusterRole::Follower)),
        forwarder: Some(forwarder.clone()),
        ..FakeOperations::default()
    };
    (TestServer::with_program(program, |_| panic!("a follower changes nothing")), forwarder)
}

fn leader(role: ClusterRole) -> TestServer {
    let program = FakeOperations { cluster: Some(view(role)), ..FakeOperations::default() };
    TestServer::with_program(program, |_| Ok(Answer::Done))
}

fn command(user: Option<&str>) -> ForwardedRequest {
    ForwardedRequest {
        user: user.map(Into::into),
        peer: Some("192.0.2.7".into()),
        method: "POST".into(),
        path: PATH.into(),
        headers: vec![("content-type".into(), "application/json".into()), ("x-request-id".into(), "story".into())],
        body: vec![],
    }
}

#[test]
fn a_follower_forwards_a_command_with_the_name_of_its_caller_and_gives_the_leaders_answer() {
    let headers = vec![("content-type".into(), "application/json".into()), ("rialto-sequence".into(), "4700".into())];
    let answer = ForwardedResponse { status: 201, headers, body: b"{\"leader\":true}".to_vec(), sequence: 4_700 };
    let (follower, forwarder) = follower(Ok(answer));
    follower.users.add("anna", UserRole::Trader);
    let bearer = follower.users.bearer("robot", UserRole::Trader);
    let headers = format!("{bearer}Content-Type: application/json\r\nRialto-Source: UI\r\nCookie: a=b\r\n");
    let answer = follower.call("POST", "/rest/execution/order/limit?x=1", &headers, "{\"intId\":\"7\"}");
    assert_eq!(code(&answer), "400 unknown-parameter", "what is wrong for every server is refused here");
    let answer = follower.call("POST", "/rest/execution/order/limit", &headers, "{\"intId\":\"7\"}");
    assert!(answer.starts_with("HTTP/1.1 201 Created") && answer.ends_with("{\"leader\":true}"), "{answer}");
    assert!(answer.contains("rialto-sequence: 4700") && answer.contains("rialto-lag-millis: 40"), "{answer}");
    let expected = ForwardedRequest {
        user: Some("robot".into()),
        peer: Some("127.0.0.1".into()),
        method: "POST".into(),
        path: "/rest/execution/order/limit".into(),
        headers: [("content-type", "application/json"), ("rialto-source", "UI"), ("x-request-id", "story")]
            .map(|(name, value)| (name.into(), value.into()))
            .into(),
        body: b"{\"intId\":\"7\"}".to_vec(),
    };
    assert_eq!(*forwarder.forwarded.lock().unwrap(), [expected], "once, and without its credentials");
}

#[test]
fn who_may_not_do_it_at_the_follower_is_refused_there() {
    let (follower, forwarder) = follower(Ok(ForwardedResponse::default()));
    follower.users.add("anna", UserRole::Trader);
    let viewer = follower.users.bearer("viewer", UserRole::Viewer);
    assert_eq!(code(&follower.call("POST", PATH, &viewer, "")), "403 role-too-low");
    assert_eq!(code(&follower.post(PATH, "")), "401 login-needed");
    assert!(forwarder.forwarded.lock().unwrap().is_empty());
}

#[test]
fn an_answer_that_does_not_come_is_an_unknown_outcome_and_a_command_that_was_not_taken_may_be_sent_again() {
    let answer = |error| follower(Err(error)).0.post(PATH, "");
    let unknown = answer(ForwardingError::Unanswered);
    assert_eq!(code(&unknown), "503 outcome-unknown");
    assert!(!unknown.contains("retry-after"), "{unknown}");
    let refused = answer(ForwardingError::NotTaken("no member leads yet".into()));
    assert_eq!(code(&refused), "503 not-leader");
    assert!(refused.contains("this server follows, and no member leads yet; it had no effect, try again"), "{refused}");
    assert!(refused.contains("retry-after: 1"), "{refused}");
}

#[test]
fn a_leader_decides_about_a_forwarded_command_by_its_own_users() {
    let leader = leader(ClusterRole::Leader);
    leader.users.add("anna", UserRole::Admin);
    leader.users.add("tom", UserRole::Trader);
    let answered = |user| {
        let answer = leader.forward(command(user));
        (answer.status, String::from_utf8(answer.body).unwrap())
    };
    assert_eq!(answered(Some("anna")), (200, String::new()));
    let refused =
        [(Some("tom"), 403, "role-too-low"), (Some("nobody"), 401, "wrong-credentials"), (None, 401, "login-needed")];
    for (user, status, code) in refused {
        let answer = answered(user);
        assert!(answer.0 == status && answer.1.contains(code), "{user:?}: {answer:?}");
    }
    let commands = leader.commands();
    assert_eq!(commands.len(), 1);
    assert_eq!(commands[0].caller.user.as_deref(), Some("anna"));
    let audit = leader.users.audit();
    assert!(audit.contains(&format!("anna REST 192.0.2.7 [POST {PATH}] done: {PATH}")), "{audit}");
}

#[test]
fn a_command_is_forwarded_once_at_the_most() {
    let follower = leader(ClusterRole::Follower);
    let answer = follower.forward(command(None));
    let body = String::from_utf8(answer.body).unwrap();
    assert!(answer.status == 503 && body.contains("not-leader") && body.contains("http://10.0.0.2:9090"), "{body}");
    assert_eq!(status(&follower.get("/health/live")), "HTTP/1.1 200 OK");
    assert!(follower.commands().is_empty());
}

/// A follower that makes no bars itself, and whose leader answers like this.
fn follower_without_bars(answer: Result<ForwardedResponse, ForwardingError>) -> (TestServer, Arc<FakeForwarder>) {
    let forwarder = Arc::new(FakeForwarder { answer, forwarded: Mutex::default() });
    let program = FakeOperations {
        cluster: Some(view(ClusterRole::Follower)),
        forwarder: Some(forwarder.clone()),
        bars_are_of_leader: true,
        ..FakeOperations::default()
    };
    (TestServer::with_program(program, |_| panic!("a follower without prices has no bars")), forwarder)
}

#[test]
fn fix_sessions_are_those_of_the_leader_who_alone_has_a_fix_port() {
    const SESSIONS: &str = "/rest/fix/sessions";
    let (follower, forwarder) = follower(Ok(ForwardedResponse {
        status: 200,
        headers: vec![],
        body: b"[{\"id\":\"CLIENT\"}]".to_vec(),
        sequence: 4_700,
    }));
    let heard = follower.get(SESSIONS);
    assert!(heard.starts_with("HTTP/1.1 200 OK") && heard.ends_with("[{\"id\":\"CLIENT\"}]"), "{heard}");
    let asked: Vec<_> = forwarder.forwarded.lock().unwrap().iter().map(|request| request.path.clone()).collect();
    assert_eq!(asked, [SESSIONS]);
    let (follower, _) = self::follower(Err(ForwardingError::Unanswered));
    assert_eq!(code(&follower.get(SESSIONS)), "503 not-leader", "never that there is none");
}

#[test]
fn a_question_about_bars_is_answered_by_the_leader_who_alone_makes_them() {
    const BARS: &str = "/rest/marketdata/bar?security=1&barSize=MIN_5";
    let answer =
        ForwardedResponse { status: 200, headers: vec![], body: b"[{\"leader\":true}]".to_vec(), sequence: 4_700 };
    let (follower, forwarder) = follower_without_bars(Ok(answer));
    let heard = follower.call("GET", BARS, "Accept: text/csv\r\n", "");
    assert!(heard.starts_with("HTTP/1.1 200 OK") && heard.ends_with("[{\"leader\":true}]"), "{heard}");
    let forwarded = forwarder.forwarded.lock().unwrap();
    let asked: Vec<_> = forwarded.iter().map(|request| (request.method.as_str(), request.path.as_str())).collect();
    assert_eq!(asked, [("GET", BARS)]);
    assert!(forwarded[0].headers.contains(&("accept".into(), "text/csv".into())), "{:?}", forwarded[0].headers);

    let refused = |error| follower_without_bars(Err(error)).0.get(BARS);
    let nobody = refused(ForwardingError::NotTaken("no member leads yet".into()));
    assert_eq!(code(&nobody), "503 not-leader");
    assert!(nobody.contains("this server follows, and no member leads yet"), "{nobody}");
    let silent = refused(ForwardingError::Unanswered);
    assert_eq!(code(&silent), "503 not-leader");
    assert!(silent.contains("the leader, which alone can answer this, gave no answer; try again"), "{silent}");
}
