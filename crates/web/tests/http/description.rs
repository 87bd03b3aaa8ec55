//! The API description against the server: every endpoint is called, with valid and invalid requests, and must respond
//! as described.

use bus::RequestPayload;
use bus::operations::BrokerEndpoints;
use domain::query::PreTradeCheck;
use domain::{Answer, Command, Query, Refusal, SecurityId};
use serde_json::{Value, json};
use web::WebSettings;
use web::endpoints::{ENDPOINTS, Endpoint};

use crate::bookings::booked;
use crate::test_server::{FakeOperations, TestServer, code, order, status};

fn document(server: &TestServer) -> Value {
    let answer = server.get("/openapi.json");
    assert_eq!(status(&answer), "HTTP/1.1 200 OK");
    // Chunked: the text is between the first brace and the last.
    let text: String = answer.lines().filter(|line| line.starts_with('{') || line.starts_with('"')).collect();
    serde_json::from_str(&text).unwrap()
}

fn operation<'a>(document: &'a Value, row: &Endpoint) -> &'a Value {
    &document["paths"][row.path][row.method.to_ascii_lowercase()]
}

/// The endpoint's path with a value for every parameter.
fn path_of(row: &Endpoint, id: &str) -> String {
    ["{id}", "{name}", "{intId}"].iter().fold(row.path.to_owned(), |path, part| path.replace(part, id))
}

fn header<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = answer.lines().take_while(|line| !line.is_empty());
    lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// Parts of a response that the description lacks.
fn undocumented(answer: &str, operation: &Value, document: &Value) -> Option<String> {
    let status = status(answer).split(' ').nth(1).unwrap();
    let mut told = &operation["responses"][status];
    if let Some(at) = told["$ref"].as_str() {
        told = document.pointer(&at[1..]).unwrap();
    }
    let media_type = header(answer, "content-type").map(|media_type| media_type.split(';').next().unwrap());
    let is_told = media_type.is_none_or(|media_type| told["content"][media_type].is_object());
    (!told.is_object() || !is_told).then(|| format!("{status} {media_type:?}: {answer}"))
}

/// Valid and invalid requests for an endpoint, invalid in each way that there is.
fn requests(row: &Endpoint, operation: &Value) -> Vec<(String, String, String)> {
    let json = "Content-Type: application/json\r\n";
    let example = &operation["requestBody"]["content"]["application/json"]["example"];
    let good = if example.is_null() { String::new() } else { example.to_string() };
    let query = match row.handler {
        "security::forex" => "?baseCurrency=EUR&transactionCurrency=USD",
        "marketdata::bars" | "marketdata::book" => "?security=1",
        _ => "",
    };
    let call = |id: &str, query: &str, headers: &str, body: &str| {
        (format!("{}{query}", path_of(row, id)), headers.to_owned(), body.to_owned())
    };
    vec![
        call("1", query, if good.is_empty() { "" } else { json }, &good),
        call("nobody", query, json, "{"),
        call("1", "?colour=red", json, &good),
        call("1", "?limit=0&after=x&level=LOUD&barSize=HUGE&strategy=nobody", "", ""),
        call("1", query, json, "{}"),
        call("1", query, "Content-Type: text/plain\r\n", "hello"),
        call("1", query, "Authorization: Digest x\r\n", ""),
        call("1", query, "Accept: text/csv\r\n", ""),
        call("1", query, "If-None-Match: *\r\n", ""),
        (path_of(row, "1"), "Origin: http://elsewhere.example\r\n".into(), String::new()),
    ]
}

/// One test server accepts everything, one refuses everything; both respond only as described, and never with an
/// internal error.
#[test]
fn every_row_answers_what_the_description_says() {
    let broker = BrokerEndpoints { tcp_port: Some(61613), ws_port: Some(61614), public_host: None };
    let taking =
        TestServer::with_program(FakeOperations { broker, ..FakeOperations::default() }, |wanted| Ok(fitting(wanted)));
    let refusing = TestServer::open(|wanted| match wanted {
        RequestPayload::Command(_) => Err(Refusal::UnknownSecurity(SecurityId(1))),
        question => Ok(fitting(question)),
    });
    for server in [taking, refusing] {
        // One of the calls adds a user, and from then on every caller needs a login.
        let (document, boss) = (document(&server), server.users.bearer("boss", access::UserRole::Admin));
        for row in ENDPOINTS {
            let operation = operation(&document, row);
            for (path, headers, body) in requests(row, operation) {
                let answer = server.call(row.method, &path, &format!("{boss}{headers}"), &body);
                let undocumented = undocumented(&answer, operation, &document);
                assert_eq!(undocumented, None, "{} {path} {headers}{body}", row.method);
                assert!(!status(&answer).contains(" 500 "), "{} {path} {headers}{body}: {answer}", row.method);
            }
        }
    }
}

fn found_break() -> std::sync::Arc<domain::breaks::Break> {
    use domain::breaks::{Break, BreakEvidence, BreakId, BreakKind, BreakState, Difference};
    std::sync::Arc::new(Break {
        id: BreakId(1),
        state: BreakState::Open,
        difference: Difference::new(BreakKind::External, &domain::AdapterName::new("SIMULATED", None)),
        evidence: BreakEvidence { report: "order number 7".into(), sequence: 1, hash: "00".into() },
        since: domain::Timestamp(0),
        changed_at: domain::Timestamp(0),
        changed_by: None,
        comment: None,
    })
}

