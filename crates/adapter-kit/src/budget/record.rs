//! State of a budget on the disk: holds and counts, as JSON that an operator can read.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use domain::Timestamp;
use serde::{Deserialize, Serialize};

use super::{HOLD_SECONDS_MAX, Hold, HoldKind, HoldScope, RequestBudget};
use crate::file_write::write_durably;

/// What a restart must know. Times are texts, so that an operator can read them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BudgetRecord {
    saved_at: String,
    holds: Vec<HoldRecord>,
    limits: Vec<LimitRecord>,
    #[serde(skip)]
    version: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct HoldRecord {
    kind: HoldKind,
    scope: HoldScope,
    until: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct LimitRecord {
    name: String,
    /// As the venue has stated it; absent in files of before it was kept.
    #[serde(default)]
    limit: Option<u32>,
    /// Weight by the time from which it counts.
    used: Vec<(String, u64)>,
    /// Weight of requests without an answer.
    unanswered: u64,
}

impl RequestBudget {
    /// The state to save, where there is a hold that is not on the disk. Until `on_saved` every request is refused.
    pub fn unsaved(&self) -> Option<BudgetRecord> {
        (self.saved < self.version).then(|| self.record())
    }

    /// The state, to be saved now and then and at the end of a run, so that counts survive too.
    pub fn record(&self) -> BudgetRecord {
        let holds = self.holds.iter();
        BudgetRecord {
            saved_at: self.now.max(Timestamp(0)).to_string(),
            holds: holds
                .map(|hold| HoldRecord { kind: hold.kind, scope: hold.scope.clone(), until: hold.until.to_string() })
                .collect(),
            limits: self
                .windows
                .iter()
                .map(|window| LimitRecord {
                    name: window.rule.name.clone(),
                    limit: Some(window.rule.limit),
                    used: window.parts().map(|(at, weight)| (at.to_string(), weight)).collect(),
                    unanswered: window.unanswered(),
                })
                .collect(),
            version: self.version,
        }
    }

    /// The record is on the disk.
    pub fn on_saved(&mut self, record: &BudgetRecord) {
        self.saved = self.saved.max(record.version);
    }

    /// Continues after a restart. A clock that was set back meanwhile does not end a hold early or lengthen it: the rest
    /// of it counts from now.
    pub fn restore(&mut self, now: Timestamp, record: &BudgetRecord) -> Result<(), BudgetFileError> {
        let saved_at = time(&record.saved_at)?;
        let behind = saved_at.nanos_since(now).max(0);
        for hold in &record.holds {
            let until = Timestamp(time(&hold.until)?.0.saturating_sub(behind));
            let until = until.min(now.plus_seconds(HOLD_SECONDS_MAX));
            self.holds.push(Hold { kind: hold.kind, scope: hold.scope.clone(), until });
        }
        for limit in &record.limits {
            let parts = limit.used.iter().map(|(at, weight)| Ok((time(at)?, *weight)));
            let parts = parts.collect::<Result<Vec<_>, BudgetFileError>>()?;
            if let Some(window) = self.windows.iter_mut().find(|window| window.rule.name == limit.name) {
                window.restore(now, &parts, limit.unanswered);
            }
        }
        self.advance(now);
        Ok(())
    }

    /// The limits that were known before a restart, for rules of the same names.
    pub fn restore_limits(&mut self, record: &BudgetRecord) {
        for LimitRecord { name, limit, .. } in &record.limits {
            if let Some(limit) = limit {
                self.set_limit(name, *limit);
            }
        }
    }
}

fn time(text: &str) -> Result<Timestamp, BudgetFileError> {
    text.parse().map_err(|reason| BudgetFileError::Unreadable(format!("`{text}` is no time: {reason}")))
}

/// The state file of one venue's budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetFile(PathBuf);

#[derive(Debug)]
pub enum BudgetFileError {
    Io(io::Error),
    Unreadable(String),
}

impl BudgetFile {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// `None` where there is no file yet. An unreadable file is an error: a ban may stand in it.
    pub fn load(&self) -> Result<Option<BudgetRecord>, BudgetFileError> {
        match fs::read(&self.0) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|reason| BudgetFileError::Unreadable(reason.to_string())),
            Err(reason) if reason.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(reason) => Err(BudgetFileError::Io(reason)),
        }
    }

    /// Returns when the record is on the disk.
    pub fn save(&self, record: &BudgetRecord) -> Result<(), BudgetFileError> {
        let text =
            serde_json::to_vec_pretty(record).map_err(|reason| BudgetFileError::Unreadable(reason.to_string()))?;
        write_durably(&self.0, &text).map_err(BudgetFileError::Io)
    }

    /// Saves a hold that is not on the disk; to be called before each request. Without one it costs nothing.
    pub fn save_holds(&self, budget: &mut RequestBudget) -> Result<(), BudgetFileError> {
        let Some(record) = budget.unsaved() else { return Ok(()) };
        self.save(&record)?;
        budget.on_saved(&record);
        Ok(())
    }
}

impl fmt::Display for BudgetFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(reason) => write!(f, "the rate limit state cannot be read or written: {reason}"),
            Self::Unreadable(reason) => write!(
                f,
                "the rate limit state is damaged ({reason}); a ban may stand in it: remove the file if you know that none runs"
            ),
        }
    }
}

impl std::error::Error for BudgetFileError {}
