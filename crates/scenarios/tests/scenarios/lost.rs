//! A journal that lost what was acknowledged: no server starts on it as if nothing had been there, and the way back repeats no
//! number.
//!
//! `RIALTO_DAMAGES` says how many random damages the last story does (5), `RIALTO_SEED` repeats a run; both are printed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use scenarios::http::HttpClient;
use scenarios::seed::fresh_seed;
use scenarios::server::{RunningServer, ServerExit};
use scenarios::wait::wait_for;
use serde_json::{Value, json};
use storage::lock::DataDirLock;
use storage::{SnapshotStore, journal};

use crate::test_platform::{AAPL, TestPlatform, TraderClient, body_of, fields, limit, market};
use crate::topics::TopicListener;

const DAMAGES: u64 = 5;
/// The text of every refusal after a loss.
const WAY_BACK: &str = "rialto journal accept-loss --data-dir";

/// A desk whose server was killed after a fill, and what its client knows.
struct Crashed {
    desk: TestPlatform,
    order: String,
    given: Vec<String>,
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Crashed {
    fn after_a_fill() -> Self {
        let desk = TestPlatform::new().set("journal.segmentMegabytes", 1);
        let server = desk.start();
        let mut client = server.client();
        let order = client.place(&market(AAPL, "BUY", 200));
        client.wait_for_status(&order, "EXECUTED");
        let given = (0..3).map(|_| next_id(&mut client)).chain([order.clone()]).collect();
        server.kill();
        let folder = desk.data().join(journal::FOLDER);
        let files = segments(&folder).into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
        Self { desk, order, given, files }
    }

    fn restore(&self) {
        self.files.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
    }

    /// Start and check are both refused, with the reason.
    fn is_refused(&self, what: &str) {
        let refused = self.desk.launch.expect_refused();
        assert_eq!((refused.code, refused.output.as_str()), (Some(4), ""), "{what}: {refused}");
        let verified = self.desk.launch.run(&["journal", "verify"]);
        assert_eq!(verified.code, Some(4), "{what}: {verified}");
        let text = |ended: &ServerExit| ended.log.lines().last().unwrap_or_default().to_owned();
        assert_eq!(text(&refused), text(&verified), "{what}");
        assert!(refused.log.contains(WAY_BACK) || refused.log.contains("is damaged at offset"), "{what}: {refused}");
    }
}

fn segments(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "journal")).collect();
    found.sort();
    found
}

fn next_id(client: &mut HttpClient) -> String {
    let answer = client.post("/rest/next-order-id", "1").unwrap();
    body_of(&answer).as_str().unwrap().to_owned()
}

fn used(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1
}

#[test]
fn a_lost_end_is_refused_and_the_way_back_repeats_nothing() {
    let crashed = Crashed::after_a_fill();
    let (newest, good) = crashed.files.last().unwrap();
    let end = used(good);
    let harmed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        fs::write(newest, bytes).unwrap();
    };
    harmed(&|bytes| bytes[end - 1] ^= 1);
    crashed.is_refused("the last frame flipped");
    harmed(&|bytes| bytes[end / 2..].fill(0));
    crashed.is_refused("the end zeroed");
    harmed(&|bytes| bytes.truncate(end / 2));
    crashed.is_refused("the end cut");
    crashed.restore();
    // Also without the head file: the read model knows, and so does the venue.
    let head = crashed.desk.data().join("journal/head");
    let claim = fs::read(&head).unwrap();
    fs::remove_file(&head).unwrap();
    segments(newest.parent().unwrap()).iter().for_each(|path| fs::remove_file(path).unwrap());
    crashed.is_refused("everything deleted");
    interrupt_acceptance(crashed.desk.data());
    crashed.is_refused("everything deleted, the read model put aside");
    fs::write(&head, claim).unwrap();
    let ledgers = crashed.desk.data().join("venues");
    let hidden = crashed.desk.data().join("venues-hidden");
    fs::rename(&ledgers, &hidden).unwrap();
    accept(&crashed.desk);
    fs::rename(&hidden, &ledgers).unwrap();
    let server = crashed.desk.start();
    assert_halted(&server);
    assert_nothing_is_inherited(&crashed, server);
}

/// As a command leaves the folder that was killed before its last step: only what it put aside knows the numbers.
fn interrupt_acceptance(data_folder: &Path) {
    let aside = data_folder.join("lost/1");
    fs::create_dir_all(&aside).unwrap();
    for name in ["read-model.sqlite", "read-model.sqlite-wal", "read-model.sqlite-shm"] {
        let from = data_folder.join(name);
        if from.exists() {
            fs::rename(from, aside.join(name)).unwrap();
        }
    }
}

