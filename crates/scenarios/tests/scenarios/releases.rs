//! Data folders of earlier releases, in `tests/releases`: this build opens each, shows what the old one showed, and trades on.
//!
//! `RIALTO_RECORD=folder` makes the files of the release that `RIALTO_BIN` is (`make record-release`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use scenarios::http::HttpClient;
use serde_json::{Value, json};

use crate::evidence::JournalEvidence;
use crate::fix_orders::client::FixClient;
use crate::test_platform::{AAPL, SAP, TestPlatform, TraderClient, fields, limit, market, with_id};

/// The clock of the story goes on this much later.
const AN_HOUR: i64 = 3_600;
/// Nothing of these belongs to a later start: the running server, keys and certificates, prices that are made again, logs.
const LEFT_OUT: [&str; 8] = [
    "data/lock",
    "data/server.json",
    "data/control.sock",
    "data/tls",
    "data/bars",
    "data/fix/log",
    "data/access*.sqlite*",
    "data/audit.sqlite*",
];

fn releases() -> Vec<PathBuf> {
    let listed = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/releases")).unwrap();
    let packed = listed.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "gz"));
    let mut packed: Vec<_> = packed.collect();
    packed.sort();
    packed
}

fn tar(arguments: &[&str], folder: &Path) {
    let status = Command::new("tar").args(arguments).current_dir(folder).status().expect("tar is there");
    assert!(status.success(), "tar {arguments:?}");
}

fn unpacked(release: &Path) -> TestPlatform {
    let desk = TestPlatform::new();
    tar(&["-xzf", release.to_str().unwrap()], desk.data().parent().unwrap());
    desk
}

/// What every release shows: new fields may come, these stay.
fn picture(client: &mut HttpClient) -> Value {
    let list = |client: &mut HttpClient, path: &str, names: &[&str]| {
        let mut rows: Vec<_> = client.get_json(path).as_array().unwrap().iter().map(|row| fields(row, names)).collect();
        rows.sort_by_key(Value::to_string);
        rows
    };
    let order = ["intId", "side", "quantity", "status", "filledQuantity", "limit", "accountId", "securityId"];
    json!({
        "orders": list(client, "/rest/history/order?limit=1000", &order),
        "open": list(client, "/rest/execution/order", &order),
        "positions": list(client, "/rest/position", &["accountId", "securityId", "quantity"]),
        "cash": list(client, "/rest/portfolio/balance", &["accountId", "currency", "amount"]),
        "transactions": list(client, "/rest/history/transaction?limit=1000", &["type", "quantity", "price", "accountId"]),
    })
}

fn recorded_picture(release: &Path) -> Value {
    let name = release.to_str().unwrap().replace(".tar.gz", ".json");
    serde_json::from_str(&fs::read_to_string(name).unwrap()).unwrap()
}

#[test]
fn the_data_folder_of_every_release_opens_and_shows_what_it_showed() {
    if let Some(folder) = std::env::var_os("RIALTO_RECORD") {
        return record(Path::new(&folder));
    }
    assert!(releases().len() >= 2, "{:?}", releases());
    for release in releases() {
        let desk = unpacked(&release);
        let verified = desk.launch.run(&["journal", "verify"]);
        assert_eq!(verified.code, Some(0), "{}: {verified}", release.display());
        let server = desk.launch_at(AN_HOUR).start();
        let mut client = server.client();
        assert_eq!(picture(&mut client), recorded_picture(&release), "{}", release.display());
        client.place(&with_id(limit(AAPL, "BUY", 1, "249"), "of-this-build"));
        client.wait_for_status("of-this-build", "SUBMITTED");
        assert_eq!(client.delete("/rest/execution/order/resting").unwrap().status, 200);
        client.wait_for_status("resting", "CANCELED");
        server.stop();
    }
}

/// The journal alone, without the snapshot and the read model of the old build.
#[test]
fn the_journal_of_every_release_is_replayed() {
    for release in releases() {
        let desk = unpacked(&release);
        let journal = JournalEvidence::read(desk.data());
        let expected = recorded_picture(&release)["orders"].as_array().unwrap().len();
        assert_eq!(journal.placed.len(), expected, "{}", release.display());
        fs::remove_dir_all(desk.data().join("snapshots")).unwrap();
        for file in ["read-model.sqlite", "read-model.sqlite-wal", "read-model.sqlite-shm"] {
            let _ = fs::remove_file(desk.data().join(file));
        }
        let server = desk.launch_at(AN_HOUR).start();
        assert_eq!(picture(&mut server.client()), recorded_picture(&release), "{}", release.display());
        server.stop();
    }
}

/// A small day over REST and FIX, stopped in order, and packed with what it showed.
fn record(folder: &Path) {
    let desk = TestPlatform::new().set("journal.segmentMegabytes", 1).set("snapshot.everyInputs", 40);
    let server = desk.start();
    let mut client = server.client();
    client.place(&with_id(limit(AAPL, "BUY", 10, "250"), "resting"));
    client.place(&with_id(limit(AAPL, "BUY", 10, "251"), "canceled"));
    for (security, id) in [(AAPL, "bought"), (SAP, "bought-sap")] {
        client.place(&with_id(market(security, "BUY", 100), id));
        client.wait_for_status(id, "EXECUTED");
    }
    client.place(&with_id(market(AAPL, "SELL", 30), "sold"));
    client.wait_for_status("sold", "EXECUTED");
    assert_eq!(client.delete("/rest/execution/order/canceled").unwrap().status, 200);
    client.wait_for_status("canceled", "CANCELED");
    let mut fix = FixClient::new("CLIENT");
    fix.log_on(server.port_address("fix"));
    fix.send("35=D|11=over-fix|54=1|38=5|40=1|48=1");
    fix.wait_for_messages(3);
    fix.log_out();
    let shown = picture(&mut client);
    server.stop();
    let version = desk.launch.run_without_folder(&["--version"]).output.replace("rialto ", "");
    fs::create_dir_all(folder).unwrap();
    let folder = fs::canonicalize(folder).unwrap();
    let packed = folder.join(format!("{version}.tar.gz"));
    let left_out: Vec<_> = LEFT_OUT.iter().map(|path| format!("--exclude={path}")).collect();
    let mut arguments: Vec<&str> = left_out.iter().map(String::as_str).collect();
    arguments.extend(["--sort=name", "--owner=0", "--group=0", "-czf", packed.to_str().unwrap(), "data"]);
    tar(&arguments, desk.data().parent().unwrap());
    fs::write(folder.join(format!("{version}.json")), format!("{shown:#}\n")).unwrap();
    println!("recorded {}", packed.display());
}
