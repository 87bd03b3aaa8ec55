//! Errors of the access file.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub enum AccessError {
    /// The system refused an operation.
    Io { doing: &'static str, path: PathBuf, error: io::Error },
    /// SQLite refused an operation.
    Sqlite { doing: &'static str, path: PathBuf, error: rusqlite::Error },
    /// The file was written by a newer program.
    Newer { path: PathBuf, version: usize, known: usize },
    /// The file holds what this program never writes.
    Damaged { path: PathBuf, reason: String },
    /// No random bytes, or no memory for a hash.
    System(String),
}

impl AccessError {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io { doing, path: path.to_owned(), error }
    }

    pub(crate) fn sqlite(doing: &'static str, path: &Path) -> impl FnOnce(rusqlite::Error) -> Self {
        move |error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase) => {
                Self::Damaged { path: path.to_owned(), reason: error.to_string() }
            }
            _ => Self::Sqlite { doing, path: path.to_owned(), error },
        }
    }

    pub(crate) fn system(error: impl fmt::Display) -> Self {
        Self::System(error.to_string())
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { doing, path, error } => write!(f, "cannot {doing} {}: {error}", path.display()),
            Self::Sqlite { doing, path, error } => write!(f, "cannot {doing} {}: {error}", path.display()),
            Self::Newer { path, version, known } => {
                let path = path.display();
                write!(f, "{path} has version {version}; this program knows versions up to {known}")
            }
            Self::Damaged { path, reason } => write!(f, "{} is damaged: {reason}", path.display()),
            Self::System(reason) => write!(f, "the system did not help: {reason}"),
        }
    }
}

impl std::error::Error for AccessError {}