/// Only with the right number, only once, and with an audit entry.
fn accept(server: &TestPlatform) {
    let wrong = server.launch.run(&["journal", "accept-loss", "--up-to", "7"]);
    assert_eq!(wrong.code, Some(2), "{wrong}");
    assert!(wrong.log.contains("the journal is good up to 0, so 0 is the number to give, not 7"), "{wrong}");
    let accepted = server.launch.run(&["journal", "accept-loss", "--up-to", "0"]);
    assert_eq!(accepted.code, Some(0), "{accepted}");
    assert!(accepted.output.starts_with("records after 0 are given up:\n"), "{accepted}");
    let again = server.launch.run(&["journal", "accept-loss", "--up-to", "0"]);
    assert_eq!(again.code, Some(2), "{again}");
    assert!(again.log.contains("nothing is lost"), "{again}");
}

/// The venue has the lost order: its account is halted until an operator has checked it.
fn assert_halted(server: &RunningServer) {
    let mut client = server.client();
    let halted = wait_for("the account to be halted", || {
        let states = client.get_json("/rest/risk/state");
        let of_account = |state: &&Value| state["scope"] == "ACCOUNT-1" && state["state"] == "HALTED";
        states.as_array().unwrap().iter().find(of_account).cloned()
    });
    let reason = halted["reason"].as_str().unwrap();
    assert!(reason.starts_with("SIMULATED-ALPHA has order number 1, which is not known here"), "{reason}");
    let refused = client.submit(&limit(AAPL, "BUY", 3, "240"));
    assert_eq!(refused.status, 422, "{refused:?}");
    let audit = client.get_json("/rest/audit?limit=100");
    let is_noted = |row: &Value| row["action"] == "journal accept-loss";
    assert!(audit.as_array().unwrap().iter().any(is_noted), "{audit}");
    assert_break(&mut client);
    let resume = json!({ "scope": "ACCOUNT-1", "state": "ACTIVE", "reason": "looked at" }).to_string();
    assert_eq!(client.put("/rest/risk/state", &resume).unwrap().status, 200);
}

/// The order that nobody knows is a break: over REST and on its topic, until an operator accepts it.
fn assert_break(client: &mut HttpClient) {
    let own =
        |found: &Value| fields(found, &["id", "kind", "state", "adapter", "ours", "theirs", "changedBy", "comment"]);
    let found = client.get_json("/rest/break");
    let expected = json!({
        "id": "B1", "kind": "EXTERNAL", "state": "OPEN", "adapter": "SIMULATED-ALPHA", "ours": null,
        "theirs": { "order": "1" }, "changedBy": null, "comment": null,
    });
    assert_eq!(own(&found[0]), expected, "{found}");
    assert_eq!(found[0]["evidence"]["report"], "order number 1");
    let mut topic = TopicListener::join(client);
    topic.send("SUBSCRIBE\nid:1\ndestination:/topic/break.>\nsnapshot:true\n\n");
    assert_eq!(topic.headers_and_body().1, found[0]);
    let repair = client.post("/rest/break/B1/repair", r#"{"comment": "do it"}"#).unwrap();
    assert_eq!((repair.status, body_of(&repair)["code"].clone()), (409, json!("nothing-to-repair")));
    let accepted = client.post("/rest/break/B1/accept", r#"{"comment": "recorded by hand"}"#).unwrap();
    assert_eq!(accepted.status, 200, "{accepted:?}");
    assert_eq!(topic.headers_and_body().1, body_of(&accepted));
    assert_eq!(client.get_json("/rest/break/B1"), body_of(&accepted));
    assert_eq!(client.get_json("/rest/break"), json!([]));
    assert_eq!(client.get_json("/rest/break?state=ALL"), json!([body_of(&accepted)]));
    let audit = client.get_json("/rest/audit?limit=100");
    let is_noted = |row: &Value| row["detail"].as_str().unwrap().contains("accept B1: recorded by hand");
    assert!(audit.as_array().unwrap().iter().any(is_noted), "{audit}");
}

/// A new order is a new one, for us and for the venue, and the halt does not come again.
fn assert_nothing_is_inherited(crashed: &Crashed, server: RunningServer) {
    let mut client = server.client();
    assert_eq!(client.get(&format!("/rest/execution/order/{}", crashed.order)).unwrap().status, 404);
    assert!(!crashed.given.contains(&next_id(&mut client)), "an id was given twice");
    let order = client.place(&limit(AAPL, "BUY", 3, "240"));
    assert!(!crashed.given.contains(&order), "{order} was used before");
    let own = |order: &Value| fields(order, &["status", "filledQuantity", "quantity", "extId"]);
    let before = own(&client.wait_for_status(&order, "SUBMITTED"));
    server.stop();
    let server = crashed.desk.start();
    let mut client = server.client();
    assert_eq!(own(&client.order(&order)), before);
    let deleted = client.delete(&format!("/rest/execution/order/{order}")).unwrap();
    assert_eq!(deleted.status, 200, "{deleted:?}");
    client.wait_for_status(&order, "CANCELED");
    server.stop();
}

#[test]
fn a_data_folder_is_its_owner_s_alone_and_taken_without_its_lock_file() {
    let desk = TestPlatform::new();
    fs::create_dir(desk.data()).unwrap();
    fs::set_permissions(desk.data(), fs::Permissions::from_mode(0o755)).unwrap();
    let server = desk.start();
    let order = server.client().place(&limit(AAPL, "BUY", 1, "250"));
    server.client().wait_for_status(&order, "SUBMITTED");
    fs::remove_file(desk.data().join("lock")).unwrap();
    let second = desk.launch.expect_refused();
    assert_eq!(second.code, Some(3), "{second}");
    server.stop();
    let open = open_to_others(desk.data());
    assert!(open.is_empty(), "{open:?}");
}

fn open_to_others(path: &Path) -> Vec<PathBuf> {
    let found = fs::symlink_metadata(path).unwrap();
    let wanted = if found.is_dir() { 0o700 } else { 0o600 };
    let mut open = Vec::new();
    if found.permissions().mode() & 0o777 != wanted {
        open.push(path.to_owned());
    }
    if found.is_dir() {
        let inside = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        open.extend(inside.flat_map(|path| open_to_others(&path)));
    }
    open
}

fn number(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable} must be a number, not {text:?}")),
        Err(_) => default,
    }
}

