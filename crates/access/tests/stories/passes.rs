use access::{AccessCredentials, AccessGrant, UserRole};

use crate::access_fixture::{AccessFixture, HERE, RIGHT, request};

async fn admit(fixture: &AccessFixture, credentials: AccessCredentials) -> AccessGrant {
    fixture.access.authenticate_connection(credentials, &request(HERE)).await.unwrap().1
}

fn stands(fixture: &AccessFixture, pass: &AccessGrant) -> bool {
    fixture.access.is_valid(pass).unwrap()
}

#[tokio::test]
async fn a_grant_is_valid_until_its_token_is_revoked_or_expires() {
    let fixture = AccessFixture::with_anna();
    let (one, other) = (
        fixture.new_token("one", UserRole::Trader, 1).unwrap(),
        fixture.new_token("other", UserRole::Trader, 1).unwrap(),
    );
    let one = admit(&fixture, AccessCredentials::Token(one.text().into())).await;
    let other = admit(&fixture, AccessCredentials::Token(other.text().into())).await;
    fixture.revoke("one").unwrap();
    assert_eq!((stands(&fixture, &one), stands(&fixture, &other)), (false, true));
    // Another token of the same name is another token.
    fixture.new_token("one", UserRole::Trader, 2).unwrap();
    assert!(!stands(&fixture, &one));
    fixture.advance(24 * 60 * 60);
    assert!(!stands(&fixture, &other));
}

#[tokio::test]
async fn a_pass_falls_with_any_change_of_its_user() {
    let fixture = AccessFixture::with_anna();
    let password = || AccessCredentials::login("anna", RIGHT.into());
    let first = admit(&fixture, password()).await;
    assert!(stands(&fixture, &first));
    fixture.replace("anna", UserRole::Viewer, RIGHT).unwrap();
    let second = admit(&fixture, password()).await;
    assert_eq!((stands(&fixture, &first), stands(&fixture, &second)), (false, true));
    fixture.remove("anna").unwrap();
    assert!(!stands(&fixture, &second));
}

#[tokio::test]
async fn a_pass_of_a_session_ends_with_it_and_asking_does_not_keep_it_alive() {
    let fixture = AccessFixture::with_anna();
    let identity =
        fixture.access.authenticate(AccessCredentials::login("anna", RIGHT.into()), &request(HERE)).await.unwrap();
    let sessions = [fixture.access.start_session(&identity).unwrap(), fixture.access.start_session(&identity).unwrap()];
    let left = admit(&fixture, AccessCredentials::Session(sessions[0].text().into())).await;
    let idle = admit(&fixture, AccessCredentials::Session(sessions[1].text().into())).await;
    fixture.access.end_session(&sessions[0].text().into());
    assert_eq!((stands(&fixture, &left), stands(&fixture, &idle)), (false, true));
    fixture.advance(29 * 60);
    assert!(stands(&fixture, &idle));
    fixture.advance(60);
    assert!(!stands(&fixture, &idle));
}

#[tokio::test]
async fn an_anonymous_grant_is_valid_only_while_anonymous_access_is_allowed() {
    let fixture = AccessFixture::open();
    let nobody = admit(&fixture, AccessCredentials::Anonymous).await;
    assert!(stands(&fixture, &nobody));
    fixture.add("anna", UserRole::Viewer, RIGHT).unwrap();
    assert!(!stands(&fixture, &nobody));
}
