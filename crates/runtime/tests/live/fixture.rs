//! A live loop with everything around it: one venue, one stock to trade, one whose prices show that the loop goes on.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, JoinHandle, Thread};

use bus::inbox::{InboxReceiver, inbox_with};
use bus::lanes::LaneLimits;
use bus::quotas::InFlightLimits;
use bus::reply::NoReply;
use bus::{
    Catalogue, EventFeed, EventReceiver, Inbox, InboxError, InstructionQueue, InstructionRouter, Reply, ReplyReceiver,
};
use crossbeam_channel::{Receiver, Sender, bounded};
use domain::command::{MarketData, PlaceOrder, ReferenceChange};
use domain::query::{Answer, Filter};
use domain::report::{AdapterCapabilities, RefusesRepeatedIds, Report, ReportKind, SessionState, VenueSnapshot};
use domain::{
    AccountId, AdapterName, Caller, Command, CommandEnvelope, Event, EventClass, Instruction, OrderId, OrderKind,
    Price, PublishedEvent, Query, SecurityId, Side, Source, TimeInForce, Timestamp,
};
use runtime::{
    EngineClock, LiveExit, LiveLoop, LiveOptions, LiveParts, PulseOptions, RecoveredState, RecoverySources,
    recover_from,
};
use storage::journal::{InstanceId, Journal, JournalMonitor, JournalOptions};
use storage::lock::DataDirLock;
use storage::{JournalLedger, ReadModel, RetiredIndex, SnapshotStore, StorageError};
use tempfile::TempDir;

use crate::test_disk::TestDisk;

pub(crate) const INSTANCE: InstanceId = InstanceId(*b"the live stories");
const ADAPTER: &str = "VENUE";
pub(crate) const TRADED: u64 = 1;
const QUOTED: u64 = 2;
/// A Wednesday at noon. Time stands still unless days pass: nothing expires, and marks are taken once, at the start.
const NOON: Timestamp = Timestamp(1_795_003_200_000_000_000);
const EVENTS_MAX: usize = 1_000;
pub(crate) const NOTHING: [&str; 0] = [];

/// A data folder on a disk; a loop can be started on it again and again.
pub(crate) struct LiveFixture {
    pub(crate) folder: TempDir,
    pub(crate) disk: Arc<TestDisk>,
    pub(crate) snapshot_disk: Arc<TestDisk>,
    pub(crate) journal: JournalOptions,
    pub(crate) lanes: LaneLimits,
    pub(crate) snapshot_every_inputs: u64,
    /// Whether an index takes the ids of retired orders.
    pub(crate) has_index: bool,
    /// A read model with room for so many events.
    pub(crate) history_events: Option<usize>,
    /// Days and seconds since noon.
    pub(crate) days: Arc<AtomicI64>,
    pub(crate) seconds: Arc<AtomicI64>,
    /// The setting `marketData.flagSilence`.
    pub(crate) flag_silence: bool,
    /// Of a cluster's leader.
    pub(crate) pulse: Option<PulseOptions>,
}

impl Default for LiveFixture {
    fn default() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            disk: Arc::default(),
            snapshot_disk: Arc::default(),
            journal: JournalOptions { segment_bytes: 1 << 20, ..JournalOptions::new(INSTANCE) },
            lanes: LaneLimits::default(),
            snapshot_every_inputs: u64::MAX,
            has_index: false,
            history_events: None,
            days: Arc::default(),
            seconds: Arc::default(),
            flag_silence: true,
            pulse: None,
        }
    }
}

impl LiveFixture {
    /// A loop on an empty folder, until the venue is logged on.
    pub(crate) fn start_trading(&self) -> RunningLoop {
        let mut live = self.start();
        live.open_trading();
        live
    }

    /// The machine starts again with a disk that works.
    pub(crate) fn restart(&mut self) -> RunningLoop {
        (self.disk, self.snapshot_disk) = (Arc::default(), Arc::default());
        self.start()
    }

