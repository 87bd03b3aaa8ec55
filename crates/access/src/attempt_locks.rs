//! Serialises equal login attempts, so that a password is hashed once: a program that opens many connections with one
//! password waits for the first result.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OwnedMutexGuard;

use crate::password_cache::PasswordFingerprint;

type AttemptLock = Arc<tokio::sync::Mutex<()>>;

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
