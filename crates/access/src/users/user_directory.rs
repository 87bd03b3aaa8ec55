//! User directory cache: users and tokens as they are used, made again when one of them has changed.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use domain::Text;

use crate::error::AccessError;
use crate::users::principal::{AccessToken, User};
use crate::users::user_store::UserStore;

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
}

impl UserDirectoryCache {
    pub(crate) fn open(register: Arc<UserStore>) -> Result<Self, AccessError> {
        let newest = RwLock::new(Arc::new(load(&register)?));
        Ok(Self { register, newest })
    }

    pub(crate) fn current(&self) -> Result<Arc<UserDirectory>, AccessError> {
        let newest = self.newest();
        if self.register.revision() == newest.revision {
            return Ok(newest);
        }
        let directory = Arc::new(load(&self.register)?);
        *self.newest.write().unwrap_or_else(PoisonError::into_inner) = directory.clone();
        Ok(directory)
    }

    fn newest(&self) -> Arc<UserDirectory> {
        // A pointer is consistent whenever the lock is free.
        self.newest.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The revision is read first: a change in between makes the directory look older than it is, and it is loaded again.
fn load(register: &UserStore) -> Result<UserDirectory, AccessError> {
    let revision = register.revision();
    let users = register.users()?.into_iter().map(|user| (user.name.text().clone(), Arc::new(user)));
    let tokens = register.tokens()?.into_iter().map(|token| (token.prefix.clone(), Arc::new(token)));
    Ok(UserDirectory { revision, users: users.collect(), tokens: tokens.collect() })
}
