//! The message log of outbound sessions: every message as it goes over the wire, without what proves who logs on.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;

use crate::captured_log::{catch_log, logged};
use crate::scripted_venue::{Fields, ScriptedVenue};
use crate::test_adapter::TestAdapter;

/// The generic dialect with a signature in that field, and a file with the key.
fn signed(folder: &TempDir, key: &str, tag: u32) -> (&'static str, String) {
    let (dialect, credentials) = (folder.path().join("signed.toml"), folder.path().join("key.toml"));
    let rules = format!("[logon]\ncredentials = \"signature\"\n[logon.signature]\nalgorithm = \"hmac\"\ntag = {tag}\n");
    fs::write(&dialect, format!("{}\n{rules}", adapter_fix::shipped_dialect("generic-44").unwrap())).unwrap();
    fs::write(&credentials, format!("apiKey = \"{key}\"\nsecret = \"what signs\"\n")).unwrap();
    fs::set_permissions(&credentials, fs::Permissions::from_mode(0o600)).unwrap();
    (Box::leak(dialect.display().to_string().into_boxed_str()), credentials.display().to_string())
}

/// The Logon with a signature in that field as the venue has it, and the bodies of our Logons with that key in the log.
fn log_on(key: &str, tag: u32) -> (Fields, Vec<String>) {
    catch_log();
    let (mut venue, folder) = (ScriptedVenue::start(), tempfile::tempdir().unwrap());
    let (dialect, credentials) = signed(&folder, key, tag);
    let settings = [("credentials", credentials.as_str())];
    let mut desk = TestAdapter::open_with(&folder, dialect, &venue.address(), &settings);
    let mut logon = Fields::new();
    desk.connect_while(|| logon = venue.log_on());
    let body = |line: &str| {
        let body = line.split_once("|56=VENUE|").unwrap().1.rsplit_once("|10=").unwrap().0;
        body.replace(&logon[&tag], "SIGNATURE")
    };
    let bodies = logged("fix-out", &format!("|553={key}|")).iter().map(|line| body(line)).collect();
    (logon, bodies)
}

#[test]
fn a_signature_is_masked_in_every_field_that_a_dialect_puts_it_in() {
    for (key, tag, body) in [
        ("raw", 96, "95=44|96=***|98=0|108=30|553=raw"),
        ("trailer", 89, "98=0|108=30|553=trailer|93=44|89=***"),
        ("own", 9406, "98=0|108=30|553=own|9406=***"),
    ] {
        let (logon, logged) = log_on(key, tag);
        assert_eq!(logon[&tag].len(), 44, "{logon:?}");
        assert_eq!(logged, [body]);
    }
}
