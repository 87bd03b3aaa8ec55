//! SenderCompIDs in use, and limits of connections of an account.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::FixService;
use crate::binance::api::error::ApiError;
use crate::exchange::AccountIndex;
use crate::sequencer::now_micros;

const MICROS: i64 = 1_000_000;

#[derive(Debug, Clone, Copy)]
enum CompIdUse {
    Active(FixService),
    /// Its last session ended without a Logout.
    BlockedUntil(i64),
}

#[derive(Debug, Default)]
struct UseTable {
    comp_ids: BTreeMap<(AccountIndex, String), CompIdUse>,
    attempts: BTreeMap<(AccountIndex, FixService), VecDeque<i64>>,
}

#[derive(Debug, Default)]
pub(crate) struct CompIds {
    table: Mutex<UseTable>,
}

/// A SenderCompID that a session has. Dropping it without a Logout blocks the id.
pub(crate) struct CompIdClaim {
    comp_ids: Arc<CompIds>,
    key: (AccountIndex, String),
    heartbeat_seconds: i64,
    pub(super) is_logged_out: bool,
}

impl CompIds {
    fn table(&self) -> MutexGuard<'_, UseTable> {
        // Each change is one statement.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// With `is_blocked` the id is blocked as after a cut, by a fault.
    pub(super) fn claim(
        self: &Arc<Self>,
        service: FixService,
        account: AccountIndex,
        comp_id: &str,
        heartbeat_seconds: i64,
        is_blocked: bool,
    ) -> Result<CompIdClaim, ApiError> {
        let now = now_micros();
        let mut table = self.table();
        if is_blocked {
            let until = now + 2 * heartbeat_seconds * MICROS;
            table.comp_ids.insert((account, comp_id.to_owned()), CompIdUse::BlockedUntil(until));
        }
        table.count_attempt(service, account, now)?;
        table.check_connections(service, account)?;
        let key = (account, comp_id.to_owned());
        let is_free = match table.comp_ids.get(&key) {
            None => true,
            Some(CompIdUse::Active(_)) => false,
            Some(CompIdUse::BlockedUntil(until)) => now >= *until,
        };
        if !is_free {
            let text = "SenderCompId(49) is currently in use. Concurrent use of the same SenderCompId within one account is \
                        not allowed.";
            return Err(ApiError::bad_request(-1033, text));
        }
        table.comp_ids.insert(key.clone(), CompIdUse::Active(service));
        drop(table);
        Ok(CompIdClaim { comp_ids: self.clone(), key, heartbeat_seconds, is_logged_out: false })
    }
}

impl UseTable {
    fn count_attempt(&mut self, service: FixService, account: AccountIndex, now: i64) -> Result<(), ApiError> {
        let quota = service.attempts();
        let attempts = self.attempts.entry((account, service)).or_default();
        attempts.retain(|at| *at > now - quota.seconds * MICROS);
        if attempts.len() >= quota.count {
            let text = format!(
                "Too many connection attempts for account; current limit is {} per '{}s'.",
                quota.count, quota.seconds
            );
            return Err(ApiError::bad_request(-1034, text));
        }
        attempts.push_back(now);
        Ok(())
    }

    fn check_connections(&self, service: FixService, account: AccountIndex) -> Result<(), ApiError> {
        let is_counted = |((owner, _), claim): &(&(AccountIndex, String), &CompIdUse)| {
            *owner == account && matches!(claim, CompIdUse::Active(active) if *active == service)
        };
        let limit = service.connections_max();
        if self.comp_ids.iter().filter(is_counted).count() >= limit {
            let text = format!("Too many concurrent connections; current limit is '{limit}'.");
            return Err(ApiError::bad_request(-1034, text));
        }
        Ok(())
    }
}

impl Drop for CompIdClaim {
    fn drop(&mut self) {
        let mut table = self.comp_ids.table();
        if self.is_logged_out {
            table.comp_ids.remove(&self.key);
        } else {
            let until = now_micros() + 2 * self.heartbeat_seconds * MICROS;
            table.comp_ids.insert(self.key.clone(), CompIdUse::BlockedUntil(until));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(claim: Result<CompIdClaim, ApiError>) -> i32 {
        claim.err().map_or(0, |error| error.code)
    }

    #[test]
    fn a_comp_id_is_free_after_a_logout_and_blocked_after_a_cut() {
        let comp_ids = Arc::new(CompIds::default());
        let claim = |id: &str| comp_ids.claim(FixService::OrderEntry, 0, id, 5, false);
        let mut first = claim("A").unwrap();
        assert_eq!(code(claim("A")), -1033);
        first.is_logged_out = true;
        drop(first);
        drop(claim("A").unwrap());
        assert_eq!(code(claim("A")), -1033, "it went without a Logout");
        assert_eq!(code(comp_ids.claim(FixService::OrderEntry, 1, "A", 5, false)), 0, "another account has its own");
    }

    #[test]
    fn connections_and_attempts_of_an_account_are_limited() {
        let comp_ids = Arc::new(CompIds::default());
        let claim = |number: usize| comp_ids.claim(FixService::DropCopy, 0, &number.to_string(), 5, false);
        let open: Vec<_> = (0..10).map(|number| claim(number).unwrap()).collect();
        let refused = claim(10).err().unwrap();
        assert_eq!(
            (refused.code, refused.text.as_str()),
            (-1034, "Too many concurrent connections; current limit is '10'.")
        );
        drop(open);
        for number in 11..15 {
            assert_eq!(code(claim(number)), 0);
        }
        assert!(claim(15).err().unwrap().text.starts_with("Too many connection attempts for account;"));
    }
}
