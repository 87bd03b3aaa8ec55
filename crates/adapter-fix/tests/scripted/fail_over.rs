//! A venue with several addresses: the next one is tried where one fails.

use std::net::TcpListener;

use domain::Side;

use crate::scripted_venue::ScriptedVenue;
use crate::test_adapter::{TestAdapter, order};

/// A session that has not logged on by then is ended, and the next address is tried.
const LOGON_SECONDS_MAX: i64 = 15;

/// The same port of two addresses of this machine.
fn listeners() -> [TcpListener; 2] {
    for _ in 0..100 {
        let first = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = first.local_addr().unwrap().port();
        if let Ok(second) = TcpListener::bind(("127.0.0.2", port)) {
            return [first, second];
        }
    }
    panic!("no port is free at both addresses");
}

#[test]
fn the_second_address_is_used_where_the_first_one_refuses_and_after_its_loss_the_first_one_again() {
    let [first, second] = listeners();
    let first_address = first.local_addr().unwrap();
    drop(first);
    let (mut second, folder) = (ScriptedVenue::listening(second), tempfile::tempdir().unwrap());
    let hosts = [("host", "127.0.0.1,127.0.0.2")];
    let mut desk = TestAdapter::open_with(&folder, "generic-44", &second.address(), &hosts);
    assert!(desk.is_refused(), "nothing listens there");
    desk.connect_after(LOGON_SECONDS_MAX, || drop(second.log_on()));
    desk.submit(&order(1, Side::Buy));
    assert_eq!(second.expect("D")[&11], "R7-1-0");
    second.send("8", "11=R7-1-0|37=V1|17=E1|150=0|39=0|38=100|14=0|151=100");
    assert_eq!(desk.reports(1), ["1 accepted"]);

    // The first one is back, and the second one dies. Both count for the same session.
    let mut first = ScriptedVenue::listening(TcpListener::bind(first_address).unwrap());
    first.next = second.next;
    second.hang_up();
    desk.lose();
    desk.connect_after(0, || assert_eq!(first.log_on()[&34], "3", "our numbers go on"));
    first.send("8", "11=R7-1-0|37=V1|17=E2|150=F|39=2|38=100|14=100|151=0|32=100|31=10.5");
    assert_eq!(desk.reports(1), ["1 filled 100 @ 10.5 (E2)"]);
}
