//! An environment of its own: everything on the caller's thread, with known random bytes and cheap hashes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use access::{AccessEnvironment, AccessSettings, AccessWork, AdminLog, PasswordCost, RandomError, UserRole};

use crate::access_fixture::{AccessFixture, RIGHT};

#[derive(Default)]
struct OneThread(AtomicU8);

impl AccessEnvironment for OneThread {
    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        bytes.fill(self.0.fetch_add(1, Ordering::Relaxed));
        Ok(())
    }

    fn password_cost(&self) -> PasswordCost {
        PasswordCost { memory_kib: 8, passes: 1 }
    }

    fn compute(&self, work: AccessWork) {
        work();
    }

    fn block(&self, work: AccessWork) {
        work();
    }

    fn has_audit_thread(&self) -> bool {
        false
    }
}

fn one_thread() -> AccessFixture {
    AccessFixture::with_environment(AccessSettings::default(), Some(Arc::new(OneThread::default())))
}

#[tokio::test]
async fn a_log_in_needs_no_other_thread_and_a_refusal_is_in_the_audit_before_it_is_told() {
    let fixture = one_thread();
    fixture.add("anna", UserRole::Trader, RIGHT).unwrap();
    assert_eq!(fixture.login("anna", RIGHT).await, "anna trader");
    let before = fixture.log.len();
    assert_eq!(fixture.login("anna", "correct cow").await, "wrong-credentials");
    assert_eq!(fixture.login("nobody", RIGHT).await, "wrong-credentials");
    assert_eq!(fixture.log.len(), before + 2);
    assert!(fixture.audit().contains("wrong-credentials"), "{}", fixture.audit());
}

#[test]
fn the_same_random_bytes_give_the_same_hash_and_the_same_token() {
    let made = [(); 2].map(|()| {
        let fixture = one_thread();
        fixture.add("root", UserRole::Admin, RIGHT).unwrap();
        let token = fixture.new_token("bot", UserRole::Viewer, 1).unwrap();
        let hash = fixture.log.state().users.values().next().unwrap().password.to_string();
        (hash, token.text().to_owned())
    });
    assert!(made[0].0.starts_with("$argon2id$v=19$m=8,t=1,p=1$"), "{made:?}");
    assert_eq!(made[0], made[1]);
}
