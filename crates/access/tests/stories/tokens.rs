use access::{AccessCredentials, UserRole};

use crate::access_fixture::{AccessFixture, ELSEWHERE, HERE, RIGHT};

const DAY: i64 = 24 * 60 * 60;

#[tokio::test]
async fn a_token_opens_until_it_expires() {
    let fixture = AccessFixture::open();
    let token = fixture.new_token("robot", UserRole::Strategy("MOMENTUM".into()), 90).unwrap();
    let knock = || fixture.attempt(AccessCredentials::Token(token.text().into()), ELSEWHERE);
    assert_eq!(knock().await, "robot strategy MOMENTUM");
    fixture.advance(90 * DAY - 1);
    assert_eq!(knock().await, "robot strategy MOMENTUM");
    fixture.advance(1);
    assert_eq!(knock().await, "wrong-credentials");
}

#[tokio::test]
async fn a_revoked_token_opens_nothing() {
    let fixture = AccessFixture::open();
    let token = fixture.new_token("robot", UserRole::Trader, 90).unwrap();
    fixture.revoke("robot").unwrap();
    assert_eq!(fixture.attempt(AccessCredentials::Token(token.text().into()), HERE).await, "wrong-credentials");
    assert_eq!(fixture.revoke("robot").unwrap_err().to_string(), "there is no token called robot");
}

#[tokio::test]
async fn the_prefix_of_a_token_is_not_enough() {
    let fixture = AccessFixture::open();
    let (token, other) = (
        fixture.new_token("robot", UserRole::Admin, 1).unwrap(),
        fixture.new_token("other", UserRole::Viewer, 1).unwrap(),
    );
    let prefix = &token.text()[..token.text().len() - 64];
    let forged = format!("{prefix}{}", &other.text()[other.text().len() - 64..]);
    assert_eq!(fixture.attempt(AccessCredentials::Token(forged.into()), HERE).await, "wrong-credentials");
}

#[tokio::test]
async fn a_token_may_be_given_in_the_place_of_a_password() {
    let fixture = AccessFixture::with_anna();
    let token = fixture.new_token("robot", UserRole::Viewer, 1).unwrap();
    assert_eq!(fixture.login("whoever", token.text()).await, "robot viewer");
}

#[tokio::test]
async fn nothing_in_the_file_opens_anything() {
    let fixture = AccessFixture::with_anna();
    let token = fixture.new_token("robot", UserRole::Admin, 1).unwrap();
    let mut kept = Vec::new();
    for file in std::fs::read_dir(fixture.folder()).unwrap() {
        kept.extend(std::fs::read(file.unwrap().path()).unwrap());
    }
    for secret in [RIGHT, token.text(), &token.text()[token.text().len() - 64..]] {
        assert!(!kept.windows(secret.len()).any(|bytes| bytes == secret.as_bytes()));
    }
}

#[test]
fn a_token_is_valid_from_a_day_to_ten_years() {
    let fixture = AccessFixture::open();
    for days in [0, 3_651] {
        let refused = fixture.new_token("robot", UserRole::Viewer, days).unwrap_err();
        assert_eq!(refused.to_string(), "a token lives from 1 to 3650 days");
    }
    fixture.new_token("robot", UserRole::Viewer, 3_650).unwrap();
}
