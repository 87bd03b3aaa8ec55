//! User directory cache: users and tokens in memory; changes by other processes are seen within a second, changes by
//! this one at once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use domain::{Text, Timestamp};

use crate::error::AccessError;
use crate::users::user_store::{AccessToken, User, UserStore};

/// An older cache is compared with the file before it is used.
const DIRECTORY_SECONDS_MAX: i64 = 1;

#[derive(Debug, Default)]
pub(crate) struct UserDirectory {
    revision: i64,
    pub(crate) users: BTreeMap<Text, Arc<User>>,
    /// By prefix.
    pub(crate) tokens: BTreeMap<String, Arc<AccessToken>>,
}

pub(crate) struct UserDirectoryCache {
    register: Arc<UserStore>,
    newest: RwLock<Arc<UserDirectory>>,
    compared_at: AtomicI64,
}

impl UserDirectoryCache {
    pub(crate) fn open(register: Arc<UserStore>, at: Timestamp) -> Result<Self, AccessError> {
        let newest = RwLock::new(Arc::new(load(&register)?));
        Ok(Self { register, newest, compared_at: AtomicI64::new(at.0) })
    }

    pub(crate) fn current(&self, at: Timestamp) -> Result<Arc<UserDirectory>, AccessError> {
        let compared_at = Timestamp(self.compared_at.load(Ordering::Relaxed));
        if at.seconds_since(compared_at) >= DIRECTORY_SECONDS_MAX {
            self.refresh()?;
            self.compared_at.fetch_max(at.0, Ordering::Relaxed);
        }
        Ok(self.newest())
    }

    /// Loads the directory again where the file has changed.
    pub(crate) fn refresh(&self) -> Result<(), AccessError> {
        if self.register.revision()? != self.newest().revision {
            let directory = Arc::new(load(&self.register)?);
            *self.newest.write().unwrap_or_else(PoisonError::into_inner) = directory;
        }
        Ok(())
    }

    fn newest(&self) -> Arc<UserDirectory> {
        // A pointer is consistent whenever the lock is free.
        self.newest.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The revision is read first: a change in between makes the directory look older than it is, and it is loaded again.
fn load(register: &UserStore) -> Result<UserDirectory, AccessError> {
    let revision = register.revision()?;
    let users = register.users()?.into_iter().map(|user| (user.name.text().clone(), Arc::new(user)));
    let tokens = register.tokens()?.into_iter().map(|token| (token.prefix.clone(), Arc::new(token)));
    Ok(UserDirectory { revision, users: users.collect(), tokens: tokens.collect() })
}
