//! The platform below its sockets: inbox, live loop, gate, journal, snapshots, recovery, adapter and venue, composed as the server
//! composes them, but stepped by hand on one thread.

use std::collections::VecDeque;
use std::sync::Arc;

use adapters::simulated::{VenueControls, newest_order};
use bus::inbox::{Inbox, inbox};
use bus::reply::ReplyReceiver;
use bus::{Bus, Catalogue, EventFeed, EventReceiver, InstructionQueue, InstructionRouter};
use crossbeam_channel::{Sender, bounded};
use domain::admin::AdminState;
use domain::{Caller, Command, CommandEnvelope, EventClass, Instruction, OrderId};
use engine::Engine;
use runtime::simulation::RunDigest;
use runtime::{LiveExit, LiveLoop, LiveOptions, LiveParts, RecoveredState, RecoverySources, recover_from};
use storage::journal::{Inspected, Journal, JournalOptions, JournalWorker, KnownSequence};
use storage::lock::DataDirLock;
use storage::{JournalLedger, RetiredIndex, SnapshotStore};

use crate::fix_sessions::{FixPort, FixPortParts};
use crate::http_clients::{HttpPort, HttpPortParts};
use crate::machine::Machine;
use crate::market::hosted_venue::{HostedVenue, VenueParts};
use crate::market::seed_traits::VENUE_COUNT;
use crate::stall_watch::StallWatch;
use crate::stomp_sessions::{TopicPort, TopicPortParts};
use crate::strategies::SteppedHost;
use crate::users::UserService;

const SNAPSHOT_EVERY_INPUTS: u64 = 150;
/// Few, so that a hanging disk fills the queue.
const QUEUE_BATCHES: usize = 16;
const FEED_CAPACITY: usize = 1 << 16;
/// Instructions that the adapter takes before it looks at the venue again, as its thread does.
const INSTRUCTIONS_PER_CYCLE: usize = 256;
/// An orderly stop takes no more turns of the loop than this.
const STOP_TURNS_MAX: usize = 1_000;

/// A running process.
pub(crate) struct Platform {
    /// In runs with users; what works on them ends before all others.
    users: Option<UserService>,
    pub(crate) inbox: Inbox,
    /// Once the venues are open.
    pub(crate) fix: Option<FixPort>,
    pub(crate) stomp: Option<TopicPort>,
    /// Where a trader or users need it.
    pub(crate) http: Option<HttpPort>,
    pub(crate) strategies: Option<SteppedHost>,
    bus: Bus,
    ledger: Arc<JournalLedger>,
    machine: Machine,
    live: LiveLoop,
    worker: JournalWorker,
    watch: StallWatch,
    /// By venue.
    instructions: Vec<InstructionQueue>,
    /// By venue; empty until they are opened.
    venues: Vec<HostedVenue>,
    pub(crate) events: EventReceiver,
    stop: Sender<()>,
    /// What the engine is still to be told before the venue is opened.
    startup: VecDeque<Command>,
    asked: Option<ReplyReceiver>,
    _lock: DataDirLock,
}

/// What recovery found.
pub(crate) struct FoundState {
    pub(crate) recovered: RecoveredState,
    /// The state of the engine, encoded.
    pub(crate) state: Vec<u8>,
    /// Users, tokens and settings.
    pub(crate) admin: Arc<AdminState>,
    pub(crate) torn: bool,
}

