use access::{Credentials, Pass, Role};

use crate::desk::{Desk, HERE, RIGHT, visit};

async fn admit(desk: &Desk, credentials: Credentials) -> Pass {
    desk.access.admit(credentials, &visit(HERE)).await.unwrap().1
}

fn stands(desk: &Desk, pass: &Pass) -> bool {
    desk.access.stands(pass).unwrap()
}

#[tokio::test]
async fn a_grant_is_valid_until_its_token_is_revoked_or_expires() {
    let desk = Desk::with_anna();
    let (one, other) =
        (desk.new_token("one", Role::Trader, 1).unwrap(), desk.new_token("other", Role::Trader, 1).unwrap());
    let one = admit(&desk, Credentials::Token(one.text().into())).await;
    let other = admit(&desk, Credentials::Token(other.text().into())).await;
    desk.revoke("one").unwrap();
    assert_eq!((stands(&desk, &one), stands(&desk, &other)), (false, true));
    // Another token of the same name is another token.
    desk.new_token("one", Role::Trader, 2).unwrap();
    assert!(!stands(&desk, &one));
    desk.pass(24 * 60 * 60);
    assert!(!stands(&desk, &other));
}

#[tokio::test]
async fn a_pass_falls_with_any_change_of_its_user() {
    let desk = Desk::with_anna();
    let password = || Credentials::login("anna", RIGHT.into());
    let first = admit(&desk, password()).await;
    assert!(stands(&desk, &first));
    desk.replace("anna", Role::Viewer, RIGHT).unwrap();
    let second = admit(&desk, password()).await;
    assert_eq!((stands(&desk, &first), stands(&desk, &second)), (false, true));
    desk.remove("anna").unwrap();
    assert!(!stands(&desk, &second));
}

#[tokio::test]
async fn a_pass_of_a_session_ends_with_it_and_asking_does_not_keep_it_alive() {
    let desk = Desk::with_anna();
    let identity = desk.access.authenticate(Credentials::login("anna", RIGHT.into()), &visit(HERE)).await.unwrap();
    let sessions = [desk.access.begin_session(&identity).unwrap(), desk.access.begin_session(&identity).unwrap()];
    let left = admit(&desk, Credentials::Session(sessions[0].text().into())).await;
    let idle = admit(&desk, Credentials::Session(sessions[1].text().into())).await;
    desk.access.end_session(&sessions[0].text().into());
    assert_eq!((stands(&desk, &left), stands(&desk, &idle)), (false, true));
    desk.pass(29 * 60);
    assert!(stands(&desk, &idle));
    desk.pass(60);
    assert!(!stands(&desk, &idle));
}

#[tokio::test]
async fn an_anonymous_grant_is_valid_only_while_anonymous_access_is_allowed() {
    let desk = Desk::open();
    let nobody = admit(&desk, Credentials::Anonymous).await;
    assert!(stands(&desk, &nobody));
    desk.add("anna", Role::Viewer, RIGHT).unwrap();
    assert!(!stands(&desk, &nobody));
}
