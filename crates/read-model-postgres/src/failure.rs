//! Errors of a database as one line: what PostgreSQL says, or what the network says.

use std::error::Error;

/// What an operation met.
#[derive(Debug)]
pub(crate) enum DatabaseFailure {
    /// The database does not answer, or does not do what it is told.
    Refused(String),
    /// A row is not what was written.
    DamagedRow(String),
    /// What is read is complete up to this sequence only.
    Behind(u64),
}

impl DatabaseFailure {
    pub(crate) fn text(self) -> String {
        match self {
            Self::Refused(reason) | Self::DamagedRow(reason) => reason,
            Self::Behind(applied) => format!("it is at {applied}"),
        }
    }
}

impl From<tokio_postgres::Error> for DatabaseFailure {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Refused(line(&error))
    }
}

/// The library's own text is the first link of a chain, and says little.
fn line(error: &tokio_postgres::Error) -> String {
    if let Some(reason) = error.as_db_error() {
        return format!("{} (SQLSTATE {})", reason.message(), reason.code().code());
    }
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}
