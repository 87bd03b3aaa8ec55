//! The secret of a venue is in no file, log, answer, message, recording or backup of a server that trades with it, also after a
//! wrong signature, a refused key and a broken file of credentials.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use scenarios::binary;
use scenarios::http::HttpClient;
use scenarios::server::{RunningServer, ServerLauncher};
use scenarios::wait::wait_for;
use serde_json::{Value, json};

use crate::test_platform::{TraderClient, limit, market, with_id};

const KEY: &str = "plantedKey0123456789abcdefPlantedKey0123456789abcdefABCDEFGHIJKL";
const SECRET: &str = "planted-secret+/\"&=fedcba9876543210";
/// The venue does not know these.
const OTHER_KEY: &str = "plantedOther0123456789abcdefPlantedOther0123456789abcdefABCDEFGHI";
const OTHER_SECRET: &str = "planted-other-secret+/0123456789";

/// Each secret plain, percent-encoded, as JSON and in Base64 from each of its bytes modulo three.
fn forms() -> Vec<String> {
    let mut forms = Vec::new();
    for secret in [KEY, SECRET, OTHER_KEY, OTHER_SECRET] {
        let percent: String = secret.bytes().map(percent_encoded).collect();
        let json = Value::from(secret).to_string();
        forms.extend([secret.to_owned(), percent.to_lowercase(), percent, json[1..json.len() - 1].to_owned()]);
        forms.extend((0..3).map(|skipped| base64(&secret.as_bytes()[skipped..])));
    }
    forms.sort_unstable();
    forms.dedup();
    forms
}

fn percent_encoded(byte: u8) -> String {
    let is_plain = byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    if is_plain { char::from(byte).to_string() } else { format!("%{byte:02X}") }
}

/// Of whole groups of three bytes: what follows in a message may change the end.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |number: u32, place: u32| char::from(DIGITS[(number >> (6 * place) & 63) as usize]);
    let number = |group: &[u8]| group.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
    let groups = bytes.chunks_exact(3).map(number);
    groups.flat_map(|number| [3, 2, 1, 0].map(|place| digit(number, place))).collect()
}

/// A lab whose key is the planted one.
struct PlantedLab {
    child: Child,
    ready: Value,
}

const LAB: &str = r#"
[[symbols]]
symbol = "BTCUSDT"
base = "BTC"
quote = "USDT"
tickSize = "0.01"
stepSize = "0.00001"
mid = "60000"
size = "1"

[[accounts]]
account = "ALPHA"
balances = { BTC = "2", USDT = "100000" }

[[accounts.keys]]
"#;

impl PlantedLab {
    fn start(folder: &Path) -> Self {
        let key = format!("apiKey = {}\nkind = \"HMAC\"\nsecret = {}\n", toml(KEY), toml(SECRET));
        let config = folder.join("lab.toml");
        write_private(&config, &format!("{LAB}{key}"));
        let mut command = Command::new(binary::rialto());
        command.args(["venue", "serve"]).arg(&config).arg("--data-dir").arg(folder.join("lab"));
        let faces = ["rest", "wsApi", "streams", "fix.orderEntry", "fix.dropCopy", "fix.marketData"];
        let faces = faces.map(|face| format!("binance.{face}.port=0"));
        for setting in faces.iter().map(String::as_str).chain(["fix44.port=0", "fix42.port=0", "admin.port=0"]) {
            command.args(["--set", setting]);
        }
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the binary can be started");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("it is piped")).read_line(&mut line).expect("a ready line");
        let ready = serde_json::from_str(&line).unwrap_or_else(|error| panic!("not a ready line: {line} {error}"));
        Self { child, ready }
    }

    fn face(&self, name: &str) -> &str {
        self.ready[name].as_str().expect("the face is on")
    }

    fn arm(&self, fault: &str) {
        let address: SocketAddr = self.face("admin").split_once("://").expect("an address").1.parse().unwrap();
        let armed = HttpClient::new(address).post("/faults", &json!({ "fault": fault }).to_string()).unwrap();
        assert_eq!(armed.status, 200, "{armed:?}");
    }
}

