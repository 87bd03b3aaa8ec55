//! Clocks that are set back: trading goes on, and nothing is dated before what was before it.

use std::fs;
use std::path::{Path, PathBuf};

use scenarios::server::{RunningServer, ServerExit, ServerLauncher};
use scenarios::wait::wait_for;
use serde_json::json;

use crate::fix_orders::client::FixClient;
use crate::fix_orders::{STEADY, buy, server_with, session};
use crate::test_platform::{AAPL, TestPlatform, TraderClient, market};

const HOUR: i64 = 3_600;
const LIBFAKETIME: &str = "faketime/libfaketimeMT.so.1";

/// The machine's clock as one server reads it, which can be set while it runs. The steady clock stays as it is.
struct SettableClock(PathBuf);

impl SettableClock {
    /// None where the library is missing; prints a line then.
    fn under(launch: &ServerLauncher, folder: &Path) -> Option<(Self, ServerLauncher)> {
        let Some(library) = libfaketime() else {
            eprintln!("SKIPPED: libfaketime is not here, so no clock can be set; `make setup` installs it");
            return None;
        };
        let clock = Self(folder.join("clock"));
        clock.set(0);
        let launch = launch
            .clone()
            .with_variable("LD_PRELOAD", library)
            .with_variable("FAKETIME_TIMESTAMP_FILE", &clock.0)
            .with_variable("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .with_variable("FAKETIME_NO_CACHE", "1");
        Some((clock, launch))
    }

    /// Written beside and renamed: the server reads it at any moment.
    fn set(&self, seconds: i64) {
        let beside = self.0.with_extension("new");
        fs::write(&beside, format!("{seconds:+}")).unwrap();
        fs::rename(&beside, &self.0).unwrap();
    }
}

/// Debian keeps it in a folder of the machine's architecture.
fn libfaketime() -> Option<PathBuf> {
    let folders = fs::read_dir("/usr/lib").ok()?.map_while(Result::ok);
    folders.map(|folder| folder.path().join(LIBFAKETIME)).find(|library| library.exists())
}

/// Dates of today's transactions, in the order in which they were booked.
fn dates(server: &RunningServer) -> Vec<String> {
    let transactions = server.client().get_json("/rest/transaction/daily");
    transactions.as_array().unwrap().iter().rev().map(|booked| booked["dateTime"].to_string()).collect()
}

/// Trades over REST and FIX before and after the clock of the running server's machine is set.
fn trade_while_the_clock_is_set(step: i64) {
    let desk = server_with(STEADY);
    let Some((clock, launch)) = SettableClock::under(&desk.launch, desk.data().parent().unwrap()) else { return };
    let server = launch.start();
    let mut rest = server.client();
    let mut fix = FixClient::new("STEADY");
    fix.log_on(server.port_address("fix"));
    let first = rest.place(&market(AAPL, "BUY", 1));
    rest.wait_for_status(&first, "EXECUTED");
    clock.set(step);
    wait_for("the step to be noticed", || server.log().contains("the machine's clock was set").then_some(()));
    let second = rest.place(&market(AAPL, "BUY", 1));
    rest.wait_for_status(&second, "EXECUTED");
    // The client's machine is set like the server's.
    fix.seconds_ahead += step;
    fix.send(&buy("after", 1, "250"));
    assert_eq!(fix.wait_for_messages(2), ["8 after A/A 0/1", "8 after 0/0 0/1"]);
    assert_eq!(session(&server, "STEADY")["state"], json!("LOGGED_ON"));
    let dates = dates(&server);
    assert!(dates.len() >= 2 && dates.is_sorted(), "{dates:?}");
    server.stop();
}

#[test]
fn a_clock_that_is_set_back_under_a_running_server_stops_nothing() {
    trade_while_the_clock_is_set(-HOUR);
}

#[test]
fn a_clock_that_is_set_ahead_under_a_running_server_cuts_no_line() {
    trade_while_the_clock_is_set(HOUR);
}

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
    let dates = dates(&server);
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
