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
use strategy::Registry;
use strategy::registry::Unbuildable;

use super::manager::{Arrival, Manager, Wanted};
use super::protocol::Resume;
use super::remote::Attached;
use crate::live::Clock;

/// Starts and stops that may wait for the supervisor; one more is refused.
const WANTED_MAX: usize = 64;

/// A configured strategy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// The name of the strategy that owns its orders.
    pub name: Text,
    /// Which of the registered strategies it is.
    pub of: String,
    /// Its parameters, as configured.
    pub written: BTreeMap<String, String>,
}

/// What happens to the open orders of a strategy that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    Cancel,
    Keep,
}

#[derive(Debug, Clone)]
pub struct HostSettings {
    pub instances: Vec<Instance>,
    /// A callback that has not returned for this long is a hang.
    pub hang_after: Duration,
    /// Grace period of a strategy that a crash left in a phase; none where no process is allowed.
    pub return_within: Duration,
    pub on_failure: OnFailure,
    /// At the risk gate, for a strategy without limits of its own.
    pub orders_per_second: u32,
    /// Whether all deliveries to strategies are journalled, so that they can be replayed.
    pub keeps_diaries: bool,
    /// Bars of earlier days, for PREFEED.
    pub bars: Arc<BarFiles>,
}

/// Why a strategy was not started or stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// No instance of that name is configured.
    NotConfigured,
    RunsAlready,
    /// Another process runs it and is alive.
    LivesElsewhere,
    DoesNotRun,
    Unbuildable(Unbuildable),
    /// It failed in a phase, or the engine refused a command.
    Failed(String),
    /// The host is busy or the server stops.
    Unavailable,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotConfigured => write!(f, "no code of it runs in this server"),
            Self::RunsAlready => write!(f, "it runs already"),
            Self::LivesElsewhere => {
                write!(f, "another process runs it and is well; stop that one, or take its place with --take-over")
            }
            Self::DoesNotRun => write!(f, "it does not run"),
            Self::Unbuildable(reason) => reason.fmt(f),
            Self::Failed(reason) => f.write_str(reason),
            Self::Unavailable => write!(f, "the strategy host takes nothing now; try again"),
        }
    }
}

/// All strategies of this server.
pub struct Host {
    wanted: Sender<Wanted>,
    manager: JoinHandle<()>,
}

/// A handle by which strategies are started and stopped.
#[derive(Clone)]
pub struct Controls(Sender<Wanted>);

impl Host {
    /// Checks every instance, so that a misspelt parameter stops the start and not the trading day.
    pub fn check(instances: &[Instance], registry: &Registry, reference: &ReferenceData) -> Vec<(Text, Unbuildable)> {
        let build = |instance: &Instance| registry.build(&instance.of, &instance.written, reference).err();
        let faulty = |instance: &Instance| build(instance).map(|problem| (instance.name.clone(), problem));
        instances.iter().filter_map(faulty).collect()
    }

    pub fn open(bus: Bus, clock: Clock, registry: Registry, settings: HostSettings) -> std::io::Result<Self> {
        let (wanted, asked) = bounded(WANTED_MAX);
        let manager = Manager::new(bus, clock, Arc::new(registry), settings, asked)?;
        let manager = std::thread::Builder::new().name("strategies".into()).spawn(move || manager.run())?;
        Ok(Self { wanted, manager })
    }

    pub fn controls(&self) -> Controls {
        Controls(self.wanted.clone())
    }

    /// Starts, phase by phase, every strategy that activates itself; a failing one does not hold the others up. Blocks.
    pub fn start_all(&self) {
        let (done, finished) = bounded(1);
        if self.wanted.send(Wanted::StartAll(done)).is_ok() {
            // A supervisor that failed has logged why.
            let _ = finished.recv();
        }
    }

    /// EXIT for all.
    pub fn close(self) {
        let _ = self.wanted.send(Wanted::Close);
        drop(self.manager.join());
    }
}

impl Controls {
    /// Through all phases up to RUN. Blocks.
    pub fn start(&self, name: &str) -> Result<(), Trouble> {
        self.ask(|done| Wanted::Start(name.to_owned(), done))
    }

    /// EXIT. Blocks.
    pub fn stop(&self, name: &str) -> Result<(), Trouble> {
        self.ask(|done| Wanted::Stop(name.to_owned(), done))
    }

    /// A strategy process has connected; its phases follow in its queue. Blocks.
    pub fn attach(&self, name: &str, resume: Option<Resume>, takes_over: bool) -> Result<Attached, Trouble> {
        self.ask(|done| Wanted::Attach(Arrival { name: name.to_owned(), resume, takes_over }, done))
    }

    /// Tells a strategy again what came after that sequence; [`Delivery::Replay`](super::Delivery::Replay) marks where it
    /// begins.
    pub fn replay(&self, strategy: StrategyId, heard: u64) {
        // A host that has stopped replays nothing.
        let _ = self.0.send(Wanted::Replay(strategy, heard));
    }

    fn ask<T>(&self, wanted: impl FnOnce(Sender<Result<T, Trouble>>) -> Wanted) -> Result<T, Trouble> {
        let (done, finished) = bounded(1);
        self.0.try_send(wanted(done)).map_err(|_| Trouble::Unavailable)?;
        finished.recv().unwrap_or(Err(Trouble::Unavailable))
    }
}
