//! HTTP behaviour: problems, origins, hosts, health.

use scenarios::http::{HttpRequest, HttpResponse};
use scenarios::server::RunningServer;
use serde_json::{Value, json};

use crate::test_platform::{AAPL, TestPlatform, TraderClient, body_of, limit, market};

#[test]
fn what_is_wrong_with_an_order_is_named() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let cases = [
        ("limit", json!({ "side": "BUY", "quantity": 1, "limit": 250 }), 422, "missing", "securityId"),
        ("limit", json!({ "securityId": 1, "side": "BUY", "quantity": 1 }), 422, "missing", "limit"),
        ("market", json!({ "securityId": 1, "side": "BUY", "quantity": 1, "limit": 9 }), 422, "not-needed", "limit"),
        ("market", json!({ "securityId": 1, "side": "buy", "quantity": 1 }), 400, "malformed-field", "side"),
        ("market", json!({ "securityId": 1, "side": "BUY", "quantity": "ten" }), 400, "malformed-field", "quantity"),
        ("market", json!({ "securityId": 1, "side": "BUY", "quantity": -1 }), 422, "not-positive", "quantity"),
        (
            "limit",
            json!({ "securityId": 1, "side": "BUY", "quantity": 1, "limit": 250.001 }),
            422,
            "not-a-multiple",
            "limit",
        ),
    ];
    for (kind, body, status, code, field) in cases {
        let response = client.post(&format!("/rest/execution/order/{kind}"), &body.to_string()).unwrap();
        let problem = problem_in(&response);
        assert_eq!((response.status, &problem["code"]), (status, &json!(code)), "{body}: {problem}");
        assert_eq!(problem["errors"][0]["field"], json!(field), "{body}: {problem}");
    }
    assert_eq!(client.get_json("/rest/execution/order"), json!([]), "none of them left a trace");
    server.stop();
}

#[test]
fn a_body_that_is_no_json_is_refused_with_the_place() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let response = client.post("/rest/execution/order/limit", "{\"securityId\": 1,").unwrap();
    let problem = problem_in(&response);
    assert_eq!((response.status, &problem["code"]), (400, &json!("malformed-json")));
    assert!(problem["detail"].as_str().unwrap().contains("line 1"), "{problem}");
    let text = HttpRequest {
        method: "POST",
        path: "/rest/execution/order/limit",
        headers: &[("Content-Type", "text/plain")],
        body: Some("{}"),
    };
    assert_eq!(client.send(&text).unwrap().status, 415);
    server.stop();
}

#[test]
fn risk_refuses_with_a_code_and_the_numbers() {
    let desk = TestPlatform::new().set("risk.maxOrderQuantity", 1_000);
    let server = desk.start();
    let mut client = server.client();
    let cases = [
        (market(AAPL, "BUY", 1_001), "max-order-quantity"),
        (limit(AAPL, "BUY", 1, "500"), "price-collar"),
        (market(22, "BUY", 1), "not-tradeable"),
        (market(999, "BUY", 1), "unknown-security"),
    ];
    for (order, code) in cases {
        let response = client.submit(&order);
        let problem = problem_in(&response);
        assert_eq!((response.status, &problem["code"]), (422, &json!(code)), "{order}: {problem}");
    }
    server.stop();
}

#[test]
fn what_is_not_there_is_404() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    for path in ["/rest/execution/order/nobody-1", "/rest/security/999", "/rest/nothing"] {
        let response = client.get(path).unwrap();
        assert_eq!(response.status, 404, "{path}");
        problem_in(&response);
    }
    assert_eq!(client.delete("/rest/execution/order/nobody-1").unwrap().status, 404);
    assert_eq!(client.get("/rest/account?colour=red").unwrap().status, 400);
    assert_eq!(client.delete("/rest/account").unwrap().status, 405);
    server.stop();
}

#[test]
fn an_answer_to_a_get_is_chunked_and_says_up_to_when_it_is_true() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    for path in ["/rest/execution/order", "/rest/position"] {
        let response = client.get(path).unwrap();
        let chunked = (response.header("transfer-encoding"), response.header("content-length"));
        assert_eq!(chunked, (Some("chunked"), None), "{path}");
        let sequence = response.header("rialto-sequence").and_then(|sequence| sequence.parse::<u64>().ok());
        assert!(sequence.is_some_and(|sequence| sequence > 0), "{path}: {sequence:?}");
    }
    server.stop();
}

