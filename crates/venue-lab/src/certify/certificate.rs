//! What is asked of a certificate, and what it says.

use std::path::PathBuf;
use std::time::Duration;

/// What is asked for.
#[derive(Debug, Clone)]
pub struct CertifyRequest {
    /// A command line for the shell.
    pub client: String,
    /// Names of the catalogue; empty means all.
    pub faults: Vec<String>,
    pub seed: u64,
    /// A client that takes longer under one fault is ended.
    pub timeout: Duration,
    /// Where the reports and the files of each fault are written.
    pub folder: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    Failed,
    NotShown,
}

impl Verdict {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotShown => "not shown",
        }
    }
}

/// What came out under one fault.
#[derive(Debug)]
pub(crate) struct FaultResult {
    pub(crate) fault: String,
    pub(crate) verdict: Verdict,
    /// The first difference, or why the fault was not shown.
    pub(crate) reason: String,
    pub(crate) injected: usize,
}

/// Counts of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Certificate {
    pub passed: usize,
    pub failed: usize,
    pub not_shown: usize,
}

impl std::fmt::Display for Certificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passed, {} failed, {} not shown", self.passed, self.failed, self.not_shown)
    }
}
