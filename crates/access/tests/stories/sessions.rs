use access::{AccessCredentials, Secret, UserRole};

use crate::access_fixture::{AccessFixture, ELSEWHERE, HERE, RIGHT, request};

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;

async fn log_in(fixture: &AccessFixture) -> Secret {
    let credentials = AccessCredentials::login("anna", RIGHT.into());
    let identity = fixture.access.authenticate(credentials, &request(HERE)).await.unwrap();
    fixture.access.start_session(&identity).unwrap()
}

async fn with_cookie(fixture: &AccessFixture, secret: &Secret) -> String {
    fixture.attempt(AccessCredentials::Session(secret.text().into()), ELSEWHERE).await
}

#[tokio::test]
async fn a_session_lasts_while_it_is_used_but_no_longer_than_a_day_s_work() {
    let fixture = AccessFixture::with_anna();
    let secret = log_in(&fixture).await;
    for _ in 0..24 {
        assert_eq!(with_cookie(&fixture, &secret).await, "anna trader");
        fixture.advance(29 * MINUTE);
    }
    assert_eq!(with_cookie(&fixture, &secret).await, "anna trader");
    fixture.advance(12 * HOUR - 24 * 29 * MINUTE - 1);
    assert_eq!(with_cookie(&fixture, &secret).await, "anna trader", "a second before twelve hours");
    fixture.advance(1);
    assert_eq!(with_cookie(&fixture, &secret).await, "session-ended");
}

#[tokio::test]
async fn half_an_hour_without_a_request_ends_it() {
    let fixture = AccessFixture::with_anna();
    let secret = log_in(&fixture).await;
    fixture.advance(30 * MINUTE);
    assert_eq!(with_cookie(&fixture, &secret).await, "session-ended");
}

#[tokio::test]
async fn a_logout_a_new_password_and_a_removal_end_it_at_once() {
    let fixture = AccessFixture::with_anna();
    let (first, second) = (log_in(&fixture).await, log_in(&fixture).await);
    fixture.access.end_session(&first.text().into());
    assert_eq!(with_cookie(&fixture, &first).await, "session-ended");
    assert_eq!(with_cookie(&fixture, &second).await, "anna trader", "a login elsewhere goes on");
    fixture.replace("anna", UserRole::Trader, RIGHT).unwrap();
    assert_eq!(with_cookie(&fixture, &second).await, "session-ended");
    let third = log_in(&fixture).await;
    fixture.remove("anna").unwrap();
    assert_eq!(with_cookie(&fixture, &third).await, "session-ended");
}

#[tokio::test]
async fn of_too_many_the_one_that_was_idle_the_longest_ends() {
    let fixture = AccessFixture::with_anna();
    let first = log_in(&fixture).await;
    fixture.advance(1);
    let second = log_in(&fixture).await;
    fixture.advance(1);
    assert_eq!(with_cookie(&fixture, &first).await, "anna trader");
    for _ in 0..1_023 {
        log_in(&fixture).await;
    }
    assert_eq!(with_cookie(&fixture, &second).await, "session-ended");
    assert_eq!(with_cookie(&fixture, &first).await, "anna trader");
}

#[tokio::test]
async fn an_old_cookie_is_as_good_as_none() {
    let fixture = AccessFixture::open();
    let old = AccessCredentials::Session("of another life".into());
    assert_eq!(fixture.attempt(old, HERE).await, "- admin", "without users no login is needed");
}

#[tokio::test]
async fn only_a_user_can_have_a_session() {
    let fixture = AccessFixture::with_anna();
    let token = fixture.new_token("robot", UserRole::Trader, 1).unwrap();
    let identity =
        fixture.access.authenticate(AccessCredentials::Token(token.text().into()), &request(HERE)).await.unwrap();
    assert_eq!(fixture.access.start_session(&identity).unwrap_err().code(), "wrong-credentials");
}
