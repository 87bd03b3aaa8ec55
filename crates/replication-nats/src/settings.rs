//! Settings of a log on JetStream, and why a log cannot be opened.

use std::fmt;
use std::time::Duration;

/// For how long an append waits for its answer. Then its outcome is unknown.
const ANSWER_WAIT: Duration = Duration::from_secs(2);
/// For how long the start waits for a connection, and for each answer about servers and streams.
const OPEN_WAIT: Duration = Duration::from_secs(10);
/// A repeated entry is recognised for so long.
pub(crate) const DUPLICATE_WINDOW: Duration = Duration::from_secs(120);
/// Copies of the stream.
pub(crate) const REPLICAS: u64 = 3;

#[derive(Debug, Clone)]
pub struct JetStreamSettings {
    /// Addresses of the servers, as `host:port`.
    pub servers: Vec<String>,
    /// Monitoring addresses of all servers that hold the stream, as `host:port`. They tell whether a server syncs every write.
    pub monitors: Vec<String>,
    /// The name of the stream, and of its only subject: letters, digits and `-`.
    pub stream: String,
    pub answer_wait: Duration,
    pub open_wait: Duration,
}

impl JetStreamSettings {
    pub fn new(servers: Vec<String>, monitors: Vec<String>, stream: &str) -> Self {
        Self { servers, monitors, stream: stream.to_owned(), answer_wait: ANSWER_WAIT, open_wait: OPEN_WAIT }
    }

    pub(crate) fn check(&self) -> Result<(), LogOpenError> {
        let is_fit = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        if self.stream.is_empty() || !self.stream.chars().all(is_fit) {
            return Err(refused("stream", format!("'{}' must be letters, digits and -", self.stream)));
        }
        if self.servers.is_empty() || self.monitors.is_empty() {
            return Err(refused("servers", "there must be addresses of servers and of their monitoring".to_owned()));
        }
        Ok(())
    }
}

/// Why a log was not opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogOpenError {
    /// A setting here, of a server or of the stream would break a promise.
    Refused { setting: &'static str, reason: String },
    /// A server does not answer.
    Unavailable { reason: String },
}

pub(crate) fn refused(setting: &'static str, reason: String) -> LogOpenError {
    LogOpenError::Refused { setting, reason }
}

pub(crate) fn unavailable(reason: impl ToString) -> LogOpenError {
    LogOpenError::Unavailable { reason: reason.to_string() }
}

impl fmt::Display for LogOpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { setting, reason } => write!(f, "{setting}: {reason}"),
            Self::Unavailable { reason } => write!(f, "the replicated log cannot be opened now: {reason}"),
        }
    }
}

impl std::error::Error for LogOpenError {}
