//! Strategy host interface: open, start, stop, close.

use std::sync::Arc;
use std::thread::JoinHandle;

use bus::Bus;
use crossbeam_channel::{Sender, bounded};
use domain::{ReferenceData, StrategyId, Text};
use strategy::StrategyRegistry;
use strategy::registry::BuildError;

use super::host_settings::{HostError, HostSettings, StrategyConfig};
use super::link::remote::AttachedStrategy;
use super::protocol::Resume;
use super::supervisor::{AttachRequest, CloseMode, HostRequest, StrategySupervisor};
use crate::live::EngineClock;

/// Starts and stops that may wait for the supervisor; one more is refused.
const HOST_REQUESTS_MAX: usize = 64;

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
        self.close_with(CloseMode::ExitAll);
    }

    /// EXIT for the strategies in this server. Those in processes go on with their runs at the next server: the one that leads then, or
    /// this one started again.
    pub fn close_and_leave_processes(self) {
        self.close_with(CloseMode::LeaveProcesses);
    }

    fn close_with(self, mode: CloseMode) {
        // A supervisor that failed has nothing to close.
        let _ = self.requests.send(HostRequest::Close(mode));
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

    /// Tells a strategy again what came after that sequence; [`StrategyDelivery::Replay`](super::StrategyDelivery::Replay) marks where it
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
