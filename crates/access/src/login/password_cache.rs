//! Password cache: recently verified passwords are not hashed again. HTTP Basic sends one with every request, and
//! hashing would limit a client to a few requests a second.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::{Text, Timestamp};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::OwnedMutexGuard;

use crate::environment::{AccessEnvironment, RandomError};
use crate::login::secret::random;

/// How long a verified password is not hashed again.
const PASSWORD_CACHE_SECONDS_MAX: i64 = 5 * 60;
/// Beyond this number the cache is cleared.
const PASSWORD_CACHE_MAX: usize = 4_096;

/// Fingerprint of a name with a password: the key of the hash never leaves this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PasswordFingerprint([u8; 32]);

pub(crate) struct PasswordCache {
    key: [u8; 32],
    since: Mutex<BTreeMap<PasswordFingerprint, CachedPassword>>,
}

/// Void when the user's row was changed since.
struct CachedPassword {
    user: Text,
    revision: i64,
    at: Timestamp,
}

impl PasswordCache {
    pub(crate) fn new(environment: &dyn AccessEnvironment) -> Result<Self, RandomError> {
        Ok(Self { key: random(environment)?, since: Mutex::default() })
    }

    pub(crate) fn fingerprint(&self, user: &str, password: &SecretString) -> PasswordFingerprint {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(&(user.len() as u64).to_be_bytes());
        hasher.update(user.as_bytes());
        hasher.update(password.expose_secret().as_bytes());
        PasswordFingerprint(hasher.finalize().into())
    }

    pub(crate) fn insert(&self, mark: PasswordFingerprint, user: &Text, revision: i64, at: Timestamp) {
        let mut proofs = self.lock();
        if proofs.len() >= PASSWORD_CACHE_MAX {
            proofs.clear();
        }
        proofs.insert(mark, CachedPassword { user: user.clone(), revision, at });
    }

    /// The user of a cached password, with the revision of the row that it was verified against.
    pub(crate) fn get(&self, mark: PasswordFingerprint, at: Timestamp) -> Option<(Text, i64)> {
        let mut proofs = self.lock();
        let proof = proofs.get(&mark)?;
        if at.seconds_since(proof.at) >= PASSWORD_CACHE_SECONDS_MAX {
            proofs.remove(&mark);
            return None;
        }
        Some((proof.user.clone(), proof.revision))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PasswordFingerprint, CachedPassword>> {
        // The map is consistent between any two statements that hold the lock.
        self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type AttemptLock = Arc<tokio::sync::Mutex<()>>;

/// Serialises equal login attempts, so that a password is hashed once: a program that opens many connections with one
/// password waits for the first result.
#[derive(Default)]
pub(crate) struct AttemptLocks(Mutex<BTreeMap<PasswordFingerprint, AttemptLock>>);

/// Held by the attempt that is being processed.
pub(crate) type AttemptGuard = OwnedMutexGuard<()>;

impl AttemptLocks {
    pub(crate) async fn acquire(&self, mark: PasswordFingerprint) -> AttemptGuard {
        self.lock_for(mark).lock_owned().await
    }

    /// A lock without waiters is held by the map alone.
    fn lock_for(&self, mark: PasswordFingerprint) -> AttemptLock {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.retain(|_, line| Arc::strong_count(line) > 1);
        lines.entry(mark).or_default().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::system_environment;

    const BEGIN: Timestamp = Timestamp(0);

    #[test]
    fn a_right_password_is_right_for_five_minutes() {
        let proven = PasswordCache::new(&*system_environment()).unwrap();
        let mark = proven.fingerprint("anna", &"correct horse".into());
        assert_eq!(proven.get(mark, BEGIN), None);
        proven.insert(mark, &"anna".into(), 7, BEGIN);
        assert_eq!(proven.get(mark, BEGIN.plus_seconds(299)), Some(("anna".into(), 7)));
        assert_eq!(proven.get(mark, BEGIN.plus_seconds(300)), None);
    }

    #[test]
    fn name_and_password_do_not_run_into_each_other() {
        let proven = PasswordCache::new(&*system_environment()).unwrap();
        assert_ne!(proven.fingerprint("ab", &"c".into()), proven.fingerprint("a", &"bc".into()));
        assert_eq!(proven.fingerprint("ab", &"c".into()), proven.fingerprint("ab", &"c".into()));
    }

    #[test]
    fn no_two_processes_make_the_same_mark() {
        let [one, other] = [(); 2].map(|()| PasswordCache::new(&*system_environment()).unwrap());
        assert_ne!(
            one.fingerprint("anna", &"correct horse".into()),
            other.fingerprint("anna", &"correct horse".into())
        );
    }
}
