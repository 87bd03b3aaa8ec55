//! Sessions that come and go while the server runs, with clients made with QuickFIX.

use std::fs;
use std::path::PathBuf;

use scenarios::http::HttpResponse;
use scenarios::server::RunningServer;
use scenarios::wait::wait_for;
use serde_json::{Value, json};

use super::client::{Client, shown};
use super::{SESSIONS, order};
use crate::test_platform::{TestPlatform, TraderClient, body_of};

/// A session beside `CLIENT`, with further settings.
fn session(comp_id: &str, more: &str) -> String {
    SESSIONS.replace("TargetCompID=CLIENT\n", &format!("TargetCompID={comp_id}\n{more}"))
}

/// A server whose file of sessions changes.
struct ChangingSessions {
    platform: TestPlatform,
    file: PathBuf,
}

impl ChangingSessions {
    fn new(text: &str) -> Self {
        let platform = TestPlatform::new();
        let file = platform.data().with_file_name("sessions.cfg");
        fs::write(&file, text).unwrap();
        Self { platform: platform.set("fix.settings", file.display()), file }
    }

    fn reload(&self, server: &RunningServer, text: &str) -> HttpResponse {
        fs::write(&self.file, text).unwrap();
        server.client().post("/rest/fix/reload", "").unwrap()
    }
}

fn client(server: &RunningServer, comp_id: &str) -> Client {
    let port = server.port_address("fix").port();
    Client::start(
        &format!(
            "[DEFAULT]\nReconnectInterval=1\n[SESSION]\nConnectionType=initiator\nSocketConnectHost=127.0.0.1\n\
             SocketConnectPort={port}\nHeartBtInt=30\nBeginString=FIX.4.4\nSenderCompID={comp_id}\nTargetCompID=RIALTO\n\
             StartTime=00:00:00\nEndTime=00:00:00\nUseDataDictionary=N\nCheckLatency=N\n"
        ),
        &[],
    )
}

/// CompIDs and states.
fn states(server: &RunningServer) -> Vec<(String, String)> {
    let sessions = server.client().get_json("/rest/fix/sessions");
    let text = |session: &Value, key: &str| session[key].as_str().unwrap().to_owned();
    sessions.as_array().unwrap().iter().map(|one| (text(one, "id"), text(one, "state"))).collect()
}

fn changes(added: &[&str], changed: &[&str], removed: &[&str], unchanged: &[&str]) -> Value {
    json!({ "added": added, "changed": changed, "removed": removed, "unchanged": unchanged, "warnings": [] })
}

/// Orders that are filled at once, each heard to its end.
fn trades(client: &mut Client, id: &str) {
    client.say(&order(id, "38=10|40=1"));
    let expected = ["A/A filled 0", "0/0 filled 0", "F/2 filled 10"].map(|report| format!("{id} {report}"));
    assert_eq!(client.hear_reports("F/2"), expected);
}

#[test]
fn sessions_are_added_changed_and_removed_and_the_others_do_not_notice() {
    let platform = ChangingSessions::new(SESSIONS);
    let server = platform.platform.start();
    let mut steady = client(&server, "CLIENT");
    assert_eq!(steady.hear(), "logged on");

    let added = platform.reload(&server, &(SESSIONS.to_owned() + &session("DESK", "")));
    assert_eq!((added.status, body_of(&added)), (200, changes(&["DESK"], &[], &[], &["CLIENT"])));
    let mut desk = client(&server, "DESK");
    assert_eq!(desk.hear(), "logged on");
    trades(&mut desk, "desk-1");
    trades(&mut steady, "client-1");
    desk.say("35=H|11=desk-1|48=1|54=1");
    assert_eq!(desk.hear_message("j")[&380], "3");

    let extended = SESSIONS.to_owned() + &session("DESK", "ExtendedMessages=Y\n");
    let changed = platform.reload(&server, &extended);
    assert_eq!((changed.status, body_of(&changed)), (200, changes(&[], &["DESK"], &[], &["CLIENT"])));
    // QuickFIX comes back with the numbers that it has.
    assert_eq!(desk.hear(), "logged out");
    desk.hear_until("logged on");
    desk.say("35=H|11=desk-1|48=1|54=1");
    assert_eq!(shown(&desk.hear_message("8")), "desk-1 I/2 filled 10");
    trades(&mut desk, "desk-2");

    let removed = platform.reload(&server, SESSIONS);
    assert_eq!((removed.status, body_of(&removed)), (200, changes(&[], &[], &["DESK"], &["CLIENT"])));
    assert_eq!(desk.hear(), "logged out");
    assert_eq!(states(&server), [("CLIENT".to_owned(), "LOGGED_ON".to_owned())]);
    wait_for("the removed client to be refused", || {
        server.log().contains("connection rejected before Logon").then_some(())
    });
    trades(&mut steady, "client-2");

    let again = platform.reload(&server, &extended);
    assert_eq!((again.status, body_of(&again)), (200, changes(&["DESK"], &[], &[], &["CLIENT"])));
    // With the numbers of before.
    desk.hear_until("logged on");
    trades(&mut desk, "desk-3");
    assert_eq!(steady.leave(), ["logged out"], "it was never logged out before");
    assert_eq!(desk.leave(), ["logged out"]);
    server.stop();
}

