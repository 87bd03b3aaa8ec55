//! Stories through the running binary: what the endpoints tell when engine, read model and files stand behind them.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

struct Server {
    process: Child,
    base: String,
    folder: TempDir,
}

struct Answer {
    status: u16,
    location: Option<String>,
    sequence: Option<u64>,
    body: Value,
}

impl Server {
    /// On a folder of its own, with a market that stands still.
    fn start(reference: Option<&Path>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = rialto();
        command.args(["serve", "--set", "http.port=0", "--set", "https.port=0", "--set", "demo.activity=off"]);
        command.args(["--set", "broker.tcp.port=0", "--set", "broker.tls.port=off", "--set", "broker.ws.port=0"]);
        command.args(["--set", "fix.port=0"]);
        if let Some(reference) = reference {
            command.args(["--set", &format!("reference.path={}", reference.display())]);
        }
        command.arg("--data-dir").arg(folder.path()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        Self { process, base: ready["http"].as_str().unwrap().into(), folder }
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Answer {
        let agent = ureq::Agent::config_builder().http_status_as_error(false).proxy(None).build();
        let request = ureq::http::Request::builder().method(method).uri(format!("{}{path}", self.base));
        let request = request.header("Content-Type", "application/json");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut response = ureq::Agent::new_with_config(agent).run(request.body(body).unwrap()).unwrap();
        let header = |name| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        let (location, sequence) = (header("location"), header("rialto-sequence").map(|text| text.parse().unwrap()));
        let text = response.body_mut().read_to_string().unwrap();
        let body = if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap() };
        Answer { status: response.status().as_u16(), location, sequence, body }
    }

    fn get(&self, path: &str) -> Answer {
        self.call("GET", path, &Value::Null)
    }

    fn see(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    }

    fn refused(&self, method: &str, path: &str, body: &Value) -> (u16, String) {
        let answer = self.call(method, path, body);
        (answer.status, answer.body["code"].as_str().unwrap_or_default().into())
    }

    fn import(&self, from: &Path) -> Output {
        rialto().arg("import").arg(from).arg("--data-dir").arg(self.folder.path()).output().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A server that ended by itself is as good.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn rialto() -> Command {
    Command::new(env!("CARGO_BIN_EXE_rialto"))
}

fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo/reference")
}

#[test]
fn a_recorded_transaction_is_found_today_and_in_history() {
    let server = Server::start(None);
    let deposit =
        json!({"type": "CREDIT", "price": 250.5, "currency": "EUR", "accountId": 1, "description": "deposit"});
    let recorded = server.call("POST", "/rest/transaction", &deposit);
    assert_eq!((recorded.status, &recorded.body), (200, &Value::Null));
    let booked = server.see(&recorded.location.unwrap());
    assert_eq!((&booked["type"], &booked["quantity"], &booked["price"]), (&json!("CREDIT"), &json!(1), &json!(250.5)));
    assert_eq!(server.see("/rest/transaction/daily?limit=1"), json!([booked]));
    let id = booked["id"].as_u64().unwrap();
    let later = server.see(&format!("/rest/history/transaction?after={}", id - 1));
    assert_eq!(later, json!([booked]), "what was acknowledged is in history");
    let euros = server.see("/rest/portfolio/balance?account=1");
    assert!(euros.as_array().unwrap().iter().any(|held| held["currency"] == "EUR" && held["amount"] == json!(250.5)));
    for path in ["reset-cache-balances", "reset-cash-balances"] {
        assert_eq!(server.call("POST", &format!("/rest/transaction/{path}"), &Value::Null).status, 200);
    }
    assert_eq!(server.see("/rest/portfolio/balance?account=1"), euros, "a rebuild gives the same");
}

#[test]
fn what_a_transaction_lacks_is_told() {
    let server = Server::start(None);
    let refused = |body: Value| server.refused("POST", "/rest/transaction", &body);
    assert_eq!(refused(json!({"type": "BUY", "price": 10, "quantity": 1, "accountId": 1})), (422, "missing".into()));
    let sell = json!({"type": "SELL", "price": 10, "quantity": 1, "accountId": 1, "securityId": 1});
    assert_eq!(refused(sell), (422, "wrong-sign".into()));
    assert_eq!(refused(json!({"type": "CREDIT", "price": 10, "accountId": 1})), (422, "missing".into()));
    let credit = json!({"type": "CREDIT", "price": 10, "currency": "USD"});
    assert_eq!(refused(credit), (422, "account-ambiguous".into()));
    let uuid = json!({"type": "CREDIT", "price": 10, "currency": "USD", "accountId": 1,
        "uuid": "123e4567-e89b-42d3-a456-426614174000"});
    assert_eq!(server.call("POST", "/rest/transaction", &uuid).status, 200);
    assert_eq!(refused(uuid), (409, "duplicate-transaction".into()));
    assert_eq!(server.refused("GET", "/rest/transaction/9999", &Value::Null), (404, "unknown-transaction".into()));
}

#[test]
fn what_happened_to_an_order_joins_by_sequence() {
    let server = Server::start(None);
    let order = json!({"securityId": 1, "side": "BUY", "quantity": 10, "limit": 250, "tif": "GTC", "intId": "STORY-1"});
    let placed = server.call("POST", "/rest/execution/order/limit", &order);
    assert_eq!(placed.status, 200, "{}", placed.body);
    let sequence = placed.sequence.unwrap();
    let events = server.see(&format!("/rest/history/events?after={}", sequence - 1));
    let first = &events.as_array().unwrap()[0];
    assert_eq!((&first["sequence"], &first["objectType"]), (&json!(sequence), &json!("OrderStatus")));
    assert_eq!((&first["event"]["intId"], &first["event"]["status"]), (&json!("STORY-1"), &json!("OPEN")));
    let of_order = server.see("/rest/history/order/STORY-1/event?limit=1");
    assert_eq!(of_order, json!([first["event"]]));
    let orders = server.see("/rest/history/order");
    assert_eq!(orders[0]["intId"], "STORY-1");
    assert_eq!(server.refused("GET", "/rest/history/order/NONE/event", &Value::Null), (404, "unknown-order".into()));
}

#[test]
fn market_data_is_served() {
    let server = Server::start(None);
    let found = server.see("/rest/security.search?query=symbol:AAPL");
    assert_eq!((found.as_array().unwrap().len(), &found[0]["id"]), (1, &json!(1)));
    let pair = server.see("/rest/forex?baseCurrency=EUR&transactionCurrency=USD");
    assert_eq!(pair["symbol"], "EUR.USD");
    let feeds = json!(["SIMULATED-ALPHA", "SIMULATED-BETA"]);
    assert_eq!(server.see("/rest/subscription/marketdata/supported-feed"), feeds);
    let wish = json!({"strategyName": "SERVER", "securityId": 1, "subscribe": true});
    for _ in 0..2 {
        assert_eq!(server.call("PUT", "/rest/subscription/marketdata/subscribe", &wish).status, 200);
    }
    assert_eq!(server.see("/rest/marketdata/tick?security=1")[0]["securityId"], 1);
    assert_eq!(server.see("/rest/marketdata/book?security=1")[0]["objectType"], "OrderBook");
    assert!(server.see("/rest/marketdata/bar?security=1&barSize=DAY_1").is_array());
    let broker = |door: &str| server.see(&format!("/rest/broker/url/{door}")).as_str().unwrap().to_owned();
    assert!(broker("main").starts_with("tcp://127.0.0.1:") && broker("ws").starts_with("ws://127.0.0.1:"));
    let sessions = server.see("/rest/fix/sessions");
    assert_eq!((&sessions[0]["id"], &sessions[0]["state"]), (&json!("CLIENT"), &json!("DISCONNECTED")));
    let lines = server.see("/rest/log?level=INFO");
    assert!(lines.as_array().unwrap().iter().any(|line| line["message"].as_str().unwrap().starts_with("serving on")));
}

#[test]
fn a_running_server_does_the_import_and_reads_its_files_again() {
    let files = copy_of_demo();
    let server = Server::start(Some(files.path()));
    assert_eq!(server.call("POST", "/rest/cache/clear-all", &Value::Null).status, 200);

    let securities = files.path().join("securities.csv");
    let text = std::fs::read_to_string(&securities).unwrap();
    std::fs::write(&securities, text.replacen("Apple Inc", "Pear Inc", 1)).unwrap();
    let said = server.import(files.path());
    assert_eq!(String::from_utf8_lossy(&said.stdout), "1 changes imported\n", "{said:?}");
    assert!(server.see("/rest/security/1")["description"].as_str().unwrap().starts_with("Pear Inc"));

    std::fs::write(&securities, &text).unwrap();
    assert_eq!(server.call("POST", "/rest/cache/clear-all", &Value::Null).status, 200);
    assert!(server.see("/rest/security/1")["description"].as_str().unwrap().starts_with("Apple Inc"));

    std::fs::write(&securities, "nonsense\n").unwrap();
    let refused = server.refused("POST", "/rest/cache/clear-all", &Value::Null);
    assert_eq!(refused, (422, "bad-reference-data".into()));
    assert_eq!(server.import(files.path()).status.code(), Some(2), "the files are wrong before anybody is asked");
}

#[test]
fn a_security_that_is_imported_trades_without_a_restart() {
    let files = copy_of_demo();
    let server = Server::start(Some(files.path()));
    let add = |name: &str, like: &str, line: &dyn Fn(&str) -> String| {
        let path = files.path().join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        let model = text.lines().find(|line| line.contains(like)).unwrap();
        std::fs::write(&path, format!("{}\n{}\n", text.trim_end(), line(model))).unwrap();
    };
    add("securities.csv", ",AAPL,", &|apple| {
        let fields: Vec<_> = apple.split(',').collect();
        let blank = |(place, field): (usize, &&str)| match place {
            0 => "100".to_owned(),
            2 => "LATE".to_owned(),
            4..=8 => String::new(),
            _ => (*field).to_owned(),
        };
        fields.iter().enumerate().map(blank).collect::<Vec<_>>().join(",")
    });
    add("opening.csv", "AAPL,", &|apple| apple.replacen("AAPL", "LATE", 1));
    let said = server.import(files.path());
    assert_eq!(String::from_utf8_lossy(&said.stdout), "1 changes imported\n", "{said:?}");
    let order = json!({"securityId": 100, "side": "BUY", "quantity": 10, "intId": "LATE-1"});
    assert_eq!(server.call("POST", "/rest/execution/order/market", &order).status, 200);
    let mut status = Value::Null;
    while status != "EXECUTED" {
        assert_ne!(status, "REJECTED");
        status = server.see("/rest/execution/order/LATE-1")[0]["status"].clone();
    }
    assert_eq!(server.see("/rest/marketdata/tick?security=LATE")[0]["securityId"], 100);
}

fn copy_of_demo() -> TempDir {
    let files = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(demo()).unwrap().map(Result::unwrap) {
        std::fs::copy(file.path(), files.path().join(file.file_name())).unwrap();
    }
    files
}

#[test]
fn a_server_that_stops_takes_its_address_with_it() {
    let mut server = Server::start(None);
    assert!(server.folder.path().join("server.json").exists());
    assert_eq!(server.call("POST", "/rest/runtime/exit-vm", &Value::Null).status, 200);
    assert!(server.process.wait().unwrap().success());
    assert!(!server.folder.path().join("server.json").exists());
}

#[test]
fn the_numbers_tell_of_journal_orders_and_process() {
    let server = Server::start(None);
    let order = json!({"securityId": 1, "side": "BUY", "quantity": 10, "limit": 250, "tif": "GTC"});
    assert_eq!(server.call("POST", "/rest/execution/order/limit", &order).status, 200);
    let text = ureq::get(format!("{}/metrics", server.base)).call().unwrap().body_mut().read_to_string().unwrap();
    let names = [
        "rialto_journal_queue_batches ",
        "rialto_journal_sync_seconds_bucket{le=\"+Inf\"} ",
        "rialto_journal_durable_sequence ",
        "rialto_read_model_lag ",
        "rialto_open_orders{",
        "rialto_adapter_state{adapter=\"SIMULATED-ALPHA\"} ",
        "process_resident_memory_bytes ",
        "process_open_fds ",
    ];
    for name in names {
        assert!(text.lines().any(|line| line.starts_with(name)), "{name} is not in {text}");
    }
}
