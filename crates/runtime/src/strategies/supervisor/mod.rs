//! Strategy supervisor: phases, start and stop, and handling of panics, floods and hangs. A failing strategy does not
//! affect the others.

mod attachment;
mod instance;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bus::Bus;
use crossbeam_channel::{Receiver, Sender, bounded, never, select, tick};
use domain::command::{StrategyFailure, StrategyPhase};
use domain::{StrategyId, Text};
use strategy::{PriceHistory, StrategyIdentity, StrategyRegistry, StrategyRunner};
use tracing::{error, info, warn};

pub(super) use self::attachment::AttachRequest;
use self::instance::{InstanceKind, OrphanedStrategies, RunningInstance};
use super::engine_client::{CommandRefused, EngineClient};
use super::failures::{self, disconnected};
use super::host_settings::{HostError, HostSettings, OnFailure, StrategyConfig};
use super::link::local_link::{CommandRouter, LocalLink};
use super::link::remote::AttachedStrategy;
use super::link::strategy_thread::{PhaseCompleted, RunId, RunnerEvent, RunnerExit, StrategyThread};
use crate::live::EngineClock;

/// How often hanging strategies are checked.
const HANG_CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// Messages that may wait for the supervisor; a strategy with one more waits.
const RUNNER_EVENTS_MAX: usize = 8_192;
const CRASHED: &str = "was cut off by a crash of the server";
const SILENT: &str = "is silent: its process died, hangs or was cut off";
const ORPHANED: &str = "did not come back: a crash left it in a phase, and no process runs it";

/// Requests to the supervisor.
pub(super) enum HostRequest {
    StartAll(Sender<()>),
    Start(String, Sender<Result<(), HostError>>),
    Stop(String, Sender<Result<(), HostError>>),
    /// Of a strategy in a process of its own.
    Attach(AttachRequest, Sender<Result<AttachedStrategy, HostError>>),
    /// What a strategy missed after that sequence.
    Replay(StrategyId, u64),
    Close(CloseMode),
}

/// What a host that closes does with the strategies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CloseMode {
    /// All exit.
    ExitAll,
    /// Those in this server exit. Those in processes are left as they are: their runs go on at the next server.
    LeaveProcesses,
}

pub(super) struct StrategySupervisor {
    engine: EngineClient,
    clock: EngineClock,
    registry: Arc<StrategyRegistry>,
    settings: HostSettings,
    router: CommandRouter,
    requests: Receiver<HostRequest>,
    /// When hanging strategies are looked for.
    hang_check: Receiver<Instant>,
    closing: Option<CloseMode>,
    events_sender: Sender<RunnerEvent>,
    events: Receiver<RunnerEvent>,
    instances: BTreeMap<StrategyId, RunningInstance>,
    /// Last acknowledged sequence of strategy processes when they were lost.
    acknowledged: BTreeMap<StrategyId, u64>,
    orphaned: OrphanedStrategies,
}

impl StrategySupervisor {
    pub(super) fn new(
        bus: Bus,
        clock: EngineClock,
        registry: Arc<StrategyRegistry>,
        settings: HostSettings,
        wanted: Receiver<HostRequest>,
    ) -> std::io::Result<Self> {
        let (notes_in, notes) = bounded(RUNNER_EVENTS_MAX);
        let switchboard = CommandRouter::open(bus.clone(), notes_in.clone())?;
        let (asking, running, heard, absent) =
            (EngineClient(bus), BTreeMap::new(), BTreeMap::new(), OrphanedStrategies::default());
        let (watch, closing) = (tick(HANG_CHECK_INTERVAL), None);
        Ok(Self {
            engine: asking,
            clock,
            registry,
            settings,
            router: switchboard,
            requests: wanted,
            hang_check: watch,
            closing,
            events_sender: notes_in,
            events: notes,
            instances: running,
            acknowledged: heard,
            orphaned: absent,
        })
    }

    pub(super) fn run(mut self) {
        let mode = loop {
            match self.closing {
                Some(mode) => break mode,
                None => self.step(),
            }
        };
        self.close(mode);
    }

    /// Handles the next request, message of a strategy's thread, or timer.
    fn step(&mut self) {
        let wanted = select! {
            recv(self.requests) -> wanted => wanted.unwrap_or(HostRequest::Close(CloseMode::ExitAll)),
            recv(self.events) -> note => return note.into_iter().for_each(|note| self.handle(note)),
            recv(self.hang_check) -> _ => return self.check_hangs(),
        };
        match wanted {
            HostRequest::StartAll(done) => {
                self.start_all();
                drop(done);
            }
            // The caller may be gone.
            HostRequest::Start(name, done) => drop(done.send(self.start(&name))),
            HostRequest::Stop(name, done) => drop(done.send(self.stop(&name))),
            HostRequest::Attach(arrival, done) => self.attach(&arrival, &done),
            // The last acknowledged event may be one of several of one input.
            HostRequest::Replay(strategy, heard) => self.replay(strategy, heard.saturating_sub(1)),
            HostRequest::Close(mode) => (self.closing, self.requests) = (Some(mode), never()),
        }
    }

