//! Health and readiness of the server.

use crate::value_object::value_object;

value_object! {
    /// UP where every check is passed.
    pub struct HealthVO<'a> ("Health", golden) {
        status: &'static str [OneOf(&["UP", "DOWN"])],
        checks: Vec<CheckVO<'a>>,
    }
}

value_object! {
    /// One check of readiness.
    pub struct CheckVO<'a> ("Check") {
        name: &'a str,
        ok: bool,
        detail: &'a str,
    }
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
