//! A server that is killed before the disk or the venue has answered: after its restart every order has one outcome,
//! and no venue has any order twice.

use std::fs;
use std::time::Duration;

use scenarios::fault_injector::{self, DiskFault, JOURNAL, inject};
use scenarios::http::HttpFailure;
use scenarios::wait::wait_for;
use serde_json::json;

use crate::evidence::VenueLedgers;
use crate::test_platform::{AAPL, TestPlatform, TraderClient, limit, path_of, with_id};

/// The thread of the venue that trades AAPL.
const VENUE: &str = "SIMULATED-ALPHA";
const ID: &str = "in-doubt-1";

#[test]
fn an_order_that_the_venue_had_written_down_is_found_there() {
    let Some(server) = killed_while(VENUE, "fdatasync") else { return };
    assert_eq!(VenueLedgers::read(server.data()).submitted.len(), 1, "it was in the venue's ledger");
    assert_settled(&server);
    assert_eq!(VenueLedgers::read(server.data()).submitted.len(), 1);
}

#[test]
fn an_order_that_never_reached_the_venue_is_sent_again_soon_after() {
    let Some(server) = killed_while(VENUE, "pwrite64") else { return };
    assert_eq!(VenueLedgers::read(server.data()).submitted.len(), 0, "the venue had not heard of it");
    assert_settled(&server);
    assert_eq!(VenueLedgers::read(server.data()).submitted.len(), 1);
}

#[test]
fn an_order_that_never_reached_the_venue_and_is_too_old_by_now_is_rejected() {
    let Some(desk) = killed_while(VENUE, "pwrite64") else { return };
    let server = desk.launch_at(60).start();
    let order = server.client().wait_for_status(ID, "REJECTED");
    assert_eq!(order["reason"], json!("the order never reached the venue"));
    server.stop();
    assert_eq!(VenueLedgers::read(desk.data()).submitted.len(), 0);
}

#[test]
fn an_order_that_the_disk_had_not_confirmed_was_not_acknowledged_and_has_one_fate() {
    if !fault_injector::is_possible() {
        return;
    }
    for call in ["pwrite64", "fdatasync"] {
        let desk = TestPlatform::new();
        let server = desk.start();
        let meddler = inject(&server, JOURNAL, call, DiskFault::Delay);
        let order = with_id(limit(AAPL, "BUY", 1, "250"), ID);
        let mut hasty = server.client().with_timeout(Duration::from_millis(500));
        let unanswered = hasty.post(path_of(&order), &order.to_string());
        assert!(matches!(unanswered, Err(HttpFailure::Unanswered(_))), "{call}: {unanswered:?}");
        meddler.kill(server);
        // The sync that hangs may be that of the frame before it.
        let existed = is_journalled(&desk, ID);
        assert!(!existed || call == "fdatasync", "nothing was written");
        let server = desk.start();
        let mut client = server.client();
        let retried = client.submit(&order);
        assert_eq!(retried.status, if existed { 409 } else { 200 }, "{call}: {retried:?}");
        client.wait_for_status(ID, "SUBMITTED");
        server.stop();
        assert_eq!(VenueLedgers::read(desk.data()).submitted.len(), 1, "{call}");
    }
}

/// Whether the journal on the disk names an order.
fn is_journalled(desk: &TestPlatform, id: &str) -> bool {
    let segments =
        fs::read_dir(desk.data().join("journal")).unwrap().map(|file| fs::read(file.unwrap().path()).unwrap());
    segments.into_iter().any(|segment| {
        let written = segment.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        segment[..written].windows(id.len()).any(|window| window == id.as_bytes())
    })
}

/// A desk whose server was killed after it acknowledged an order, while its venue hung in that system call.
fn killed_while(thread: &str, call: &str) -> Option<TestPlatform> {
    if !fault_injector::is_possible() {
        return None;
    }
    let desk = TestPlatform::new();
    let server = desk.start();
    let meddler = inject(&server, thread, call, DiskFault::Delay);
    let mut client = server.client();
    assert_eq!(client.place(&with_id(limit(AAPL, "BUY", 1, "250"), ID)), ID);
    assert_eq!(client.order(ID)["status"], json!("OPEN"), "the venue has not answered");
    if call == "fdatasync" {
        wait_for("the venue to write it down", || (VenueLedgers::read(desk.data()).submitted.len() == 1).then_some(()));
    }
    meddler.kill(server);
    Some(desk)
}

/// After a restart the order rests at the venue.
fn assert_settled(desk: &TestPlatform) {
    let server = desk.start();
    let order = server.client().wait_for_status(ID, "SUBMITTED");
    assert_eq!(order["inDoubt"], json!(false), "{order}");
    server.stop();
}
