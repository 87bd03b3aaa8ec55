//! Disks that fail or are full: nothing is acknowledged that is not on disk, and a restart finds everything
//! acknowledged.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use scenarios::fault_injector::{self, DiskFault, JOURNAL, inject};
use scenarios::http::HttpClient;
use scenarios::server::RunningServer;
use scenarios::wait::wait_for;
use serde_json::json;

use crate::evidence::{JournalEvidence, VenueLedgers};
use crate::test_platform::{self, AAPL, TestPlatform, TraderClient, body_of, int_id_in, limit, path_of, with_id};

/// The thread of the venue that trades AAPL.
const VENUE: &str = "SIMULATED-ALPHA";

/// The thread that writes the read model.
const READ_MODEL: &str = "read-model";

/// More orders than a journal takes whose syncs fail from the twentieth on.
const ORDERS_MAX: usize = 100;

#[test]
fn a_journal_that_can_not_be_synced_ends_the_server_and_nothing_is_acknowledged_after_it() {
    if !fault_injector::is_possible() {
        return;
    }
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let _meddler = inject(&server, JOURNAL, "fdatasync", DiskFault::FailFrom(20));
    let answers: Vec<_> = (0..ORDERS_MAX).map(|number| send(&mut client, &format!("order-{number}"))).collect();
    let first_failure = answers.iter().position(|answer| *answer != Some(200)).expect("the disk failed");
    assert!(first_failure > 0, "the disk was good at first");
    assert!(answers[first_failure..].iter().all(|answer| *answer != Some(200)), "{answers:?}");
    let ended = server.wait();
    assert_eq!(ended.code, Some(1), "{ended}");
    assert!(ended.log.contains("the journal failed"), "{ended}");
    let server = desk.start();
    assert_found(&server, first_failure);
    place_one_more(&server);
    server.stop();
}

