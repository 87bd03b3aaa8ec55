//! Silent connections: clients that send nothing, or half a request. The platform trades on, and the kill switch works.

use std::fs;
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::thread;

use scenarios::http::HttpClient;
use scenarios::server::RunningServer;
use scenarios::wait::wait_for;
use serde_json::json;

use crate::test_platform::{AAPL, TestPlatform, TraderClient, body_of, limit, with_id};

/// Fewer than most systems allow.
const OPEN_FILES: u32 = 256;
/// More connections than files.
const CROWD: usize = 300;
/// Traders who place orders side by side, and as many as none of them needs.
const FLOWS: usize = 4;
const ORDERS_MAX: usize = 10_000;

/// Files of the journal, without the one that is prepared.
fn segments(server: &TestPlatform) -> usize {
    let files = fs::read_dir(server.data().join("journal")).unwrap();
    files.filter(|file| file.as_ref().unwrap().path().extension().is_some_and(|ending| ending == "journal")).count()
}

fn crowded() -> TestPlatform {
    let server = TestPlatform::new().set("journal.segmentMegabytes", 1).set("risk.ordersPerSecond", 100_000);
    let mut server = server.set("risk.cashCheck", false);
    server.launch = server.launch.clone().with_open_files(OPEN_FILES);
    server
}

/// Connections that are opened, and say no more than this.
fn crowd(door: SocketAddr, words: &str) -> Vec<TcpStream> {
    let call = |_| {
        let mut stream = TcpStream::connect(door).ok()?;
        // Whoever is turned away may be so while it speaks.
        let _ = stream.write_all(words.as_bytes());
        Some(stream)
    };
    (0..CROWD).filter_map(call).collect()
}

/// An order that is taken, on a connection of its own; strangers may push it out before it has spoken, so it calls again.
fn call_and_place(server: &RunningServer, int_id: &str) {
    let order = with_id(limit(AAPL, "BUY", 1, "250"), int_id);
    let answer = wait_for("a place for the trader", || {
        HttpClient::new(server.address()).post("/rest/execution/order/limit", &order.to_string()).ok()
    });
    assert!([200, 422].contains(&answer.status), "{answer:?}");
}

#[test]
fn a_crowd_that_says_nothing_does_not_take_the_journal_s_files() {
    let desk = crowded();
    let server = desk.start();
    server.client().place(&limit(AAPL, "BUY", 1, "250"));
    let doors = [
        server.port_address("brokerTcp"),
        server.port_address("brokerTls"),
        server.port_address("brokerWs"),
        server.port_address("fix"),
    ];
    let crowds: Vec<_> = doors.map(|door| crowd(door, "")).into();
    let address = server.address();
    let fill = |flow: usize| {
        let mut trader = HttpClient::new(address);
        let orders = (0..ORDERS_MAX).map(|number| format!("order-{flow}-{number}"));
        let mut placed = orders.map(|int_id| trader.place(&with_id(limit(AAPL, "BUY", 1, "250"), &int_id)));
        assert!(placed.any(|_| segments(&desk) > 1), "a file of a megabyte is full at last");
    };
    thread::scope(|scope| {
        let fill = &fill;
        (0..FLOWS).for_each(|flow| drop(scope.spawn(move || fill(flow))));
    });
    // The first connection may have been idle for too long.
    let mut trader = server.client();
    trader.place(&limit(AAPL, "BUY", 1, "250"));
    assert_eq!(trader.get("/health/ready").unwrap().status, 200);
    assert!(server.log().contains("few open files are allowed"), "{}", server.log());
    drop(crowds);
    server.stop();
}

#[test]
fn one_peer_with_many_idle_connections_shuts_nobody_out_of_http() {
    let desk = crowded();
    let server = desk.start();
    let half_a_request = "GET /rest/account HTTP/1.1\r\nHost: loc";
    let half_a_login = "POST /rest/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                        Content-Length: 1000\r\n\r\n{\"user\"";
    for (number, words) in ["", half_a_request, half_a_login].into_iter().enumerate() {
        let crowd = crowd(server.address(), words);
        call_and_place(&server, &format!("beside-{number}"));
        drop(crowd);
    }
    let crowd = crowd(server.address(), half_a_request);
    let killed = wait_for("the kill switch", || {
        HttpClient::new(server.address()).post("/rest/risk/kill", &json!({ "scope": "PLATFORM" }).to_string()).ok()
    });
    assert_eq!((killed.status, &body_of(&killed)["scope"]), (200, &json!("PLATFORM")), "{killed:?}");
    drop(crowd);
    server.stop();
}

#[test]
fn a_server_without_files_for_its_journal_does_not_start() {
    let mut server = TestPlatform::new();
    server.launch = server.launch.clone().with_open_files(128);
    let ended = server.launch.expect_refused();
    assert_eq!(ended.code, Some(1), "{ended}");
    assert!(ended.log.contains("raise the limit (ulimit -n, LimitNOFILE)"), "{ended}");
}
