//! Strategy host interface: open, start, stop, close.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use bus::Bus;
use crossbeam_channel::{Sender, bounded};
use domain::{ReferenceData, StrategyId, Text};
use storage::BarFiles;
use strategy::StrategyRegistry;
use strategy::registry::BuildError;

use super::protocol::Resume;
use super::remote::AttachedStrategy;
use super::supervisor::{AttachRequest, HostRequest, StrategySupervisor};
use crate::live::EngineClock;

/// Starts and stops that may wait for the supervisor; one more is refused.
const HOST_REQUESTS_MAX: usize = 64;

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

/// All strategies of this server.
pub struct StrategyHost {
    requests: Sender<HostRequest>,
    supervisor: JoinHandle<()>,
}

/// A handle by which strategies are started and stopped.
#[derive(Clone)]
pub struct HostHandle(Sender<HostRequest>);

impl StrategyHost {
    /// Checks every instance, so that a misspelt parameter stops the start and not the trading day.
    pub fn check(
        instances: &[StrategyConfig],
        registry: &StrategyRegistry,
        reference: &ReferenceData,
    ) -> Vec<(Text, BuildError)> {
        let build =
            |instance: &StrategyConfig| registry.build(&instance.strategy, &instance.parameters, reference).err();
        let faulty = |instance: &StrategyConfig| build(instance).map(|problem| (instance.name.clone(), problem));
        instances.iter().filter_map(faulty).collect()
    }

    pub fn open(
        bus: Bus,
        clock: EngineClock,
        registry: StrategyRegistry,
        settings: HostSettings,
    ) -> std::io::Result<Self> {
        let (wanted, asked) = bounded(HOST_REQUESTS_MAX);
        let manager = StrategySupervisor::new(bus, clock, Arc::new(registry), settings, asked)?;
        let manager = std::thread::Builder::new().name("strategies".into()).spawn(move || manager.run())?;
        Ok(Self { requests: wanted, supervisor: manager })
    }

    pub fn handle(&self) -> HostHandle {
        HostHandle(self.requests.clone())
    }

    /// Starts, phase by phase, every strategy that activates itself; a failing one does not hold the others up. Blocks.
    pub fn start_all(&self) {
        let (done, finished) = bounded(1);
        if self.requests.send(HostRequest::StartAll(done)).is_ok() {
            // A supervisor that failed has logged why.
            let _ = finished.recv();
        }
    }

    /// EXIT for all.
    pub fn close(self) {
        let _ = self.requests.send(HostRequest::Close);
        drop(self.supervisor.join());
    }
}

impl HostHandle {
    /// Through all phases up to RUN. Blocks.
    pub fn start(&self, name: &str) -> Result<(), HostError> {
        self.request(|done| HostRequest::Start(name.to_owned(), done))
    }

    /// EXIT. Blocks.
    pub fn stop(&self, name: &str) -> Result<(), HostError> {
        self.request(|done| HostRequest::Stop(name.to_owned(), done))
    }

    /// A strategy process has connected; its phases follow in its queue. Blocks.
    pub fn attach(&self, name: &str, resume: Option<Resume>, takes_over: bool) -> Result<AttachedStrategy, HostError> {
        self.request(|done| {
            HostRequest::Attach(AttachRequest { name: name.to_owned(), resume, is_takeover: takes_over }, done)
        })
    }

    /// Tells a strategy again what came after that sequence; [`StrategyDelivery::Replay`](super::Delivery::Replay) marks where it
    /// begins.
    pub fn replay(&self, strategy: StrategyId, heard: u64) {
        // A host that has stopped replays nothing.
        let _ = self.0.send(HostRequest::Replay(strategy, heard));
    }

    fn request<T>(&self, wanted: impl FnOnce(Sender<Result<T, HostError>>) -> HostRequest) -> Result<T, HostError> {
        let (done, finished) = bounded(1);
        self.0.try_send(wanted(done)).map_err(|_| HostError::Unavailable)?;
        finished.recv().unwrap_or(Err(HostError::Unavailable))
    }
}