#[test]
fn a_disk_that_does_not_answer_is_told_and_nothing_is_acknowledged() {
    if !fault_injector::is_possible() {
        return;
    }
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    assert_eq!(send(&mut client, "before"), Some(200));
    let meddler = inject(&server, JOURNAL, "fdatasync", DiskFault::Delay);
    let told = |response: &scenarios::http::HttpResponse| {
        let body = body_of(response);
        (
            response.status,
            body["code"].as_str().unwrap().to_owned(),
            body["detail"].as_str().unwrap().contains("had no effect"),
        )
    };
    let order = |int_id: &str| with_id(limit(AAPL, "BUY", 1, "250"), int_id);
    let unknown = client.submit(&order("during"));
    assert_eq!(told(&unknown), (503, "journal-stalled".into(), false));
    let refused = client.submit(&order("after"));
    assert_eq!(told(&refused), (503, "journal-stalled".into(), true));
    let killed = client.post("/rest/risk/kill", r#"{"scope":"PLATFORM"}"#).unwrap();
    assert_eq!(told(&killed), (503, "journal-stalled".into(), false), "it is taken, and not acknowledged");
    assert_eq!(client.get("/health/ready").unwrap().status, 503);
    let is_told = || server.log().contains("the journal's disk does not answer").then_some(());
    wait_for("the log to tell of the disk", is_told);
    meddler.kill(server);
    let server = desk.start();
    let mut client = server.client();
    assert_eq!(client.get(&format!("/rest/execution/order/{}", "after")).unwrap().status, 404, "it had no effect");
    assert_eq!(client.get("/rest/execution/order/before").unwrap().status, 200);
    server.stop();
}

#[test]
fn a_kill_while_the_disk_hangs_keeps_orders_that_were_not_sent_from_leaving() {
    if !fault_injector::is_possible() {
        return;
    }
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    client.place(&with_id(limit(AAPL, "BUY", 1, "250"), "resting"));
    client.wait_for_status("resting", "SUBMITTED");
    let meddler = inject(&server, JOURNAL, "fdatasync", DiskFault::Delay);
    let waiting = client.submit(&with_id(limit(AAPL, "BUY", 1, "250"), "waiting"));
    assert_eq!((waiting.status, body_of(&waiting)["code"].clone()), (503, json!("journal-stalled")));
    let killed = client.post("/rest/risk/kill", r#"{"scope":"PLATFORM"}"#).unwrap();
    let detail = body_of(&killed)["detail"].clone();
    assert!(killed.status == 503 && detail.as_str().unwrap().contains("held back from now on"), "{detail}");
    drop(meddler);
    let is_answered = || (client.get("/rest/execution/order/waiting").unwrap().status == 200).then_some(());
    wait_for("the disk to answer again", is_answered);
    let held_back = client.wait_for_status("waiting", "REJECTED");
    let reason = "not handed to the adapter: the kill switch was used while the journal's disk did not answer";
    assert_eq!(held_back["reason"], json!(reason));
    client.wait_for_status("resting", "CANCELED");
    assert_eq!(client.get_json("/rest/risk/state")[0]["state"], json!("HALTED"));
    server.stop();
    assert_agree(desk.data());
}

/// The write of SQLite takes longer than any scenario: orders are answered, sent and filled all the same, and history says that it
/// is behind until the disk answers again.
#[test]
fn a_disk_that_hangs_under_the_read_model_does_not_stop_trading() {
    const ORDERS: usize = 40;
    if !fault_injector::is_possible() {
        return;
    }
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let meddler = inject(&server, READ_MODEL, "pwrite64", DiskFault::Delay);
    for number in 0..ORDERS {
        assert_eq!(send(&mut client, &format!("held-{number}")), Some(200));
    }
    for number in 0..ORDERS {
        client.wait_for_status(&format!("held-{number}"), "SUBMITTED");
    }
    assert_eq!(client.get("/rest/history/order?text=held-").unwrap().status, 503);
    drop(meddler);
    let is_complete = || {
        let found = client.get("/rest/history/order?text=held-").unwrap();
        (found.status == 200).then(|| body_of(&found).as_array().unwrap().len()).filter(|found| *found == ORDERS)
    };
    wait_for("history to have every order", is_complete);
    server.stop();
    assert_agree(desk.data());
}

#[test]
fn a_venue_that_can_not_write_its_ledger_leaves_no_order_in_doubt_for_long() {
    if !fault_injector::is_possible() {
        return;
    }
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let meddler = inject(&server, VENUE, "fdatasync", DiskFault::FailFrom(3));
    let answers: Vec<_> = (0..10).map(|number| send(&mut client, &format!("order-{number}"))).collect();
    assert_eq!(answers[0], Some(200), "the platform's own disk is good");
    drop(meddler);
    let is_ready = || (client.get("/health/ready").unwrap().status == 200).then_some(());
    wait_for("the venue to come back", is_ready);
    wait_for("every order to be settled", || nothing_is_open(&mut client.get_json("/rest/execution/order")));
    place_one_more(&server);
    server.stop();
    assert_agree(desk.data());
}

#[test]
fn on_a_full_disk_nothing_that_was_acknowledged_is_lost() {
    let Some(disk) = SmallDisk::mount() else { return };
    let launch = test_platform::launcher_for(&disk.data())
        .set("journal.segmentMegabytes", 1)
        .set("risk.ordersPerSecond", 100_000);
    let server = launch.start();
    disk.fill();
    let acknowledged = send_until_refused(&server);
    let ended = server.kill();
    disk.empty();
    let verified = launch.run(&["journal", "verify"]);
    assert_eq!(verified.code, Some(0), "{verified}\nthe log on the full disk: {ended}");
    let server = launch.start();
    let mut client = server.client();
    for int_id in &acknowledged {
        client.order(int_id);
    }
    place_one_more(&server);
    server.stop();
    assert_agree(&disk.data());
}

#[test]
fn a_journal_without_room_ends_the_server_and_nothing_is_given_twice() {
    let Some(disk) = SmallDisk::mount() else { return };
    let launch = test_platform::launcher_for(&disk.data()).set("journal.segmentMegabytes", 1);
    let server = launch.start();
    disk.fill();
    let given = ask_for_ids_until_the_end(&server);
    let ended = server.wait();
    assert_eq!(ended.code, Some(1), "{ended}");
    assert!(ended.log.contains("the disk is full"), "{ended}");
    disk.empty();
    let server = launch.start();
    let next = server.client().post("/rest/next-order-id", "1").unwrap();
    assert!(!given.contains(body_of(&next).as_str().unwrap()), "{next:?}");
    place_one_more(&server);
    server.stop();
    let journal = JournalEvidence::read(&disk.data());
    assert!(given.iter().all(|id| journal.minted.contains(id.as_str())), "an id was given and forgotten");
}

/// The status of the answer, none where there was no answer.
fn send(client: &mut HttpClient, int_id: &str) -> Option<u16> {
    let order = with_id(limit(AAPL, "BUY", 1, "250"), int_id);
    client.post(path_of(&order), &order.to_string()).ok().map(|response| response.status)
}

fn assert_found(server: &RunningServer, acknowledged: usize) {
    let mut client = server.client();
    for number in 0..acknowledged {
        client.wait_for_status(&format!("order-{number}"), "SUBMITTED");
    }
}

fn place_one_more(server: &RunningServer) {
    let mut client = server.client();
    let order = client.place(&limit(AAPL, "BUY", 1, "251"));
    client.wait_for_status(&order, "SUBMITTED");
}

fn nothing_is_open(orders: &mut serde_json::Value) -> Option<()> {
    let orders = orders.as_array()?;
    let settled = |order: &serde_json::Value| order["status"] != json!("OPEN") && order["inDoubt"] == json!(false);
    orders.iter().all(settled).then_some(())
}

/// The venue and the platform know the same orders.
fn assert_agree(data: &Path) {
    let (journal, ledgers) = (JournalEvidence::read(data), VenueLedgers::read(data));
    for order in ledgers.submitted.keys() {
        assert!(journal.placed.contains_key(order), "the venue has order {order:?}, the journal has not");
    }
}

/// Orders that were acknowledged before so many in a row were not.
fn send_until_refused(server: &RunningServer) -> Vec<String> {
    const REFUSED_IN_A_ROW: usize = 20;
    let mut client = server.client();
    let (mut acknowledged, mut refused) = (Vec::new(), 0);
    while refused < REFUSED_IN_A_ROW {
        let order = limit(AAPL, "BUY", 1, "250");
        match client.post(path_of(&order), &order.to_string()) {
            Ok(response) if response.status == 200 => {
                refused = 0;
                acknowledged.push(int_id_in(&response));
            }
            _ => refused += 1,
        }
    }
    assert!(!acknowledged.is_empty(), "the journal has room in its file");
    acknowledged
}

/// Every id that any of several clients was given.
fn ask_for_ids_until_the_end(server: &RunningServer) -> BTreeSet<String> {
    const CLIENTS: usize = 8;
    let ask = |mut client: HttpClient| {
        let mut given = Vec::new();
        while let Ok(response) = client.post("/rest/next-order-id", "1") {
            given.extend((response.status == 200).then(|| body_of(&response).as_str().unwrap().to_owned()));
        }
        given
    };
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| server.client()).map(|client| scope.spawn(|| ask(client))).collect();
        let given: Vec<_> = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
        let distinct: BTreeSet<_> = given.iter().cloned().collect();
        assert_eq!(distinct.len(), given.len(), "an id was given twice");
        distinct
    })
}

/// A disk in memory that is soon full. Where mounting is not allowed there is none.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap().keep();
        let mount = ["-t", "tmpfs", "-o", "size=16m", "rialto-small-disk"];
        let mounted = Command::new("mount").args(mount).arg(&folder).stderr(Stdio::null()).status();
        if mounted.is_ok_and(|status| status.success()) {
            return Some(Self(folder));
        }
        fs::remove_dir(&folder).unwrap();
        eprintln!("SKIPPED: mounting a small disk is not allowed here; it needs root");
        None
    }

    fn data(&self) -> PathBuf {
        self.0.join("data")
    }

    /// To the last byte.
    fn fill(&self) {
        let mut ballast = fs::File::create(self.0.join("ballast")).unwrap();
        let zeros = [0; 4096];
        while ballast.write_all(&zeros).is_ok() {}
    }

    fn empty(&self) {
        fs::remove_file(self.0.join("ballast")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // A server that still runs would keep it busy; a lazy unmount waits for its end.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
        let _ = fs::remove_dir(&self.0);
    }
}
