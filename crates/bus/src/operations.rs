//! What the program around the engine can do for an edge.

use std::collections::BTreeMap;

/// One line of `/health/ready`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    pub name: String,
    pub ok: bool,
    pub detail: String,
}

pub trait Operations: Send + Sync {
    /// Every check that readiness stands on.
    fn checks(&self) -> Vec<Check>;

    /// Every effective parameter, secrets as `***`.
    fn parameters(&self) -> BTreeMap<String, String>;

    /// Begin an orderly stop.
    fn shut_down(&self);
}