    pub(crate) fn start(&self) -> RunningLoop {
        let lock = self.lock_folder();
        let (_, journal) = Journal::open_on(self.disk.clone(), &lock, &self.journal, &mut |_| {}).unwrap();
        let snapshots = SnapshotStore::open_on(self.snapshot_disk.clone(), &lock, INSTANCE).unwrap();
        let (inbox, requests) = inbox_with(self.lanes, InFlightLimits::default());
        let ledger = Arc::new(JournalLedger::new(inbox.clone()));
        let mut ignore = |_: u64, _: &[PublishedEvent]| {};
        let retired = self.has_index.then(|| Arc::new(RetiredIndex::open(&lock, INSTANCE).unwrap()));
        let sources = RecoverySources {
            folder: lock.folder(),
            last_sequence: journal.last_sequence(),
            snapshots: &snapshots,
            ledger: &ledger,
            retired: retired.as_deref(),
        };
        let found = recover_from(&sources, u64::MAX, &mut ignore, &mut |_| {});
        let (engine, recovered) = found.expect("the folder is recovered");
        let open_model = |events| ReadModel::open_small(&lock, INSTANCE, journal.last_sequence(), events).unwrap();
        let history = self.history_events.map(open_model).map(Arc::new);
        let (days, seconds) = (self.days.clone(), self.seconds.clone());
        let clock: EngineClock = Arc::new(move || {
            NOON.plus_seconds(days.load(Ordering::Relaxed) * 86_400 + seconds.load(Ordering::Relaxed))
        });
        let storage = LiveStorage { engine, journal, snapshots, ledger, retired, history, clock };
        let options = LiveOptions {
            snapshots: runtime::SnapshotSchedule::every_inputs(self.snapshot_every_inputs),
            journal_ticks: false,
            flag_silence: self.flag_silence,
            build: "stories".into(),
            pulse: self.pulse,
        };
        RunningLoop::spawn((inbox, requests), storage, options, recovered)
    }

    /// The thread that writes snapshots holds the folder a moment longer than a loop that has failed; a process would be gone.
    pub(crate) fn lock_folder(&self) -> DataDirLock {
        loop {
            match DataDirLock::acquire(self.folder.path()) {
                Ok(lock) => return lock,
                Err(StorageError::Locked { .. }) => thread::yield_now(),
                Err(other) => panic!("{other}"),
            }
        }
    }

    /// Waits for the snapshot of everything that is journalled so far.
    pub(crate) fn wait_for_snapshot(&self, live: &mut RunningLoop) -> u64 {
        let snapshots = SnapshotStore::look(self.folder.path(), INSTANCE);
        loop {
            // A turn begins a snapshot where the last one is written.
            live.pass_price();
            let newest = snapshots.newest_claim().unwrap().map_or(0, |(sequence, _)| sequence);
            if newest == live.monitor.durable() {
                return newest;
            }
        }
    }

    /// A text without the name of the temporary folder.
    pub(crate) fn text(&self, error: &str) -> String {
        error.replace(&format!("{}/", self.folder.path().display()), "")
    }
}

struct LiveStorage {
    engine: engine::Engine,
    journal: Journal,
    snapshots: SnapshotStore,
    ledger: Arc<JournalLedger>,
    retired: Option<Arc<RetiredIndex>>,
    history: Option<Arc<ReadModel>>,
    clock: EngineClock,
}

pub(crate) struct RunningLoop {
    pub(crate) inbox: Inbox,
    pub(crate) ledger: Arc<JournalLedger>,
    pub(crate) venue: InstructionQueue,
    pub(crate) recovered: RecoveredState,
    /// What the engine had forgotten when the loop began.
    pub(crate) forgotten_through: u64,
    pub(crate) history: Option<Arc<ReadModel>>,
    pub(crate) monitor: JournalMonitor,
    pub(crate) feed: EventFeed,
    orders: EventReceiver,
    ticks: EventReceiver,
    read_model: Arc<Mutex<Vec<String>>>,
    pub(crate) stop: Sender<()>,
    pub(crate) thread: JoinHandle<LiveExit>,
}

impl RunningLoop {
    fn spawn(
        (inbox, requests): (Inbox, InboxReceiver),
        storage: LiveStorage,
        options: LiveOptions,
        recovered: RecoveredState,
    ) -> Self {
        let feed = EventFeed::default();
        let orders = feed.subscribe(&[EventClass::OrderStatus], EVENTS_MAX);
        let ticks = feed.subscribe(&[EventClass::Tick], EVENTS_MAX);
        let mut instructions = InstructionRouter::default();
        let venue = instructions.open(AdapterName(ADAPTER.into()));
        let (stop, stopped) = bounded(1);
        let (ledger, read_model) = (storage.ledger.clone(), Arc::<Mutex<Vec<String>>>::default());
        let (sink, forgotten_through) = (read_model.clone(), storage.engine.forgotten_through());
        let (history, monitor) = (storage.history.clone(), storage.journal.monitor());
        let parts = live_parts(requests, storage, feed.clone(), instructions, sink, stopped);
        let live = LiveLoop::new(parts, options, &recovered);
        let thread = thread::spawn(move || live.run());
        Self {
            inbox,
            ledger,
            venue,
            recovered,
            forgotten_through,
            history,
            monitor,
            feed,
            orders,
            ticks,
            read_model,
            stop,
            thread,
        }
    }

