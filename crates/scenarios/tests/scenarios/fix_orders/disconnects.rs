//! Ends of sessions, and what happens to their orders.

use std::collections::BTreeSet;

use scenarios::http::HttpRequest;
use scenarios::wait::wait_for;
use serde_json::json;

use super::client::FixClient;
use super::{STEADY, buy, operate, server_with, session};
use crate::test_platform::{TraderClient, body_of};

#[test]
fn a_client_whose_access_is_revoked_is_logged_out() {
    let desk = server_with(STEADY);
    let server = desk.start();
    let mut rest = server.client();
    let token = |name: &str, role: &str| json!({ "name": name, "role": role, "days": 1 }).to_string();
    let mut issue = |name, role| {
        let issued = rest.post("/rest/token", &token(name, role)).unwrap();
        body_of(&issued)["token"].as_str().unwrap().to_owned()
    };
    let (admin, robot) = (issue("admin", "ADMIN"), issue("robot", "TRADER"));
    let boss = r#"{"name": "boss", "password": "correct horse battery", "role": "ADMIN"}"#;
    assert_eq!(rest.post("/rest/user", boss).unwrap().status, 200);
    let mut client = FixClient::new("STEADY");
    client.log_on_with(server.port_address("fix"), &format!("98=0|108=30|553=robot|554={robot}"));
    client.send(&buy("mine", 1, "250"));
    client.wait_for_messages(2);
    let headers = [("Authorization", &*format!("Bearer {admin}"))];
    let revoke = HttpRequest { method: "DELETE", path: "/rest/token/robot", headers: &headers, body: None };
    assert_eq!(rest.send(&revoke).unwrap().status, 200);
    let goodbye = client.expect("5");
    assert_eq!(goodbye.get(58), Some("forbidden: what you logged on with is no longer valid"));
    client.send_admin("5", "");
    client.wait_for_disconnect();
    // Nor is it accepted again; its order rests.
    client.connect(server.port_address("fix"));
    client.send_admin("A", &format!("98=0|108=30|553=robot|554={robot}"));
    client.wait_for_disconnect();
    let order = HttpRequest { method: "GET", path: "/rest/execution/order/mine", headers: &headers, body: None };
    assert_eq!(body_of(&rest.send(&order).unwrap())[0]["status"], json!("SUBMITTED"));
    server.stop();
}

#[test]
fn a_session_that_is_being_logged_out_is_no_longer_shown_as_logged_on() {
    let desk = server_with(STEADY);
    let server = desk.start();
    let mut client = FixClient::new("STEADY");
    client.log_on(server.port_address("fix"));
    assert_eq!(operate(&server, "STEADY/logout", ""), 200);
    // The client has not answered yet.
    assert_eq!(session(&server, "STEADY")["state"], json!("CONNECTED"));
    client.expect("5");
    // What crossed with the Logout is taken, and answered.
    client.send(&buy("crossing", 1, "250"));
    client.send("35=D|11=bad|54=X|38=abc|40=2|44=250|48=1|59=Z");
    client.wait_for_messages(3);
    let told: BTreeSet<String> = client.received_summaries().into_iter().collect();
    assert!(told.contains("8 crossing A/A 0/1") && told.contains("8 bad 8/8 0/0"), "{told:?}");
    client.send_admin("5", "");
    client.wait_for_disconnect();
    assert_eq!(operate(&server, "STEADY/reset", ""), 200);
    let seen = session(&server, "STEADY");
    assert_eq!((&seen["nextIn"], &seen["nextOut"]), (&json!(1), &json!(1)));
    server.stop();
}

