//! Drop copies: reports come over two sessions, count once, and what is executed while the order session is away is not lost.

use std::time::{Duration, Instant};

use domain::order::OrderTerms;
use domain::{Order, OrderKind, SecurityId, Side, TimeInForce};
use tempfile::TempDir;

use crate::lab::Lab;
use crate::proxy::Proxy;
use crate::test_adapter::{TestAdapter, VenueAddress, order};

/// A wait that takes longer than this has failed, on any machine.
const WAIT_MAX: Duration = Duration::from_secs(60);

pub(crate) fn bitcoin(id: u64, side: Side, limit: &str) -> Order {
    let kind = OrderKind::Limit { limit: limit.parse().unwrap() };
    let terms = OrderTerms { quantity: "0.01".parse().unwrap(), kind, tif: TimeInForce::Gtc };
    Order { terms, security: SecurityId(2), ..order(id, side) }
}

/// The generic dialect of a venue that begins at 1 with each log-on and sends nothing again.
fn forgetful(folder: &TempDir) -> &'static str {
    let text = adapter_fix::shipped_dialect("generic-44").unwrap();
    let text = text.replace("resetOnLogon = false", "resetOnLogon = true").replace("resend = true", "resend = false");
    let file = folder.path().join("forgetful.toml");
    std::fs::write(&file, text).unwrap();
    Box::leak(file.display().to_string().into_boxed_str())
}

/// Another account sells to what rests at 60,000.
pub(crate) fn sell_from_elsewhere(lab: &Lab) {
    let folder = tempfile::tempdir().unwrap();
    let address = VenueAddress { sender: "BETA", ..lab.address("fix44") };
    let mut other = TestAdapter::open(&folder, forgetful(&folder), &address);
    other.connect();
    other.submit(&bitcoin(1, Side::Sell, "60000"));
    let told = other.reports(2);
    assert!(told[1].starts_with("1 filled 0.01 @ 60000 "), "{told:?}");
}

/// It may be up before it is told for the first time.
fn wait_for_line(desk: &mut TestAdapter) {
    while desk.reports(1).last().unwrap() != "PRIVATE up" {}
}

#[test]
fn a_drop_copy_that_is_cut_while_the_orders_are_away_comes_back_before_they_do() {
    let (lab, folder) = (Lab::start_with(&["fix44.resends=false"]), tempfile::tempdir().unwrap());
    let (orders, copies) = (Proxy::start(lab.port("fix44")), Proxy::start(lab.port("fix44")));
    let (port, address) = (copies.port().to_string(), VenueAddress { port: orders.port(), ..lab.address("fix44") });
    let settings = [("dropCopyPort", port.as_str()), ("dropCopySenderCompId", "ALPHA-DROP")];
    let mut desk = TestAdapter::open_with(&folder, forgetful(&folder), &address, &settings);
    desk.connect();
    wait_for_line(&mut desk);
    desk.submit(&bitcoin(1, Side::Buy, "60000"));
    assert_eq!(desk.reports(1), ["1 accepted"]);

    orders.close();
    desk.lose();
    let before = copies.answers();
    copies.cut();
    let begun = Instant::now();
    // The venue's answer is that of a new log-on.
    while copies.answers() == before {
        assert!(desk.is_refused(), "the venue is closed");
        assert!(begun.elapsed() < WAIT_MAX, "the drop copy does not come back");
    }
    sell_from_elsewhere(&lab);
    orders.open();
    desk.connect();
    let mut told = desk.reports(2);
    told.sort();
    assert_eq!(told[1], "PRIVATE up");
    assert!(told[0].starts_with("1 filled 0.01 @ 60000 (BTCUSDT-"), "{told:?}");
}

#[test]
fn a_report_counts_once_and_executions_of_an_absence_come_over_the_drop_copy() {
    let (lab, folder) = (Lab::start_with(&["fix44.resends=false"]), tempfile::tempdir().unwrap());
    let proxy = Proxy::start(lab.port("fix44"));
    let (port, address) = (lab.port("fix44").to_string(), VenueAddress { port: proxy.port(), ..lab.address("fix44") });
    let settings = [("dropCopyPort", port.as_str()), ("dropCopySenderCompId", "ALPHA-DROP")];
    let mut desk = TestAdapter::open_with(&folder, forgetful(&folder), &address, &settings);
    desk.connect();
    wait_for_line(&mut desk);
    desk.submit(&bitcoin(1, Side::Buy, "60000"));
    assert_eq!(desk.reports(1), ["1 accepted"]);
    desk.submit(&bitcoin(2, Side::Buy, "59000"));
    // The second copies of order 1 came before this one.
    assert_eq!(desk.reports(1), ["2 accepted"]);

    proxy.cut();
    desk.lose();
    sell_from_elsewhere(&lab);
    desk.connect();
    let mut told = desk.reports(2);
    told.sort();
    assert_eq!(told[1], "PRIVATE up");
    assert!(told[0].starts_with("1 filled 0.01 @ 60000 (BTCUSDT-"), "{told:?}");

    // Nothing of it comes again, and the order session is the venue's as before.
    desk.submit(&bitcoin(3, Side::Buy, "58000"));
    assert_eq!(desk.reports(1), ["3 accepted"]);
}