/// The same numbers for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

/// Flips, zeros, cuts or deletes within what was written; says what it did.
fn harm(crashed: &Crashed, dice: &mut Dice) -> String {
    let (path, good) = &crashed.files[dice.below(crashed.files.len())];
    let end = used(good);
    loop {
        let mut bytes = good.clone();
        let at = dice.below(end);
        let length = 1 + dice.below(4_096).min(bytes.len() - at - 1);
        let kind = dice.below(5);
        match kind {
            0 => bytes[at] ^= 1 << dice.below(8),
            1 => bytes[at..at + length].fill(0),
            2 => bytes.truncate(at),
            3 => bytes[at..].fill(0),
            _ => return fs::remove_file(path).map(|()| format!("deleted {}", path.display())).unwrap(),
        }
        // What was zero before is not harmed by zeros.
        if bytes != *good {
            fs::write(path, &bytes).unwrap();
            return format!("kind {kind} at {at} of {end}, {length} bytes");
        }
    }
}

/// Every byte below the end was acknowledged, so the server must refuse to start with any damage.
#[test]
fn no_random_damage_after_a_crash_loses_an_acknowledged_order_in_silence() {
    let (damages, seed) = (number("RIALTO_DAMAGES", DAMAGES), number("RIALTO_SEED", fresh_seed()));
    println!("damage test: RIALTO_DAMAGES={damages} RIALTO_SEED={seed}");
    let crashed = Crashed::after_a_fill();
    let mut dice = Dice(seed);
    for _ in 0..damages {
        let done = harm(&crashed, &mut dice);
        crashed.is_refused(&done);
        crashed.restore();
    }
    println!("damage test: {damages} of {damages} refused");
    let server = crashed.desk.start();
    assert_eq!(server.client().order(&crashed.order)["status"], "EXECUTED");
    server.stop();
}

#[test]
fn a_snapshot_that_cannot_be_decoded_is_passed_over() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let order = server.client().place(&limit(AAPL, "BUY", 1, "250"));
    server.client().wait_for_status(&order, "SUBMITTED");
    server.stop();
    let folder = desk.data().join(journal::FOLDER);
    let instance = journal::instance_of(&folder).unwrap().unwrap();
    let lock = DataDirLock::acquire(desk.data()).unwrap();
    // Of a record that the read model has for certain, else it is not looked at.
    SnapshotStore::open(&lock, instance).unwrap().write(1, b"of another build", "9.9.9").unwrap();
    drop(lock);
    let server = desk.start();
    server.client().order(&order);
    let ended = server.stop();
    assert!(ended.log.contains("a snapshot cannot be read by this build"), "{ended}");
}