    fn open_trading(&mut self) {
        let reference = vec![
            ReferenceChange::Exchange(samples::exchange()),
            ReferenceChange::Security(samples::stock(TRADED, "TRADED")),
            ReferenceChange::Security(samples::stock(QUOTED, "QUOTED")),
            ReferenceChange::Account(domain::Account { adapter_type: ADAPTER.into(), ..samples::account(1, "ONE") }),
        ];
        self.command(Command::Reference(reference)).wait();
        self.command(Command::Record(samples::credit(1, 1_000_000))).wait();
        self.log_on();
        // Prices get numbers when the first block of numbers is durable, which it is with the first reply.
        self.pass_price();
        assert_eq!(self.query(Query::Adapters).wait(), "answered");
        self.venue.try_iter().for_each(drop);
    }

    /// The venue logs on and confirms that it has no order.
    pub(crate) fn log_on(&self) {
        logon().into_iter().for_each(|kind| self.report(kind));
    }

    pub(crate) fn place(&self, id: &str) -> PendingReply {
        self.try_place(id).expect("the inbox has room")
    }

    /// A limit order to buy one share.
    pub(crate) fn try_place(&self, id: &str) -> Result<PendingReply, InboxError> {
        let order = PlaceOrder {
            int_id: Some(id.parse().unwrap()),
            cl_ord_id: None,
            security: SecurityId(TRADED),
            account: Some(AccountId(1)),
            strategy: None,
            exchange: None,
            side: Side::Buy,
            quantity: 1.into(),
            kind: OrderKind::Limit { limit: Price::from(10) },
            tif: TimeInForce::Day,
            exchange_order: false,
            reference: None,
            properties: domain::OrderProperties::default(),
            pass_through: None,
        };
        self.try_command(Command::Place(order))
    }

    fn command(&self, command: Command) -> PendingReply {
        self.try_command(command).expect("the inbox has room")
    }

    fn try_command(&self, command: Command) -> Result<PendingReply, InboxError> {
        let caller = Caller::new(Source::Rest, Some("trader".into()));
        self.inbox.command(CommandEnvelope { caller, command }).map(PendingReply::new)
    }

    pub(crate) fn query(&self, query: Query) -> PendingReply {
        PendingReply::new(self.inbox.query(query).expect("the inbox has room"))
    }

    pub(crate) fn open_orders(&self) -> String {
        self.query(Query::OpenOrders(Filter::default())).wait()
    }

    pub(crate) fn report(&self, kind: ReportKind) {
        self.inbox.send_report(Report { adapter: AdapterName(ADAPTER.into()), ext_at: None, kind }).unwrap();
    }

    pub(crate) fn accept(&self, order: u64) {
        self.report(ReportKind::Accepted { order: OrderId(order), ext_id: None });
    }

    pub(crate) fn quote(&self, bid: i64) {
        self.inbox.send_price(MarketData::Tick(domain::Tick { bid: Some(bid.into()), ..samples::tick(QUOTED) }));
    }

    /// Waits until the loop has published a price that is sent now. Prices wait for no disk, so the loop has then
    /// completed everything that it had begun before.
    pub(crate) fn pass_price(&mut self) {
        self.quote(7);
        self.next_bid();
    }

    pub(crate) fn next_bid(&mut self) -> String {
        match self.ticks.recv_blocking().expect("the loop runs").event {
            Event::Tick(tick) => tick.bid.expect("it has a bid").to_string(),
            other => panic!("no tick: {other:?}"),
        }
    }

    /// Waits until the loop has taken everything from the inbox.
    pub(crate) fn wait_taken(&self) {
        while self.inbox.depth().ordinary > 0 {
            thread::yield_now();
        }
    }

    /// What has left so far: order events, then instructions, each in the order in which it left.
    pub(crate) fn released(&mut self) -> Vec<String> {
        let mut lines: Vec<_> = std::iter::from_fn(|| self.orders.try_recv()).map(|event| show_event(&event)).collect();
        lines.extend(self.venue.try_iter().map(|instruction| show_instruction(&instruction)));
        lines
    }

    pub(crate) fn next_order_event(&mut self) -> String {
        self.orders.recv_blocking().map_or("the feed ended".into(), |event| show_event(&event))
    }

    /// What the read model was given.
    pub(crate) fn stored(&self) -> Vec<String> {
        self.read_model.lock().unwrap().clone()
    }

    /// Whether the loop has read that it is to stop.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.is_empty()
    }

    pub(crate) fn ask_to_stop(&self) {
        self.stop.try_send(()).unwrap();
    }

    /// How the loop ended.
    pub(crate) fn wait_ended(self) -> (LiveExit, EndedLoop) {
        let exit = self.thread.join().expect("the loop does not panic");
        let stored = self.read_model.lock().unwrap().clone();
        let ended = EndedLoop { inbox: self.inbox, feed: self.feed, orders: self.orders, venue: self.venue, stored };
        (exit, ended)
    }

    pub(crate) fn stop(self) -> (LiveExit, EndedLoop) {
        self.ask_to_stop();
        self.wait_ended()
    }
}

