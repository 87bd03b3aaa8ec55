//! Ids of orders of past days: the server has forgotten them, and refuses them all the same.

use scenarios::server::RunningServer;
use scenarios::wait::wait_for;

use crate::test_platform::{AAPL, TestPlatform, TraderClient, limit, with_id};

const DAY: i64 = 86_400;

/// The status of an order with an id of three days ago, and of one with a new id.
fn reuse(server: &RunningServer, new: &str) -> [u16; 2] {
    let mut client = server.client();
    ["mine", new].map(|id| client.submit(&with_id(limit(AAPL, "BUY", 1, "240"), id)).status)
}

#[test]
fn an_id_of_last_week_is_refused_also_where_its_index_was_deleted() {
    let platform = TestPlatform::new();
    let server = platform.start();
    let mut client = server.client();
    assert_eq!(client.place(&with_id(limit(AAPL, "BUY", 1, "240"), "mine")), "mine");
    client.delete("/rest/execution/order/mine").unwrap();
    client.wait_for_status("mine", "CANCELED");
    server.stop();

    let later = platform.launch_at(3 * DAY);
    let server = later.start();
    wait_for("the index", || server.log().contains("ids of retired orders are in the index").then_some(()));
    assert_eq!(reuse(&server, "second"), [409, 200]);
    server.stop();
    let server = later.start();
    assert_eq!(reuse(&server, "third"), [409, 200]);
    server.stop();
    std::fs::remove_dir_all(platform.data().join("retired")).unwrap();
    let server = later.start();
    assert_eq!(reuse(&server, "fourth"), [409, 200]);
    assert!(platform.data().join("retired").is_dir());
}