impl Drop for PlantedLab {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn toml(text: &str) -> String {
    Value::from(text).to_string()
}

fn write_private(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

fn credentials(key: &str, secret: &str) -> String {
    format!("apiKey = {}\nsecret = {}\n", toml(key), toml(secret))
}

fn launcher(folder: &Path, lab: &PlantedLab) -> ServerLauncher {
    let file = |name: &str| folder.join(name).display().to_string();
    let venue = [
        ("type", "binance-spot".to_owned()),
        ("environment", "testnet".to_owned()),
        ("recording", "true".to_owned()),
        ("credentials", file("key.toml")),
        ("trustedCertificates", file("lab/tls/cert.pem")),
        ("rest", lab.face("binanceRest").to_owned()),
        ("wsApi", lab.face("binanceWsApi").to_owned()),
        ("streams", lab.face("binanceStreams").to_owned()),
    ];
    let launch = ServerLauncher::in_folder(&folder.join("data"))
        .set("reference.path", file("reference"))
        .set("simulated.venues", "")
        .set("portfolio.baseCurrency", "USDT")
        .set("demo.openingCash", "")
        .set("log.level", "trace")
        .set("auth.anonymousRole", "admin");
    venue.into_iter().fold(launch, |launch, (key, value)| launch.set(&format!("venues.LAB.{key}"), value))
}

/// All topics over STOMP, until the server ends.
fn listen_to_everything(server: &RunningServer) -> thread::JoinHandle<String> {
    let mut stream = TcpStream::connect(server.port_address("brokerTcp")).unwrap();
    let frames = "CONNECT\naccept-version:1.2\nhost:rialto\n\n\0SUBSCRIBE\nid:1\ndestination:/topic/>\n\n\0";
    stream.write_all(frames.as_bytes()).unwrap();
    let mut first = [0; 9];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"CONNECTED");
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // The server may end the connection in any way.
        let _ = stream.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn wait_for_session(client: &mut HttpClient, state: &str) {
    let look = || (client.get_json("/rest/adapter")[0]["state"] == state).then_some(());
    wait_for(&format!("the session to become {state}"), look);
}

/// An order that trades, one that rests and is cancelled, and one whose signature the venue calls wrong.
fn trade(client: &mut HttpClient, lab: &PlantedLab) {
    let credit = json!({ "type": "CREDIT", "price": "100000", "currency": "USDT", "accountId": 1 });
    assert_eq!(client.post("/rest/transaction", &credit.to_string()).unwrap().status, 200);
    let mut buys = with_id(market(1, "BUY", 1), "planted-order");
    buys["quantity"] = json!("0.01");
    let place = || (client.submit(&buys).status == 200).then_some(());
    wait_for("prices of what the account holds", place);
    client.wait_for_status("planted-order", "EXECUTED");
    let mut rests = with_id(limit(1, "BUY", 1, "20000"), "rests");
    rests["quantity"] = json!("0.01");
    client.place(&rests);
    client.wait_for_status("rests", "SUBMITTED");
    lab.arm("signature-rule");
    assert_eq!(client.delete("/rest/execution/order/rests").unwrap().status, 200);
    // Whether the venue struck this request or another one, the order is cancelled in the end.
    wait_for("the end of the order", || {
        let order = client.get_json("/rest/execution/order/rests");
        let status = order[0]["status"].as_str().unwrap_or_default().to_owned();
        if status == "SUBMITTED" {
            let _ = client.delete("/rest/execution/order/rests");
        }
        (status == "CANCELED").then_some(())
    });
}

/// A key that the venue does not know, then a file that cannot be read: each is told in the log, and trading goes on.
fn change_credentials(server: &RunningServer, path: &Path) {
    let client = &mut server.client();
    write_private(path, &credentials(OTHER_KEY, OTHER_SECRET));
    wait_for("the refused key", || server.log().contains("the venue refused the new credentials").then_some(()));
    wait_for_session(client, "SUBSCRIBED");
    write_private(path, &credentials(OTHER_KEY, OTHER_SECRET).replace('\n', " "));
    wait_for("the broken file", || server.log().contains("the credentials cannot be read again").then_some(()));
    wait_for_session(client, "SUBSCRIBED");
}

fn answers(client: &mut HttpClient) -> String {
    let paths = [
        "/rest/config-params",
        "/rest/adapter",
        "/rest/account",
        "/rest/log",
        "/rest/order",
        "/rest/position",
        "/rest/break",
        "/rest/history/order",
        "/rest/history/transaction",
        "/rest/history/events",
        "/rest/audit",
        "/metrics",
        "/health/ready",
    ];
    paths.map(|path| client.get(path).unwrap().body).concat()
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    files.into_iter().filter(|path| path.is_file()).chain(folders.iter().flat_map(|folder| files_in(folder))).collect()
}

/// As text, whose search is quick: what is not UTF-8 becomes other characters, and none of a secret does.
fn expect_clean(place: &str, forms: &[String], bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let found = forms.iter().find(|form| text.contains(form.as_str()));
    assert_eq!(found, None, "in {place}");
}

#[test]
fn a_planted_secret_is_found_nowhere_after_trading_a_wrong_signature_and_a_refused_key() {
    let folder = tempfile::tempdir().unwrap();
    let key_file = folder.path().join("key.toml");
    let lab = PlantedLab::start(folder.path());
    scenarios::lab::write_reference(&folder.path().join("reference"));
    write_private(&key_file, &credentials(KEY, SECRET));
    let launch = launcher(folder.path(), &lab);
    let server = launch.start();
    wait_for_session(&mut server.client(), "SUBSCRIBED");
    let topics = listen_to_everything(&server);
    trade(&mut server.client(), &lab);
    change_credentials(&server, &key_file);
    let answers = answers(&mut server.client());
    let backup = folder.path().join("backup");
    let commands = [&["backup", backup.to_str().unwrap()][..], &["status"], &["journal", "verify"]];
    let printed: String = commands.map(|words| launch.run(words).to_string()).concat();
    let log = server.stop().log;
    let topics = topics.join().unwrap();

    // What is searched is what it should be.
    assert!(topics.contains("planted-order") && answers.contains("planted-order"), "the order was not heard");
    let recordings: Vec<_> = files_in(&folder.path().join("data"));
    let recordings = recordings.iter().filter(|path| path.to_string_lossy().ends_with(".messages.jsonl"));
    let recorded: String = recordings.map(|path| fs::read_to_string(path).unwrap()).collect();
    assert!(recorded.contains("order.place") && recorded.contains("\"X-MBX-APIKEY\",\"***\""), "nothing was recorded");

    let forms = forms();
    for (place, text) in [("answers", &answers), ("log", &log), ("topics", &topics), ("commands", &printed)] {
        expect_clean(place, &forms, text.as_bytes());
    }
    for path in files_in(&folder.path().join("data")).into_iter().chain(files_in(&backup)) {
        expect_clean(&path.display().to_string(), &forms, &fs::read(&path).unwrap());
    }
}

#[test]
fn credentials_that_cannot_be_used_are_refused_without_repeating_them() {
    let folder = tempfile::tempdir().unwrap();
    let lab = PlantedLab::start(folder.path());
    scenarios::lab::write_reference(&folder.path().join("reference"));
    let key_file = folder.path().join("key.toml");
    let launch = launcher(folder.path(), &lab);
    write_private(&key_file, &credentials(KEY, SECRET));
    fs::set_permissions(&key_file, fs::Permissions::from_mode(0o644)).unwrap();
    let open_to_all = launch.expect_refused();
    write_private(&key_file, &credentials(KEY, SECRET).replace('\n', " "));
    let malformed = launch.expect_refused();
    for (refused, reason) in [(open_to_all, "chmod 600"), (malformed, "line 1")] {
        let text = refused.to_string();
        assert!(text.contains("venues.LAB.credentials") && text.contains(reason), "{text}");
        expect_clean(reason, &forms(), text.as_bytes());
    }
}
