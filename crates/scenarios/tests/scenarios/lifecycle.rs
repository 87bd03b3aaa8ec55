//! Life cycle: start, stop, lock of the data folder.

use serde_json::json;

use crate::test_platform::{AAPL, TestPlatform, TraderClient, limit};

#[test]
fn a_signal_ends_it_in_order() {
    let server = TestPlatform::new();
    let ended = server.start().stop();
    assert!(ended.log.contains("stopped in order"), "{ended}");
}

#[test]
fn a_caller_can_end_it_in_order() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let response = server.client().post("/rest/runtime/exit-vm", "").unwrap();
    assert_eq!((response.status, response.body.as_str()), (200, ""));
    let ended = server.wait();
    assert_eq!(ended.code, Some(0), "{ended}");
}

#[test]
fn two_servers_never_share_a_folder() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let second = desk.launch.expect_refused();
    assert_eq!((second.code, second.output.as_str()), (Some(3), ""), "{second}");
    let folder = desk.data().display();
    let text = format!("rialto: the data folder {folder} is in use by another process (pid {})", server.pid());
    assert!(second.log.contains(&text), "{second}");
    let mut client = server.client();
    assert_eq!(client.get_json("/rest/execution/order"), json!([]), "the first one did not notice");
    server.stop();
}

#[test]
fn a_folder_is_free_again_however_its_server_ended() {
    let server = TestPlatform::new();
    server.start().kill();
    server.start().stop();
    server.start().stop();
}

#[test]
fn a_port_that_is_taken_is_named() {
    let (desk, other) = (TestPlatform::new(), TestPlatform::new());
    let server = desk.start();
    let taken = server.address();
    let second = other.launch.clone().set("http.port", taken.port()).expect_refused();
    assert_eq!(second.code, Some(1), "{second}");
    assert!(second.log.contains(&format!("{taken} (http.port)")), "{second}");
    server.stop();
}

#[test]
fn a_wrong_key_is_answered_with_the_right_one() {
    let server = TestPlatform::new();
    let ended = server.launch.clone().set("http.prot", 1).expect_refused();
    assert_eq!(ended.code, Some(2), "{ended}");
    assert!(ended.log.contains("http.port"), "{ended}");
}

#[test]
fn what_was_begun_is_finished_before_the_end() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let resting = server.client().place(&limit(AAPL, "BUY", 1, "250"));
    server.stop();
    let server = desk.start();
    assert_eq!(server.client().order(&resting)["status"], json!("SUBMITTED"));
    server.stop();
}
