//! Engine thread: the live loop with its inbox, journal and adapters.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use adapters::SendLease;
use bus::Bus;
use crossbeam_channel::{Receiver, Sender, bounded, select};
use domain::Timestamp;
use runtime::{LiveExit, LiveLoop, LiveOptions, LiveParts, PulseOptions, SnapshotSchedule};

use crate::cluster::cluster_state::ClusterState;
use crate::compose::startup::recovered_core::Core;
use crate::config::{Config, JournalTicks};
use crate::exit_failure::{Exit, ExitFailure};

/// The engine's thread, and what it is reached by.
pub(crate) struct EngineThread {
    pub(super) bus: Bus,
    pub(super) folder: std::path::PathBuf,
    pub(super) clock: runtime::EngineClock,
    pub(super) ledger: Arc<storage::JournalLedger>,
    stop: Sender<()>,
    ended: Receiver<LiveExit>,
    instruction_queues: Vec<(domain::AdapterName, bus::InstructionQueue)>,
    read_model: Arc<storage::ReadModel>,
    thread: JoinHandle<()>,
    catch_up: JoinHandle<()>,
    /// Whether this process may send to venues, in a cluster.
    pub(super) lease: Option<SendLease>,
}

impl EngineThread {
    /// On the bus that was made for it.
    pub(super) fn start(
        config: &Config,
        core: Core,
        bus: Bus,
        leader: Option<&Arc<ClusterState>>,
    ) -> Result<Self, ExitFailure> {
        let Core {
            folder,
            instance,
            engine,
            recovered,
            journal,
            snapshots,
            read_model,
            retired,
            ledger,
            lanes,
            clock,
            ..
        } = core;
        bus.catalogue.replace(engine.reference().clone());
        let mut outlets = bus::InstructionRouter::default();
        let opened = config.adapters().map(|name| (name.clone(), outlets.open(name))).collect();
        let catch_up = spawn_catch_up(folder.clone(), instance, read_model.clone(), journal.monitor())?;
        let (stop, stopped) = bounded(1);
        let (end, ended) = bounded(1);
        let parts = LiveParts {
            engine,
            inbox: lanes,
            journal,
            snapshots,
            ledger: ledger.clone(),
            retired: Some(retired),
            feed: bus.feed.clone(),
            catalogue: bus.catalogue.clone(),
            instructions: outlets,
            event_sink: {
                let read_model = read_model.clone();
                Box::new(move |through, events| read_model.offer(through, events))
            },
            clock: clock.clone(),
            stop: stopped,
        };
        let live = LiveLoop::new(parts, options(config, leader, clock()), &recovered);
        let thread = std::thread::Builder::new()
            .name("engine".into())
            .spawn(move || drop(end.send(live.run())))
            .map_err(|error| ExitFailure::new(Exit::Failed, format!("can't start the engine's thread: {error}")))?;
        let lease = leader.map(send_lease);
        Ok(Self {
            bus,
            folder,
            clock,
            ledger,
            stop,
            ended,
            instruction_queues: opened,
            read_model,
            thread,
            catch_up,
            lease,
        })
    }

    /// The engine's end of an adapter's queue, once.
    pub(super) fn take_instruction_queue(&mut self, adapter: &domain::AdapterName) -> Option<bus::InstructionQueue> {
        let place = self.instruction_queues.iter().position(|(name, _)| name == adapter)?;
        Some(self.instruction_queues.swap_remove(place).1)
    }

    /// Until somebody asks for a stop or the engine ends by itself.
    pub(super) fn wait(&self, stopped: &Receiver<()>) -> Option<LiveExit> {
        select! {
            recv(stopped) -> _ => None,
            recv(self.ended) -> ended => ended.ok(),
        }
    }

    /// Whether it ended by itself.
    pub(super) fn has_ended(&self) -> bool {
        !self.ended.is_empty() || self.thread.is_finished()
    }

    pub(super) fn stop(self) -> LiveExit {
        // An engine that ended by itself no longer listens.
        self.stop.try_send(()).unwrap_or(());
        let ended = self.ended.recv().unwrap_or(LiveExit::JournalFailed("the engine's thread died".into()));
        drop(self.thread.join());
        if let Err(problem) = self.read_model.stop() {
            // It can be rebuilt from the journal, so the stop is in order all the same.
            tracing::warn!(%problem, "the read model did not take its last events");
        }
        drop(self.catch_up.join());
        ended
    }
}

/// Another member waits for `takeoverMillis` after the last entry that it has read, which was sent before.
fn send_lease(leader: &Arc<ClusterState>) -> SendLease {
    let [leader, of_takeover] = [leader.clone(), leader.clone()];
    let may_be_replaced = move || !of_takeover.replication.holds_lease(Instant::now(), of_takeover.timing.takeover);
    SendLease::new(move || leader.holds_lease()).with_takeover(may_be_replaced)
}

/// The thread that reads from the journal what the read model missed. It ends with the read model.
fn spawn_catch_up(
    folder: std::path::PathBuf,
    instance: storage::journal::InstanceId,
    read_model: Arc<storage::ReadModel>,
    journal: storage::journal::JournalMonitor,
) -> Result<JoinHandle<()>, ExitFailure> {
    let run = move || runtime::keep_caught_up(&folder, instance, &read_model, &|| journal.durable());
    let thread = std::thread::Builder::new().name("read-model-catch-up".into()).spawn(run);
    thread.map_err(|error| ExitFailure::new(Exit::Failed, format!("can't start a thread of the read model: {error}")))
}

fn options(config: &Config, leader: Option<&Arc<ClusterState>>, now: Timestamp) -> LiveOptions {
    let has_all_prices = config.journal_ticks == JournalTicks::All;
    let pulse = |leader: &Arc<ClusterState>| PulseOptions {
        every: leader.timing.pulse,
        digest_every: leader.timing.digest,
        epoch: leader.view().epoch,
        bars_from: if has_all_prices { Timestamp(i64::MIN) } else { now },
    };
    LiveOptions {
        snapshots: snapshot_schedule(config),
        journal_ticks: has_all_prices,
        flag_silence: config.market_data_flag_silence,
        build: env!("CARGO_PKG_VERSION").into(),
        pulse: leader.map(pulse),
    }
}

/// Without a number of inputs there are none at all.
pub(super) fn snapshot_schedule(config: &Config) -> SnapshotSchedule {
    let never = SnapshotSchedule::every_inputs(u64::MAX);
    if config.snapshot_every_inputs == 0 {
        return never;
    }
    let bytes = u64::try_from(config.snapshot_every_megabytes.0).unwrap_or_default() << 20;
    let nanos = config.snapshot_every_minutes.0.saturating_mul(60 * 1_000_000_000);
    SnapshotSchedule {
        every_inputs: config.snapshot_every_inputs,
        every_bytes: if bytes == 0 { never.every_bytes } else { bytes },
        every_nanos: if nanos == 0 { never.every_nanos } else { nanos },
    }
}
