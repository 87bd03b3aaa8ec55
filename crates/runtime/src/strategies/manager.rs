//! Strategy supervisor: phases, start and stop, and handling of panics, floods and hangs. A failing strategy does not
//! affect the others.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bus::Bus;
use crossbeam_channel::{Receiver, Sender, bounded, never, select, tick};
use domain::command::{Failure, Phase};
use domain::{Published, StrategyId, Text};
use strategy::{Past, Registry, Seat, Who};
use tracing::{error, info, warn};

use super::absent::Absent;
use super::asking::{Asking, Unwilling};
use super::failing::{self, lost};
use super::host::{HostSettings, Instance, OnFailure, Trouble};
use super::inside::{Inside, Switchboard};
use super::protocol::Resume;
use super::remote::{Attached, Pulse};
use super::runner::{Ending, LifeId, Note, Progress, Runner};
use super::running::{Body, Running};
use crate::live::Clock;

/// How often hanging strategies are checked.
const WATCH: Duration = Duration::from_millis(100);
/// Messages that may wait for the supervisor; a strategy with one more waits.
const NOTES_MAX: usize = 8_192;
/// Events that a disconnected strategy can catch up on. A run that missed more ends; a new one gets the newest.
const MISSED_MAX: usize = 8_192;

const CRASHED: &str = "was cut off by a crash of the server";
const SILENT: &str = "is silent: its process died, hangs or was cut off";
const ABSENT: &str = "did not come back: a crash left it in a phase, and no process runs it";

/// Requests to the supervisor.
pub(super) enum Wanted {
    StartAll(Sender<()>),
    Start(String, Sender<Result<(), Trouble>>),
    Stop(String, Sender<Result<(), Trouble>>),
    /// Of a strategy in a process of its own.
    Attach(Arrival, Sender<Result<Attached, Trouble>>),
    /// What a strategy missed after that sequence.
    Replay(StrategyId, u64),
    Close,
}

/// A strategy process that connects.
pub(super) struct Arrival {
    pub(super) name: String,
    /// Its earlier run, and the last event that it acknowledged.
    pub(super) resume: Option<Resume>,
    pub(super) takes_over: bool,
}

pub(super) struct Manager {
    asking: Asking,
    clock: Clock,
    registry: Arc<Registry>,
    settings: HostSettings,
    switchboard: Switchboard,
    wanted: Receiver<Wanted>,
    /// When hanging strategies are looked for.
    watch: Receiver<Instant>,
    is_closing: bool,
    notes_in: Sender<Note>,
    notes: Receiver<Note>,
    running: BTreeMap<StrategyId, Running>,
    /// Last acknowledged sequence of strategy processes when they were lost.
    heard: BTreeMap<StrategyId, u64>,
    absent: Absent,
}

impl Manager {
    pub(super) fn new(
        bus: Bus,
        clock: Clock,
        registry: Arc<Registry>,
        settings: HostSettings,
        wanted: Receiver<Wanted>,
    ) -> std::io::Result<Self> {
        let (notes_in, notes) = bounded(NOTES_MAX);
        let switchboard = Switchboard::open(bus.clone(), notes_in.clone())?;
        let (asking, running, heard, absent) = (Asking(bus), BTreeMap::new(), BTreeMap::new(), Absent::default());
        let (watch, is_closing) = (tick(WATCH), false);
        Ok(Self {
            asking,
            clock,
            registry,
            settings,
            switchboard,
            wanted,
            watch,
            is_closing,
            notes_in,
            notes,
            running,
            heard,
            absent,
        })
    }

    pub(super) fn run(mut self) {
        while !self.is_closing {
            self.turn();
        }
        self.close();
    }

