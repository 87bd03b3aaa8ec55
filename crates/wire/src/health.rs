//! Health and readiness of the server.

use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct HealthVO<'a> {
    status: &'static str,
    checks: Vec<CheckVO<'a>>,
}

/// One check of readiness.
#[derive(Debug, Serialize)]
pub struct CheckVO<'a> {
    pub name: &'a str,
    pub ok: bool,
    pub detail: &'a str,
}

impl<'a> HealthVO<'a> {
    pub fn new(checks: Vec<CheckVO<'a>>) -> Self {
        let status = if checks.iter().all(|check| check.ok) { "UP" } else { "DOWN" };
        Self { status, checks }
    }

    pub fn is_up(&self) -> bool {
        self.checks.iter().all(|check| check.ok)
    }
}
