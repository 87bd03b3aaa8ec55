//! What is wrong with a dialect file: the field, its line, and why.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DialectProblem {
    pub line: usize,
    /// With dots between tables; empty where the file is no TOML.
    pub field: String,
    pub reason: String,
}

impl fmt::Display for DialectProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.field.is_empty() { "" } else { ": " };
        write!(f, "line {}: {}{separator}{}", self.line, self.field, self.reason)
    }
}

/// All problems of a file, in the order of its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialectError(pub Vec<DialectProblem>);

impl fmt::Display for DialectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for DialectError {}

/// Collects problems of a text.
pub(super) struct Problems<'a> {
    text: &'a str,
    found: Vec<DialectProblem>,
}

impl<'a> Problems<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, found: Vec::new() }
    }

    pub(super) fn add(&mut self, offset: usize, field: &str, reason: impl Into<String>) {
        let line = self.text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1;
        self.found.push(DialectProblem { line, field: field.to_owned(), reason: reason.into() });
    }

    pub(super) fn into_result<T>(mut self, value: Option<T>) -> Result<T, DialectError> {
        self.found.sort();
        match value {
            Some(value) if self.found.is_empty() => Ok(value),
            _ => Err(DialectError(self.found)),
        }
    }
}
