use std::collections::BTreeMap;

use access::{AccessCredentials, Actor, UserRole};
use expect_test::expect;

use crate::access_fixture::{AccessFixture, ELSEWHERE, HERE, RIGHT, request};

#[tokio::test]
async fn every_change_and_every_refusal_stands_in_it() {
    let fixture = AccessFixture::with_anna();
    fixture.advance(1);
    fixture.new_token("robot", UserRole::Strategy("MOMENTUM".into()), 7).unwrap();
    fixture.login("anna", RIGHT).await;
    fixture.login("anna", "wrong horse").await;
    fixture.login("no such name", "wrong horse").await;
    fixture.advance(1);
    fixture.attempt(AccessCredentials::Anonymous, ELSEWHERE).await;
    fixture.attempt(AccessCredentials::Session("over".into()), HERE).await;
    fixture.add("anna", UserRole::Admin, RIGHT).unwrap_err();
    let kill = Actor { user: Some("anna".into()), request: request(HERE) };
    assert!(fixture.access.audit_action(&kill, "PLATFORM").await);
    fixture.access.audit_refusal(&kill, "role-too-low", "this needs the role admin").await;
    fixture.revoke("robot").unwrap();
    fixture.remove("anna").unwrap();
    expect![[r#"
        1 at 0s - CLI - [user add] done: user anna, role trader (1x, last 0s)
        2 at 1s - CLI - [token new] done: token robot, role strategy MOMENTUM, 7 days (1x, last 1s)
        3 at 1s anna REST 127.0.0.1 [GET /rest/account] wrong-credentials: the user, the password or the token is wrong, or the token has expired (1x, last 1s)
        4 at 1s - REST 127.0.0.1 [GET /rest/account] wrong-credentials: the user, the password or the token is wrong, or the token has expired (1x, last 1s)
        5 at 2s - REST 192.168.1.5 [GET /rest/account] login-needed: say who you are: a user with a password, or a token (1x, last 2s)
        6 at 2s - REST 127.0.0.1 [GET /rest/account] session-ended: the session has ended; log in again (1x, last 2s)
        7 at 2s anna REST 127.0.0.1 [GET /rest/account] done: PLATFORM (1x, last 2s)
        8 at 2s anna REST 127.0.0.1 [GET /rest/account] role-too-low: this needs the role admin (1x, last 2s)
        9 at 2s - CLI - [token revoke] done: token robot (1x, last 2s)
        10 at 2s - CLI - [user remove] done: user anna (1x, last 2s)
    "#]]
    .assert_eq(&fixture.audit());
}

#[tokio::test]
async fn a_refusal_that_comes_again_and_again_is_one_row_a_minute() {
    let fixture = AccessFixture::with_anna();
    for _ in 0..1_000 {
        fixture.attempt(AccessCredentials::Anonymous, ELSEWHERE).await;
    }
    fixture.advance(59);
    fixture.attempt(AccessCredentials::Anonymous, ELSEWHERE).await;
    fixture.attempt(AccessCredentials::Anonymous, HERE).await;
    fixture.advance(1);
    fixture.attempt(AccessCredentials::Anonymous, ELSEWHERE).await;
    expect![[r#"
        1 at 0s - CLI - [user add] done: user anna, role trader (1x, last 0s)
        2 at 0s - REST 192.168.1.5 [GET /rest/account] login-needed: say who you are: a user with a password, or a token (1001x, last 59s)
        3 at 59s - REST 127.0.0.1 [GET /rest/account] login-needed: say who you are: a user with a password, or a token (1x, last 59s)
        4 at 60s - REST 192.168.1.5 [GET /rest/account] login-needed: say who you are: a user with a password, or a token (1x, last 60s)
    "#]]
    .assert_eq(&fixture.audit());
}

/// Of a follower's refusals the audit knows nothing, and their count is not that of the leader's row.
#[tokio::test]
async fn a_follower_shows_the_rows_of_the_leader_and_counts_none_of_them_up() {
    let fixture = AccessFixture::with_anna();
    fixture.log.set_following(true);
    fixture.attempt(AccessCredentials::Anonymous, ELSEWHERE).await;
    fixture.log.set_following(false);
    fixture.new_token("robot", UserRole::Viewer, 7).unwrap();
    fixture.log.set_following(true);
    for _ in 0..3 {
        fixture.attempt(AccessCredentials::Anonymous, ELSEWHERE).await;
    }
    expect![[r#"
        1 at 0s - CLI - [user add] done: user anna, role trader (1x, last 0s)
        2 at 0s - CLI - [token new] done: token robot, role viewer, 7 days (1x, last 0s)
    "#]]
    .assert_eq(&fixture.audit());
}

#[tokio::test]
async fn acts_are_never_folded() {
    let fixture = AccessFixture::open();
    let act = Actor { user: None, request: request(HERE) };
    for _ in 0..3 {
        assert!(fixture.access.audit_action(&act, "PLATFORM").await);
    }
    assert_eq!(fixture.access.user_store().audit(0, 10).unwrap().len(), 3);
}

#[tokio::test]
async fn it_is_read_in_pages() {
    let fixture = AccessFixture::open();
    let act = Actor { user: None, request: request(HERE) };
    for _ in 0..5 {
        assert!(fixture.access.audit_action(&act, "PLATFORM").await);
    }
    let page = |after, limit| -> Vec<u64> {
        fixture.access.user_store().audit(after, limit).unwrap().iter().map(|row| row.id).collect()
    };
    assert_eq!(page(0, 2), [1, 2]);
    assert_eq!(page(2, 2), [3, 4]);
    assert_eq!(page(4, 2), [5]);
    assert_eq!(page(5, 2), [0; 0]);
    assert_eq!(page(0, usize::MAX).len(), 5);
    let page_back = |before, limit| -> Vec<u64> {
        fixture.access.user_store().audit_back(before, limit).unwrap().iter().map(|row| row.id).collect()
    };
    assert_eq!(page_back(u64::MAX, 2), [5, 4]);
    assert_eq!(page_back(4, 2), [3, 2]);
    assert_eq!(page_back(1, 2), [0; 0]);
}

#[tokio::test]
async fn refusals_are_counted_by_code() {
    let fixture = AccessFixture::with_anna();
    assert_eq!(fixture.access.refusals(), counts(&[("wrong-credentials", 0)]));
    for _ in 0..2 {
        fixture.login("anna", "wrong horse").await;
    }
    fixture.login("anna", RIGHT).await;
    fixture.attempt(AccessCredentials::Anonymous, ELSEWHERE).await;
    assert_eq!(fixture.access.refusals(), counts(&[("wrong-credentials", 2), ("login-needed", 1)]));
}

fn counts(by_code: &[(&str, u64)]) -> BTreeMap<String, u64> {
    by_code.iter().map(|(code, count)| ((*code).to_owned(), *count)).collect()
}
