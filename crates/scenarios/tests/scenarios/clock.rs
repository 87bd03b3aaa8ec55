//! Clocks that are set back: trading goes on, and nothing is dated before what was before it.

use scenarios::server::{RunningServer, ServerExit};

use crate::test_platform::{AAPL, TestPlatform, TraderClient, market};

const HOUR: i64 = 3_600;

/// Buys before and after a restart on a machine whose clock is an hour behind then.
fn trade_across(end: fn(RunningServer) -> ServerExit) {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let first = client.place(&market(AAPL, "BUY", 1));
    client.wait_for_status(&first, "EXECUTED");
    end(server);
    let server = desk.launch_at(-HOUR).start();
    let mut client = server.client();
    let second = client.place(&market(AAPL, "BUY", 1));
    client.wait_for_status(&second, "EXECUTED");
    let transactions = client.get_json("/rest/transaction/daily");
    let dates: Vec<_> =
        transactions.as_array().unwrap().iter().rev().map(|booked| booked["dateTime"].to_string()).collect();
    assert!(dates.len() >= 2 && dates.is_sorted(), "{dates:?}");
    assert!(server.log().contains("the machine's clock is behind the end of the journal"), "{}", server.log());
    server.stop();
}

#[test]
fn a_clock_that_is_behind_after_a_crash_stops_nothing_and_no_date_goes_back() {
    trade_across(RunningServer::kill);
}

#[test]
fn a_clock_that_is_behind_after_an_orderly_stop_stops_nothing_and_no_date_goes_back() {
    trade_across(RunningServer::stop);
}
