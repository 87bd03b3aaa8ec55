//! Strategy thread: receives deliveries, calls the strategy, sends its commands. The same in process and in a separate
//! process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crossbeam_channel::Sender;
use domain::command::StrategyPhase;
use domain::{PublishedEvent, StrategyId, Timestamp};
use strategy::{BarHistoryRequest, PriceHistory, StrategyIdentity, StrategyRunner};

use super::{LinkLost, StrategyDelivery, StrategyLink};
use crate::live::EngineClock;
use crate::strategies::failures::message_of;
use crate::strategies::protocol::delivery_log::DeliveryLog;

/// How long a strategy without a timer sleeps when nothing happens.
const IDLE: Duration = Duration::from_millis(500);

/// Messages of a strategy's thread to its supervisor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunnerEvent {
    Entered(RunId, PhaseCompleted),
    Ended(RunId, RunnerExit),
    /// The risk gate refused an order of the strategy, because it places too many.
    RateRefused(StrategyId),
}

/// One run of a strategy: late messages of an earlier run do not concern the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunId {
    pub strategy: StrategyId,
    pub run: u64,
}

impl From<&StrategyIdentity> for RunId {
    fn from(who: &StrategyIdentity) -> Self {
        Self { strategy: who.id, run: who.run }
    }
}

/// A phase that the strategy has gone through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseCompleted {
    pub phase: StrategyPhase,
    /// Its requests for past bars.
    pub history_requests: Vec<BarHistoryRequest>,
}

/// Why a strategy no longer runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunnerExit {
    /// It went through EXIT.
    Exited,
    Panicked(String),
    /// One callback sent too many commands.
    Flooded,
    Disconnected(String),
}

pub struct StrategyThread<L> {
    runner: StrategyRunner,
    link: L,
    clock: EngineClock,
    events: Sender<RunnerEvent>,
    /// Kept where the strategy must be replayable.
    delivery_log: Option<DeliveryLog>,
}

impl<L: StrategyLink> StrategyThread<L> {
    pub fn new(runner: StrategyRunner, link: L, clock: EngineClock, events: Sender<RunnerEvent>) -> Self {
        Self { runner, link, clock, events, delivery_log: None }
    }

    /// From now on all deliveries are journalled too.
    #[must_use]
    pub fn with_delivery_log(mut self) -> Self {
        self.delivery_log = Some(DeliveryLog::new(self.runner.identity()));
        self
    }

    /// Until the strategy has exited or failed.
    pub fn run(mut self) {
        let ending = loop {
            if let Some(ending) = self.step(self.poll_timeout()) {
                break ending;
            }
        };
        self.notify(RunnerEvent::Ended(self.runner.identity().into(), ending));
    }

    /// One turn without a wait, for a caller that has no thread for it; why the strategy no longer runs, where it does not.
    pub fn step_now(&mut self) -> Option<RunnerExit> {
        self.step(Duration::ZERO)
    }

    fn step(&mut self, patience: Duration) -> Option<RunnerExit> {
        let mut deliveries = Vec::new();
        if let Err(LinkLost(reason)) = self.link.receive(patience, &mut deliveries) {
            return Some(RunnerExit::Disconnected(reason));
        }
        for delivery in deliveries {
            if let Some(ending) = self.handle(delivery) {
                return Some(ending);
            }
        }
        let now = (self.clock)();
        self.advance(now).or_else(|| self.flush_delivery_log_if_due(now))
    }

    fn handle(&mut self, delivery: StrategyDelivery) -> Option<RunnerExit> {
        match delivery {
            StrategyDelivery::Event(published) => self.on_event(&published),
            StrategyDelivery::Refused(refused) => {
                let now = (self.clock)();
                self.delivery_log.iter_mut().for_each(|delivery_log| delivery_log.refused(now, &refused));
                self.call(|runner| runner.on_refused(now, &refused))
            }
            StrategyDelivery::Replay => None,
            StrategyDelivery::Enter(phase, history) => self.enter_phase(phase, &history),
        }
    }