impl Platform {
    pub(crate) fn start(machine: &Machine) -> Result<(Box<Self>, FoundState), String> {
        let told = |error: &dyn std::fmt::Display| machine.text(error);
        let lock = DataDirLock::acquire(&machine.folder).map_err(|error| told(&error))?;
        let inspected = inspect(machine, &lock)?;
        let end = inspected.found().last_sequence;
        let snapshots = SnapshotStore::open_on(machine.disk.shared(), &lock, machine.instance);
        let snapshots = snapshots.map_err(|error| told(&error))?;
        let (inbox, lanes) = inbox();
        let ledger = Arc::new(JournalLedger::new(inbox.clone()));
        let retired = open_retired_index(machine, &lock)?;
        let (engine, recovered) = replay(machine, end, (&snapshots, retired.as_deref()), &ledger)?;
        check_orders(machine, engine.last_order())?;
        let (summary, journal, worker) = inspected.open_by_hand().map_err(|error| told(&error))?;
        machine.clock.start_after(recovered.at);
        let found = FoundState {
            recovered: recovered.clone(),
            state: engine.encode_state(),
            admin: ledger.admin(),
            torn: summary.torn.is_some(),
        };
        let feed = EventFeed::default();
        let watch = StallWatch::new(journal.monitor());
        let bus = bus_of(machine, (&inbox, &feed), &watch);
        let startup = machine.market.startup(engine.reference().accounts.is_empty(), &machine.traits).into();
        let events = feed.subscribe(&[EventClass::OrderStatus, EventClass::Fill], FEED_CAPACITY);
        let mut router = InstructionRouter::default();
        let instructions = (0..VENUE_COUNT).map(|venue| router.open(machine.market.adapter(venue).clone())).collect();
        let (stop, stopped) = bounded(1);
        let parts = LiveParts {
            engine,
            inbox: lanes,
            journal,
            snapshots: snapshots.into(),
            ledger: ledger.clone(),
            retired,
            feed,
            catalogue: bus.catalogue.clone(),
            instructions: router,
            event_sink: {
                let read_model = machine.read_model.clone();
                Box::new(move |through, events| read_model.append(through, events))
            },
            clock: machine.clock.shared(),
            stop: stopped,
        };
        let live = LiveLoop::new(parts, options(), &recovered).by_hand();
        let platform = Self {
            users: None,
            inbox,
            fix: None,
            stomp: None,
            http: None,
            strategies: None,
            bus,
            ledger,
            machine: machine.clone(),
            live,
            worker,
            watch,
            instructions,
            venues: vec![],
            events,
            stop,
            startup,
            asked: None,
            _lock: lock,
        };
        Ok((Box::new(platform), found))
    }

    /// One turn of the live loop; the reason where it ended.
    pub(crate) fn step(mut self: Box<Self>) -> Result<Box<Self>, LiveExit> {
        self.live = self.live.step()?;
        Ok(self)
    }

    /// How long the loop may sleep, in nanoseconds.
    pub(crate) fn sleep_nanos(&self) -> i64 {
        i64::try_from(self.live.sleep_time().as_nanos()).unwrap_or(i64::MAX)
    }

    pub(crate) fn has_unwritten(&self) -> bool {
        self.worker.has_work()
    }

    /// The last input that is durable.
    pub(crate) fn durable(&self) -> u64 {
        self.bus.journal.durable()
    }

    /// The state of the engine and the digest as they are now, where all that they follow from is durable.
    pub(crate) fn durable_state(&self) -> Option<(Vec<u8>, &Option<RunDigest>)> {
        let (sequence, engine, digest) = self.live.journalled_state();
        (sequence == self.durable()).then(|| (engine.encode_state(), digest))
    }

    /// Whether nothing waits to be taken in, and all that was is durable.
    pub(crate) fn is_all_durable(&self) -> bool {
        self.sleep_nanos() > 0 && self.live.journalled_state().0 == self.durable()
    }

    /// What waits for the disk is looked at from now on.
    pub(crate) fn begin_watch(&mut self) {
        self.watch.begin();
    }

    /// One look at what waits; whether the journal stalls from now on.
    pub(crate) fn look_at_journal(&mut self) -> bool {
        self.watch.look()
    }

    pub(crate) fn is_stalled(&self) -> bool {
        self.bus.journal.is_stalled()
    }

    /// One commit of the journal.
    pub(crate) fn commit(&mut self) {
        self.worker.commit();
    }

    pub(crate) fn has_instructions(&self) -> bool {
        self.is_started() && self.instructions.iter().any(|queue| !queue.is_empty())
    }