    /// Every phase is entered by all before the next begins.
    fn start_all(&mut self) {
        let mut seated = vec![];
        for instance in self.settings.instances.clone() {
            match self.engine.strategy_named(&instance.name) {
                Ok(strategy) if !strategy.auto_activate => continue,
                Ok(strategy) => match self.start_runner(&instance, strategy.id) {
                    Ok(()) => seated.push(strategy.id),
                    Err(trouble) => error!(strategy = %instance.name, reason = %trouble, "strategy not started"),
                },
                Err(CommandRefused(reason)) => error!(strategy = %instance.name, %reason, "strategy not started"),
            }
        }
        self.run_phases(&seated);
        self.find_orphaned();
    }

    fn find_orphaned(&mut self) {
        let reference = self.engine.0.catalogue.current();
        let name = |id| reference.strategies.get(&id).map(|strategy| (id, strategy.name.clone()));
        match self.engine.active_strategies() {
            Ok(begun) => {
                let left = begun.into_iter().filter(|id| !self.instances.contains_key(id)).filter_map(name);
                self.orphaned = OrphanedStrategies::new(left.collect(), self.settings.reconnect_timeout);
                self.give_up_orphaned();
            }
            Err(CommandRefused(reason)) => {
                error!(%reason, "orphaned strategies could not be listed; check GET /rest/strategy");
            }
        }
    }

    fn start(&mut self, name: &str) -> Result<(), HostError> {
        let instance = self.config(name)?;
        let strategy = self.engine.strategy_named(name).map_err(failed)?.id;
        if self.instances.contains_key(&strategy) {
            return Err(HostError::AlreadyRunning);
        }
        self.start_runner(&instance, strategy)?;
        self.run_phases(&[strategy]);
        match self.instances.get(&strategy) {
            Some(running) if running.phase == Some(StrategyPhase::Run) => Ok(()),
            _ => Err(HostError::Failed("it did not come through its phases; the log says why".to_owned())),
        }
    }

    fn stop(&mut self, name: &str) -> Result<(), HostError> {
        let found = self.instances.iter().find(|(_, running)| &*running.identity.name == name).map(|(id, _)| *id);
        let Some(strategy) = found else {
            return self.stop_orphaned(name);
        };
        self.enter_phase(&[strategy], StrategyPhase::Exit);
        Ok(())
    }

    fn stop_orphaned(&mut self, name: &str) -> Result<(), HostError> {
        let Some(strategy) = self.orphaned.by_name(name) else {
            return self.config(name).and(Err(HostError::NotRunning));
        };
        info!(strategy = %name, "orphaned strategy stopped by request");
        self.give_up(strategy, None);
        Ok(())
    }

    fn close(mut self, mode: CloseMode) {
        let is_left = |kind: &InstanceKind| mode == CloseMode::ExitAll || matches!(kind, InstanceKind::Thread(_));
        let leaving = self.instances.iter().filter(|(_, running)| is_left(&running.kind));
        let leaving: Vec<_> = leaving.map(|(strategy, _)| *strategy).collect();
        self.enter_phase(&leaving, StrategyPhase::Exit);
    }

    fn config(&self, name: &str) -> Result<StrategyConfig, HostError> {
        let found = self.settings.instances.iter().find(|instance| &*instance.name == name);
        found.cloned().ok_or(HostError::NotConfigured)
    }

    /// A runner and a thread for the strategy; its run has not begun.
    fn start_runner(&mut self, instance: &StrategyConfig, id: StrategyId) -> Result<(), HostError> {
        let reference = self.engine.0.catalogue.current();
        let strategy = self
            .registry
            .build(&instance.strategy, &instance.parameters, &reference)
            .map_err(HostError::BuildFailed)?;
        let (who, link) = self.connect(id, &instance.name)?;
        let seat = StrategyRunner::new(who.clone(), strategy, reference);
        let runner = StrategyThread::new(seat, link.clone(), self.clock.clone(), self.events_sender.clone());
        let runner = if self.settings.logs_deliveries { runner.with_delivery_log() } else { runner };
        let thread = std::thread::Builder::new().name(format!("strategy {}", instance.name)).spawn(|| runner.run());
        let thread = thread.map_err(|error| HostError::Failed(error.to_string()))?;
        self.instances.insert(id, RunningInstance::new(who, link, InstanceKind::Thread(thread)));
        Ok(())
    }