#[test]
fn an_order_goes_with_its_client_also_while_its_replace_is_pending() {
    let sessions = STEADY.to_owned() + "CancelOnDisconnect=ALL\n";
    // Long enough that the line is cut before the venue has answered.
    let desk = server_with(&sessions).set("simulated.latencyMicros", 700_000);
    let server = desk.start();
    let mut client = FixClient::new("STEADY");
    client.log_on(server.port_address("fix"));
    client.send(&buy("x", 10, "250"));
    client.wait_for_messages(2);
    client.send("35=G|11=y|41=x|54=1|38=20|40=2|44=251|48=1|59=1");
    assert_eq!(client.wait_for_messages(3)[2], "8 y E/E 0/10");
    client.disconnect();
    server.client().wait_for_status("x", "CANCELED");
    client.log_on(server.port_address("fix"));
    wait_for("the end of the order to be told", || {
        let count = client.received.len();
        let over = client.wait_for_messages(count + 1).iter().any(|told| told.contains("/4 "));
        over.then_some(())
    });
    let told = client.received_summaries().split_off(3);
    assert!(told.contains(&"8 x 6/6 0/10".to_owned()), "{told:?}");
    let last = client.received.last().unwrap();
    assert_eq!(last.get(58), Some("asked for by the platform, cancel on disconnect"), "{told:?}");
    server.stop();
}

#[test]
fn who_did_it_is_told_the_same_when_the_client_was_away() {
    let desk = crate::test_platform::TestPlatform::new();
    let mut server = desk.start();
    let mut client = FixClient::new("CLIENT");
    client.log_on(server.port_address("fix"));
    for id in ["live", "away"] {
        client.send(&buy(id, 1, "250"));
    }
    client.wait_for_messages(4);
    assert_eq!(server.client().delete("/rest/execution/order/live").unwrap().status, 200);
    client.wait_for_messages(6);
    let live = client.received[5].get(58).unwrap().to_owned();
    client.disconnect();
    super::reaches(&server, "CLIENT", "DISCONNECTED");
    assert_eq!(server.client().delete("/rest/execution/order/away").unwrap().status, 200);
    server.client().wait_for_status("away", "CANCELED");
    server.stop();
    server = desk.start();
    client.log_on_anew(server.port_address("fix"));
    client.wait_for_messages(8);
    assert_eq!(client.received_summaries()[6..], ["8 live I/4 0/1", "8 away I/4 0/1"]);
    let texts: Vec<_> = client.received[6..].iter().map(|message| message.get(58).unwrap_or_default()).collect();
    assert_eq!(texts, [live.as_str(), live.as_str()]);
    assert!(live.contains("asked for by REST"), "{live}");
    server.stop();
}

/// The first start is on a machine whose clock is two hours ahead. Then it is put right, and time on the platform goes on
/// from where it was.
#[test]
fn a_client_with_the_right_time_trades_after_a_clock_that_was_ahead_is_put_right() {
    let desk = server_with(STEADY);
    let server = desk.launch_at(2 * 3_600).start();
    let mut client = FixClient::new("STEADY");
    client.seconds_ahead += 2 * 3_600;
    client.log_on(server.port_address("fix"));
    client.send(&buy("before", 10, "250"));
    client.wait_for_messages(2);
    client.log_out();
    server.stop();
    let server = desk.start();
    assert!(server.log().contains("the machine's clock is behind the end of the journal"), "{}", server.log());
    client.seconds_ahead -= 2 * 3_600;
    // As if the last report had been lost on its way: what was sent under the wrong clock is sent again.
    client.next_in -= 2;
    client.received.pop();
    let logon = client.log_on(server.port_address("fix"));
    // Both begin at noon.
    let hour = |time: &str| time[..11].to_owned();
    assert_eq!(logon.get(52).map(hour), Some(hour(&client.now())), "clients compare it with their own clock");
    client.send(&buy("after", 10, "251"));
    client.wait_for_messages(4);
    let told = ["8 before A/A 0/10", "8 before 0/0 0/10", "8 after A/A 0/10", "8 after 0/0 0/10"];
    assert_eq!(client.received_summaries(), told);
    client.log_out();
    server.stop();
}
