use access::{AccessCredentials, AccessSettings, AnonymousPolicy, UserRole};

use crate::access_fixture::{AccessFixture, ELSEWHERE, HERE, RIGHT};

async fn nobody(fixture: &AccessFixture, peer: &str) -> String {
    fixture.attempt(AccessCredentials::Anonymous, peer).await
}

#[tokio::test]
async fn without_users_a_local_caller_is_admin() {
    let fixture = AccessFixture::open();
    for here in [HERE, "127.8.8.8", "::1", "::ffff:127.0.0.1"] {
        assert_eq!(nobody(&fixture, here).await, "- admin", "{here}");
    }
    assert_eq!(nobody(&fixture, ELSEWHERE).await, "login-needed");
}

#[tokio::test]
async fn once_an_adapter_is_live_a_local_caller_is_viewer() {
    let fixture = AccessFixture::with_settings(AccessSettings { live_adapter: true, ..AccessSettings::default() });
    assert_eq!(nobody(&fixture, HERE).await, "- viewer");
}

#[tokio::test]
async fn once_there_is_a_user_anonymous_access_is_denied() {
    let fixture = AccessFixture::open();
    fixture.add("anna", UserRole::Admin, RIGHT).unwrap();
    assert_eq!(nobody(&fixture, HERE).await, "login-needed");
    fixture.remove("anna").unwrap();
    assert_eq!(nobody(&fixture, HERE).await, "- admin");
}

#[tokio::test]
async fn the_configuration_may_allow_anonymous_access_but_only_on_this_machine() {
    let fixture = AccessFixture::with_settings(AccessSettings {
        anonymous: AnonymousPolicy::As(UserRole::Viewer),
        live_adapter: false,
        ..AccessSettings::default()
    });
    assert_eq!(nobody(&fixture, HERE).await, "- viewer");
    fixture.add("anna", UserRole::Admin, RIGHT).unwrap();
    assert_eq!(nobody(&fixture, HERE).await, "- viewer");
    assert_eq!(nobody(&fixture, ELSEWHERE).await, "login-needed");
    let shut = AccessFixture::with_settings(AccessSettings {
        anonymous: AnonymousPolicy::Denied,
        ..AccessSettings::default()
    });
    assert_eq!(nobody(&shut, HERE).await, "login-needed");
}

#[tokio::test]
async fn wrong_credentials_do_not_fall_back_to_anonymous_access() {
    let fixture = AccessFixture::open();
    assert_eq!(fixture.login("anna", RIGHT).await, "wrong-credentials");
    assert_eq!(fixture.attempt(AccessCredentials::Token("rialto".into()), HERE).await, "wrong-credentials");
    assert_eq!(fixture.attempt(AccessCredentials::Unreadable("what is this?"), HERE).await, "unreadable-credentials");
}
