//! Users and tokens are in the journal: added beside a server or without one, they are there after a restart, in a backup, and without
//! the files beside the journal.

use std::fs;

use scenarios::http::{HttpClient, HttpRequest};
use serde_json::{Value, json};

use crate::test_platform::{TestPlatform, body_of, launcher_for, seconds_to_noon};

/// Issued by the command line, beside a server or without one.
fn new_token(desk: &TestPlatform, name: &str, role: &str) -> String {
    let clock = format!("clock.offset={}", seconds_to_noon());
    let issued = desk.launch.run(&["token", "new", name, "--role", role, "--set", &clock]);
    assert_eq!(issued.code, Some(0), "{issued}");
    format!("Bearer {}", issued.output.trim())
}

fn call(client: &mut HttpClient, bearer: &str, method: &str, path: &str, body: Option<&str>) -> (u16, Value) {
    let headers = [("Authorization", bearer)];
    let response = client.send(&HttpRequest { method, path, headers: &headers, body }).unwrap();
    let value = if response.body.is_empty() { Value::Null } else { body_of(&response) };
    (response.status, value)
}

#[test]
fn tokens_settings_and_audit_outlive_every_file_but_the_journal() {
    let desk = TestPlatform::new();
    let boss = new_token(&desk, "boss", "admin");
    let server = desk.start();
    let robot = new_token(&desk, "robot", "trader");
    let mut client = server.client();
    assert_eq!(call(&mut client, &robot, "GET", "/rest/login", None).1["user"], json!("robot"), "at once");
    assert_eq!(call(&mut client, &robot, "PUT", "/rest/settings", Some(r#"{"wide":true}"#)).0, 200);
    assert_eq!(call(&mut client, "Bearer nobody", "GET", "/rest/account", None).0, 401);
    let audit = call(&mut client, &boss, "GET", "/rest/audit", None).1;
    assert_eq!(audit.as_array().unwrap().len(), 3, "{audit}");
    server.stop();

    for file in ["audit.sqlite", "audit.sqlite-wal", "audit.sqlite-shm", "read-model.sqlite"] {
        let _ = fs::remove_file(desk.data().join(file));
    }
    let backups = desk.data().with_file_name("backups");
    let taken = desk.launch.run(&["backup", backups.to_str().unwrap()]);
    assert_eq!(taken.code, Some(0), "{taken}");
    let server = desk.start();
    let mut client = server.client();
    assert_eq!(call(&mut client, &boss, "GET", "/rest/audit", None).1, audit);
    assert_eq!(call(&mut client, &robot, "GET", "/rest/settings", None).1, json!({ "wide": true }));
    let revoked = desk.launch.run(&["token", "revoke", "robot"]);
    assert_eq!(revoked.output.trim(), "token robot is revoked", "{revoked}");
    assert_eq!(call(&mut client, &robot, "GET", "/rest/login", None).0, 401, "at once");
    server.stop();

    let restored = launcher_for(&desk.data().with_file_name("restored"));
    let made = restored.restore(&backups, &[]);
    assert_eq!(made.code, Some(0), "{made}");
    let server = restored.start();
    let mut client = server.client();
    assert_eq!(call(&mut client, &robot, "GET", "/rest/settings", None).1, json!({ "wide": true }), "as of the backup");
    let newest = call(&mut client, &boss, "GET", "/rest/audit?sort=NEWEST&limit=1", None).1;
    assert_eq!((&newest[0]["id"], &newest[0]["action"]), (&json!(4), &json!("restore")), "{newest}");
    server.stop();
}