#[test]
fn another_origin_may_read_the_accounts_and_nothing_else() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let foreign = &[("Origin", "http://elsewhere.example")];
    let mut allowed_at = |path| {
        let request = HttpRequest { method: "GET", path, headers: foreign, body: None };
        client.send(&request).unwrap().header("access-control-allow-origin").map(ToOwned::to_owned)
    };
    assert_eq!(allowed_at("/rest/account").as_deref(), Some("*"));
    assert_eq!(allowed_at("/rest/position"), None);
    server.stop();
}

#[test]
fn a_page_of_another_origin_can_not_trade() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let order = market(AAPL, "BUY", 1).to_string();
    let path = "/rest/execution/order/market";
    for header in [("Origin", "http://elsewhere.example"), ("Host", "elsewhere.example")] {
        let request = HttpRequest { method: "POST", path, headers: &[header], body: Some(&order) };
        let response = client.send(&request).unwrap();
        assert_eq!(response.status, 403, "{header:?}");
        problem_in(&response);
    }
    let rebound =
        HttpRequest { method: "GET", path: "/rest/account", headers: &[("Host", "elsewhere.example")], body: None };
    assert_eq!(client.send(&rebound).unwrap().status, 403);
    let own = format!("http://{}", server.address());
    let request = HttpRequest { method: "POST", path, headers: &[("Origin", &own)], body: Some(&order) };
    assert_eq!(client.send(&request).unwrap().status, 200, "our own page may");
    server.stop();
}

#[test]
fn a_server_that_is_well_says_what_it_stands_on() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    assert_eq!(client.get_json("/health/live")["status"], json!("UP"));
    let ready = client.get_json("/health/ready");
    let checks: Vec<_> =
        ready["checks"].as_array().unwrap().iter().map(|check| (&check["name"], &check["ok"])).collect();
    let names = ["journal", "read-model", "topics", "adapter SIMULATED-ALPHA", "adapter SIMULATED-BETA"]
        .map(|name| json!(name));
    let yes = json!(true);
    let expected: Vec<_> = names.iter().map(|name| (name, &yes)).collect();
    assert_eq!((&ready["status"], checks), (&json!("UP"), expected));
    server.stop();
}

/// Connections that made a request and stay open, until one more is refused or so many are open; each is served again at the end.
fn served_at_once(server: &RunningServer, wanted: usize) -> (usize, Option<Value>) {
    let mut clients = Vec::new();
    let mut refusal = None;
    while clients.len() < wanted && refusal.is_none() {
        let mut client = server.client();
        match client.get("/rest/account").unwrap() {
            response if response.status == 200 => clients.push(client),
            response => refusal = Some(problem_in(&response)),
        }
    }
    clients.iter_mut().for_each(|client| assert_eq!(client.get("/rest/account").unwrap().status, 200));
    (clients.len(), refusal)
}

/// Both ways of `http.connections`: one that is low is reached with its outcome, and one above the default is used. One address of this machine
/// gets three quarters of them.
#[test]
fn the_limit_of_connections_is_the_configured_one() {
    const ABOVE_THE_DEFAULT: usize = 1_100;
    let server = TestPlatform::new().set("http.connections", 16).start();
    let (served, refusal) = served_at_once(&server, 100);
    assert_eq!((served, refusal.map(|problem| problem["code"].clone())), (12, Some(json!("too-many-connections"))));
    server.stop();
    let settings = TestPlatform::new().set("http.connections", 1_600).set("http.requestsPerSecond", 1_000_000);
    let server = settings.start();
    assert_eq!(served_at_once(&server, ABOVE_THE_DEFAULT), (ABOVE_THE_DEFAULT, None));
    server.stop();
}

#[test]
fn the_sync_mode_stands_in_the_parameters() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let parameters = server.client().get_json("/rest/config-params");
    assert_eq!((&parameters["journal.sync"], &parameters["demo.activity"]), (&json!("always"), &json!("off")));
    server.stop();
}

fn problem_in(response: &HttpResponse) -> Value {
    assert_eq!(response.header("content-type"), Some("application/problem+json"), "{response:?}");
    let problem = body_of(response);
    assert_eq!(problem["status"], json!(response.status));
    for key in ["type", "title", "detail", "code"] {
        assert!(problem[key].is_string(), "{key}: {problem}");
    }
    problem
}