    /// Events come from now on, after the initial state.
    fn connect(&mut self, id: StrategyId, name: &Text) -> Result<(StrategyIdentity, LocalLink), HostError> {
        // A strategy that a crash left in a phase exits first.
        self.engine.stop(id, Some(disconnected(CRASHED))).map_err(failed)?;
        self.engine.set_rate_limit(id, self.settings.orders_per_second).map_err(failed)?;
        let who = StrategyIdentity { id, name: name.clone(), run: self.engine.run_number().map_err(failed)? };
        let link = self.router.connect(&who, self.settings.logs_deliveries);
        for published in self.engine.snapshot(id, (self.clock)()).map_err(failed)? {
            link.queue().push(&published);
        }
        self.orphaned.remove(id);
        Ok((who, link))
    }

    fn run_phases(&mut self, strategies: &[StrategyId]) {
        for phase in [StrategyPhase::Init, StrategyPhase::Prefeed, StrategyPhase::Start, StrategyPhase::Run] {
            self.enter_phase(strategies, phase);
        }
    }

    /// All of these enter the phase; returns when each has gone through it or is gone.
    fn enter_phase(&mut self, strategies: &[StrategyId], phase: StrategyPhase) {
        strategies.iter().for_each(|strategy| self.begin_phase(*strategy, phase));
        // Meanwhile others start and stop; and one that was disconnected in a phase must reconnect to continue.
        while strategies.iter().any(|strategy| self.is_short_of(*strategy, phase)) {
            self.step();
            if self.closing.is_some() && phase != StrategyPhase::Exit {
                return;
            }
        }
    }

    fn begin_phase(&mut self, strategy: StrategyId, phase: StrategyPhase) {
        let Some(running) = self.instances.get_mut(&strategy) else { return };
        running.is_leaving |= phase == StrategyPhase::Exit;
        let history = match phase {
            StrategyPhase::Prefeed => {
                self.engine.history(&running.history_requests, &self.settings.bars, (self.clock)())
            }
            _ => PriceHistory::default(),
        };
        let entered = match (&running.kind, phase) {
            (InstanceKind::Process(_), StrategyPhase::Init) => {
                self.engine.begin_process_run(strategy, running.identity.run)
            }
            _ => self.engine.enter_phase(strategy, phase),
        };
        match entered {
            Ok(()) => running.queue().enter(phase, Arc::new(history)),
            Err(CommandRefused(reason)) => {
                self.fail(strategy, disconnected(format!("can't enter {}: {reason}", phase.name())));
            }
        }
    }

    fn is_short_of(&self, strategy: StrategyId, phase: StrategyPhase) -> bool {
        // One that has gone through EXIT is no longer here.
        let is_short = |running: &RunningInstance| phase == StrategyPhase::Exit || running.phase < Some(phase);
        self.instances.get(&strategy).is_some_and(is_short)
    }

    fn handle(&mut self, note: RunnerEvent) {
        match note {
            RunnerEvent::Entered(life, progress) if self.is_current_run(life) => {
                self.on_entered(life.strategy, progress);
            }
            RunnerEvent::Ended(life, ending) if self.is_current_run(life) => self.on_ended(life.strategy, ending),
            // A thread that hung may return after the strategy has begun again.
            RunnerEvent::Entered(..) | RunnerEvent::Ended(..) => {}
            RunnerEvent::RateRefused(strategy) => self.on_rate_refused(strategy),
        }
    }

    fn is_current_run(&self, life: RunId) -> bool {
        self.instances.get(&life.strategy).is_some_and(|running| running.identity.run == life.run)
    }

    fn on_entered(&mut self, strategy: StrategyId, progress: PhaseCompleted) {
        let Some(running) = self.instances.get_mut(&strategy) else { return };
        let phase = progress.phase;
        // After a reconnect a process may report it twice.
        if running.phase < Some(phase) {
            info!(strategy = %running.identity.name, phase = phase.name(), "strategy entered phase");
            (running.phase, running.history_requests) = (Some(phase), progress.history_requests);
            if matches!(running.kind, InstanceKind::Process(_)) && !running.is_leaving {
                self.next_phase(strategy, phase);
            }
        }
    }

    /// A process goes through its phases on its own: it waits for no other, and none waits for it.
    fn next_phase(&mut self, strategy: StrategyId, after: StrategyPhase) {
        match after {
            StrategyPhase::Init => self.begin_phase(strategy, StrategyPhase::Prefeed),
            StrategyPhase::Prefeed => self.begin_phase(strategy, StrategyPhase::Start),
            StrategyPhase::Start => {
                let missed_after = self.instances.get_mut(&strategy).and_then(|running| running.replay_after.take());
                missed_after.into_iter().for_each(|heard| self.send_missed(strategy, heard));
                self.begin_phase(strategy, StrategyPhase::Run);
            }
            StrategyPhase::Run | StrategyPhase::Exit => {}
        }
    }

