//! Why the program ends, as a text for people and a number for scripts.

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use access::AccessError;
use storage::StorageError;

use crate::input_problem::Problems;

/// The exit codes. The help text lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Something failed while working: a disk, a port.
    Failed = 1,
    /// What was asked can't be: flags, configuration, reference data.
    Refused = 2,
    /// Another server uses the data folder.
    InUse = 3,
    /// The bytes on disk are not what was written, or some of them are missing.
    Damaged = 4,
    /// A session that was replayed came out otherwise, or a follower's state differs from the leader's.
    Differs = 5,
    /// Another server of the cluster leads: nothing more is acknowledged here.
    Fenced = 6,
    /// A second signal, before the orderly stop was over.
    Forced = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

#[derive(Debug)]
pub struct ExitFailure {
    pub exit: Exit,
    text: String,
}

impl ExitFailure {
    pub fn new(exit: Exit, text: impl Into<String>) -> Self {
        Self { exit, text: text.into() }
    }

    pub fn configuration(problems: &Problems) -> Self {
        Self::with_problems("the configuration can't be used", problems)
    }

    pub fn reference(problems: &Problems) -> Self {
        Self::with_problems("the reference data can't be used", problems)
    }

    fn with_problems(heading: &str, problems: &Problems) -> Self {
        let lines = problems.to_string().replace('\n', "\n  ");
        Self::new(Exit::Refused, format!("{heading}:\n  {lines}"))
    }

    pub fn io(doing: &str, path: &Path, error: &std::io::Error) -> Self {
        Self::new(Exit::Failed, format!("cannot {doing} {}: {error}", path.display()))
    }
}

impl From<StorageError> for ExitFailure {
    fn from(error: StorageError) -> Self {
        let exit = match error {
            StorageError::Locked { .. } => Exit::InUse,
            StorageError::Damaged(_) | StorageError::Lost(_) => Exit::Damaged,
            StorageError::Setting { .. } | StorageError::Pruned { .. } => Exit::Refused,
            StorageError::Io { .. } | StorageError::Sqlite { .. } | StorageError::Failed { .. } => Exit::Failed,
        };
        Self::new(exit, error.to_string())
    }
}

impl From<AccessError> for ExitFailure {
    fn from(error: AccessError) -> Self {
        let exit = match error {
            AccessError::Damaged { .. } => Exit::Damaged,
            AccessError::Newer { .. } => Exit::Refused,
            AccessError::Io { .. } | AccessError::Sqlite { .. } | AccessError::System(_) => Exit::Failed,
        };
        Self::new(exit, error.to_string())
    }
}

impl fmt::Display for ExitFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for ExitFailure {}
