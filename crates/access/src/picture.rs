//! User directory cache: users and tokens in memory; changes by other processes are seen within a second, changes by
//! this one at once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use domain::{Text, Timestamp};

use crate::error::AccessError;
use crate::register::{Register, Token, User};

/// An older cache is compared with the file before it is used.
const PICTURE_SECONDS_MAX: i64 = 1;

#[derive(Debug, Default)]
pub(crate) struct Picture {
    revision: i64,
    pub(crate) users: BTreeMap<Text, Arc<User>>,
    /// By prefix.
    pub(crate) tokens: BTreeMap<String, Arc<Token>>,
}

pub(crate) struct Gallery {
    register: Arc<Register>,
    newest: RwLock<Arc<Picture>>,
    compared_at: AtomicI64,
}

impl Gallery {
    pub(crate) fn open(register: Arc<Register>, at: Timestamp) -> Result<Self, AccessError> {
        let newest = RwLock::new(Arc::new(taken(&register)?));
        Ok(Self { register, newest, compared_at: AtomicI64::new(at.0) })
    }

    pub(crate) fn picture(&self, at: Timestamp) -> Result<Arc<Picture>, AccessError> {
        let compared_at = Timestamp(self.compared_at.load(Ordering::Relaxed));
        if at.seconds_since(compared_at) >= PICTURE_SECONDS_MAX {
            self.compare()?;
            self.compared_at.fetch_max(at.0, Ordering::Relaxed);
        }
        Ok(self.newest())
    }

    /// Loads the directory again where the file has changed.
    pub(crate) fn compare(&self) -> Result<(), AccessError> {
        if self.register.revision()? != self.newest().revision {
            let picture = Arc::new(taken(&self.register)?);
            *self.newest.write().unwrap_or_else(PoisonError::into_inner) = picture;
        }
        Ok(())
    }

    fn newest(&self) -> Arc<Picture> {
        // A pointer is consistent whenever the lock is free.
        self.newest.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The revision is read first: a change in between makes the directory look older than it is, and it is loaded again.
fn taken(register: &Register) -> Result<Picture, AccessError> {
    let revision = register.revision()?;
    let users = register.users()?.into_iter().map(|user| (user.name.text().clone(), Arc::new(user)));
    let tokens = register.tokens()?.into_iter().map(|token| (token.prefix.clone(), Arc::new(token)));
    Ok(Picture { revision, users: users.collect(), tokens: tokens.collect() })
}
