//! Credentials, identities, and access errors.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::Text;
use domain::rights::TradingRights;
use secrecy::{ExposeSecret, SecretString};

use crate::login::secret;
use crate::users::role::UserRole;

/// Credentials of a request.
#[derive(Debug)]
pub enum AccessCredentials {
    Anonymous,
    Password {
        user: String,
        password: SecretString,
    },
    Token(SecretString),
    /// The secret of a session, from its cookie.
    Session(SecretString),
    /// Credentials of a kind that no interface accepts.
    Unreadable(&'static str),
}

impl AccessCredentials {
    /// A name and a pass code: the password of a user, or a token with any name.
    pub fn login(user: impl Into<String>, passcode: SecretString) -> Self {
        match secret::prefix(passcode.expose_secret()) {
            Some(_) => Self::Token(passcode),
            None => Self::Password { user: user.into(), password: passcode },
        }
    }
}

/// An authenticated caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The name of the user or the token; none for an anonymous caller.
    pub name: Option<Text>,
    pub role: UserRole,
    /// What it may trade; absent: everything.
    pub rights: Option<Arc<TradingRights>>,
}

/// Why access is denied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessDenied {
    /// No credentials, and anonymous access is not allowed.
    LoginNeeded,
    /// One text for all reasons, so that a caller cannot find out which names exist.
    WrongCredentials,
    SessionEnded,
    /// Too many attempts of this peer are being delayed already.
    TooManyAttempts,
    Unreadable(&'static str),
    /// The user store could not be read, and then all logins are refused.
    Unavailable,
}

impl AccessDenied {
    /// Stable; part of the contract with clients.
    pub fn code(&self) -> &'static str {
        match self {
            Self::LoginNeeded => "login-needed",
            Self::WrongCredentials => "wrong-credentials",
            Self::SessionEnded => "session-ended",
            Self::TooManyAttempts => "too-many-attempts",
            Self::Unreadable(_) => "unreadable-credentials",
            Self::Unavailable => "access-unavailable",
        }
    }
}

impl fmt::Display for AccessDenied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LoginNeeded => "say who you are: a user with a password, or a token",
            Self::WrongCredentials => "the user, the password or the token is wrong, or the token has expired",
            Self::SessionEnded => "the session has ended; log in again",
            Self::TooManyAttempts => "too many attempts from this address wait already",
            Self::Unreadable(reason) => reason,
            Self::Unavailable => "users cannot be looked up at the moment",
        })
    }
}

impl std::error::Error for AccessDenied {}

/// Counters of refused logins, by code.
#[derive(Debug)]
pub(crate) struct RefusalCounts(Mutex<BTreeMap<String, u64>>);

/// Login refusals begin at zero, so that a monitoring system sees them rise.
impl Default for RefusalCounts {
    fn default() -> Self {
        Self(Mutex::new([(AccessDenied::WrongCredentials.code().to_owned(), 0)].into()))
    }
}

impl RefusalCounts {
    pub(crate) fn count(&self, code: &str) {
        let mut counts = self.lock();
        match counts.get_mut(code) {
            Some(count) => *count += 1,
            None => drop(counts.insert(code.to_owned(), 1)),
        }
    }

    pub(crate) fn counts(&self) -> BTreeMap<String, u64> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, u64>> {
        // The map is consistent between any two statements that hold the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
