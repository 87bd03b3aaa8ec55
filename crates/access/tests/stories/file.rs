use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use access::{Access, AccessCredentials, AccessSettings, Actor, FILE, Password, UserRole, UserStore};
use domain::Timestamp;
use expect_test::expect;

use crate::access_fixture::{AccessFixture, HERE, RIGHT, actor, name, request};

#[tokio::test]
async fn what_the_command_line_changes_beside_a_running_server_is_seen_within_a_second() {
    let fixture = AccessFixture::with_anna();
    let token = fixture.new_token("robot", UserRole::Viewer, 1).unwrap();
    assert_eq!(fixture.login("anna", RIGHT).await, "anna trader");
    let beside = UserStore::open(fixture.folder()).unwrap();
    beside.remove_user(&name("anna"), &actor("user remove"), Timestamp(0)).unwrap();
    beside.revoke_token(&name("robot"), &actor("token revoke"), Timestamp(0)).unwrap();
    let password = Password::new(RIGHT.into()).unwrap();
    beside.add_user((&name("bert"), &UserRole::Admin, &password), false, &actor("user add"), Timestamp(0)).unwrap();
    fixture.advance(1);
    assert_eq!(fixture.login("anna", RIGHT).await, "wrong-credentials");
    assert_eq!(fixture.login("bert", RIGHT).await, "bert admin");
    assert_eq!(fixture.attempt(AccessCredentials::Token(token.text().into()), HERE).await, "wrong-credentials");
}

#[test]
fn users_and_tokens_are_there_again_after_a_restart() {
    let fixture = AccessFixture::with_anna();
    fixture.new_token("robot", UserRole::Strategy("MOMENTUM".into()), 1).unwrap();
    let again = UserStore::open(fixture.folder()).unwrap();
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

fn refused(folder: &std::path::Path) -> String {
    let clock = Arc::new(|| Timestamp(0));
    let error = Access::open(folder, AccessSettings::default(), clock).err().unwrap().to_string();
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
    let folder = tempfile::tempdir().unwrap();
    drop(UserStore::open(folder.path()).unwrap());
    let file = rusqlite::Connection::open(folder.path().join(FILE)).unwrap();
    file.pragma_update(None, "user_version", 99).unwrap();
    expect!["access.sqlite has version 99; this program knows versions up to 3"].assert_eq(&refused(folder.path()));
}
