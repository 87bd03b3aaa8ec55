//! Operations of the server, one trait for each thing that an edge may need: the state of the journal, readiness, the
//! program, bars, FIX sessions, strategies.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use domain::report::SessionState;
use domain::{Bar, BarSize, Refusal, SecurityId, Timestamp};

use crate::cluster_overview::ClusterOverview;

/// One line of `/health/ready`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthCheck {
    /// What is checked.
    pub name: String,
    /// Whether it is well.
    pub ok: bool,
    /// For the operator.
    pub detail: String,
}

/// Addresses of the broker for clients; a disabled listener has no port.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BrokerEndpoints {
    /// STOMP over TCP.
    pub tcp_port: Option<u16>,
    /// STOMP over WebSocket.
    pub ws_port: Option<u16>,
    /// Replaces the host name that the client used.
    pub public_host: Option<String>,
}

/// Why reference data was not applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReferenceError {
    /// Errors in the files, one line each; nothing was changed.
    Files(Vec<String>),
    /// The engine refused a part; the parts before it were applied.
    Refused(Refusal),
    /// The engine stopped; the parts before it were applied.
    Unanswered,
}

/// A line of the program's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// When it was written.
    pub at: Timestamp,
    /// `ERROR`, `WARN`, `INFO`, `DEBUG` or `TRACE`.
    pub level: &'static str,
    /// The part of the program that wrote it.
    pub logger: String,
    /// The text, with its fields.
    pub message: String,
    /// The error behind it, as text.
    pub error: Option<String>,
}

/// A session of the FIX gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixSessionStatus {
    /// The client's CompID.
    pub id: String,
    /// As we send it.
    pub sender_comp_id: String,
    /// The client's, as we send it.
    pub target_comp_id: String,
    /// Whether it is connected and logged on.
    pub state: SessionState,
    /// Address of the client while it is connected.
    pub peer: Option<IpAddr>,
    /// MsgSeqNum of the next inbound message.
    pub next_in: u64,
    /// MsgSeqNum of the next outbound message.
    pub next_out: u64,
    /// When the last message came.
    pub last_received: Option<Timestamp>,
    /// When the last message was sent.
    pub last_sent: Option<Timestamp>,
    /// When the sequence numbers are reset by the schedule; none: never.
    pub next_reset: Option<Timestamp>,
    /// Why the last connection ended.
    pub disconnect_reason: Option<String>,
}

impl FixSessionStatus {
    /// Whether the client is logged on.
    pub fn is_logged_on(&self) -> bool {
        self.state == SessionState::LoggedOn
    }
}

/// Operator actions on a session of the FIX gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixSessionCommand {
    /// Ends the session in order.
    Logout,
    /// Both sequence numbers are set to 1.
    ResetSeqNums,
    /// Sets the numbers that are given.
    SetSeqNums {
        /// MsgSeqNum of the next inbound message.
        next_in: Option<u64>,
        /// MsgSeqNum of the next outbound message.
        next_out: Option<u64>,
    },
}

/// Why an operator action on a session had no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FixSessionError {
    /// The FIX gateway has no session of that name.
    UnknownSession,
    /// Sequence numbers cannot be set while the client is connected.
    Connected,
    /// The session accepts no more requests.
    Busy,
    /// The sequence numbers were not stored, for this reason, and are those of before.
    NotStored(String),
}

/// What a new reading of the session file changed at the FIX gateway. Sessions are named by the client's CompID.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FixSessionChanges {
    /// New ones, whose clients may log on from now on.
    pub added: Vec<String>,
    /// Those with other settings; their clients were logged out and keep their numbers.
    pub changed: Vec<String>,
    /// Those that are no longer in the file; their clients were logged out and are refused.
    pub removed: Vec<String>,
    /// Those that did not notice.
    pub unchanged: Vec<String>,
    /// Settings that have no effect, and names that mean nothing.
    pub warnings: Vec<String>,
}

impl FixSessionChanges {
    /// In one line, for an audit.
    pub fn summary(&self) -> String {
        let list = |what: &str, names: &[String]| {
            if names.is_empty() { String::new() } else { format!("{what} {}, ", names.join(" ")) }
        };
        let differing = [("added", &self.added), ("changed", &self.changed), ("removed", &self.removed)];
        let text: String = differing.iter().map(|(what, names)| list(what, names)).collect();
        format!("{text}{} unchanged", self.unchanged.len())
    }
}

/// Why the session file was not taken over. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FixReloadError {
    /// The problems of the file, each with its line and setting where it has one.
    Refused(Vec<String>),
    /// The gateway has not started, or stops.
    Busy,
}

