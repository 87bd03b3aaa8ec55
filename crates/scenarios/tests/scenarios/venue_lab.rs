//! Venue lab, judged by outside clients: programs in `venue_lab/` trade with well-known libraries against a real
//! `rialto venue serve` and compare what they have with its ledger.

use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use scenarios::binary;
use scenarios::lab::{LabProcess, command};
use scenarios::wait::wait_for;
use serde_json::Value;
use tempfile::TempDir;

const JUDGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/venue_lab");

/// The environment variable that names a Python with ccxt; `make test` installs it and sets this.
const PYTHON: &str = "EXAMPLES_PYTHON";

fn judge(name: &str, lab: &LabProcess, arguments: &[&str]) -> Output {
    let python = env::var_os(PYTHON).unwrap_or_else(|| panic!("{PYTHON} is not set; `make test` sets it"));
    let folder = tempfile::tempdir().unwrap();
    let ready = folder.path().join("ready.json");
    fs::write(&ready, lab.ready.to_string()).unwrap();
    let run = Command::new(PathBuf::from(python)).arg(Path::new(JUDGES).join(name)).arg(ready).args(arguments).output();
    run.unwrap_or_else(|error| panic!("{name} can't be started: {error}; `make setup` installs what it needs"))
}

/// What a judge prints is what its client saw.
fn says(name: &str, lab: &LabProcess, arguments: &[&str]) -> String {
    let run = judge(name, lab, arguments);
    let [said, errors] = [&run.stdout, &run.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert!(run.status.success(), "{said}\n{errors}");
    said
}

fn approves(name: &str, lab: &LabProcess) {
    let said = says(name, lab, &[]);
    let expected = fs::read_to_string(Path::new(JUDGES).join(name).with_extension("txt")).unwrap_or_default();
    assert_eq!(said, expected);
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn ccxt_trades_over_rest_and_agrees_with_the_ledger_also_after_a_kill() {
    let folder = folder();
    let lab = LabProcess::start(folder.path(), &["activity=off"]);
    approves("ccxt_rest.py", &lab);
    let before = lab.get("admin", "/ledger");
    lab.kill();
    let again = LabProcess::start(folder.path(), &["activity=off"]);
    assert_eq!(again.get("admin", "/ledger"), before);
}

#[test]
fn the_clients_of_binance_and_of_its_community_agree_with_the_ledger() {
    let folder = folder();
    approves("binance_clients.py", &LabProcess::start(folder.path(), &["activity=off"]));
}

#[test]
fn ccxt_trades_over_websockets_and_its_events_agree_with_the_ledger() {
    let folder = folder();
    approves("ccxt_ws.py", &LabProcess::start(folder.path(), &["activity=off"]));
}

#[test]
fn the_clients_of_binance_and_of_its_community_agree_over_websockets_too() {
    let folder = folder();
    approves("binance_ws.py", &LabProcess::start(folder.path(), &["activity=off"]));
}

#[test]
fn the_fix_connector_of_binance_agrees_with_the_ledger() {
    let folder = folder();
    approves("binance_fix.py", &LabProcess::start(folder.path(), &["activity=off"]));
}

#[test]
fn rest_and_websockets_are_encrypted_by_a_setting() {
    let folder = folder();
    approves("tls.py", &LabProcess::start(folder.path(), &["activity=off", "tls=all"]));
}

#[test]
fn every_fault_strikes_a_client_and_leaves_the_ledger_true_also_after_a_kill() {
    let folder = folder();
    let lab = LabProcess::start(folder.path(), &["activity=off"]);
    approves("faults.py", &lab);
    let before = lab.get("admin", "/ledger");
    lab.kill();
    let again = LabProcess::start(folder.path(), &["activity=off"]);
    assert_eq!(again.get("admin", "/ledger"), before);
}

#[test]
fn the_same_seed_and_script_and_the_same_requests_give_the_same_transcript() {
    let run = |seed: &str| {
        let folder = folder();
        says("transcript.py", &LabProcess::start(folder.path(), &["activity=off"]), &[seed])
    };
    let (first, again, other) = (run("1"), run("1"), run("2"));
    assert_eq!(first, again);
    assert_ne!(first, other);
    for line in [" order 7: cut-answer", ": key-revoked", ": odd-values"] {
        assert!(first.contains(line), "{line} is not in {first}");
    }
}

#[test]
fn a_script_in_the_configuration_is_armed_from_the_start_and_a_wrong_one_is_refused() {
    let data = folder();
    let script = r#"faults=["at order 7: taken-unknown", "for 600 s: stream-mute"]"#;
    let lab = LabProcess::start(data.path(), &["activity=off", script]);
    let (_, faults) = lab.get("admin", "/faults");
    assert_eq!(faults["script"], serde_json::json!(["at order 7: taken-unknown"]));
    assert_eq!(faults["armed"][0]["fault"], "stream-mute");
    for (setting, reason) in [
        (r#"faults=["at order 7: gremlins"]"#, "fault: gremlins is none of"),
        (r#"faults=["taken-unknown"]"#, "faults: line 1: no colon"),
        (r#"faults=["at order 1: id-reused"]"#, "id-reused needs no arming"),
    ] {
        let run = command(folder().path(), &[setting]).output().expect("the binary can be started");
        let text = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(2), "{setting}: {text}");
        assert!(text.contains(reason), "{setting}: {text}");
    }
}

/// What a browser shows once the page's script has run.
fn rendered(url: &str) -> String {
    let browser = env::var_os("CHROMIUM_BIN").unwrap_or_else(|| "/usr/bin/chromium".into());
    let profile = folder();
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--virtual-time-budget=5000"]);
    command.arg(format!("--user-data-dir={}", profile.path().display())).args(["--dump-dom", url]);
    let run = command.output().unwrap_or_else(|error| panic!("chromium: {error}; `make setup` installs it"));
    String::from_utf8_lossy(&run.stdout).into_owned()
}

#[test]
fn the_admin_page_shows_books_accounts_sessions_faults_and_what_was_injected_in_a_browser() {
    let data = folder();
    let script = r#"faults=["for 600 s: stream-mute", "2 times: rate-limited"]"#;
    let lab = LabProcess::start(data.path(), &["activity=off", script]);
    assert_eq!(lab.get("binanceRest", "/api/v3/time").0, 429);
    let address = lab.address("binanceStreams");
    let mut stream = std::net::TcpStream::connect(&address).expect("the face answers");
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==";
    write!(stream, "GET /ws/btcusdt@trade HTTP/1.1\r\nHost: {address}\r\n{upgrade}\r\n\r\n").expect("it is sent");
    let session = wait_for("the session to be listed", || {
        let (_, state) = lab.get("admin", "/state");
        let listed = state["sessions"].as_array().unwrap().clone();
        listed.into_iter().find(|session| session["text"] == "btcusdt@trade")
    });
    let row = format!("<tr><td>streams</td><td>{}</td>", session["peer"].as_str().unwrap());
    let page = rendered(&format!("http://{}/", lab.address("admin")));
    for shown in [
        "<option>fix-gap-flags</option>",
        "<option>币安人生USDT</option>",
        "<td>stream-mute</td><td>1</td><td>0</td>",
        "<td>rate-limited</td><td>1</td><td>1</td><td>1</td>",
        "<td>rate-limited</td><td>1</td><td>0</td></tr>",
        &row,
        "<td>btcusdt@trade</td></tr>",
        "<tr><td>ALPHA</td><td>BTC</td><td>10.00000000</td><td>0.00000000</td></tr>",
        "<tr><td>60000.01000000</td><td>0.50000000</td><td>ask</td></tr>",
        "<tr><td>59999.99000000</td><td>0.50000000</td><td>bid</td></tr>",
        "last 60000.00000000, 0 open orders of accounts",
        r#"<p id="lost" hidden="">"#,
    ] {
        assert!(page.contains(shown), "{shown} is not in {page}");
    }
}

#[test]
fn seeded_participants_trade_and_survive_a_kill() {
    let folder = folder();
    let settings = ["activity=busy", "limits.requestWeightPerMinute=10000000"];
    let lab = LabProcess::start(folder.path(), &settings);
    let last_trade = |lab: &LabProcess| {
        let (_, trades) = lab.get("binanceRest", "/api/v3/trades?symbol=BTCUSDT&limit=1");
        trades[0]["id"].as_u64().expect("there is a trade")
    };
    wait_for("trades of the participants", || (last_trade(&lab) >= 5).then_some(()));
    let seen = last_trade(&lab);
    lab.kill();
    let again = LabProcess::start(folder.path(), &settings);
    assert!(last_trade(&again) >= seen, "a trade that was shown is not lost");
}

#[test]
fn a_damaged_ledger_is_refused_and_so_is_another_configuration() {
    let folder = folder();
    let path = folder.path().join("ledger");
    let lab = LabProcess::start(folder.path(), &["activity=busy"]);
    let begun = fs::metadata(&path).unwrap().len();
    let has_grown = || fs::metadata(&path).is_ok_and(|file| file.len() > begun + 200);
    wait_for("records of the participants", || has_grown().then_some(()));
    lab.kill();
    let refused = |settings: &[&str]| {
        let run = command(folder.path(), settings).output().expect("the binary can be started");
        (run.status.code(), String::from_utf8_lossy(&run.stderr).into_owned())
    };
    let (code, text) = refused(&["activity=calm"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("begun with other symbols, accounts, activity or seed"), "{text}");

    let mut bytes = fs::read(&path).unwrap();
    bytes[40] ^= 1;
    fs::write(&path, bytes).unwrap();
    let (code, text) = refused(&["activity=busy"]);
    assert_eq!(code, Some(4), "{text}");
    assert!(text.contains("records were acknowledged, and only the first 0 can be read"), "{text}");
}

/// A bit of the last record: it looks like one that a crash has cut, but clients were told of it.
#[test]
fn a_damaged_last_record_is_refused_where_it_was_acknowledged_and_cut_where_it_was_not() {
    let folder = folder();
    let path = folder.path().join("ledger");
    LabProcess::start(folder.path(), &["activity=off"]).kill();
    let whole = fs::read(&path).unwrap();
    fs::write(&path, [whole.as_slice(), &whole[whole.len() - 20..]].concat()).unwrap();
    LabProcess::start(folder.path(), &["activity=off"]).kill();
    assert_eq!(fs::read(&path).unwrap(), whole, "what nobody was told of is cut");

    let mut damaged = whole;
    *damaged.last_mut().unwrap() ^= 1;
    fs::write(&path, &damaged).unwrap();
    let run = command(folder.path(), &["activity=off"]).output().expect("the binary can be started");
    let text = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(4), "{text}");
    assert!(text.contains("1 records were acknowledged, and only the first 0 can be read"), "{text}");
    assert_eq!(fs::read(&path).unwrap(), damaged, "nothing is cut");
}

/// The older way to an account's events, which some clients need.
#[test]
fn the_client_of_the_community_agrees_by_listen_keys_where_they_are_switched_on() {
    let data = folder();
    approves("listen_keys.py", &LabProcess::start(data.path(), &["activity=off", "binance.listenKeys=true"]));
}

/// What a key may do; the testnet has no such methods, so they are switched on.
#[test]
fn a_key_says_what_it_may_do_and_does_no_more() {
    let data = folder();
    let keys = r#"accounts=[{account="ALPHA",maker="0.002",balances={USDT="1000000"},keys=[
        {apiKey="reads",kind="HMAC",secret="s",mayTrade=false},
        {apiKey="readsByFix",kind="ED25519",mayTrade=false,publicKeyPem="-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAO2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik=\n-----END PUBLIC KEY-----"},
        {apiKey="withdraws",kind="HMAC",secret="s",mayWithdraw=true}]}]"#;
    let settings = ["activity=off", "binance.sapi=true", &keys.replace('\n', "")];
    approves("key_rights.py", &LabProcess::start(data.path(), &settings));
    let other = folder();
    let plain = LabProcess::start(other.path(), &["activity=off"]);
    for path in ["/sapi/v1/account/apiRestrictions", "/sapi/v1/asset/tradeFee"] {
        let (status, body) = plain.get("binanceRest", path);
        assert_eq!((status, body["code"].as_i64()), (404, Some(-1020)), "{path}");
    }
}

fn certify(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(binary::rialto());
    command.args(["venue", "certify", "--report"]).arg(folder).args(arguments);
    let run = command.output().expect("the binary can be started");
    let [said, errors] = [&run.stdout, &run.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    (run.status.code(), said, errors)
}

/// A schema of the documentation.
fn schema(name: &str) -> jsonschema::Validator {
    let path = format!("{}/../../docs/venue-lab/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
    let schema: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

fn expect_valid(name: &str, file: &Value) {
    let errors: Vec<_> =
        schema(name).iter_errors(file).map(|error| format!("{} {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{name}: {errors:?}");
}

/// A certificate means something: a client that believes all that it is told fails under most faults.
#[test]
fn a_naive_honest_client_fails_under_more_than_twenty_faults() {
    let folder = folder();
    let python = env::var(PYTHON).unwrap_or_else(|_| panic!("{PYTHON} is not set; `make test` sets it"));
    let client = format!("{python} {}/../../examples/venue/naive_client.py", env!("CARGO_MANIFEST_DIR"));
    let (code, said, errors) = certify(folder.path(), &["--client", &client]);
    assert_eq!(code, Some(1), "{said}{errors}");
    let report: Value = serde_json::from_slice(&fs::read(folder.path().join("report.json")).unwrap()).unwrap();
    let [passed, failed, hidden] = ["passed", "failed", "notShown"].map(|name| report[name].as_u64().unwrap());
    assert_eq!(said.lines().last(), Some(format!("{passed} passed, {failed} failed, {hidden} not shown").as_str()));
    assert!(failed >= 20, "{said}");
    assert_eq!(passed + failed + hidden, 36, "{said}");
    // Under these it must come out right, or the comparison itself is wrong.
    for fault in ["not-taken-unknown", "filters-change", "id-reused", "fee-foreign"] {
        assert!(said.contains(&format!("{fault} passed")), "{said}");
    }
    assert!(said.contains("fix-gap-flags not shown: the client did nothing that the fault strikes"), "{said}");
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains(said.lines().last().unwrap()), "{page}");
    expect_valid("report", &report);
    for name in ["id-reused", "trade-ids-repeat", "replace-cut", "strangers"] {
        let file =
            |file: &str| serde_json::from_slice(&fs::read(folder.path().join(name).join(file)).unwrap()).unwrap();
        expect_valid("plan", &file("plan.json"));
        expect_valid("books", &file("books.json"));
    }
    let odd = serde_json::json!({ "orders": [{ "symbol": "BTCUSDT" }], "trades": [], "balances": [] });
    assert!(!schema("books").is_valid(&odd), "the schema looks at the entries");
}

#[test]
fn a_client_that_writes_no_books_fails_and_one_that_does_nothing_is_not_shown() {
    let folder = folder();
    let (code, said, errors) = certify(folder.path(), &["--client", "true", "--faults", "taken-unknown"]);
    assert_eq!((code, said.lines().last()), (Some(0), Some("0 passed, 0 failed, 1 not shown")), "{errors}");
    let (code, said, errors) = certify(folder.path(), &["--client", "true", "--faults", "id-reused"]);
    assert_eq!(code, Some(1), "{errors}");
    assert_eq!(said, "id-reused failed: the client wrote no books\n0 passed, 1 failed, 0 not shown\n");
    // Books of an account that nobody touched equal the ledger, and show nothing.
    let balance = |(asset, free): (&str, u64)| serde_json::json!({ "asset": asset, "free": free, "locked": 0 });
    let opening = [("BNB", 50), ("BTC", 10), ("ETH", 100), ("USDT", 1_000_000), ("币安人生", 100_000)].map(balance);
    let untouched = folder.path().join("untouched.json");
    fs::write(&untouched, serde_json::json!({ "orders": [], "trades": [], "balances": opening }).to_string()).unwrap();
    let client = format!("cp {} \"$RIALTO_VENUE_BOOKS\"", untouched.display());
    let (code, said, errors) = certify(folder.path(), &["--client", &client, "--faults", "id-reused"]);
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(said, "id-reused not shown: the client sent no order\n0 passed, 0 failed, 1 not shown\n");
    let (code, said, _) = certify(folder.path(), &["--client", "sleep 60", "--faults", "id-reused", "--timeout", "1"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("the client did not end within 1 s"), "{said}");
    let (code, _, errors) = certify(folder.path(), &["--client", "true", "--faults", "gremlins"]);
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("faults: gremlins is none of taken-unknown,"), "{errors}");
}

#[test]
fn a_configuration_that_cannot_work_is_refused_with_its_key() {
    let refused = |settings: &[&str]| {
        let run = command(folder().path(), settings).output().expect("the binary can be started");
        (run.status.code(), String::from_utf8_lossy(&run.stderr).into_owned())
    };
    for (setting, reason) in [
        ("activity=wild", "activity: wild is not off, calm or busy"),
        ("colour=red", "unknown field `colour`"),
        ("bind=0.0.0.0", "bind: 0.0.0.0 is not a loopback address"),
        ("symbols=[]", "symbols: there is none"),
        ("seed", "seed: not of the form KEY=VALUE"),
    ] {
        let (code, text) = refused(&[setting]);
        assert_eq!(code, Some(2), "{setting}: {text}");
        assert!(text.contains(reason), "{setting}: {text}");
    }
}

#[test]
fn too_many_requests_are_429_then_418_with_the_documented_headers() {
    let folder = folder();
    let lab = LabProcess::start(folder.path(), &["activity=off", "limits.requestWeightPerMinute=30"]);
    let (status, info) = lab.get("binanceRest", "/api/v3/exchangeInfo?symbol=BTCUSDT");
    assert_eq!((status, &info["rateLimits"][0]["limit"]), (200, &Value::from(30)));
    let answers: Vec<(u16, i64)> = (0..40)
        .map(|_| lab.get("binanceRest", "/api/v3/depth?symbol=BTCUSDT"))
        .map(|(status, body)| (status, body["code"].as_i64().unwrap_or(0)))
        .collect();
    let first_of = |status: u16| answers.iter().position(|answer| answer.0 == status);
    assert!(first_of(200) < first_of(429) && first_of(429) < first_of(418), "{answers:?}");
    assert_eq!(answers.last(), Some(&(418, -1003)));
}
