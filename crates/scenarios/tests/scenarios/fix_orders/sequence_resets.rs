//! Sequence reset: a client cannot request what it missed, so it receives the state of its orders, until it has
//! confirmed them.

use serde_json::json;

use super::client::FixClient;
use super::{STEADY, buy, operate, reaches, server_with, session};
use crate::test_platform::{TestPlatform, TraderClient};

#[test]
fn a_fill_is_told_until_the_client_has_read_it_however_often_the_line_flaps() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = FixClient::new("CLIENT");
    client.log_on(server.port_address("fix"));
    client.send("35=D|11=filled|54=1|38=100|40=1|48=1");
    client.send("35=D|11=bad|54=1|38=abc|40=1|48=1");
    reaches_executed(&server, "filled");
    // The line breaks before anything was read, and again, three times: pictures are on their way each time.
    for _ in 0..3 {
        client.disconnect();
        reaches(&server, "CLIENT", "DISCONNECTED");
        client.connect_and_drop(server.port_address("fix"));
        has_sent_pictures(&server);
    }
    client.disconnect();
    reaches(&server, "CLIENT", "DISCONNECTED");
    client.received.clear();
    client.log_on_anew(server.port_address("fix"));
    client.wait_for_messages(2);
    assert_eq!(client.received_summaries(), ["8 bad 8/8 0/0", "8 filled I/2 100/100"]);
    // What was sent before says so.
    assert_eq!((client.received[0].get(97), client.received[1].get(97)), (Some("Y"), None));
    // Now it has confirmed them; from now on they are not sent again.
    client.expect("1");
    client.send("35=D|11=last|54=1|38=abc|40=1|48=1");
    client.wait_for_messages(3);
    client.disconnect();
    reaches(&server, "CLIENT", "DISCONNECTED");
    client.log_on_anew(server.port_address("fix"));
    client.wait_for_messages(4);
    assert_eq!(client.received_summaries()[3..], ["8 last 8/8 0/0"]);
    server.stop();
}

/// Over FIX an order is on its way before anybody knows of it.
fn reaches_executed(server: &scenarios::server::RunningServer, id: &str) {
    let path = format!("/rest/execution/order/{id}");
    let is_known = || (server.client().get(&path).unwrap().status == 200).then_some(());
    scenarios::wait::wait_for("the order to be known", is_known);
    server.client().wait_for_status(id, "EXECUTED");
}

/// Logon, two reports and the Test Request.
fn has_sent_pictures(server: &scenarios::server::RunningServer) {
    scenarios::wait::wait_for("the pictures to be sent", || {
        (session(server, "CLIENT")["nextOut"] == json!(5)).then_some(())
    });
}

#[test]
fn every_way_to_begin_anew_brings_pictures() {
    for (setting, begins_anew) in [
        ("", ResetBy::Operator),
        ("ResetOnLogout=Y\n", ResetBy::Logout),
        ("ResetOnDisconnect=Y\n", ResetBy::HangingUp),
        ("", ResetBy::Asking),
    ] {
        let desk = server_with(&(STEADY.to_owned() + setting));
        let server = desk.start();
        let mut client = FixClient::new("STEADY");
        client.log_on(server.port_address("fix"));
        client.send(&buy("open", 10, "250"));
        client.send("35=D|11=done|54=1|38=5|40=1|48=1");
        client.wait_for_messages(5);
        match begins_anew {
            ResetBy::Logout => client.log_out(),
            ResetBy::Operator | ResetBy::HangingUp | ResetBy::Asking => client.disconnect(),
        }
        reaches(&server, "STEADY", "DISCONNECTED");
        if begins_anew == ResetBy::Operator {
            assert_eq!(operate(&server, "STEADY/reset", ""), 200);
        }
        (client.next_in, client.next_out) = (1, 1);
        let logon = if begins_anew == ResetBy::Asking { "98=0|108=30|141=Y" } else { "98=0|108=30" };
        assert_eq!(client.log_on_with(server.port_address("fix"), logon).get(34), Some("1"), "{begins_anew:?}");
        client.wait_for_messages(7);
        assert_eq!(client.received_summaries()[5..], ["8 open I/0 0/10", "8 done I/2 5/5"], "{begins_anew:?}");
        server.stop();
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResetBy {
    Operator,
    Logout,
    HangingUp,
    Asking,
}

#[test]
fn a_replace_that_was_refused_while_the_client_was_away_is_told_until_it_is_read() {
    // The venue takes its time, so that the replace is on its way when the server dies.
    let desk = TestPlatform::new().set("simulated.latencyMicros", 500_000);
    let mut server = desk.start();
    let mut client = FixClient::new("CLIENT");
    client.log_on(server.port_address("fix"));
    client.send(&buy("cx", 10, "250"));
    client.wait_for_messages(2);
    client.send("35=G|11=cy|41=cx|54=1|38=20|40=2|44=251|48=1|59=1");
    assert_eq!(client.wait_for_messages(3)[2], "8 cy E/E 0/10");
    server.kill();
    server = desk.start();
    server.client().wait_for_status("cx", "SUBMITTED");
    client.log_on_anew(server.port_address("fix"));
    client.wait_for_messages(5);
    assert_eq!(client.received_summaries()[3..], ["9 cy of cx 39=0 102=99", "8 cx I/0 0/10"]);
    assert_eq!(client.received[3].get(97), None, "it was never sent before");
    // A line that breaks before the proof brings both again, and says that the refusal was sent.
    client.disconnect();
    reaches(&server, "CLIENT", "DISCONNECTED");
    client.log_on_anew(server.port_address("fix"));
    client.wait_for_messages(7);
    assert_eq!(client.received_summaries()[5..], ["9 cy of cx 39=0 102=99", "8 cx I/0 0/10"]);
    assert_eq!(client.received[5].get(97), Some("Y"));
    client.expect("1");
    client.log_out();
    client.log_on_anew(server.port_address("fix"));
    client.wait_for_messages(8);
    assert_eq!(client.received_summaries()[7..], ["8 cx I/0 0/10"]);
    server.stop();
}

#[test]
fn a_new_day_of_the_platform_begins_the_numbers_anew_and_brings_pictures() {
    let daily = STEADY.replace("NonStopSession=Y\n", "");
    let desk = server_with(&daily);
    let server = desk.start();
    let mut client = FixClient::new("STEADY");
    client.log_on(server.port_address("fix"));
    client.send(&buy("open", 10, "250"));
    client.send("35=D|11=done|54=1|38=5|40=1|48=1");
    client.wait_for_messages(5);
    client.disconnect();
    reaches(&server, "STEADY", "DISCONNECTED");
    assert_eq!(session(&server, "STEADY")["nextReset"], json!(MIDNIGHT_MILLISECONDS));
    server.stop();
    let server = desk.launch_at(DAY_SECONDS).start();
    client.seconds_ahead += DAY_SECONDS;
    assert_eq!(client.log_on_anew(server.port_address("fix")).get(34), Some("1"));
    client.wait_for_messages(7);
    assert_eq!(client.received_summaries()[5..], ["8 open I/0 0/10", "8 done I/2 5/5"]);
    server.stop();
}

const DAY_SECONDS: i64 = 86_400;
/// The end of the desk's day, 16 November 2026.
const MIDNIGHT_MILLISECONDS: i64 = 1_794_873_600_000;
