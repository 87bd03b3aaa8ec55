//! Errors of a settings file.

use std::fmt;

/// An error, and its line in the file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SettingsError {
    pub line: usize,
    pub reason: String,
}

impl SettingsError {
    pub(super) fn new(line: usize, reason: String) -> Self {
        Self { line, reason }
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for SettingsError {}