    /// Handles the next request, message of a strategy's thread, or timer.
    fn turn(&mut self) {
        let wanted = select! {
            recv(self.wanted) -> wanted => wanted.unwrap_or(Wanted::Close),
            recv(self.notes) -> note => return note.into_iter().for_each(|note| self.heed(note)),
            recv(self.watch) -> _ => return self.watch(),
        };
        match wanted {
            Wanted::StartAll(done) => {
                self.start_all();
                drop(done);
            }
            // The caller may be gone.
            Wanted::Start(name, done) => drop(done.send(self.start(&name))),
            Wanted::Stop(name, done) => drop(done.send(self.stop(&name))),
            Wanted::Attach(arrival, done) => self.attach(&arrival, &done),
            // The last acknowledged event may be one of several of one input.
            Wanted::Replay(strategy, heard) => self.replay(strategy, heard.saturating_sub(1)),
            Wanted::Close => (self.is_closing, self.wanted) = (true, never()),
        }
    }

    /// Every phase is entered by all before the next begins.
    fn start_all(&mut self) {
        let mut seated = vec![];
        for instance in self.settings.instances.clone() {
            match self.asking.strategy_named(&instance.name) {
                Ok(strategy) if !strategy.auto_activate => continue,
                Ok(strategy) => match self.seat(&instance, strategy.id) {
                    Ok(()) => seated.push(strategy.id),
                    Err(trouble) => error!(strategy = %instance.name, reason = %trouble, "strategy not started"),
                },
                Err(Unwilling(reason)) => error!(strategy = %instance.name, %reason, "strategy not started"),
            }
        }
        self.lead(&seated);
        self.look_for_absent();
    }

    fn look_for_absent(&mut self) {
        let reference = self.asking.0.catalogue.now();
        let name = |id| reference.strategies.get(&id).map(|strategy| (id, strategy.name.clone()));
        match self.asking.in_a_phase() {
            Ok(begun) => {
                let left = begun.into_iter().filter(|id| !self.running.contains_key(id)).filter_map(name);
                self.absent = Absent::new(left.collect(), self.settings.return_within);
                self.give_up_absent();
            }
            Err(Unwilling(reason)) => {
                error!(%reason, "orphaned strategies could not be listed; check GET /rest/strategy");
            }
        }
    }

    fn start(&mut self, name: &str) -> Result<(), Trouble> {
        let instance = self.instance(name)?;
        let strategy = self.asking.strategy_named(name).map_err(failed)?.id;
        if self.running.contains_key(&strategy) {
            return Err(Trouble::RunsAlready);
        }
        self.seat(&instance, strategy)?;
        self.lead(&[strategy]);
        match self.running.get(&strategy) {
            Some(running) if running.phase == Some(Phase::Run) => Ok(()),
            _ => Err(Trouble::Failed("it did not come through its phases; the log says why".to_owned())),
        }
    }

    fn stop(&mut self, name: &str) -> Result<(), Trouble> {
        let found = self.running.iter().find(|(_, running)| &*running.who.name == name).map(|(id, _)| *id);
        let Some(strategy) = found else {
            return self.stop_absent(name);
        };
        self.enter(&[strategy], Phase::Exit);
        Ok(())
    }

    fn stop_absent(&mut self, name: &str) -> Result<(), Trouble> {
        let Some(strategy) = self.absent.named(name) else {
            return self.instance(name).and(Err(Trouble::DoesNotRun));
        };
        info!(strategy = %name, "orphaned strategy stopped by request");
        self.give_up(strategy, None);
        Ok(())
    }

    fn close(mut self) {
        let all: Vec<_> = self.running.keys().copied().collect();
        self.enter(&all, Phase::Exit);
    }

    fn instance(&self, name: &str) -> Result<Instance, Trouble> {
        let found = self.settings.instances.iter().find(|instance| &*instance.name == name);
        found.cloned().ok_or(Trouble::NotConfigured)
    }

    /// A runner and a thread for the strategy; its run has not begun.
    fn seat(&mut self, instance: &Instance, id: StrategyId) -> Result<(), Trouble> {
        let reference = self.asking.0.catalogue.now();
        let strategy =
            self.registry.build(&instance.of, &instance.written, &reference).map_err(Trouble::Unbuildable)?;
        let (who, link) = self.plug_in(id, &instance.name)?;
        let seat = Seat::new(who.clone(), strategy, reference);
        let runner = Runner::new(seat, link.clone(), self.clock.clone(), self.notes_in.clone());
        let runner = if self.settings.keeps_diaries { runner.with_diary() } else { runner };
        let thread = std::thread::Builder::new().name(format!("strategy {}", instance.name)).spawn(|| runner.run());
        let thread = thread.map_err(|error| Trouble::Failed(error.to_string()))?;
        self.running.insert(id, Running::new(who, link, Body::Thread(thread)));
        Ok(())
    }

