use std::os::unix::fs::PermissionsExt;

use access::{AUDIT_FILE, AccessCredentials, Actor, Password, UserRole};
use domain::Timestamp;
use expect_test::expect;

use crate::access_fixture::{AccessFixture, ELSEWHERE, HERE, RIGHT, audit_of, name, request};

#[test]
fn users_and_tokens_are_there_again_after_a_restart() {
    let fixture = AccessFixture::with_anna();
    fixture.new_token("robot", UserRole::Strategy("MOMENTUM".into()), 1).unwrap();
    let (_folder, again) = fixture.restarted();
    let users: Vec<_> = again.users().unwrap().iter().map(|user| format!("{} {}", user.name, user.role)).collect();
    let tokens: Vec<_> = again.tokens().unwrap().iter().map(|token| format!("{} {}", token.name, token.role)).collect();
    assert_eq!((users, tokens), (vec!["anna trader".into()], vec!["robot strategy MOMENTUM".into()]));
}

#[test]
fn a_name_belongs_to_one_user_or_token() {
    let fixture = AccessFixture::with_anna();
    fixture.new_token("robot", UserRole::Trader, 1).unwrap();
    let taken = [
        fixture.add("anna", UserRole::Admin, RIGHT).unwrap_err(),
        fixture.add("robot", UserRole::Admin, RIGHT).unwrap_err(),
        fixture.replace("robot", UserRole::Admin, RIGHT).unwrap_err(),
        fixture.new_token("robot", UserRole::Admin, 1).unwrap_err(),
        fixture.new_token("anna", UserRole::Admin, 1).unwrap_err(),
    ];
    expect![[r#"
        there is a user called anna already
        there is a token called robot already
        there is a token called robot already
        there is a token called robot already
        there is a user called anna already"#]]
    .assert_eq(&taken.map(|refused| refused.to_string()).join("\n"));
    assert_eq!(fixture.remove("bert").unwrap_err().to_string(), "there is no user called bert");
}

/// Over the network the last admin cannot be removed; the command line can always repair it.
#[test]
fn where_there_are_users_one_stays_an_admin() {
    let fixture = AccessFixture::open();
    let (register, password) = (fixture.access.user_store(), Password::new(RIGHT.into()).unwrap());
    let caller = Actor { user: None, request: request(HERE) };
    let add = |user: &str, role: UserRole| {
        let added = register.add_user((&name(user), &role, &password), true, &caller, Timestamp(0));
        added.map_or_else(|refused| refused.to_string(), |()| format!("{user} {role}"))
    };
    let remove = |user: &str| {
        let removed = register.remove_user(&name(user), &caller, Timestamp(0));
        removed.map_or_else(|refused| refused.to_string(), |()| format!("no {user}"))
    };
    let told = [
        add("vera", UserRole::Viewer),
        add("boss", UserRole::Admin),
        add("vera", UserRole::Viewer),
        add("boss", UserRole::Trader),
        remove("boss"),
        remove("vera"),
        remove("boss"),
    ];
    expect![[r#"
        one user must be an admin, and so the first: from then on everybody logs in
        boss admin
        vera viewer
        one user must be an admin, and so the first: from then on everybody logs in
        one user must be an admin, and so the first: from then on everybody logs in
        no vera
        no boss"#]]
    .assert_eq(&told.join("\n"));
    fixture.add("vera", UserRole::Viewer, RIGHT).unwrap();
    fixture.add("tom", UserRole::Trader, RIGHT).unwrap();
    assert_eq!(remove("tom"), "no tom", "it takes nothing from anybody");
}

#[test]
fn only_the_owner_can_read_the_file() {
    let fixture = AccessFixture::with_anna();
    for file in std::fs::read_dir(fixture.folder()).unwrap() {
        let file = file.unwrap();
        let mode = file.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", file.path().display());
    }
}

/// The view of the audit is lost, damaged or behind: the journal has its rows.
#[tokio::test]
async fn the_audit_is_the_same_after_a_restart_without_its_view() {
    let fixture = AccessFixture::with_anna();
    for _ in 0..3 {
        fixture.attempt(AccessCredentials::Anonymous, ELSEWHERE).await;
    }
    fixture.advance(60);
    fixture.login("anna", "wrong horse").await;
    fixture.remove("anna").unwrap();
    let (folder, again) = fixture.restarted();
    assert_eq!(audit_of(&again), fixture.audit());
    drop(again);
    std::fs::write(folder.path().join(AUDIT_FILE), "no database\n".repeat(1_000)).unwrap();
    assert_eq!(audit_of(&fixture.log.replayed().store(folder.path())), fixture.audit());
}

/// What is in the journal is for everybody who has a backup.
#[test]
fn the_journal_has_hashes_only() {
    let fixture = AccessFixture::with_anna();
    let token = fixture.new_token("robot", UserRole::Trader, 1).unwrap();
    let state = fixture.log.replayed();
    let shown = format!("{:?}", access::AdminLog::state(&*state));
    assert!(shown.contains("$argon2id$") && shown.contains("robot"), "{shown}");
    let secret = token.text().rsplit('_').next().unwrap();
    assert!(!shown.contains(RIGHT) && !shown.contains(secret), "{shown}");
}

/// Repeats of a refusal are one record, however many come.
#[tokio::test]
async fn repeated_refusals_do_not_fill_the_journal() {
    let fixture = AccessFixture::with_anna();
    let before = fixture.log.len();
    for _ in 0..1_000 {
        fixture.attempt(AccessCredentials::Anonymous, ELSEWHERE).await;
    }
    assert_eq!(fixture.log.len() - before, 1);
    fixture.advance(60);
    fixture.attempt(AccessCredentials::Anonymous, ELSEWHERE).await;
    assert_eq!(fixture.log.len() - before, 2, "the count of the first minute comes with the next row");
    let (_folder, again) = fixture.restarted();
    assert_eq!(again.audit(1, 1).unwrap()[0].times, 1_000);
}

/// At an orderly stop the counts of the last minute are journalled too.
#[tokio::test]
async fn counts_are_in_the_journal_when_a_server_has_stopped() {
    let fixture = AccessFixture::with_anna();
    for _ in 0..3 {
        fixture.attempt(AccessCredentials::Anonymous, ELSEWHERE).await;
    }
    fixture.access.user_store().record_counts().unwrap();
    let (_folder, again) = fixture.restarted();
    assert_eq!(audit_of(&again), fixture.audit());
}

/// A change that is not durable did not happen.
#[tokio::test]
async fn a_change_that_the_journal_refuses_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let log = crate::recording_log::RecordingLog::with_room(1);
    let store = log.store(folder.path());
    let caller = Actor { user: None, request: request(HERE) };
    let password = Password::new(RIGHT.into()).unwrap();
    let add = |user: &str| {
        store
            .add_user((&name(user), &UserRole::Admin, &password), false, &caller, Timestamp(0))
            .map_err(|e| e.to_string())
    };
    assert_eq!(add("boss"), Ok(()));
    assert_eq!(add("anna"), Err("the system did not help: the disk is gone".into()));
    assert_eq!(store.users().unwrap().len(), 1);
    assert_eq!(store.audit(0, 10).unwrap().len(), 1);
}
