//! A violation of a rule, with file and line.

use std::fmt;

/// One violation of one rule, with file and line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    pub path: String,
    /// Counted from 1; a violation of a whole file is at its first line.
    pub line: usize,
    pub what: String,
}

impl Violation {
    pub(crate) fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// All violations as lines of text, sorted by file; empty when the rule is kept.
pub fn report(mut violations: Vec<Violation>) -> String {
    violations.sort();
    let lines: Vec<String> = violations.iter().map(Violation::to_string).collect();
    lines.join("\n")
}