    /// Events come from now on, after the initial state.
    fn plug_in(&mut self, id: StrategyId, name: &Text) -> Result<(Who, Inside), Trouble> {
        // A strategy that a crash left in a phase exits first.
        self.asking.stop(id, Some(lost(CRASHED))).map_err(failed)?;
        self.asking.bind_rate(id, self.settings.orders_per_second).map_err(failed)?;
        let who = Who { id, name: name.clone(), run: self.asking.run_number().map_err(failed)? };
        let link = self.switchboard.plug_in(&who, self.settings.keeps_diaries);
        for published in self.asking.picture(id, (self.clock)()).map_err(failed)? {
            link.mailbox().offer(&published);
        }
        self.absent.remove(id);
        Ok((who, link))
    }

    /// Attaches a strategy process: a known run continues, another begins with INIT. The caller gets its link before
    /// the phases begin, because it must forward them.
    fn attach(&mut self, arrival: &Arrival, done: &Sender<Result<Attached, Trouble>>) {
        let attached = self.welcome(arrival);
        let begins = attached.as_ref().ok().filter(|attached| !attached.is_resumed).map(|attached| attached.who.id);
        // The caller may be gone.
        let _ = done.send(attached);
        if let Some(running) = begins.and_then(|strategy| self.running.get_mut(&strategy)) {
            let strategy = running.who.id;
            running.missed_after = self.heard.remove(&strategy).or(arrival.resume.map(|resume| resume.heard));
            self.begin_phase(strategy, Phase::Init);
        }
    }

    fn welcome(&mut self, arrival: &Arrival) -> Result<Attached, Trouble> {
        let strategy = self.asking.strategy_named(&arrival.name).map_err(failed)?;
        match self.running.get(&strategy.id) {
            Some(Running { body: Body::Thread(_), .. }) => return Err(Trouble::RunsAlready),
            Some(known) if arrival.resume.is_some_and(|resume| resume.run == known.who.run) => {
                return self.attached(known, true).ok_or(Trouble::DoesNotRun);
            }
            Some(known) if known.is_well() && !arrival.takes_over => return Err(Trouble::LivesElsewhere),
            Some(_) => self.fail(strategy.id, lost("is replaced by another process")),
            None => {}
        }
        let (who, link) = self.plug_in(strategy.id, &strategy.name)?;
        let running = Running::new(who, link, Body::Process(Pulse::default()));
        let attached = self.attached(&running, false);
        self.running.insert(strategy.id, running);
        attached.ok_or(Trouble::DoesNotRun)
    }

    fn attached(&self, running: &Running, is_resumed: bool) -> Option<Attached> {
        let Body::Process(pulse) = &running.body else { return None };
        pulse.beat();
        let (who, link, notes) = (running.who.clone(), running.link.clone(), self.notes_in.clone());
        let reference = self.asking.0.catalogue.now();
        Some(Attached { who, reference, link, notes, pulse: pulse.clone(), is_resumed })
    }

    /// A run continues after its last acknowledged event; it drops repeated events itself.
    fn replay(&mut self, strategy: StrategyId, heard: u64) {
        let missed = self.missed(strategy, heard);
        if missed.len() > MISSED_MAX {
            self.lose(strategy, lost(format!("missed more than {MISSED_MAX} events of its orders")));
        } else if let Some(running) = self.running.get(&strategy) {
            running.mailbox().replay(&missed);
        }
    }

    /// A new run gets the last changes of the earlier run's orders, and the current state.
    fn tell_missed(&mut self, strategy: StrategyId, heard: u64) {
        let missed = self.missed(strategy, heard);
        let newest = &missed[missed.len().saturating_sub(MISSED_MAX)..];
        if let Some(running) = self.running.get(&strategy) {
            running.mailbox().replay(newest);
        }
    }