    fn on_event(&mut self, published: &PublishedEvent) -> Option<RunnerExit> {
        if let Some(delivery_log) = self.delivery_log.as_mut().filter(|_| self.runner.is_relevant(&published.event)) {
            delivery_log.event(published);
        }
        self.call(|runner| runner.on_published(published)).or_else(|| self.flush_delivery_log_if_due(published.at))
    }

    fn advance(&mut self, now: Timestamp) -> Option<RunnerExit> {
        if self.next_timer().is_none_or(|due| due > now) {
            return None;
        }
        self.delivery_log.iter_mut().for_each(|delivery_log| delivery_log.advanced(now));
        self.call(|runner| runner.advance(now))
    }

    fn enter_phase(&mut self, phase: StrategyPhase, history: &PriceHistory) -> Option<RunnerExit> {
        let now = (self.clock)();
        self.delivery_log.iter_mut().for_each(|delivery_log| delivery_log.entered(phase, now, history));
        if let Some(ending) = self.call(|runner| runner.enter_phase(phase, now, history)) {
            return Some(ending);
        }
        if phase == StrategyPhase::Exit {
            self.delivery_log.iter_mut().for_each(|delivery_log| delivery_log.exited(now));
        }
        if let Err(LinkLost(reason)) = self.flush_delivery_log() {
            return Some(RunnerExit::Disconnected(reason));
        }
        let progress = PhaseCompleted { phase, history_requests: self.runner.history_requests().to_vec() };
        self.notify(RunnerEvent::Entered(self.runner.identity().into(), progress));
        (phase == StrategyPhase::Exit).then_some(RunnerExit::Exited)
    }

    /// Calls the strategy and sends its commands. A panic ends only this strategy.
    fn call(&mut self, what: impl FnOnce(&mut StrategyRunner)) -> Option<RunnerExit> {
        // A runner whose strategy has panicked is not used again.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| what(&mut self.runner))) {
            return Some(RunnerExit::Panicked(message_of(&*panic)));
        }
        // The commands of a flood are all dropped: a part of them would be worse than nothing.
        if self.runner.is_flooding() {
            return Some(RunnerExit::Flooded);
        }
        self.send_commands().err().map(|LinkLost(reason)| RunnerExit::Disconnected(reason))
    }

    /// A delivery is in the journal before the commands that it caused.
    fn send_commands(&mut self) -> Result<(), LinkLost> {
        if self.runner.has_commands() {
            self.flush_delivery_log()?;
        }
        self.runner.commands().try_for_each(|command| self.link.send(command))
    }

    fn flush_delivery_log(&mut self) -> Result<(), LinkLost> {
        let leaves = self.delivery_log.as_mut().map(DeliveryLog::take_records).unwrap_or_default();
        leaves.into_iter().try_for_each(|record| self.link.write_delivery_log(record))
    }

    fn flush_delivery_log_if_due(&mut self, now: Timestamp) -> Option<RunnerExit> {
        let is_due = self.delivery_log.as_ref().is_some_and(|delivery_log| delivery_log.is_due(now));
        is_due
            .then(|| self.flush_delivery_log().err())
            .flatten()
            .map(|LinkLost(reason)| RunnerExit::Disconnected(reason))
    }

    /// Before START none fires.
    fn next_timer(&self) -> Option<Timestamp> {
        self.runner
            .next_timer()
            .filter(|_| matches!(self.runner.phase(), Some(StrategyPhase::Start | StrategyPhase::Run)))
    }

    /// Until the next timer is due.
    fn poll_timeout(&self) -> Duration {
        let Some(due) = self.next_timer() else { return IDLE };
        let nanos = due.nanos_since((self.clock)());
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(0)).min(IDLE)
    }

    fn notify(&self, note: RunnerEvent) {
        // A host that has stopped needs no message.
        let _ = self.events.send(note);
    }
}
