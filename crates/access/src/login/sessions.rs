//! Login sessions, in memory: a restart or a change of the user ends them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::{Text, Timestamp};

use crate::environment::{AccessEnvironment, RandomError};
use crate::login::secret::{Secret, SecretDigest, digest};

/// A session ends this long after the login.
pub const SESSION_HOURS_MAX: i64 = 12;
/// A session ends after this long without a request.
pub const SESSION_IDLE_MINUTES_MAX: i64 = 30;
/// Default of the number beyond which the one that was idle the longest ends.
pub const SESSIONS_MAX: usize = 1_024;

pub(crate) struct LoginSessions {
    /// At most so many.
    limit: usize,
    sessions: Mutex<BTreeMap<[u8; 32], LoginSession>>,
}

struct LoginSession {
    user: Text,
    /// Of the user's row at the login.
    revision: i64,
    started_at: Timestamp,
    last_seen_at: Timestamp,
}

impl LoginSession {
    fn has_ended(&self, at: Timestamp) -> bool {
        at.seconds_since(self.started_at) >= SESSION_HOURS_MAX * 60 * 60
            || at.seconds_since(self.last_seen_at) >= SESSION_IDLE_MINUTES_MAX * 60
    }
}

impl LoginSessions {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, sessions: Mutex::default() }
    }

    pub(crate) fn start(
        &self,
        (user, revision): (&Text, i64),
        environment: &dyn AccessEnvironment,
        at: Timestamp,
    ) -> Result<Secret, RandomError> {
        let secret = Secret::new(environment)?;
        let mut sessions = self.lock();
        evict(&mut sessions, self.limit, at);
        sessions.insert(
            key(&secret.digest()),
            LoginSession { user: user.clone(), revision, started_at: at, last_seen_at: at },
        );
        Ok(secret)
    }

    /// The user of a session, with the revision of the row at the login. Counts as activity.
    pub(crate) fn user_of(&self, secret: &str, at: Timestamp) -> Option<(Text, i64)> {
        let mut sessions = self.lock();
        let session = sessions.get_mut(&key(&digest(secret))).filter(|session| !session.has_ended(at))?;
        session.last_seen_at = session.last_seen_at.max(at);
        Some((session.user.clone(), session.revision))
    }

    /// Whether a session is active. Does not count as activity.
    pub(crate) fn is_active(&self, key: &[u8; 32], at: Timestamp) -> bool {
        self.lock().get(key).is_some_and(|session| !session.has_ended(at))
    }

    /// The key of a session in the map.
    pub(crate) fn key(secret: &str) -> [u8; 32] {
        key(&digest(secret))
    }

    pub(crate) fn end(&self, secret: &str) {
        self.lock().remove(&key(&digest(secret)));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<[u8; 32], LoginSession>> {
        // The map is consistent between any two statements that hold the lock.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The timing of a look-up reveals at most the first bytes of a hash, which do not lead to a secret.
fn key(digest: &SecretDigest) -> [u8; 32] {
    *digest.as_bytes()
}

fn evict(sessions: &mut BTreeMap<[u8; 32], LoginSession>, limit: usize, at: Timestamp) {
    sessions.retain(|_, session| !session.has_ended(at));
    if sessions.len() >= limit {
        let idlest = sessions.iter().min_by_key(|(_, session)| session.last_seen_at).map(|(key, _)| *key);
        idlest.and_then(|key| sessions.remove(&key));
    }
}
