use std::path::Path;

use access::{AdminLog, FILE, ImportedFile, UserStore, import_old_file, look_at_old_file};
use domain::Timestamp;
use domain::admin::AdminState;
use expect_test::expect;
use rusqlite::Connection;

use crate::access_fixture::{actor, audit_of};
use crate::recording_log::RecordingLog;

const OLD: &str = include_str!("old-access.sql");

/// A data folder that an older version has left, with a row of the audit that is large enough for several records.
fn old_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = Connection::open(folder.path().join(FILE)).unwrap();
    file.pragma_update(None, "journal_mode", "WAL").unwrap();
    file.execute_batch(OLD).unwrap();
    let sql = "INSERT INTO audit (at, door, action, outcome, detail, times, last_at) VALUES (?1, 'REST', ?2, 'done', 'x', 1, ?1)";
    for second in 10..14 {
        file.execute(sql, (second * 1_000_000_000_i64, "long ".repeat(30_000))).unwrap();
    }
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.starts_with("access")).collect();
    names.sort();
    names
}

/// Users, tokens and settings, whatever sequences their records have.
fn people(log: &RecordingLog) -> AdminState {
    AdminState { last_sequence: 0, revision: 0, ..AdminState::clone(&log.state()) }
}

fn imported(folder: &Path, log: &RecordingLog) -> Option<ImportedFile> {
    import_old_file(folder, log).unwrap()
}

#[test]
fn users_tokens_settings_and_audit_come_into_the_journal_once() {
    let (folder, log) = (old_folder(), RecordingLog::new());
    let look = look_at_old_file(folder.path()).unwrap();
    assert_eq!((look.has_users, look.last_audit), (true, 7));
    assert_eq!(imported(folder.path(), &log).unwrap().changes, 12);
    assert!(log.len() > 1, "in several records: {}", log.len());
    let store = log.store(folder.path());
    let users: Vec<_> = store.users().unwrap().iter().map(|user| format!("{} {}", user.name, user.role)).collect();
    assert_eq!(users, ["anna trader", "boss admin"]);
    assert_eq!(store.users().unwrap()[0].rights.as_ref().unwrap().to_string(), "accounts 1,2");
    assert_eq!(store.tokens().unwrap()[0].role.to_string(), "strategy MOMENTUM");
    assert_eq!(store.settings(Some("anna")).unwrap().unwrap().revision, 7);
    assert_eq!(store.settings(None).unwrap().unwrap().document, r#"{"local":1}"#);
    let shown = audit_of(&store).replace(&"long ".repeat(30_000), "long");
    expect![[r#"
        1 at 1s - CLI - [user add] done: user boss, role admin (1x, last 1s)
        2 at 2s boss REST 127.0.0.1 [POST /rest/user] done: user anna, role trader (1x, last 2s)
        3 at 6s anna REST 192.168.1.5 [GET /rest/account] wrong-credentials: the user, the password or the token is wrong, or the token has expired (41x, last 9s)
        4 at 10s - REST - [long] done: x (1x, last 10s)
        5 at 11s - REST - [long] done: x (1x, last 11s)
        6 at 12s - REST - [long] done: x (1x, last 12s)
        7 at 13s - REST - [long] done: x (1x, last 13s)
    "#]]
    .assert_eq(&shown);
    assert_eq!(names(folder.path()), ["access-before-journal.sqlite"]);
    let records = log.len();
    assert_eq!(imported(folder.path(), &log), None);
    assert_eq!(log.len(), records);
}

/// The process ends after each record, and before the file is put aside: the next start has all of it, and nothing twice.
#[test]
fn an_import_that_is_cut_off_anywhere_loses_and_doubles_nothing() {
    let whole = RecordingLog::new();
    imported(old_folder().path(), &whole);
    let whole_view = tempfile::tempdir().unwrap();
    let rows = audit_of(&whole.store(whole_view.path()));
    for room in 0..whole.len() {
        let (folder, cut_off) = (old_folder(), RecordingLog::with_room(room));
        let refused = import_old_file(folder.path(), &*cut_off).unwrap_err().to_string();
        assert_eq!(refused, "the system did not help: the disk is gone");
        assert!(names(folder.path()).contains(&FILE.to_owned()), "the old file stays");
        let restarted = cut_off.replayed();
        assert!(imported(folder.path(), &restarted).unwrap().changes > 0);
        assert_eq!(people(&restarted), people(&whole), "after {room} records");
        assert_eq!(audit_of(&restarted.store(folder.path())), rows, "after {room} records");
        assert_eq!(names(folder.path()), ["access-before-journal.sqlite"]);
    }
}

#[test]
fn a_file_that_was_journalled_and_not_put_aside_is_put_aside() {
    let (folder, log) = (old_folder(), RecordingLog::new());
    imported(folder.path(), &log);
    std::fs::copy(folder.path().join("access-before-journal.sqlite"), folder.path().join(FILE)).unwrap();
    let (restarted, records) = (log.replayed(), log.len());
    let again = imported(folder.path(), &restarted).unwrap();
    assert_eq!((again.changes, restarted.len()), (0, records));
    assert_eq!(names(folder.path()), ["access-before-journal-2.sqlite", "access-before-journal.sqlite"]);
    assert_eq!(people(&restarted), people(&log));
}

#[test]
fn what_comes_after_the_import_has_the_next_number_of_the_audit() {
    let (folder, log) = (old_folder(), RecordingLog::new());
    imported(folder.path(), &log);
    let store = log.store(folder.path());
    store.note(&actor("restore"), "restored".into(), Timestamp(0)).unwrap();
    assert_eq!(store.audit_back(u64::MAX, 1).unwrap()[0].id, 8);
    drop::<UserStore>(store);
}

fn refused(folder: &Path) -> String {
    let error = import_old_file(folder, &*RecordingLog::new()).unwrap_err().to_string();
    error.replace(&format!("{}/", folder.display()), "")
}

#[test]
fn a_file_that_is_no_user_store_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(FILE), "users: anna\n".repeat(100)).unwrap();
    expect!["access.sqlite is damaged: file is not a database"].assert_eq(&refused(folder.path()));
}

#[test]
fn a_file_of_a_newer_program_is_left_alone() {
    let folder = old_folder();
    let file = Connection::open(folder.path().join(FILE)).unwrap();
    file.pragma_update(None, "user_version", 99).unwrap();
    expect!["access.sqlite has version 99; this program knows versions up to 3"].assert_eq(&refused(folder.path()));
}
