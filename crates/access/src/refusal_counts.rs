//! Counters of refused logins, by code.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::identity::AccessDenied;

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
