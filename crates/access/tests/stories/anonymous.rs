use access::{Anonymous, Credentials, Role, Settings};

use crate::desk::{Desk, ELSEWHERE, HERE, RIGHT};

async fn nobody(desk: &Desk, peer: &str) -> String {
    desk.knock(Credentials::Anonymous, peer).await
}

#[tokio::test]
async fn without_users_a_local_caller_is_admin() {
    let desk = Desk::open();
    for here in [HERE, "127.8.8.8", "::1", "::ffff:127.0.0.1"] {
        assert_eq!(nobody(&desk, here).await, "- admin", "{here}");
    }
    assert_eq!(nobody(&desk, ELSEWHERE).await, "login-needed");
}

#[tokio::test]
async fn once_an_adapter_is_live_a_local_caller_is_viewer() {
    let desk = Desk::with(Settings { live_adapter: true, ..Settings::default() });
    assert_eq!(nobody(&desk, HERE).await, "- viewer");
}

#[tokio::test]
async fn once_there_is_a_user_anonymous_access_is_denied() {
    let desk = Desk::open();
    desk.add("anna", Role::Admin, RIGHT).unwrap();
    assert_eq!(nobody(&desk, HERE).await, "login-needed");
    desk.remove("anna").unwrap();
    assert_eq!(nobody(&desk, HERE).await, "- admin");
}

#[tokio::test]
async fn the_configuration_may_allow_anonymous_access_but_only_on_this_machine() {
    let desk = Desk::with(Settings { anonymous: Anonymous::As(Role::Viewer), live_adapter: false });
    assert_eq!(nobody(&desk, HERE).await, "- viewer");
    desk.add("anna", Role::Admin, RIGHT).unwrap();
    assert_eq!(nobody(&desk, HERE).await, "- viewer");
    assert_eq!(nobody(&desk, ELSEWHERE).await, "login-needed");
    let shut = Desk::with(Settings { anonymous: Anonymous::Nothing, live_adapter: false });
    assert_eq!(nobody(&shut, HERE).await, "login-needed");
}

#[tokio::test]
async fn wrong_credentials_do_not_fall_back_to_anonymous_access() {
    let desk = Desk::open();
    assert_eq!(desk.login("anna", RIGHT).await, "wrong-credentials");
    assert_eq!(desk.knock(Credentials::Token("rialto".into()), HERE).await, "wrong-credentials");
    assert_eq!(desk.knock(Credentials::Unreadable("what is this?"), HERE).await, "unreadable-credentials");
}
