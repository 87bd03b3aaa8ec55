//! Processes that connect: a run goes on, also one that began at another server, or a new one begins; and what a strategy missed.

use crossbeam_channel::Sender;
use domain::command::StrategyPhase;
use domain::{PublishedEvent, StrategyId, StrategyRecord};
use strategy::StrategyIdentity;
use tracing::info;

use super::instance::{InstanceKind, RunningInstance};
use super::{StrategySupervisor, failed};
use crate::strategies::engine_client::{CommandRefused, MissedSource};
use crate::strategies::failures::disconnected;
use crate::strategies::host_settings::HostError;
use crate::strategies::link::remote::{AttachedStrategy, ProcessHeartbeat};
use crate::strategies::protocol::Resume;

/// Events that a disconnected strategy can catch up on. A run that missed more ends; a new one gets the newest.
const MISSED_MAX: usize = 8_192;

/// Deliveries are answered before they are journalled: after a crash nobody knows which of them the journal lacks.
const DELIVERIES_LOST: &str = "was cut off by a crash of the server; with journal.ticks = all its run does not go on";
const NOT_IN_RUN: &str = "was cut off by a crash of the server before it came to RUN";

/// A strategy process that connects.
pub(in crate::strategies) struct AttachRequest {
    pub(in crate::strategies) name: String,
    /// Its earlier run, and the last event that it acknowledged.
    pub(in crate::strategies) resume: Option<Resume>,
    pub(in crate::strategies) is_takeover: bool,
}

impl StrategySupervisor {
    /// Attaches a strategy process: a known run continues, another begins with INIT. The caller gets its link before
    /// the phases begin, because it must forward them.
    pub(super) fn attach(&mut self, arrival: &AttachRequest, done: &Sender<Result<AttachedStrategy, HostError>>) {
        let attached = self.accept(arrival);
        let begins =
            attached.as_ref().ok().filter(|attached| !attached.is_resumed).map(|attached| attached.identity.id);
        // The caller may be gone.
        let _ = done.send(attached);
        if let Some(running) = begins.and_then(|strategy| self.instances.get_mut(&strategy)) {
            let strategy = running.identity.id;
            running.replay_after =
                self.acknowledged.remove(&strategy).or(arrival.resume.map(|resume| resume.last_sequence));
            self.begin_phase(strategy, StrategyPhase::Init);
        }
    }

    fn accept(&mut self, arrival: &AttachRequest) -> Result<AttachedStrategy, HostError> {
        let strategy = self.engine.strategy_named(&arrival.name).map_err(failed)?;
        match self.instances.get(&strategy.id) {
            Some(RunningInstance { kind: InstanceKind::Thread(_), .. }) => return Err(HostError::AlreadyRunning),
            Some(known) if arrival.resume.is_some_and(|resume| resume.run == known.identity.run) => {
                // Before reference data are read: a change is in them, or it waits with all other events for the replay.
                known.queue().await_replay();
                return self.attached(known, true).ok_or(HostError::NotRunning);
            }
            Some(known) if known.is_alive() && !arrival.is_takeover => return Err(HostError::RunsInOtherProcess),
            Some(_) => self.fail(strategy.id, disconnected("is replaced by another process")),
            None => {
                if let Some(adopted) = self.adopt(&strategy, arrival.resume)? {
                    return Ok(adopted);
                }
            }
        }
        let (who, link) = self.connect(strategy.id, &strategy.name)?;
        let running = RunningInstance::new(who, link, InstanceKind::Process(ProcessHeartbeat::default()));
        let attached = self.attached(&running, false);
        self.instances.insert(strategy.id, running);
        attached.ok_or(HostError::NotRunning)
    }

    /// A run that began at another server, or before this one was started again, goes on where the journal has it in RUN.
    fn adopt(
        &mut self,
        strategy: &StrategyRecord,
        resume: Option<Resume>,
    ) -> Result<Option<AttachedStrategy>, HostError> {
        let known = self.engine.process_run(strategy.id).map_err(failed)?;
        let Some(known) = known.filter(|known| resume.is_some_and(|resume| resume.run == known.run)) else {
            return Ok(None);
        };
        if let Some(reason) = self.why_over(known.phase) {
            self.engine.stop(strategy.id, Some(disconnected(reason))).map_err(failed)?;
            return Ok(None);
        }
        // After a crash it may be read for some time: the process tries again.
        self.engine.check_history().map_err(failed)?;
        let who = StrategyIdentity { id: strategy.id, name: strategy.name.clone(), run: known.run };
        let link = self.router.connect(&who, false);
        link.queue().await_replay();
        self.engine.subscribed(strategy.id).into_iter().for_each(|security| link.queue().subscribe(security));
        self.orphaned.remove(strategy.id);
        info!(strategy = %strategy.name, run = known.run, "strategy goes on with the run that the journal has");
        let running = RunningInstance::adopted(who, link);
        let attached =
            self.attached(&running, true).map(|attached| AttachedStrategy { adopted: Some(known), ..attached });
        self.instances.insert(strategy.id, running);
        Ok(attached)
    }

    /// Why a run that the journal has can't go on.
    fn why_over(&self, phase: StrategyPhase) -> Option<&'static str> {
        match phase {
            _ if self.settings.logs_deliveries => Some(DELIVERIES_LOST),
            StrategyPhase::Run => None,
            _ => Some(NOT_IN_RUN),
        }
    }

    fn attached(&self, running: &RunningInstance, is_resumed: bool) -> Option<AttachedStrategy> {
        let InstanceKind::Process(pulse) = &running.kind else { return None };
        pulse.record();
        let (who, link, notes) = (running.identity.clone(), running.link.clone(), self.events_sender.clone());
        let reference = self.engine.0.catalogue.current();
        let (heartbeat, adopted) = (pulse.clone(), None);
        Some(AttachedStrategy { identity: who, reference, link, events: notes, heartbeat, is_resumed, adopted })
    }

    /// A run continues after its last acknowledged event; it drops repeated events itself. Where that is not possible, a new one may begin.
    pub(super) fn replay(&mut self, strategy: StrategyId, heard: u64) {
        let failure = match self.missed_events(strategy, heard) {
            Ok(missed) if missed.len() <= MISSED_MAX => {
                let running = self.instances.get(&strategy);
                return running.into_iter().for_each(|running| running.queue().replay(heard, &missed));
            }
            Ok(_) => format!("missed more than {MISSED_MAX} events of its orders"),
            Err(CommandRefused(reason)) => format!("missed events that cannot be replayed: {reason}"),
        };
        self.disconnect(strategy, disconnected(failure));
    }

    /// A new run gets the last changes of the earlier run's orders, and the current state.
    pub(super) fn send_missed(&mut self, strategy: StrategyId, heard: u64) {
        let missed = self.missed_events(strategy, heard);
        let Some(running) = self.instances.get(&strategy) else { return };
        match missed {
            Ok(missed) => running.queue().push_missed(&missed[missed.len().saturating_sub(MISSED_MAX)..]),
            Err(CommandRefused(reason)) => {
                running.queue().disconnect(&format!("missed events cannot be replayed: {reason}"));
            }
        }
    }

    fn missed_events(&self, strategy: StrategyId, heard: u64) -> Result<Vec<PublishedEvent>, CommandRefused> {
        let is_adopted = self.instances.get(&strategy).is_some_and(|running| running.is_adopted);
        let source = if is_adopted { MissedSource::History } else { MissedSource::Queue };
        self.engine.missed_events(strategy, heard, (self.clock)(), source)
    }
}
