//! Error of a price file: file, line, column, reason.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidPriceData {
    pub file: String,
    /// Absent where it is the file as a whole.
    pub line: Option<u64>,
    pub column: Option<String>,
    pub reason: String,
}

impl fmt::Display for InvalidPriceData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, " line {line}")?;
        }
        if let Some(column) = &self.column {
            write!(f, ", column {column}")?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl std::error::Error for InvalidPriceData {}
