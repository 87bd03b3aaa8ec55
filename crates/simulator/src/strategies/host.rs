//! The host of the strategy in one process. What the supervisor asks of the engine is asked here step by step, because nothing may wait
//! for an answer.

use std::collections::VecDeque;

use bus::Bus;
use bus::reply::{NoReply, Reply, ReplyReceiver};
use crossbeam_channel::{Receiver, Sender, bounded};
use domain::command::{Mode, StrategyFailure, StrategyFailureKind, StrategyPhase};
use domain::{Answer, Caller, Command, CommandEnvelope, PublishedEvent, Query, StrategyId, StrategyRecord};
use runtime::EngineClock;
use runtime::strategies::{LocalLink, RunnerEvent, SteppedRouter, StrategyThread, state_events, state_queries};
use strategy::{PriceHistory, StrategyIdentity, StrategyRunner};

use super::seeded_strategy::SeededStrategy;
use super::strategy_log::StrategyLog;

const NOTES_MAX: usize = 1_024;
const PHASES: [StrategyPhase; 4] =
    [StrategyPhase::Init, StrategyPhase::Prefeed, StrategyPhase::Start, StrategyPhase::Run];

pub(crate) struct SteppedHost {
    bus: Bus,
    clock: EngineClock,
    log: StrategyLog,
    router: SteppedRouter,
    notes: Receiver<RunnerEvent>,
    notes_in: Sender<RunnerEvent>,
    /// What is asked next, and what waits for its answer.
    next: VecDeque<HostStep>,
    asked: Option<(HostStep, ReplyReceiver)>,
    thread: Option<StrategyThread<LocalLink>>,
    link: Option<LocalLink>,
}

#[derive(Clone)]
enum HostStep {
    /// A strategy that a crash left in a phase exits first; the answer has the number of the run.
    LookAtPhases,
    Exit,
    State(Box<Query>),
    Enter(StrategyPhase),
    /// The strategy is in a phase, and the next is not asked for before it says so.
    Await,
}

impl SteppedHost {
    pub(crate) fn open(bus: Bus, clock: EngineClock, log: StrategyLog) -> Self {
        let (notes_in, notes) = bounded(NOTES_MAX);
        let router = SteppedRouter::open(bus.clone(), notes_in.clone());
        let next = [HostStep::LookAtPhases].into();
        Self { bus, clock, log, router, notes, notes_in, next, asked: None, thread: None, link: None }
    }

    /// Whatever is ready has its turn; why the strategy no longer runs, where it does not.
    pub(crate) fn step(&mut self) -> Result<(), String> {
        self.router.step();
        self.go_on()?;
        if let Some(thread) = &mut self.thread
            && let Some(exit) = thread.step_now()
        {
            return Err(format!("{exit:?}"));
        }
        Ok(())
    }

    /// Whether the strategy has come through all phases.
    pub(crate) fn is_running(&self) -> bool {
        self.thread.is_some() && self.asked.is_none() && self.next.is_empty()
    }

    fn go_on(&mut self) -> Result<(), String> {
        if let Some((step, mut reply)) = self.asked.take() {
            match reply.try_recv() {
                None => self.asked = Some((step, reply)),
                Some(Err(NoReply)) => return Err("what the host asked for was never answered".to_owned()),
                Some(Ok(reply)) => self.on_reply(&step, reply)?,
            }
        }
        if self.asked.is_none()
            && let Some(step) = self.next.pop_front()
            && !self.begin(&step)
        {
            self.next.push_front(step);
        }
        Ok(())
    }

    /// False where it must be tried again at the next turn.
    fn begin(&mut self, step: &HostStep) -> bool {
        let asked = match step {
            HostStep::LookAtPhases => self.bus.inbox.query(Query::Phases),
            HostStep::State(query) => self.bus.inbox.query(Query::clone(query)),
            HostStep::Exit => self.bus.inbox.command(enter(self.log.id(), StrategyPhase::Exit)),
            HostStep::Enter(phase) => self.bus.inbox.command(enter(self.log.id(), *phase)),
            HostStep::Await => return self.notes.try_recv().is_ok(),
        };
        self.asked = asked.ok().map(|reply| (step.clone(), reply));
        self.asked.is_some()
    }

    fn on_reply(&mut self, step: &HostStep, reply: Reply) -> Result<(), String> {
        let answer = reply.outcome.map_err(|refusal| format!("the host was refused: {refusal}"))?;
        match (step, answer) {
            (HostStep::LookAtPhases, Answer::Phases(phases)) => {
                if phases.iter().any(|(id, phase, _)| *id == self.log.id() && *phase != StrategyPhase::Exit) {
                    self.next = [HostStep::Exit, HostStep::LookAtPhases].into();
                } else {
                    self.connect(reply.sequence);
                }
            }
            (HostStep::State(_), answer) => {
                let (sequence, at) = (reply.sequence, (self.clock)());
                let event = |event| PublishedEvent { sequence, at, event };
                let state: Vec<PublishedEvent> = state_events(answer).into_iter().map(event).collect();
                self.link.iter().for_each(|link| link.deliver_state(&state));
            }
            (HostStep::Enter(phase), _) => {
                self.link.iter().for_each(|link| link.enter(*phase, PriceHistory::default()));
            }
            _ => {}
        }
        Ok(())
    }

    /// A new run: events come from now on, after the initial state.
    fn connect(&mut self, run: u64) {
        let StrategyRecord { id, name, .. } = self.log.market().strategy.clone();
        let who = StrategyIdentity { id, name, run };
        let link = self.router.connect(&who);
        let strategy = Box::new(SeededStrategy::new(self.log.clone(), run));
        let runner = StrategyRunner::new(who, strategy, self.bus.catalogue.current());
        self.thread = Some(StrategyThread::new(runner, link.clone(), self.clock.clone(), self.notes_in.clone()));
        self.link = Some(link);
        self.next.extend(state_queries(id).map(|query| HostStep::State(Box::new(query))));
        for phase in PHASES {
            self.next.extend([HostStep::Enter(phase), HostStep::Await]);
        }
    }
}

fn enter(strategy: StrategyId, phase: StrategyPhase) -> CommandEnvelope {
    let failure = (phase == StrategyPhase::Exit).then(|| StrategyFailure {
        kind: StrategyFailureKind::Disconnected,
        text: "was cut off by a crash of the server".into(),
    });
    let command = Command::EnterPhase { strategy, mode: Mode::RealTime, phase, failure };
    CommandEnvelope { caller: Caller::platform(), command }
}