/// What is left of a loop that has ended.
pub(crate) struct EndedLoop {
    pub(crate) inbox: Inbox,
    pub(crate) feed: EventFeed,
    orders: EventReceiver,
    venue: InstructionQueue,
    pub(crate) stored: Vec<String>,
}

impl EndedLoop {
    pub(crate) fn released(&mut self) -> Vec<String> {
        let mut lines: Vec<_> = std::iter::from_fn(|| self.orders.try_recv()).map(|event| show_event(&event)).collect();
        lines.extend(self.venue.try_iter().map(|instruction| show_instruction(&instruction)));
        lines
    }

    /// Nothing more comes from it and nothing more is taken by it.
    pub(crate) fn is_closed(&self) -> bool {
        self.feed.is_closed() && matches!(self.inbox.query(Query::Adapters), Err(InboxError::Stopped))
    }
}

fn live_parts(
    inbox: InboxReceiver,
    storage: LiveStorage,
    feed: EventFeed,
    instructions: InstructionRouter,
    sink: Arc<Mutex<Vec<String>>>,
    stop: Receiver<()>,
) -> LiveParts {
    let LiveStorage { engine, journal, snapshots, ledger, retired, history, clock } = storage;
    let event_sink = Box::new(move |through: u64, events: &[PublishedEvent]| {
        history.iter().for_each(|history| history.offer(through, events));
        let orders = events.iter().filter(|published| published.event.class() == EventClass::OrderStatus);
        sink.lock().unwrap().extend(orders.map(show_event));
    });
    LiveParts {
        engine,
        inbox,
        journal,
        snapshots: snapshots.into(),
        ledger,
        retired,
        feed,
        catalogue: Catalogue::default(),
        instructions,
        event_sink,
        clock,
        stop,
    }
}

fn logon() -> [ReportKind; 4] {
    let exchanges = vec![samples::EXCHANGE];
    let profile = AdapterCapabilities {
        exchanges,
        expires_orders: true,
        refuses_repeated_ids: RefusesRepeatedIds::Never,
        simulated: true,
        ..AdapterCapabilities::default()
    };
    [
        ReportKind::Attached(profile),
        ReportKind::Session(SessionState::Connected),
        ReportKind::Snapshot(VenueSnapshot { complete: true, ..VenueSnapshot::default() }),
        ReportKind::Session(SessionState::LoggedOn),
    ]
}

fn show_event(published: &PublishedEvent) -> String {
    match &published.event {
        Event::OrderStatus(status) => {
            let reason = status.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
            format!("event {} {:?}{reason}", status.int_id, status.exec_type)
        }
        other => format!("event {other:?}"),
    }
}

fn show_instruction(instruction: &Instruction) -> String {
    match instruction {
        Instruction::Submit(order) => format!("venue: submit {}", order.int_id),
        other => format!("venue: {other:?}"),
    }
}

/// A reply that has not been read.
pub(crate) struct PendingReply {
    future: Pin<Box<dyn Future<Output = Result<Reply, NoReply>>>>,
    answer: Option<String>,
}

impl PendingReply {
    pub(crate) fn new(receiver: ReplyReceiver) -> Self {
        Self { future: Box::pin(receiver.recv()), answer: None }
    }

    pub(crate) fn is_answered(&mut self) -> bool {
        self.poll(Waker::noop());
        self.answer.is_some()
    }

    pub(crate) fn wait(mut self) -> String {
        let waker = Arc::new(ThreadWaker(thread::current())).into();
        loop {
            self.poll(&waker);
            match self.answer {
                Some(answer) => return answer,
                None => thread::park(),
            }
        }
    }

    fn poll(&mut self, waker: &Waker) {
        if self.answer.is_none()
            && let Poll::Ready(reply) = self.future.as_mut().poll(&mut Context::from_waker(waker))
        {
            self.answer = Some(reply.map_or("no reply".into(), |reply| show_reply(&reply)));
        }
    }
}

fn show_reply(reply: &Reply) -> String {
    match &reply.outcome {
        Ok(Answer::Order(order)) => format!("placed {}", order.int_id),
        Ok(Answer::Orders(orders)) => orders.iter().map(|order| order.int_id.to_string()).collect::<Vec<_>>().join(" "),
        Ok(_) => "answered".into(),
        Err(refusal) => format!("refused {}", refusal.code()),
    }
}

struct ThreadWaker(Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