    /// Each adapter takes instructions and delivers what its venue reports. Nanoseconds until one is due again.
    pub(crate) fn step_venues(&mut self, on_instruction: &mut dyn FnMut(&Instruction)) -> Result<i64, String> {
        let at = self.machine.clock.now();
        let mut due = i64::MAX;
        for (HostedVenue { host, .. }, instructions) in self.venues.iter_mut().zip(&self.instructions) {
            for instruction in instructions.try_iter().take(INSTRUCTIONS_PER_CYCLE) {
                on_instruction(&instruction);
                host.handle(at, &instruction).map_err(|error| format!("{error:?}"))?;
            }
            host.step(at).map_err(|error| format!("{error:?}"))?;
            due = due.min(host.next_due().map_or(i64::MAX, |due| due.nanos_since(at).max(0)));
        }
        Ok(due)
    }

    /// Work on users that can go on goes on. Whether anything ended that others wait for.
    pub(crate) fn step_users(&mut self) -> bool {
        self.users.as_mut().is_some_and(UserService::step)
    }

    pub(crate) fn controls(&self, venue: usize) -> Option<&VenueControls> {
        self.venues.get(venue)?.controls()
    }

    /// The sessions of a FIX adapter have their turn; whether its host has something to deliver then.
    pub(crate) fn step_adapter_sessions(&mut self, now: i64) -> bool {
        self.venues.iter_mut().filter_map(|venue| venue.step_sessions(now).then_some(())).count() > 0
    }

    /// Tells the engine what comes next at a start; opens the venue after the last. Whether the venue was opened now.
    pub(crate) fn go_on_starting(&mut self) -> Result<bool, String> {
        if self.is_started() {
            return Ok(false);
        }
        match self.asked.as_mut().map(ReplyReceiver::try_recv) {
            Some(None) => return Ok(false),
            Some(Some(Err(_))) => return Ok(false),
            Some(Some(Ok(reply))) => drop(reply.outcome.map_err(|refusal| format!("start: {refusal}"))?),
            None => {}
        }
        self.asked = None;
        match self.startup.pop_front() {
            Some(command) => {
                let envelope = CommandEnvelope { caller: Caller::platform(), command };
                self.asked = Some(self.inbox.command(envelope).map_err(|error| format!("start: {error:?}"))?);
                Ok(false)
            }
            None => self.open_venues().and_then(|()| self.open_ports()).map(|()| true),
        }
    }

    fn open_venues(&mut self) -> Result<(), String> {
        let machine = &self.machine;
        let parts = VenueParts {
            bus: &self.bus,
            folder: &machine.folder,
            disk: &machine.disk,
            clock: &machine.clock,
            market: &machine.market,
            lab_listener: &machine.lab_listener,
            traits: &machine.traits,
            seed: machine.seed,
            has_late_requests: machine.has_late_requests,
        };
        let venues = (0..VENUE_COUNT).map(|venue| HostedVenue::open(&parts, venue)).collect::<Result<_, _>>();
        self.venues = venues.map_err(|error| machine.text(&error))?;
        Ok(())
    }

    fn open_ports(&mut self) -> Result<(), String> {
        let Machine { clock, fix_sessions, .. } = &self.machine;
        let (journal, secrets) = (self.bus.journal.clone(), self.machine.secrets.clone());
        let open = || UserService::open(self.ledger.clone(), journal, secrets, clock);
        self.users = self.machine.traits.has_users.then(open).transpose()?;
        let access = self.users.as_ref().map_or(&self.machine.access, |users| &users.access);
        let parts = TopicPortParts { bus: self.bus.clone(), access: access.clone(), clock: clock.clone() };
        self.stomp = Some(TopicPort::open(parts)?);
        if self.machine.traits.has_http() {
            let parts = HttpPortParts { bus: self.bus.clone(), access: access.clone(), clock: clock.clone() };
            self.http = Some(HttpPort::open(parts)?);
        }
        let log = self.machine.strategy.clone();
        self.strategies = Some(SteppedHost::open(self.bus.clone(), clock.shared(), log));
        let (bus, ledger) = (self.bus.clone(), self.ledger.clone());
        let parts = FixPortParts { bus, ledger, access: access.clone(), clock: clock.clone() };
        self.fix = Some(FixPort::open(parts, fix_sessions)?);
        Ok(())
    }

    pub(crate) fn is_started(&self) -> bool {
        !self.venues.is_empty()
    }

