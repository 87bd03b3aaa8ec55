//! Settings of the strategy host, and why it refuses a request.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use domain::Text;
use storage::BarFiles;
use strategy::registry::BuildError;

/// A configured strategy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrategyConfig {
    /// The name of the strategy that owns its orders.
    pub name: Text,
    /// Which of the registered strategies it is.
    pub strategy: String,
    /// Its parameters, as configured.
    pub parameters: BTreeMap<String, String>,
}

/// What happens to the open orders of a strategy that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    Cancel,
    Keep,
}

#[derive(Debug, Clone)]
pub struct HostSettings {
    pub instances: Vec<StrategyConfig>,
    /// A callback that has not returned for this long is a hang.
    pub hang_after: Duration,
    /// Grace period of a strategy that a crash left in a phase; none where no process is allowed.
    pub reconnect_timeout: Duration,
    pub on_failure: OnFailure,
    /// At the risk gate, for a strategy without limits of its own.
    pub orders_per_second: u32,
    /// Whether all deliveries to strategies are journalled, so that they can be replayed.
    pub logs_deliveries: bool,
    /// Bars of earlier days, for PREFEED.
    pub bars: Arc<BarFiles>,
}

/// Why a strategy was not started or stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostError {
    /// No instance of that name is configured.
    NotConfigured,
    AlreadyRunning,
    /// Another process runs it and is alive.
    RunsInOtherProcess,
    NotRunning,
    BuildFailed(BuildError),
    /// It failed in a phase, or the engine refused a command.
    Failed(String),
    /// The host is busy or the server stops.
    Unavailable,
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotConfigured => write!(f, "no code of it runs in this server"),
            Self::AlreadyRunning => write!(f, "it runs already"),
            Self::RunsInOtherProcess => {
                write!(f, "another process runs it and is well; stop that one, or take its place with --take-over")
            }
            Self::NotRunning => write!(f, "it does not run"),
            Self::BuildFailed(reason) => reason.fmt(f),
            Self::Failed(reason) => f.write_str(reason),
            Self::Unavailable => write!(f, "the strategy host takes nothing now; try again"),
        }
    }
}
