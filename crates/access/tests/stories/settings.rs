use access::{UserRole, UserSettings, UserStoreError};
use domain::Timestamp;

use crate::access_fixture::{AccessFixture, RIGHT, actor, name};

const AT: Timestamp = Timestamp(0);

fn kept(document: &str, revision: u64) -> Option<UserSettings> {
    Some(UserSettings { document: document.into(), revision })
}

#[test]
fn every_user_has_settings_that_survive_a_restart() {
    let fixture = AccessFixture::with_anna();
    let register = fixture.access.user_store();
    assert_eq!(register.settings(Some("anna")).unwrap(), None);
    assert_eq!(register.save_settings(Some("anna"), "{}", None, AT).unwrap(), 1);
    assert_eq!(register.save_settings(Some("anna"), r#"{"wide":true}"#, Some(1), AT).unwrap(), 2);
    assert_eq!(register.save_settings(None, r#"{"local":1}"#, Some(0), AT).unwrap(), 1);
    let (_folder, again) = fixture.restarted();
    assert_eq!(again.settings(Some("anna")).unwrap(), kept(r#"{"wide":true}"#, 2));
    assert_eq!(again.settings(None).unwrap(), kept(r#"{"local":1}"#, 1), "anonymous callers share one document");
    assert_eq!(again.settings(Some("bert")).unwrap(), None);
}

#[test]
fn settings_are_not_overwritten_by_a_writer_with_an_old_revision() {
    let fixture = AccessFixture::with_anna();
    let register = fixture.access.user_store();
    register.save_settings(Some("anna"), "1", None, AT).unwrap();
    register.save_settings(Some("anna"), "2", Some(1), AT).unwrap();
    let late = register.save_settings(Some("anna"), "3", Some(1), AT);
    assert!(matches!(late, Err(UserStoreError::SettingsChanged { revision: 2 })), "{late:?}");
    assert_eq!(register.settings(Some("anna")).unwrap(), kept("2", 2));
}

#[test]
fn settings_go_with_their_user() {
    let fixture = AccessFixture::with_anna();
    fixture.new_token("robot", UserRole::Viewer, 1).unwrap();
    let register = fixture.access.user_store();
    for owner in ["anna", "robot"] {
        register.save_settings(Some(owner), "{}", None, AT).unwrap();
    }
    fixture.add("boss", UserRole::Admin, RIGHT).unwrap();
    register.remove_user(&name("anna"), &actor("user remove"), AT).unwrap();
    register.revoke_token(&name("robot"), &actor("token revoke"), AT).unwrap();
    assert_eq!(["anna", "robot"].map(|owner| register.settings(Some(owner)).unwrap()), [None, None]);
}