#[test]
fn a_file_with_errors_changes_nothing_and_each_is_named_with_its_line() {
    let platform = ChangingSessions::new(SESSIONS);
    let server = platform.platform.start();
    let mut steady = client(&server, "CLIENT");
    assert_eq!(steady.hear(), "logged on");
    let problem = |text: &str| {
        let refused = platform.reload(&server, text);
        let body = body_of(&refused);
        let detail = body["detail"].as_str().unwrap().replace(&platform.file.display().to_string(), "FILE");
        (refused.status, body["code"].as_str().unwrap().to_owned(), detail)
    };
    let refused = |detail: &str| (422, "bad-session-file".to_owned(), detail.to_owned());
    let wrong = SESSIONS.to_owned() + &session("DESK", "HeartBeatInt=5\nDropCopyAccounts=1\nExtendedMessages=yes\n");
    assert_eq!(
        problem(&wrong),
        refused(
            "FILE line 20: HeartBeatInt is no setting; did you mean HeartBtInt?; FILE line 21: DropCopyAccounts: has no \
             effect without DropCopy=Y; FILE line 22: ExtendedMessages: yes is neither Y nor N"
        )
    );
    let twice = SESSIONS.to_owned() + &session("CLIENT", "").replace("SenderCompID=RIALTO", "SenderCompID=OTHER");
    assert_eq!(problem(&twice), refused("FILE: TargetCompID CLIENT has two sessions, and its orders would be of both"));
    let secure = SESSIONS.to_owned() + "SocketUseSSL=Y\n";
    assert_eq!(problem(&secure), refused("FILE: SocketUseSSL can be changed by a restart only"));
    let copies = SESSIONS.to_owned() + &session("COPY", "DropCopy=Y\nDropCopySessions=CLIENT,DESK\n");
    assert_eq!(
        problem(&copies),
        refused("FILE line 21: DropCopySessions: DESK is no TargetCompID of a session that trades")
    );
    assert_eq!(states(&server), [("CLIENT".to_owned(), "LOGGED_ON".to_owned())]);
    trades(&mut steady, "after");
    assert_eq!(steady.leave(), ["logged out"]);
    server.stop();
}

#[test]
fn the_command_line_reads_the_file_again_too_and_every_reading_is_in_the_audit() {
    let platform = ChangingSessions::new(SESSIONS);
    let server = platform.platform.start();
    let reload = || platform.platform.launch_at(0).run(&["fix", "reload"]);
    fs::write(&platform.file, SESSIONS.to_owned() + &session("DESK", "")).unwrap();
    assert_eq!(reload().output, "added: DESK\nchanged: none\nremoved: none\nunchanged: CLIENT");
    fs::write(&platform.file, "[SESSION]\n").unwrap();
    let refused = reload();
    assert!(refused.log.contains("line 1: BeginString is missing"), "{}", refused.log);
    assert_eq!(states(&server).len(), 2);
    let audit = server.client().get("/rest/audit").unwrap().body;
    assert!(audit.contains("added DESK, 1 unchanged") && audit.contains("bad-session-file"), "{audit}");
    server.stop();
}

#[test]
fn the_day_orders_of_a_session_that_is_removed_are_cancelled_as_it_says() {
    let desk = session("DESK", "CancelOnDisconnect=ALL\nCancelOnDisconnectGrace=600\n");
    let platform = ChangingSessions::new(&(SESSIONS.to_owned() + &desk));
    let server = platform.platform.start();
    let [mut steady, mut desk] = ["CLIENT", "DESK"].map(|name| client(&server, name));
    for (one, id) in [(&mut steady, "stays"), (&mut desk, "goes")] {
        assert_eq!(one.hear(), "logged on");
        one.say(&order(id, "38=10|40=2|44=250|59=1"));
        one.hear_reports("0/0");
    }
    assert_eq!(platform.reload(&server, SESSIONS).status, 200);
    server.client().wait_for_status("goes", "CANCELED");
    assert_eq!(server.client().order("stays")["status"], json!("SUBMITTED"));
    server.stop();
}
