use access::{AccessCredentials, AccessGrant, UserRole};

use crate::access_fixture::{AccessFixture, HERE, RIGHT, request};

async fn admit(desk: &AccessFixture, credentials: AccessCredentials) -> AccessGrant {
    desk.access.authenticate_connection(credentials, &request(HERE)).await.unwrap().1
}

fn stands(desk: &AccessFixture, pass: &AccessGrant) -> bool {
    desk.access.is_valid(pass).unwrap()
}

#[tokio::test]
async fn a_grant_is_valid_until_its_token_is_revoked_or_expires() {
    let desk = AccessFixture::with_anna();
    let (one, other) =
        (desk.new_token("one", UserRole::Trader, 1).unwrap(), desk.new_token("other", UserRole::Trader, 1).unwrap());
    let one = admit(&desk, AccessCredentials::Token(one.text().into())).await;
    let other = admit(&desk, AccessCredentials::Token(other.text().into())).await;
    desk.revoke("one").unwrap();
    assert_eq!((stands(&desk, &one), stands(&desk, &other)), (false, true));
    // Another token of the same name is another token.
    desk.new_token("one", UserRole::Trader, 2).unwrap();
    assert!(!stands(&desk, &one));
    desk.advance(24 * 60 * 60);
    assert!(!stands(&desk, &other));
}

#[tokio::test]
async fn a_pass_falls_with_any_change_of_its_user() {
    let desk = AccessFixture::with_anna();
    let password = || AccessCredentials::login("anna", RIGHT.into());
    let first = admit(&desk, password()).await;
    assert!(stands(&desk, &first));
    desk.replace("anna", UserRole::Viewer, RIGHT).unwrap();
    let second = admit(&desk, password()).await;
    assert_eq!((stands(&desk, &first), stands(&desk, &second)), (false, true));
    desk.remove("anna").unwrap();
    assert!(!stands(&desk, &second));
}

#[tokio::test]
async fn a_pass_of_a_session_ends_with_it_and_asking_does_not_keep_it_alive() {
    let desk = AccessFixture::with_anna();
    let identity =
        desk.access.authenticate(AccessCredentials::login("anna", RIGHT.into()), &request(HERE)).await.unwrap();
    let sessions = [desk.access.start_session(&identity).unwrap(), desk.access.start_session(&identity).unwrap()];
    let left = admit(&desk, AccessCredentials::Session(sessions[0].text().into())).await;
    let idle = admit(&desk, AccessCredentials::Session(sessions[1].text().into())).await;
    desk.access.end_session(&sessions[0].text().into());
    assert_eq!((stands(&desk, &left), stands(&desk, &idle)), (false, true));
    desk.advance(29 * 60);
    assert!(stands(&desk, &idle));
    desk.advance(60);
    assert!(!stands(&desk, &idle));
}

#[tokio::test]
async fn an_anonymous_grant_is_valid_only_while_anonymous_access_is_allowed() {
    let desk = AccessFixture::open();
    let nobody = admit(&desk, AccessCredentials::Anonymous).await;
    assert!(stands(&desk, &nobody));
    desk.add("anna", UserRole::Viewer, RIGHT).unwrap();
    assert!(!stands(&desk, &nobody));
}
