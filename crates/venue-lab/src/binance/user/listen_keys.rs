//! Listen keys: the older way to an account's events, by a key that names a stream for an hour.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::binance::api::error::ApiError;
use crate::exchange::AccountIndex;
use crate::sequencer::now_micros;

/// How long a key is valid after it was made or extended.
const VALID_MICROS: i64 = 60 * 60 * 1_000_000;

/// A key of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListenKey {
    pub(crate) account: AccountIndex,
    /// When it expires.
    pub(crate) until_micros: i64,
}

/// Every key that is valid; an account has at most one.
#[derive(Debug, Default)]
pub(crate) struct ListenKeys {
    keys: Mutex<BTreeMap<String, ListenKey>>,
}

fn unknown() -> ApiError {
    ApiError::bad_request(-1125, "This listenKey does not exist.")
}

impl ListenKeys {
    /// The keys that have not expired.
    fn valid(&self, now: i64) -> MutexGuard<'_, BTreeMap<String, ListenKey>> {
        // Each change is one statement.
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.retain(|_, key| key.until_micros > now);
        keys
    }

    /// The account's key, extended; `new` becomes its key where it has none.
    pub(crate) fn start(&self, account: AccountIndex, new: String, now: i64) -> String {
        let mut keys = self.valid(now);
        let found = keys.iter().find(|(_, key)| key.account == account).map(|(name, _)| name.clone());
        let name = found.unwrap_or(new);
        keys.insert(name.clone(), ListenKey { account, until_micros: now + VALID_MICROS });
        name
    }

    pub(crate) fn keep(&self, name: &str, account: AccountIndex, now: i64) -> Result<(), ApiError> {
        let mut keys = self.valid(now);
        let key = keys.get_mut(name).filter(|key| key.account == account).ok_or_else(unknown)?;
        key.until_micros = now + VALID_MICROS;
        Ok(())
    }

    pub(crate) fn close(&self, name: &str, account: AccountIndex, now: i64) -> Result<(), ApiError> {
        let mut keys = self.valid(now);
        keys.get(name).filter(|key| key.account == account).ok_or_else(unknown)?;
        keys.remove(name);
        Ok(())
    }

    /// A valid key by its name.
    pub(crate) fn find(&self, name: &str, now: i64) -> Option<ListenKey> {
        self.valid(now).get(name).copied()
    }

    /// Ends a key before its time.
    pub(crate) fn expire(&self, name: &str) {
        self.valid(now_micros()).remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000_000;

    fn start(keys: &ListenKeys, account: AccountIndex, new: &str, now: i64) -> String {
        keys.start(account, new.to_owned(), now)
    }

    #[test]
    fn a_key_lasts_an_hour_and_each_extension_another() {
        let keys = ListenKeys::default();
        assert_eq!(start(&keys, 0, "a", 0), "a");
        assert_eq!(keys.find("a", 60 * MINUTE - 1), Some(ListenKey { account: 0, until_micros: 60 * MINUTE }));
        assert_eq!(keys.keep("a", 0, 30 * MINUTE), Ok(()));
        assert_eq!(keys.find("a", 90 * MINUTE - 1).map(|key| key.account), Some(0));
        assert_eq!(keys.find("a", 90 * MINUTE), None);
        assert_eq!(keys.keep("a", 0, 90 * MINUTE), Err(unknown()));
        assert_eq!(start(&keys, 0, "b", 90 * MINUTE), "b", "an expired key is not given again");
    }

    #[test]
    fn an_account_has_one_key_and_no_hand_in_those_of_others() {
        let keys = ListenKeys::default();
        assert_eq!(start(&keys, 0, "a", 0), "a");
        assert_eq!(start(&keys, 0, "b", 50 * MINUTE), "a", "the one it has is extended");
        assert_eq!(start(&keys, 1, "c", 50 * MINUTE), "c");
        assert_eq!(keys.find("a", 100 * MINUTE).map(|key| key.account), Some(0));
        assert_eq!(keys.keep("a", 1, 60 * MINUTE), Err(unknown()));
        assert_eq!(keys.close("a", 1, 60 * MINUTE), Err(unknown()));
        assert_eq!(keys.close("a", 0, 60 * MINUTE), Ok(()));
        assert_eq!(keys.close("a", 0, 60 * MINUTE), Err(unknown()));
        assert_eq!((keys.find("a", 60 * MINUTE), keys.find("b", 60 * MINUTE)), (None, None));
        assert_eq!(unknown().code, -1125);
    }
}