    fn missed(&self, strategy: StrategyId, heard: u64) -> Vec<Published> {
        self.asking.missed(strategy, heard, (self.clock)()).unwrap_or_else(|Unwilling(reason)| {
            let running = self.running.get(&strategy);
            running.into_iter().for_each(|running| {
                running.mailbox().cut(&format!("missed events cannot be replayed: {reason}"));
            });
            vec![]
        })
    }

    fn lead(&mut self, strategies: &[StrategyId]) {
        for phase in [Phase::Init, Phase::Prefeed, Phase::Start, Phase::Run] {
            self.enter(strategies, phase);
        }
    }

    /// All of these enter the phase; returns when each has gone through it or is gone.
    fn enter(&mut self, strategies: &[StrategyId], phase: Phase) {
        strategies.iter().for_each(|strategy| self.begin_phase(*strategy, phase));
        // Meanwhile others start and stop; and one that was disconnected in a phase must reconnect to continue.
        while strategies.iter().any(|strategy| self.is_short_of(*strategy, phase)) {
            self.turn();
            if self.is_closing && phase != Phase::Exit {
                return;
            }
        }
    }

    fn begin_phase(&mut self, strategy: StrategyId, phase: Phase) {
        let Some(running) = self.running.get_mut(&strategy) else { return };
        running.is_leaving |= phase == Phase::Exit;
        let past = match phase {
            Phase::Prefeed => self.asking.past(&running.wishes, &self.settings.bars, (self.clock)()),
            _ => Past::default(),
        };
        match self.asking.enter_phase(strategy, phase) {
            Ok(()) => running.mailbox().enter(phase, Arc::new(past)),
            Err(Unwilling(reason)) => self.fail(strategy, lost(format!("can't enter {}: {reason}", phase.name()))),
        }
    }

    fn is_short_of(&self, strategy: StrategyId, phase: Phase) -> bool {
        // One that has gone through EXIT is no longer here.
        let is_short = |running: &Running| phase == Phase::Exit || running.phase < Some(phase);
        self.running.get(&strategy).is_some_and(is_short)
    }

    fn heed(&mut self, note: Note) {
        match note {
            Note::Entered(life, progress) if self.lives(life) => self.entered(life.strategy, progress),
            Note::Ended(life, ending) if self.lives(life) => self.ended(life.strategy, ending),
            // A thread that hung may return after the strategy has begun again.
            Note::Entered(..) | Note::Ended(..) => {}
            Note::RateRefused(strategy) => self.rate_refused(strategy),
        }
    }

    fn lives(&self, life: LifeId) -> bool {
        self.running.get(&life.strategy).is_some_and(|running| running.who.run == life.run)
    }

    fn entered(&mut self, strategy: StrategyId, progress: Progress) {
        let Some(running) = self.running.get_mut(&strategy) else { return };
        let phase = progress.phase;
        // After a reconnect a process may report it twice.
        if running.phase < Some(phase) {
            info!(strategy = %running.who.name, phase = phase.name(), "strategy entered phase");
            (running.phase, running.wishes) = (Some(phase), progress.wishes);
            if matches!(running.body, Body::Process(_)) && !running.is_leaving {
                self.lead_on(strategy, phase);
            }
        }
    }

    /// A process goes through its phases on its own: it waits for no other, and none waits for it.
    fn lead_on(&mut self, strategy: StrategyId, after: Phase) {
        match after {
            Phase::Init => self.begin_phase(strategy, Phase::Prefeed),
            Phase::Prefeed => self.begin_phase(strategy, Phase::Start),
            Phase::Start => {
                let missed_after = self.running.get_mut(&strategy).and_then(|running| running.missed_after.take());
                missed_after.into_iter().for_each(|heard| self.tell_missed(strategy, heard));
                self.begin_phase(strategy, Phase::Run);
            }
            Phase::Run | Phase::Exit => {}
        }
    }

    fn ended(&mut self, strategy: StrategyId, ending: Ending) {
        match ending {
            Ending::Exited => self.exited(strategy),
            Ending::Panicked(message) => self.fail(strategy, failing::panicked(&message)),
            Ending::Flooded => self.flooded(strategy, failing::TOO_MUCH_IN_A_CALL),
            Ending::Lost(reason) => self.lose(strategy, lost(format!("was cut off: {reason}"))),
        }
    }