fn dead_man_timer() -> domain::risk::DeadManTimer {
    let (scope, expires) = (domain::RiskScope::Platform, domain::Timestamp(1_794_839_430_000_000_000));
    domain::risk::DeadManTimer { scope, seconds: 30, expires, renewed_by: None }
}

/// An answer of the type that belongs to the request.
fn fitting(wanted: &RequestPayload) -> Answer {
    match wanted {
        RequestPayload::Command(envelope) => match &envelope.command {
            Command::Place(_) | Command::Reduce(_) => Answer::Order(order("A-1")),
            Command::NextOrderId(_) => Answer::OrderId("A-2".parse().unwrap()),
            Command::Record(_) => Answer::Transaction(booked(1)),
            Command::Kill { .. } => Answer::Killed { cancels: 3 },
            Command::ArmDeadMan { .. } => Answer::DeadManTimers(vec![dead_man_timer()]),
            Command::SettleBreak(_) => Answer::Break(found_break()),
            _ => Answer::Done,
        },
        RequestPayload::Query(query) => match **query {
            Query::OpenOrders(_) | Query::Order(_) | Query::ClientOrder(..) => Answer::Orders(vec![order("A-1")]),
            Query::Positions(_) => Answer::Positions(vec![]),
            Query::Balances(_) => Answer::Balances(vec![]),
            Query::PortfolioValue(_) => Answer::PortfolioValues(vec![]),
            Query::DailyTransactions(_) => Answer::Transactions(vec![]),
            Query::Transaction(_) => Answer::Transaction(booked(1)),
            Query::TradingStates => Answer::TradingStates(vec![]),
            Query::DeadManTimers => Answer::DeadManTimers(vec![dead_man_timer()]),
            Query::Limits => Answer::Limits(vec![]),
            Query::CheckOrder(..) | Query::CheckModify(..) => {
                Answer::PreTradeCheck(PreTradeCheck { refusal: None, notional: None, fee: None })
            }
            Query::Ticks(_) => Answer::Ticks(vec![]),
            Query::Book(_) => Answer::Book(None),
            Query::Bars(..) => Answer::Bars(vec![]),
            Query::Marks => Answer::Marks(vec![]),
            Query::Adapters => Answer::Adapters(vec![]),
            Query::ReconciliationLags => Answer::ReconciliationLags(vec![]),
            Query::Breaks => Answer::Breaks(vec![found_break()]),
            Query::Break(_) => Answer::Break(found_break()),
            Query::Phases => Answer::Phases(vec![]),
            Query::Subscriptions | Query::ProcessRun(_) | Query::State => Answer::Done,
        },
        RequestPayload::LedgerRecord(_) | RequestPayload::DeliveryLog(_) => Answer::Done,
    }
}

#[test]
fn an_endpoint_that_needs_a_login_says_so_in_the_description_and_in_its_answer() {
    let server = TestServer::without_engine(WebSettings::default());
    let document = document(&server);
    server.users.add("anna", access::UserRole::Viewer);
    for row in ENDPOINTS {
        let operation = operation(&document, row);
        let is_open = operation["security"] == json!([]);
        let answer = code(&server.call(row.method, &path_of(row, "1"), "", ""));
        assert_eq!(is_open, answer != "401 login-needed", "{}: {answer}", row.action);
        assert!(is_open || operation["responses"]["401"].is_object(), "{}", row.action);
    }
}

#[test]
fn the_page_loads_nothing_from_elsewhere() {
    let server = TestServer::without_engine(WebSettings::default());
    let page = server.get("/docs");
    assert_eq!(header(&page, "content-type"), Some("text/html; charset=utf-8"));
    let policy = header(&page, "content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
    let links: Vec<_> = page.split(['"']).filter(|part| part.starts_with('/') || part.contains("://")).collect();
    let own = ["/favicon.ico", "/docs/swagger-ui.css", "/docs/topics", "/openapi.json", "/docs/swagger-ui-bundle.js"];
    assert_eq!(links, [&own[..], &["/docs/start.js"]].concat());
    assert_eq!(server.get("/docs/"), page, "a slash at the end makes no difference");
    assert_eq!(header(&server.get("/favicon.ico"), "content-type"), Some("image/svg+xml"));
    for link in links {
        assert_eq!(status(&server.get(link)), "HTTP/1.1 200 OK", "{link}");
    }
    assert!(server.get("/docs/start.js").contains("\"/openapi.json\""));
}

#[test]
fn the_page_of_topics_loads_nothing_from_elsewhere() {
    let server = TestServer::without_engine(WebSettings::default());
    let page = server.get("/docs/topics");
    assert_eq!(header(&page, "content-type"), Some("text/html; charset=utf-8"));
    assert!(header(&page, "content-security-policy").unwrap().starts_with("default-src 'none'; script-src 'self';"));
    let links: Vec<_> = page.split(['"']).filter(|part| part.starts_with('/') || part.contains("://")).collect();
    let destination = "/topic/order-status.&gt;";
    assert_eq!(links, ["/docs/topics.css", "/asyncapi.json", "/docs", destination, "/docs/topics.js"]);
    for link in links.into_iter().filter(|link| *link != destination) {
        assert_eq!(status(&server.get(link)), "HTTP/1.1 200 OK", "{link}");
    }
    assert!(!server.get("/docs/topics.js").contains("://"));
}
