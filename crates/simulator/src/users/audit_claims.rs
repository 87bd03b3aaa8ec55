//! What clients were told and the audit must have: every refusal, and every session that began.

use std::collections::BTreeMap;

use domain::Timestamp;
use domain::admin::{AdminChange, AuditRecord};

use super::known_users::AdminRecords;
use crate::invariants::broken_invariant::{InvariantResult, ensure};

/// Equal refusals within this time are one row.
const AGGREGATION_SECONDS: i64 = 60;
pub(super) const DONE: &str = "done";

pub(super) struct AuditClaim {
    pub(super) peer: String,
    pub(super) user: Option<&'static str>,
    /// `done`, or the code of a refusal.
    pub(super) outcome: String,
    /// Between these it was decided.
    pub(super) from: Timestamp,
    pub(super) to: Timestamp,
    /// Nobody else comes from there.
    pub(super) is_only: bool,
    /// It was answered while the journal's disk did not answer, and the process may have ended before it did.
    pub(super) may_be_lost: bool,
}

/// A row of the audit: when, and whose.
type FoundRow = (Timestamp, Option<String>);

#[derive(Default)]
pub(super) struct AuditClaims {
    /// Not compared yet.
    open: Vec<AuditClaim>,
    /// By peer and outcome.
    rows: BTreeMap<(String, String), Vec<FoundRow>>,
    through: u64,
    /// Of claims.
    pub(super) compared: u64,
}

impl AuditClaims {
    pub(super) fn add(&mut self, claim: AuditClaim) {
        self.open.push(claim);
    }

    pub(super) fn check(&mut self, journal: &AdminRecords) -> InvariantResult {
        for (sequence, record) in journal.range(self.through + 1..) {
            self.through = *sequence;
            record.changes.iter().for_each(|change| self.add_row(change));
        }
        for claim in std::mem::take(&mut self.open) {
            let rows = self.rows.get(&(claim.peer.clone(), claim.outcome.clone())).map_or(&[][..], Vec::as_slice);
            let found = rows.iter().filter(|row| claim.is_in(row)).count();
            let is_there = if claim.is_only { found == 1 && rows.len() == 1 } else { found > 0 };
            let is_right = is_there || claim.may_be_lost && found == 0 && (rows.is_empty() || !claim.is_only);
            ensure(is_right, "the audit has not what was answered, once", || {
                let AuditClaim { peer, user, outcome, .. } = &claim;
                format!("{outcome} for {user:?} from {peer}: {found} of {} rows", rows.len())
            })?;
            self.compared += u64::from(is_there);
        }
        Ok(())
    }

    fn add_row(&mut self, change: &AdminChange) {
        let AdminChange::Audit(AuditRecord { peer: Some(peer), outcome, at, user, .. }) = change else { return };
        let rows = self.rows.entry((peer.to_string(), outcome.to_string())).or_default();
        rows.push((*at, user.as_ref().map(ToString::to_string)));
    }
}

impl AuditClaim {
    fn is_in(&self, (at, user): &FoundRow) -> bool {
        let is_counted = self.outcome != DONE && !self.is_only;
        let from = if is_counted { self.from.plus_seconds(-AGGREGATION_SECONDS) } else { self.from };
        user.as_deref() == self.user && *at >= from && *at <= self.to
    }
}