    fn on_ended(&mut self, strategy: StrategyId, ending: RunnerExit) {
        match ending {
            RunnerExit::Exited => self.on_exited(strategy),
            RunnerExit::Panicked(message) => self.fail(strategy, failures::panicked(&message)),
            RunnerExit::Flooded => self.on_flood(strategy, failures::CALLBACK_COMMANDS_EXCEEDED),
            RunnerExit::Disconnected(reason) => {
                self.disconnect(strategy, disconnected(format!("was cut off: {reason}")));
            }
        }
    }

    fn on_exited(&mut self, strategy: StrategyId) {
        if let Some(running) = self.instances.remove(&strategy) {
            self.router.disconnect(strategy);
            self.engine.unsubscribe(strategy, running.queue().subscriptions());
            if let InstanceKind::Thread(thread) = running.kind {
                drop(thread.join());
            }
        }
    }

    fn on_rate_refused(&mut self, strategy: StrategyId) {
        let Some(running) = self.instances.get_mut(&strategy) else { return };
        if running.rate_window.record_and_check((self.clock)()) {
            self.on_flood(strategy, failures::ORDER_RATE_EXCEEDED);
        }
    }

    /// The risk gate closes for it, and its orders are cancelled; an operator must open the gate again.
    fn on_flood(&mut self, strategy: StrategyId, how: &str) {
        if self.instances.contains_key(&strategy) {
            if let Err(CommandRefused(reason)) = self.engine.kill(strategy, "it floods") {
                error!(%strategy, %reason, "flooding strategy could not be halted; use the kill switch");
            }
            self.fail(strategy, failures::flooded(how));
        }
    }

    fn check_hangs(&mut self) {
        let hangs =
            |running: &RunningInstance| running.stuck_for().is_some_and(|stuck| stuck > self.settings.hang_after);
        let hung: Vec<_> = self.instances.iter().filter(|(_, running)| hangs(running)).map(|(id, _)| *id).collect();
        for strategy in hung {
            let is_process =
                matches!(self.instances.get(&strategy), Some(RunningInstance { kind: InstanceKind::Process(_), .. }));
            self.disconnect(strategy, if is_process { disconnected(SILENT) } else { failures::hung() });
        }
        self.give_up_orphaned();
    }

    fn give_up_orphaned(&mut self) {
        for (strategy, name) in self.orphaned.overdue() {
            warn!(strategy = %name, "strategy {name} {ORPHANED}");
            self.give_up(strategy, Some(disconnected(ORPHANED)));
        }
    }

    fn give_up(&mut self, strategy: StrategyId, failure: Option<StrategyFailure>) {
        if let Some(name) = self.orphaned.remove(strategy) {
            self.release(strategy, &name, failure);
            self.engine.unsubscribe(strategy, self.engine.subscribed(strategy));
        }
    }

    /// As [`Self::fail`], but its process may begin a new run at once.
    fn disconnect(&mut self, strategy: StrategyId, failure: StrategyFailure) {
        if let Some(running) = self.instances.get(&strategy) {
            running.queue().disconnect_retryable(&failure.text);
        }
        self.fail(strategy, failure);
    }

    /// Only this strategy is stopped; commands that its thread may still send have no effect.
    fn fail(&mut self, strategy: StrategyId, failure: StrategyFailure) {
        let Some(running) = self.instances.remove(&strategy) else { return };
        // The engine raises the alarm, which is kept longer than the log.
        warn!(strategy = %running.identity.name, "strategy {} {}", running.identity.name, failure.text);
        if let InstanceKind::Process(pulse) = &running.kind {
            self.acknowledged.insert(strategy, pulse.last_acknowledged());
        }
        running.queue().disconnect(&failure.text);
        self.router.disconnect(strategy);
        self.release(strategy, &running.identity.name, Some(failure));
        self.engine.unsubscribe(strategy, running.queue().subscriptions());
    }

    /// Its open orders by policy, then EXIT.
    fn release(&self, strategy: StrategyId, name: &Text, failure: Option<StrategyFailure>) {
        if self.settings.on_failure == OnFailure::Cancel {
            match self.engine.cancel_orders(strategy) {
                Ok(0) => {}
                Ok(cancels) => warn!(strategy = %name, cancels, "cancelling open orders of a stopped strategy"),
                Err(CommandRefused(reason)) => {
                    error!(strategy = %name, %reason, "orders of a stopped strategy were not cancelled; cancel them");
                }
            }
        }
        if let Err(CommandRefused(reason)) = self.engine.stop(strategy, failure) {
            error!(strategy = %name, %reason, "phase EXIT of a stopped strategy was not recorded");
        }
    }
}

fn failed(CommandRefused(reason): CommandRefused) -> HostError {
    HostError::Failed(reason)
}
