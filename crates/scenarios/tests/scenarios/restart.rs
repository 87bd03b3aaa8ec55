//! Restart: everything is kept, from a snapshot or from the first record.

use std::fs;
use std::path::Path;

use bus::History;
use bus::history::{OrderSearch, PageRequest, SortOrder, TransactionSearch};
use scenarios::server::{RunningServer, ServerExit};
use serde_json::json;
use storage::lock::DataDirLock;
use storage::{ReadModel, journal};

use crate::evidence::{JournalEvidence, digest_in_snapshot};
use crate::test_platform::{AAPL, MSFT, SAP, TestPlatform, TraderClient, limit, market, with_id};

const ENDS: [fn(RunningServer) -> ServerExit; 2] = [RunningServer::stop, RunningServer::kill];

#[test]
fn an_order_that_is_good_till_cancelled_outlives_its_server() {
    let desk = TestPlatform::new();
    let mut server = desk.start();
    let resting = server.client().place(&limit(AAPL, "BUY", 100, "250"));
    let before = server.client().wait_for_status(&resting, "SUBMITTED");
    for end in ENDS {
        end(server);
        server = desk.start();
        assert_eq!(server.client().order(&resting), before);
    }
    let mut client = server.client();
    assert_eq!(client.delete(&format!("/rest/execution/order/{resting}")).unwrap().status, 200);
    client.wait_for_status(&resting, "CANCELED");
    server.stop();
}

#[test]
fn positions_and_cash_outlive_their_server() {
    let desk = TestPlatform::new();
    let mut server = desk.start();
    trade(&server, "first");
    let before = server.client().account_state();
    for end in ENDS {
        end(server);
        server = desk.start();
        assert_eq!(server.client().account_state(), before);
    }
    server.stop();
}

/// What stood last is written into the stored bars, because a price that moves by itself cannot be waited for.
#[test]
fn simulated_prices_go_on_where_they_stood_and_not_at_the_opening_quotes() {
    let desk = TestPlatform::new().set("demo.activity", "calm").set("demo.historyDays", 0);
    let server = desk.start();
    let opening = bid(&server, AAPL);
    server.stop();
    let minutes = desk.data().join("bars/MIN_1");
    fs::create_dir_all(&minutes).unwrap();
    let bar = "dateTime,open,high,low,close,vol,vwap\n1767225600000,400,400,400,400,1,\n";
    fs::write(minutes.join(format!("{AAPL}.csv")), bar).unwrap();
    let server = desk.start();
    let resumed = bid(&server, AAPL);
    assert!(opening < 300.0 && (390.0..410.0).contains(&resumed), "{opening} before, {resumed} afterwards");
    server.stop();
}

fn bid(server: &RunningServer, security: u64) -> f64 {
    let ticks = server.client().get_json(&format!("/rest/marketdata/tick?security={security}"));
    ticks[0]["bid"].as_f64().unwrap()
}

#[test]
fn an_order_is_found_by_its_id_after_a_restart_and_refused_a_second_time() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let order = with_id(market(AAPL, "BUY", 5), "mine-1");
    server.client().place(&order);
    server.client().wait_for_status("mine-1", "EXECUTED");
    server.stop();
    let server = desk.start();
    let mut client = server.client();
    assert_eq!(client.order("mine-1")["filledQuantity"], json!(5));
    assert_eq!(client.submit(&order).status, 409);
    server.stop();
}

#[test]
fn snapshot_and_replay_give_the_state_of_a_full_replay() {
    let desk = TestPlatform::new().set("snapshot.everyInputs", 20);
    for (round, end) in
        [RunningServer::kill, RunningServer::stop, RunningServer::kill, RunningServer::stop].into_iter().enumerate()
    {
        let server = desk.start();
        trade(&server, &format!("round-{round}"));
        end(server);
    }
    assert_eq!(digest_in_snapshot(desk.data()), JournalEvidence::read(desk.data()).digest());
}

#[test]
fn without_its_snapshots_a_server_starts_from_the_first_record() {
    let desk = TestPlatform::new();
    let server = desk.start();
    trade(&server, "first");
    let before = server.client().account_state();
    server.stop();
    fs::remove_dir_all(desk.data().join("snapshots")).unwrap();
    let server = desk.start();
    assert_eq!(server.client().account_state(), before);
    server.stop();
    assert_eq!(digest_in_snapshot(desk.data()), JournalEvidence::read(desk.data()).digest());
}

#[test]
fn a_lost_read_model_is_built_again() {
    let desk = TestPlatform::new();
    let server = desk.start();
    trade(&server, "first");
    server.stop();
    let before = history(desk.data());
    assert!(before.contains("first-bought"), "{before}");
    fs::remove_file(desk.data().join("read-model.sqlite")).unwrap();
    desk.start().stop();
    assert_eq!(history(desk.data()), before);
}

/// Trades in both markets and leaves an order in one.
fn trade(server: &RunningServer, name: &str) {
    let mut client = server.client();
    for (security, side, what) in [(AAPL, "BUY", "bought"), (AAPL, "SELL", "sold"), (SAP, "BUY", "bought-too")] {
        let id = format!("{name}-{what}");
        client.place(&with_id(market(security, side, 10 + u64::from(side == "BUY")), &id));
        client.wait_for_status(&id, "EXECUTED");
    }
    let resting = format!("{name}-resting");
    client.place(&with_id(limit(MSFT, "BUY", 3, "480"), &resting));
    client.wait_for_status(&resting, "SUBMITTED");
}

/// Orders, their events and transactions, as the read model has them.
fn history(data: &Path) -> String {
    let lock = DataDirLock::acquire(data).unwrap();
    let folder = data.join(journal::FOLDER);
    let instance = journal::instance_of(&folder).unwrap().unwrap();
    let end = journal::verify(&folder, &mut |_| {}).unwrap().good.last_sequence;
    let model = ReadModel::open(&lock, instance, end).unwrap();
    let page = PageRequest { after: 0, limit: 1_000 };
    let orders = model.orders(0, &OrderSearch::default(), SortOrder::Oldest, page).unwrap();
    let events: Vec<_> = orders.iter().map(|order| model.order_events(0, order.int_id.as_str()).unwrap()).collect();
    let transactions = model.transactions(0, &TransactionSearch::default(), SortOrder::Oldest, page).unwrap();
    format!("{orders:#?}\n{events:#?}\n{transactions:#?}")
}
