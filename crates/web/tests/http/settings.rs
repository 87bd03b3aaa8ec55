//! User settings.

use access::UserRole;
use expect_test::expect;
use web::WebSettings;

use crate::test_server::{TestServer, code, status};
use crate::test_users::basic;

const JSON: &str = "Content-Type: application/json\r\n";

fn tag(answer: &str) -> Option<&str> {
    answer.lines().find_map(|line| line.strip_prefix("etag: "))
}

#[test]
fn without_users_there_is_one_set_for_everybody() {
    let server = TestServer::without_engine(WebSettings::default());
    let nothing = server.get("/rest/settings");
    assert!(nothing.contains("\n{}\n") && tag(&nothing) == Some("\"0\""), "{nothing}");
    expect![[r#"
        HTTP/1.1 200 OK
        etag: "1"
        x-content-type-options: nosniff
        cache-control: private, no-cache
        x-request-id: story
        connection: close
        content-length: 0

    "#]]
    .assert_eq(&server.put("/rest/settings", r#"{"layout": "wide", "watchList": [1, 2]}"#));
    let kept = server.get("/rest/settings");
    assert!(kept.contains("\n{\"layout\": \"wide\", \"watchList\": [1, 2]}\n"), "byte for byte: {kept}");
    assert_eq!(tag(&kept), Some("\"1\""));
}

#[test]
fn every_viewer_has_settings_of_its_own() {
    let server = TestServer::without_engine(WebSettings::default());
    let roles = [("boss", UserRole::Admin), ("anna", UserRole::Trader), ("vera", UserRole::Viewer)];
    for (name, role) in roles.clone() {
        server.users.add(name, role);
        let body = format!(r#"{{"of": "{name}"}}"#);
        assert_eq!(code(&server.call("PUT", "/rest/settings", &format!("{JSON}{}", basic(name)), &body)), "200 -");
    }
    let robot = server.users.bearer("robot", UserRole::Strategy("MOMENTUM".into()));
    assert_eq!(code(&server.call("PUT", "/rest/settings", &format!("{JSON}{robot}"), r#"{"of": "robot"}"#)), "200 -");
    for (name, _) in roles {
        let kept = server.call("GET", "/rest/settings", &basic(name), "");
        assert!(kept.contains(&format!(r#"{{"of": "{name}"}}"#)), "{kept}");
    }
    assert_eq!(code(&server.get("/rest/settings")), "401 login-needed");
}

#[test]
fn settings_are_not_overwritten_with_an_old_revision() {
    let server = TestServer::without_engine(WebSettings::default());
    let put = |tag: &str, body: &str| server.call("PUT", "/rest/settings", &format!("{JSON}If-Match: {tag}\r\n"), body);
    assert_eq!(tag(&put("\"0\"", r#"{"a": 1}"#)), Some("\"1\""));
    let late = put("\"0\"", r#"{"a": 2}"#);
    assert_eq!((code(&late).as_str(), tag(&late)), ("412 settings-changed", Some("\"1\"")));
    assert_eq!(code(&put("nonsense", r#"{"a": 2}"#)), "412 settings-changed");
    assert!(server.get("/rest/settings").contains(r#"{"a": 1}"#));
    assert_eq!(status(&put("\"1\"", r#"{"a": 3}"#)), "HTTP/1.1 200 OK");
}

#[test]
fn what_cannot_be_kept_is_refused() {
    let server = TestServer::without_engine(WebSettings::default());
    let refused = [
        ("[1]".to_owned(), "400 malformed-json"),
        ("{".to_owned(), "400 malformed-json"),
        (r#"{"a": 1, "a": 2}"#.to_owned(), "400 malformed-json"),
        (format!(r#"{{"a": "{}"}}"#, "x".repeat(256 << 10)), "413 settings-too-large"),
    ];
    for (body, expected) in refused {
        assert_eq!(code(&server.put("/rest/settings", &body)), expected);
    }
    assert_eq!(code(&server.call("PUT", "/rest/settings", "", "{}")), "415 unsupported-media-type");
    assert_eq!(tag(&server.get("/rest/settings")), Some("\"0\""), "nothing was kept");
}
