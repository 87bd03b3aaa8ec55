//! The log: what it contains, and that no interface waits for its reader.

use scenarios::wait::wait_for;

use crate::test_platform::{AAPL, TestPlatform, TraderClient, limit, market, with_id};

#[test]
fn alarms_of_the_engine_are_in_the_log() {
    let desk = TestPlatform::new().set("risk.maxDayLoss", "0.0001");
    let server = desk.start();
    let mut client = server.client();
    client.place(&market(AAPL, "BUY", 100));
    let line = wait_for("the alarm", || {
        let log = server.log();
        log.lines().find(|line| line.contains("ERROR alarm: ")).map(str::to_owned)
    });
    assert!(line.contains("max-day-loss") || line.contains("REDUCING") || line.contains("loss"), "{line}");
    let lines = client.get_json("/rest/log");
    assert!(lines.to_string().contains("\"logger\":\"alarm\"") || lines.to_string().contains("alarm"), "{lines}");
    server.stop();
}

/// More than a pipe holds, many times.
const ORDERS: usize = 1_000;

#[test]
fn standard_error_that_nobody_reads_stops_neither_trading_nor_the_stop() {
    let mut desk = TestPlatform::new().set("log.level", "trace").set("risk.ordersPerSecond", 100_000);
    desk.launch = desk.launch.clone().with_unread_log();
    let server = desk.start();
    let mut client = server.client();
    for number in 0..ORDERS {
        client.place(&with_id(limit(AAPL, "BUY", 1, "250"), &format!("order-{number}")));
    }
    assert_eq!(client.get("/health/live").unwrap().status, 200);
    server.stop();
}
