//! What is said over the control socket: one line of JSON each way.

use bus::operations::{FixSessionChanges, HealthCheck};
use domain::risk::{RiskScope, TradingState};
use serde::{Deserialize, Serialize};

use crate::users::requests::{UserReply, UserRequest};

/// What somebody in the data folder asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "camelCase", deny_unknown_fields)]
pub enum ControlRequest {
    Kill {
        scope: String,
        reason: Option<String>,
    },
    Status,
    Users {
        request: UserRequest,
    },
    /// The leader of a cluster stops in order.
    HandOver,
    /// The file of FIX sessions is read again.
    FixReload,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "camelCase")]
pub enum ControlReply {
    /// The kill is durable; so many cancels are on their way.
    Killed {
        scope: String,
        cancels: usize,
        sequence: u64,
    },
    Status(Status),
    Users(UserReply),
    /// The stop has begun.
    HandsOver,
    FixReloaded(FixReloaded),
    Refused {
        detail: String,
    },
}

/// FIX sessions, by the client's CompID.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixReloaded {
    pub added: Vec<String>,
    pub changed: Vec<String>,
    pub removed: Vec<String>,
    pub unchanged: Vec<String>,
    pub warnings: Vec<String>,
}

impl From<FixSessionChanges> for FixReloaded {
    fn from(changes: FixSessionChanges) -> Self {
        let FixSessionChanges { added, changed, removed, unchanged, warnings } = changes;
        Self { added, changed, removed, unchanged, warnings }
    }
}

/// As people read it.
impl std::fmt::Display for FixReloaded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lists = [
            ("added", &self.added),
            ("changed", &self.changed),
            ("removed", &self.removed),
            ("unchanged", &self.unchanged),
        ];
        for (what, names) in lists {
            writeln!(f, "{what}: {}", if names.is_empty() { "none".to_owned() } else { names.join(", ") })?;
        }
        self.warnings.iter().try_for_each(|warning| writeln!(f, "note: {warning}"))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    pub version: String,
    pub ready: bool,
    pub checks: Vec<Checked>,
    /// Trading states that are set; none where the engine gave no answer.
    pub states: Option<Vec<Stated>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    pub name: String,
    pub ok: bool,
    pub detail: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stated {
    pub scope: String,
    pub state: String,
}

impl From<HealthCheck> for Checked {
    fn from(check: HealthCheck) -> Self {
        Self { name: check.name, ok: check.ok, detail: check.detail }
    }
}

impl Stated {
    pub fn of(scope: RiskScope, state: TradingState) -> Self {
        Self { scope: scope.to_string(), state: state.name().to_owned() }
    }
}

/// As people read it.
impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "rialto {}, {}", self.version, if self.ready { "ready" } else { "not ready" })?;
        for Checked { name, ok, detail } in &self.checks {
            writeln!(f, "  {} {name}: {detail}", if *ok { "ok     " } else { "FAILED " })?;
        }
        match &self.states {
            Some(states) => states.iter().try_for_each(|stated| writeln!(f, "  {} {}", stated.scope, stated.state)),
            None => writeln!(f, "  trading states: the engine gave no answer"),
        }
    }
}
