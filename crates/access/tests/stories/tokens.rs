use access::{AccessCredentials, UserRole};

use crate::access_fixture::{AccessFixture, ELSEWHERE, HERE, RIGHT};

const DAY: i64 = 24 * 60 * 60;

#[tokio::test]
async fn a_token_opens_until_it_expires() {
    let desk = AccessFixture::open();
    let token = desk.new_token("robot", UserRole::Strategy("MOMENTUM".into()), 90).unwrap();
    let knock = || desk.attempt(AccessCredentials::Token(token.text().into()), ELSEWHERE);
    assert_eq!(knock().await, "robot strategy MOMENTUM");
    desk.advance(90 * DAY - 1);
    assert_eq!(knock().await, "robot strategy MOMENTUM");
    desk.advance(1);
    assert_eq!(knock().await, "wrong-credentials");
}

#[tokio::test]
async fn a_revoked_token_opens_nothing() {
    let desk = AccessFixture::open();
    let token = desk.new_token("robot", UserRole::Trader, 90).unwrap();
    desk.revoke("robot").unwrap();
    assert_eq!(desk.attempt(AccessCredentials::Token(token.text().into()), HERE).await, "wrong-credentials");
    assert_eq!(desk.revoke("robot").unwrap_err().to_string(), "there is no token called robot");
}

#[tokio::test]
async fn the_prefix_of_a_token_is_not_enough() {
    let desk = AccessFixture::open();
    let (token, other) =
        (desk.new_token("robot", UserRole::Admin, 1).unwrap(), desk.new_token("other", UserRole::Viewer, 1).unwrap());
    let prefix = &token.text()[..token.text().len() - 64];
    let forged = format!("{prefix}{}", &other.text()[other.text().len() - 64..]);
    assert_eq!(desk.attempt(AccessCredentials::Token(forged.into()), HERE).await, "wrong-credentials");
}

#[tokio::test]
async fn a_token_may_be_given_in_the_place_of_a_password() {
    let desk = AccessFixture::with_anna();
    let token = desk.new_token("robot", UserRole::Viewer, 1).unwrap();
    assert_eq!(desk.login("whoever", token.text()).await, "robot viewer");
}

#[tokio::test]
async fn nothing_in_the_file_opens_anything() {
    let desk = AccessFixture::with_anna();
    let token = desk.new_token("robot", UserRole::Admin, 1).unwrap();
    let mut kept = Vec::new();
    for file in std::fs::read_dir(desk.folder()).unwrap() {
        kept.extend(std::fs::read(file.unwrap().path()).unwrap());
    }
    for secret in [RIGHT, token.text(), &token.text()[token.text().len() - 64..]] {
        assert!(!kept.windows(secret.len()).any(|bytes| bytes == secret.as_bytes()));
    }
}

#[test]
fn a_token_is_valid_from_a_day_to_ten_years() {
    let desk = AccessFixture::open();
    for days in [0, 3_651] {
        let refused = desk.new_token("robot", UserRole::Viewer, days).unwrap_err();
        assert_eq!(refused.to_string(), "a token lives from 1 to 3650 days");
    }
    desk.new_token("robot", UserRole::Viewer, 3_650).unwrap();
}
