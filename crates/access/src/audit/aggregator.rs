//! Aggregation of refusals: equal ones within a minute are one row with a count, so that no client can fill the disk. The first is
//! journalled at once; how often it came is journalled once, when its minute is over.

use std::collections::BTreeMap;

use domain::Timestamp;
use domain::admin::AdminChange;

use crate::audit::entry::{Actor, AuditEntry, DONE};

/// Equal entries within this time are one row.
const AGGREGATION_SECONDS: i64 = 60;
/// Rows whose count may still rise; with one more, all new refusals get new rows.
const AGGREGATED_ROWS_MAX: usize = 4_096;

/// The rows that may still be counted up.
#[derive(Debug, Default)]
pub(crate) struct AuditAggregator(BTreeMap<(Actor, String, String), CountedRow>);

#[derive(Debug, Clone, Copy)]
struct CountedRow {
    id: u64,
    since: Timestamp,
    times: u64,
    last_at: Timestamp,
}

impl CountedRow {
    fn is_over(&self, at: Timestamp) -> bool {
        at.seconds_since(self.since) >= AGGREGATION_SECONDS
    }

    fn count(&self) -> AdminChange {
        AdminChange::CountAudit { id: self.id, times: self.times, last_at: self.last_at }
    }
}

impl AuditAggregator {
    /// The new count, where the entry is a refusal that was written a moment ago.
    pub(crate) fn count_up(&mut self, entry: &AuditEntry) -> Option<AdminChange> {
        if entry.outcome == DONE {
            return None;
        }
        let row = self.0.get_mut(&key_of(entry)).filter(|row| !row.is_over(entry.at))?;
        (row.times, row.last_at) = (row.times + 1, row.last_at.max(entry.at));
        Some(row.count())
    }

    /// The entry is a row now.
    pub(crate) fn begin(&mut self, entry: &AuditEntry, id: u64) {
        if entry.outcome != DONE {
            let row = CountedRow { id, since: entry.at, times: 1, last_at: entry.at };
            self.0.insert(key_of(entry), row);
        }
    }

    /// The counts of rows whose minute is over; of all rows where there are too many. They are not counted up any more.
    pub(crate) fn take_finished(&mut self, at: Timestamp) -> Vec<AdminChange> {
        let is_full = self.0.len() >= AGGREGATED_ROWS_MAX;
        self.take_if(|row| is_full || row.is_over(at))
    }

    /// The counts of all rows.
    pub(crate) fn take_all(&mut self) -> Vec<AdminChange> {
        self.take_if(|_| true)
    }

    fn take_if(&mut self, is_finished: impl Fn(&CountedRow) -> bool) -> Vec<AdminChange> {
        let mut finished = Vec::new();
        self.0.retain(|_, row| {
            let is_finished = is_finished(row);
            if is_finished && row.times > 1 {
                finished.push(row.count());
            }
            !is_finished
        });
        finished
    }
}

fn key_of(entry: &AuditEntry) -> (Actor, String, String) {
    (entry.actor.clone(), entry.outcome.clone(), entry.detail.clone())
}
