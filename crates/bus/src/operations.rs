//! What the program around the engine can do for an edge.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;

use domain::report::SessionState;
use domain::{Bar, BarSize, Refusal, SecurityId, Timestamp};

/// One line of `/health/ready`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    pub name: String,
    pub ok: bool,
    pub detail: String,
}

/// Where clients find the broker; a door that is off has no port.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BrokerDoors {
    pub tcp_port: Option<u16>,
    pub ws_port: Option<u16>,
    /// Stands in place of the host name by which a client called.
    pub public_host: Option<String>,
}

/// Why reference data was not taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReferenceTrouble {
    /// What is wrong in the files, a line each; nothing was changed.
    Files(Vec<String>),
    /// The engine did not want a part of it; parts before it are in.
    Refused(Refusal),
    /// The engine took no more; parts before it are in.
    Unanswered,
}

/// A line of the program's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    pub at: Timestamp,
    pub level: &'static str,
    pub logger: String,
    pub message: String,
    /// What went wrong below, in its own words.
    pub error: Option<String>,
}

/// A session of the FIX door.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixSession {
    /// The client's CompID.
    pub id: String,
    /// As we send them.
    pub sender_comp_id: String,
    pub target_comp_id: String,
    pub state: SessionState,
    /// Where the client calls from, while it does.
    pub peer: Option<IpAddr>,
    /// Of the next message that the client sends, and that we send.
    pub next_in: u64,
    pub next_out: u64,
    pub last_received: Option<Timestamp>,
    pub last_sent: Option<Timestamp>,
    /// When the numbers begin at 1 again by themselves; none: never.
    pub next_reset: Option<Timestamp>,
    /// Why the last connection ended.
    pub ended: Option<String>,
}

impl FixSession {
    pub fn is_logged_on(&self) -> bool {
        self.state == SessionState::LoggedOn
    }
}

/// What an operator can do to a session of the FIX door.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixAct {
    Logout,
    /// Both numbers begin at 1 again.
    Reset,
    Number {
        next_in: Option<u64>,
        next_out: Option<u64>,
    },
}

/// Why an operator's act on a session had no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixTrouble {
    /// The FIX door has no session of that name.
    Unknown,
    /// Numbers can't be set while the client is connected.
    Connected,
    /// The session takes no more requests.
    Busy,
}

/// Why a strategy was not started or stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StrategyTrouble {
    /// No code of it is part of this program.
    NotRunnable,
    RunsAlready,
    DoesNotRun,
    /// What went wrong, in words.
    Failed(String),
}

pub trait Operations: Send + Sync {
    /// Every check that readiness stands on.
    fn checks(&self) -> Vec<Check>;

    /// Every effective parameter, secrets as `***`.
    fn parameters(&self) -> BTreeMap<String, String>;

    /// Begin an orderly stop.
    fn shut_down(&self);

    /// The sequence up to which everything is durable: whatever was acknowledged before this call is in it.
    fn durable(&self) -> u64;

    fn broker(&self) -> BrokerDoors;

    /// Reads reference data, from this folder or from where the configuration says, and tells the engine what differs;
    /// says how many differences there were. Blocks.
    fn read_reference(&self, folder: Option<&Path>) -> Result<usize, ReferenceTrouble>;

    /// Appends the program's own numbers, as Prometheus reads them, without an end mark. Blocks.
    fn write_metrics(&self, text: &mut String);

    /// The newest lines of the log, as many as are kept, oldest first, each with its number. Numbers rise from line to
    /// line, also over a restart, and stay below 2^53.
    fn log_lines(&self) -> Vec<(u64, LogLine)>;

    /// The newest bars that were stored as they closed, oldest first, also of earlier starts. Blocks.
    fn stored_bars(&self, security: SecurityId, size: BarSize, count: usize) -> Vec<Bar>;

    /// The sessions of the FIX door; none while it is closed.
    fn fix_sessions(&self) -> Vec<FixSession>;

    /// Blocks until it is done.
    fn act_on_fix_session(&self, id: &str, act: FixAct) -> Result<(), FixTrouble>;

    /// Leads a strategy through its phases up to RUN. Blocks.
    fn start_strategy(&self, name: &str) -> Result<(), StrategyTrouble>;

    /// Lets a strategy leave by EXIT. Blocks.
    fn stop_strategy(&self, name: &str) -> Result<(), StrategyTrouble>;
}
