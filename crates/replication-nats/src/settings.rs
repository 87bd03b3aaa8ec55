//! Settings of a log on JetStream, and why a log cannot be opened.

use std::fmt;
use std::path::PathBuf;
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
    /// As whom the member connects; none where the servers ask nobody.
    pub login: Option<NatsLogin>,
    /// None without TLS.
    pub tls: Option<NatsTls>,
    pub answer_wait: Duration,
    pub open_wait: Duration,
}

/// A user of the NATS servers.
#[derive(Clone, PartialEq, Eq)]
pub struct NatsLogin {
    pub user: String,
    pub password: String,
}

/// The password is never shown.
impl fmt::Debug for NatsLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsLogin").field("user", &self.user).finish_non_exhaustive()
    }
}

/// Every connection to the NATS servers is encrypted, and their certificates are checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NatsTls {
    /// Who has signed the servers' certificates; none where the operating system trusts them.
    pub ca_file: Option<PathBuf>,
    /// The member's own certificate and key, where the servers ask for one.
    pub own: Option<(PathBuf, PathBuf)>,
}

impl JetStreamSettings {
    pub fn new(servers: Vec<String>, monitors: Vec<String>, stream: &str) -> Self {
        let stream = stream.to_owned();
        Self { servers, monitors, stream, login: None, tls: None, answer_wait: ANSWER_WAIT, open_wait: OPEN_WAIT }
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
