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

/// Where the NATS servers are, and as whom a client connects to them.
#[derive(Debug, Clone)]
pub struct NatsSettings {
    /// Addresses of the servers, as `host:port`.
    pub servers: Vec<String>,
    /// None where the servers ask nobody.
    pub login: Option<NatsLogin>,
    /// None without TLS.
    pub tls: Option<NatsTls>,
    pub open_wait: Duration,
}

impl NatsSettings {
    pub fn new(servers: Vec<String>) -> Self {
        Self { servers, login: None, tls: None, open_wait: OPEN_WAIT }
    }
}

/// A user of the NATS servers, and what proves it.
#[derive(Clone, PartialEq, Eq)]
pub enum NatsLogin {
    Password {
        user: String,
        password: String,
    },
    /// The text of a credentials file: a JWT and the seed of its key.
    Credentials(String),
    /// The seed of a key; the servers know its public half.
    NkeySeed(String),
}

impl NatsLogin {
    /// What a credentials file has: a JWT with its seed, or the seed of a key alone, in the first line that is no comment.
    pub fn from_credentials(text: &str) -> Result<Self, &'static str> {
        if text.contains(JWT_HEADER) {
            return Ok(Self::Credentials(text.to_owned()));
        }
        let is_seed =
            |line: &&str| line.starts_with(USER_SEED) && line.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let seed = text.lines().map(str::trim).find(is_seed);
        seed.map(|seed| Self::NkeySeed(seed.to_owned()))
            .ok_or("it has neither a JWT of a user nor the seed of a user's key")
    }
}

/// Begins the JWT in a credentials file.
const JWT_HEADER: &str = "-----BEGIN NATS USER JWT-----";
/// What every seed of a user's key begins with.
const USER_SEED: &str = "SU";

/// Nothing secret is ever shown.
impl fmt::Debug for NatsLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Password { user, .. } => f.debug_struct("Password").field("user", user).finish_non_exhaustive(),
            Self::Credentials(_) => f.write_str("Credentials"),
            Self::NkeySeed(_) => f.write_str("NkeySeed"),
        }
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

    /// Of these servers, for messages beside the log.
    pub fn connection(&self) -> NatsSettings {
        let Self { servers, login, tls, open_wait, .. } = self.clone();
        NatsSettings { servers, login, tls, open_wait }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credentials_file_has_a_jwt_or_a_seed_and_neither_is_shown() {
        let jwt = "-----BEGIN NATS USER JWT-----\nabc\n------END NATS USER JWT------\n";
        assert_eq!(NatsLogin::from_credentials(jwt), Ok(NatsLogin::Credentials(jwt.to_owned())));
        let seed = NatsLogin::from_credentials("# the desk\n  SUABC234\n").unwrap();
        assert_eq!(seed, NatsLogin::NkeySeed("SUABC234".to_owned()));
        assert_eq!(format!("{seed:?} {:?}", NatsLogin::from_credentials(jwt).unwrap()), "NkeySeed Credentials");
        for bad in ["", "UABC", "SU-not-a-key"] {
            assert!(NatsLogin::from_credentials(bad).is_err(), "{bad}");
        }
    }
}