    /// Everything that was taken in is durable before the loop ends.
    pub(crate) fn stop(mut self: Box<Self>) -> Result<LiveExit, String> {
        for venue in &mut self.venues {
            venue.host.disconnect(self.machine.clock.now()).map_err(|error| format!("{error:?}"))?;
        }
        let mut turns = 0;
        loop {
            while self.worker.has_work() {
                self.worker.commit();
            }
            self.live = match self.live.step() {
                Ok(live) => live,
                Err(ended) => return Ok(ended),
            };
            if !self.worker.has_work() {
                break;
            }
            turns += 1;
            if turns == STOP_TURNS_MAX {
                return Err(format!("there is still work after {turns} turns"));
            }
        }
        self.stop.try_send(()).map_err(|error| error.to_string())?;
        match self.live.step() {
            Ok(_) => Err("the loop went on after it was stopped".to_owned()),
            Err(ended) => Ok(ended),
        }
    }
}

fn options() -> LiveOptions {
    LiveOptions {
        snapshots: runtime::SnapshotSchedule::every_inputs(SNAPSHOT_EVERY_INPUTS),
        journal_ticks: false,
        flag_silence: true,
        build: "simulated".to_owned(),
        pulse: None,
    }
}

fn bus_of(machine: &Machine, (inbox, feed): (&Inbox, &EventFeed), watch: &StallWatch) -> Bus {
    Bus {
        inbox: inbox.clone(),
        feed: feed.clone(),
        catalogue: Catalogue::default(),
        history: Arc::new(machine.read_model.clone()),
        journal: watch.status(),
    }
}

fn inspect(machine: &Machine, lock: &DataDirLock) -> Result<Inspected, String> {
    let snapshot =
        SnapshotStore::look(&machine.folder, machine.instance).newest_claim().map_err(|error| machine.text(&error))?;
    let snapshot =
        snapshot.map(|(sequence, _)| KnownSequence { sequence, says: format!("a snapshot is of {sequence}") });
    let sequence = machine.read_model.newest_event();
    let read_model = KnownSequence { sequence, says: format!("the read model has event {sequence}") };
    let options = JournalOptions {
        segment_bytes: machine.segment_bytes,
        queue_batches: QUEUE_BATCHES,
        witnesses: snapshot.into_iter().chain([read_model]).collect(),
        ..JournalOptions::new(machine.instance)
    };
    Journal::inspect_on(machine.disk.shared(), lock, &options, &mut |_| {}).map_err(|error| machine.text(&error))
}

/// Only where days pass, so that the journals of all other runs are without it.
fn open_retired_index(machine: &Machine, lock: &DataDirLock) -> Result<Option<Arc<RetiredIndex>>, String> {
    let open = || RetiredIndex::open_on(machine.disk.shared(), lock, machine.instance);
    let index = machine.traits.has_days_off.then(open).transpose();
    index.map(|index| index.map(Arc::new)).map_err(|error| machine.text(&error))
}

fn replay(
    machine: &Machine,
    end: u64,
    (snapshots, retired): (&SnapshotStore, Option<&RetiredIndex>),
    ledger: &JournalLedger,
) -> Result<(Engine, RecoveredState), String> {
    let read_model = &machine.read_model;
    let mut catch_up = |through: u64, events: &[domain::PublishedEvent]| read_model.catch_up(through, events);
    let sources = RecoverySources { folder: &machine.folder, last_sequence: end, snapshots, ledger, retired };
    recover_from(&sources, read_model.applied(), &mut catch_up, &mut |_| {}).map_err(|error| machine.text(&error))
}

/// As the server asks the ledgers of its venues at a start.
fn check_orders(machine: &Machine, last: OrderId) -> Result<(), String> {
    for venue in 0..VENUE_COUNT {
        // One that is not there, or cannot be read, shows when the venue opens it.
        if let Some(order) = newest_order(&machine.ledger(venue)).ok().flatten().filter(|order| *order > last) {
            return Err(format!("a venue's ledger has order number {order}, and the journal's last is {last}"));
        }
    }
    Ok(())
}