    fn exited(&mut self, strategy: StrategyId) {
        if let Some(running) = self.running.remove(&strategy) {
            self.switchboard.unplug(strategy);
            self.asking.unsubscribe(strategy, running.mailbox().wanted());
            if let Body::Thread(thread) = running.body {
                drop(thread.join());
            }
        }
    }

    fn rate_refused(&mut self, strategy: StrategyId) {
        let Some(running) = self.running.get_mut(&strategy) else { return };
        if running.haste.is_flood((self.clock)()) {
            self.flooded(strategy, failing::BEYOND_ITS_RATE);
        }
    }

    /// The risk gate closes for it, and its orders are cancelled; an operator must open the gate again.
    fn flooded(&mut self, strategy: StrategyId, how: &str) {
        if self.running.contains_key(&strategy) {
            if let Err(Unwilling(reason)) = self.asking.kill(strategy, "it floods") {
                error!(%strategy, %reason, "flooding strategy could not be halted; use the kill switch");
            }
            self.fail(strategy, failing::floods(how));
        }
    }

    fn watch(&mut self) {
        let hangs = |running: &Running| running.stuck_for().is_some_and(|stuck| stuck > self.settings.hang_after);
        let hung: Vec<_> = self.running.iter().filter(|(_, running)| hangs(running)).map(|(id, _)| *id).collect();
        for strategy in hung {
            let is_process = matches!(self.running.get(&strategy), Some(Running { body: Body::Process(_), .. }));
            self.lose(strategy, if is_process { lost(SILENT) } else { failing::hangs() });
        }
        self.give_up_absent();
    }

    fn give_up_absent(&mut self) {
        for (strategy, name) in self.absent.overdue() {
            warn!(strategy = %name, "strategy {name} {ABSENT}");
            self.give_up(strategy, Some(lost(ABSENT)));
        }
    }

    fn give_up(&mut self, strategy: StrategyId, failure: Option<Failure>) {
        if let Some(name) = self.absent.remove(strategy) {
            self.let_go(strategy, &name, failure);
            self.asking.unsubscribe(strategy, self.asking.subscribed(strategy));
        }
    }

    /// As [`Self::fail`], but its process may begin a new run at once.
    fn lose(&mut self, strategy: StrategyId, failure: Failure) {
        if let Some(running) = self.running.get(&strategy) {
            running.mailbox().cut_for_now(&failure.text);
        }
        self.fail(strategy, failure);
    }

    /// Only this strategy is stopped; commands that its thread may still send have no effect.
    fn fail(&mut self, strategy: StrategyId, failure: Failure) {
        let Some(running) = self.running.remove(&strategy) else { return };
        // The engine raises the alarm, which is kept longer than the log.
        warn!(strategy = %running.who.name, "strategy {} {}", running.who.name, failure.text);
        if let Body::Process(pulse) = &running.body {
            self.heard.insert(strategy, pulse.last_heard());
        }
        running.mailbox().cut(&failure.text);
        self.switchboard.unplug(strategy);
        self.let_go(strategy, &running.who.name, Some(failure));
        self.asking.unsubscribe(strategy, running.mailbox().wanted());
    }

    /// Its open orders by policy, then EXIT.
    fn let_go(&self, strategy: StrategyId, name: &Text, failure: Option<Failure>) {
        if self.settings.on_failure == OnFailure::Cancel {
            match self.asking.cancel_orders(strategy) {
                Ok(0) => {}
                Ok(cancels) => warn!(strategy = %name, cancels, "cancelling open orders of a stopped strategy"),
                Err(Unwilling(reason)) => {
                    error!(strategy = %name, %reason, "orders of a stopped strategy were not cancelled; cancel them");
                }
            }
        }
        if let Err(Unwilling(reason)) = self.asking.stop(strategy, failure) {
            error!(strategy = %name, %reason, "phase EXIT of a stopped strategy was not recorded");
        }
    }
}

fn failed(Unwilling(reason): Unwilling) -> Trouble {
    Trouble::Failed(reason)
}