/// Why a strategy was not started or stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StrategyError {
    /// This program contains no code for it.
    NotRunnable,
    /// It runs already.
    AlreadyRunning,
    /// It does not run.
    NotRunning,
    /// What failed.
    Failed(String),
}

/// How far the journal is.
pub trait JournalStatus: Send + Sync {
    /// The sequence up to which everything is durable, including everything acknowledged before this call.
    fn durable(&self) -> u64;

    /// Whether the journal's disk has not answered for too long: nothing is acknowledged meanwhile.
    fn is_stalled(&self) -> bool {
        false
    }
}

/// Who a server of a cluster is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClusterRole {
    /// It takes commands and trades.
    Leader,
    /// It applies what the leader journals, and answers questions.
    Follower,
}

impl ClusterRole {
    /// As it is shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Leader => "leader",
            Self::Follower => "follower",
        }
    }
}

/// A server of a cluster, as it sees itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterView {
    /// Its name.
    pub member: String,
    /// Its role.
    pub role: ClusterRole,
    /// Whether it may lead.
    pub is_eligible: bool,
    /// The epoch that it knows.
    pub epoch: u64,
    /// Where the leader is reached; none where none is known.
    pub leader: Option<String>,
    /// For how long a follower has not been at the end of the log; none where it never was. Nothing of a leader.
    pub lag: Option<Duration>,
    /// The last entry of the log that it has read, or as a leader appended.
    pub entry: u64,
    /// Whether it may send to venues now.
    pub has_lease: bool,
    /// Why it cannot do its part; none where all is well.
    pub problem: Option<String>,
    /// Why it would not lead if the leader were gone; none where it would, and of a leader.
    pub may_not_lead: Option<String>,
    /// What is not known of the servers of the replicated log; it does not stop the member.
    pub log_warning: Option<String>,
    /// Changes of the lead that it has seen since it started.
    pub leads_seen: u64,
    /// So many followers must have a record on disk before this member, as a leader, acknowledges it.
    pub standbys_required: usize,
    /// Followers that a leader has heard of lately.
    pub standbys: usize,
    /// Records that wait for standbys alone.
    pub records_waiting: u64,
}

/// Readiness of the server.
pub trait HealthChecks: Send + Sync {
    /// All readiness checks.
    fn checks(&self) -> Vec<HealthCheck>;

    /// The cluster; none where the server is alone.
    fn cluster(&self) -> Option<ClusterView> {
        None
    }

    /// All members of the cluster, as this one knows them; none where the server is alone.
    fn cluster_overview(&self) -> Option<ClusterOverview> {
        None
    }
}

/// What an operator may do with the program around the engine.
pub trait ServerAdmin: Send + Sync {
    /// Every effective parameter, secrets as `***`.
    fn parameters(&self) -> BTreeMap<String, String>;

    /// Begins an orderly stop.
    fn shutdown(&self);

    /// Reads reference data, from this folder or from the configured one, and sends the differences to the engine;
    /// returns their number. Blocks.
    fn load_reference(&self, folder: Option<&Path>) -> Result<usize, ReferenceError>;

    /// Appends the server's own metrics in Prometheus format, without an end mark. Blocks.
    fn write_metrics(&self, text: &mut String);

    /// The newest lines of the log, as many as are kept, oldest first, each with its number. Numbers rise from line to
    /// line, also over a restart, and stay below 2^53.
    fn log_lines(&self) -> Vec<(u64, LogLine)>;
}

/// Bars that outlive a restart.
pub trait BarStore: Send + Sync {
    /// The newest bars that were stored as they closed, oldest first, also of earlier starts. Blocks.
    fn newest_bars(&self, security: SecurityId, size: BarSize, count: usize) -> Vec<Bar>;

    /// Whether only the leader of the cluster has all bars: a follower gets prices while a client wants them, and makes no bars of a part.
    fn are_of_leader(&self) -> bool {
        false
    }
}

/// What an operator may do with the sessions of the FIX gateway.
pub trait FixSessionAdmin: Send + Sync {
    /// All sessions.
    fn sessions(&self) -> Vec<FixSessionStatus>;

    /// Blocks until it is done.
    fn command(&self, id: &str, act: FixSessionCommand) -> Result<(), FixSessionError>;

    /// Reads the session file again: sessions are added, changed and removed, and those that are the same are not disturbed. Blocks
    /// until it is done.
    fn reload(&self) -> Result<FixSessionChanges, FixReloadError>;
}

/// What an operator may do with the strategies that this server runs.
pub trait StrategyAdmin: Send + Sync {
    /// Starts a strategy and moves it through its phases to RUN. Blocks.
    fn start(&self, name: &str) -> Result<(), StrategyError>;

    /// Stops a strategy through EXIT. Blocks.
    fn stop(&self, name: &str) -> Result<(), StrategyError>;
}
