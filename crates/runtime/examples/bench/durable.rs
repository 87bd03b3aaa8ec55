//! Durable orders: inbox, live loop, journal on this disk, and an adapter that accepts everything. Then recovery.

use std::collections::VecDeque;
use std::error::Error;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use bus::inbox::{Inbox, InboxReceiver, inbox};
use bus::reply::ReplyReceiver;
use bus::{Catalogue, EventFeed, InstructionQueue, InstructionRouter};
use crossbeam_channel::{Sender, bounded};
use domain::order::ExecType;
use domain::{AdapterName, Event, EventClass, Instruction, PublishedEvent, Text, Timestamp};
use runtime::{LiveExit, LiveLoop, LiveOptions, LiveParts, RecoveredState, recover};
use storage::journal::{self, InstanceId, Journal, JournalMetrics, JournalMonitor, SyncMode};
use storage::lock::DataDirLock;
use storage::{JournalLedger, SnapshotStore};

use crate::machine::{Meter, cpu_of_threads};
use crate::table::{Row, percentile, thousands};
use crate::workload;

type BenchResult<T> = Result<T, Box<dyn Error>>;

pub(crate) const SYNC: SyncMode = SyncMode::Always;
const INSTANCE: InstanceId = InstanceId([1; 16]);
const IN_FLIGHT: usize = 256;
const ROUND: Duration = Duration::from_secs(2);
/// High enough that no order is refused for it.
const ORDERS_PER_SECOND: u32 = 10_000_000;
/// As a server is installed.
const SNAPSHOT_EVERY_INPUTS: u64 = 100_000;
/// Of the file that bare syncs go to.
const BARE_FILE_BYTES: usize = 4 << 20;
/// About what the journal writes for one order.
const RECORD_BYTES: usize = 256;
const EVENTS_MAX: usize = 1 << 20;

const IN_FLIGHT_AIM: f64 = 50_000.0;
const REPLAY_AIM: f64 = 500_000.0;
/// How many bare syncs a single order may take.
const SINGLE_AIM_SYNCS: u32 = 2;

pub(crate) fn rows(folder: &Path) -> BenchResult<Vec<Row>> {
    let before = bare_syncs(folder)?;
    let context = LiveBench::open(folder)?;
    let single = one_at_a_time(&context, RunLength::Time(ROUND))?;
    let first = now().0.unsigned_abs() % workload::SECURITIES;
    let group = in_flight(&context, RunLength::Time(ROUND), first)?;
    context.close()?;
    let after = bare_syncs(folder)?;
    // The quieter one is nearer to what the disk can do.
    let bare = if percentile(&before, 50) < percentile(&after, 50) { before } else { after };
    Ok(vec![bare_row(&bare), single_row(&single, &bare), group.row(&bare), replay(folder)?])
}

/// How many orders of a run are on their way at any time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    OneByOne,
    InFlight,
}

/// When a run is over.
#[derive(Clone, Copy)]
enum RunLength {
    Time(Duration),
    Orders(u64),
}

impl RunLength {
    fn is_over(self, begun: Instant, placed: u64) -> bool {
        match self {
            Self::Time(length) => begun.elapsed() > length,
            Self::Orders(count) => placed >= count,
        }
    }
}

/// So many orders and nothing else, for a program that counts instructions.
pub(crate) fn exactly(folder: &Path, flow: Flow, orders: u64) -> BenchResult<()> {
    let context = LiveBench::open(folder)?;
    let length = RunLength::Orders(orders);
    match flow {
        Flow::OneByOne => one_at_a_time(&context, length).map(drop),
        Flow::InFlight => in_flight(&context, length, 0).map(drop),
    }?;
    context.close()
}

/// Overwrites a zero-filled file record by record, each synced: the floor below every durable thing. Shortest first.
fn bare_syncs(folder: &Path) -> BenchResult<Vec<Duration>> {
    let file = File::create(folder.join("bare"))?;
    file.write_all_at(&vec![0; BARE_FILE_BYTES], 0)?;
    file.sync_all()?;
    let mut times = Vec::new();
    let begun = Instant::now();
    for offset in (0..BARE_FILE_BYTES - RECORD_BYTES).step_by(RECORD_BYTES).cycle() {
        if begun.elapsed() > ROUND / 2 {
            break;
        }
        let start = Instant::now();
        file.write_all_at(&[7; RECORD_BYTES], offset as u64)?;
        file.sync_data()?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(times)
}

/// The running parts, as the server composes them.
struct LiveBench {
    inbox: Inbox,
    feed: EventFeed,
    journal: JournalMonitor,
    stop: Sender<()>,
    engine: JoinHandle<LiveExit>,
    adapter: JoinHandle<()>,
    /// Kept to the end: no other process may use the folder.
    _lock: DataDirLock,
}

impl LiveBench {
    fn open(folder: &Path) -> BenchResult<Self> {
        let lock = DataDirLock::acquire(&folder.join("desk"))?;
        let (inbox, lanes) = inbox();
        let feed = EventFeed::default();
        let mut outlets = InstructionRouter::default();
        let outlet = outlets.open(AdapterName(workload::ADAPTER.into()));
        let (stop, stopped) = bounded(1);
        let (parts, recovered) = parts(&lock, &inbox, lanes, outlets, feed.clone(), stopped)?;
        let journal = parts.journal.monitor();
        let options = LiveOptions {
            snapshots: runtime::SnapshotSchedule::every_inputs(SNAPSHOT_EVERY_INPUTS),
            journal_ticks: false,
            flag_silence: true,
            build: env!("CARGO_PKG_VERSION").into(),
            pulse: None,
        };
        let live = LiveLoop::new(parts, options, &recovered);
        let engine = thread::Builder::new().name("engine".into()).spawn(move || live.run())?;
        let adapter = accept_everything(inbox.clone(), outlet)?;
        let context = Self { inbox, feed, journal, stop, engine, adapter, _lock: lock };
        context.furnish()?;
        Ok(context)
    }

    /// Reference data, cash, a price for every security, and an adapter that is logged on.
    fn furnish(&self) -> BenchResult<()> {
        let feed = Text::from("bench");
        (0..workload::SECURITIES).for_each(|number| self.inbox.send_price(workload::tick(number, &feed)));
        for envelope in workload::opening(ORDERS_PER_SECOND) {
            answered(self.inbox.command(envelope).map_err(|closed| format!("{closed:?}"))?)?;
        }
        workload::logon()
            .into_iter()
            .try_for_each(|report| self.inbox.send_report(report))
            .map_err(|_| "the engine stopped")?;
        // A query sent after the log-on is answered after it.
        answered(self.inbox.query(domain::Query::Adapters).map_err(|closed| format!("{closed:?}"))?)
    }

    fn place(&self, number: u64) -> BenchResult<ReplyReceiver> {
        self.inbox.command(workload::order(number)).map_err(|closed| format!("order {number}: {closed:?}").into())
    }

    fn close(self) -> BenchResult<()> {
        self.stop.send(())?;
        let ended = self.engine.join().map_err(|_| "the engine's thread panicked")?;
        self.adapter.join().map_err(|_| "the adapter's thread panicked")?;
        if matches!(ended, LiveExit::Stopped(_)) { Ok(()) } else { Err(format!("{ended:?}").into()) }
    }
}

fn parts(
    lock: &DataDirLock,
    inbox: &Inbox,
    lanes: InboxReceiver,
    outlets: InstructionRouter,
    feed: EventFeed,
    stop: crossbeam_channel::Receiver<()>,
) -> BenchResult<(LiveParts, RecoveredState)> {
    let (_, journal) = Journal::open(lock, &journal_options(), &mut |_| {})?;
    let snapshots = SnapshotStore::open(lock, INSTANCE)?;
    let ledger = Arc::new(JournalLedger::new(inbox.clone()));
    let found = recover(lock.folder(), journal.last_sequence(), &snapshots, &ledger, 0, &mut |_, _| {}, &mut |_| {});
    let (engine, recovered) = found.map_err(|problem| problem.to_string())?;
    let parts = LiveParts {
        engine,
        inbox: lanes,
        journal,
        snapshots: snapshots.into(),
        ledger,
        retired: None,
        feed,
        catalogue: Catalogue::default(),
        instructions: outlets,
        event_sink: Box::new(|_, _| {}),
        clock: Arc::new(now),
        stop,
    };
    Ok((parts, recovered))
}

fn journal_options() -> journal::JournalOptions {
    journal::JournalOptions { sync: SYNC, ..journal::JournalOptions::new(INSTANCE) }
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

/// Until the engine stops.
fn accept_everything(inbox: Inbox, outlet: InstructionQueue) -> std::io::Result<JoinHandle<()>> {
    thread::Builder::new().name("adapter".into()).spawn(move || {
        for instruction in outlet {
            if let Instruction::Submit(order) = instruction
                && inbox.send_report(workload::accepted(order.id)).is_err()
            {
                return;
            }
        }
    })
}

/// The next order goes when the venue has confirmed the one before. Shortest first.
fn one_at_a_time(context: &LiveBench, length: RunLength) -> BenchResult<Vec<Duration>> {
    let mut confirmed = context.feed.subscribe(&[EventClass::OrderStatus], EVENTS_MAX);
    let is_confirmation =
        |event: &Event| matches!(event, Event::OrderStatus(status) if status.exec_type == ExecType::New);
    let mut times = Vec::new();
    let begun = Instant::now();
    while !length.is_over(begun, times.len() as u64) {
        let start = Instant::now();
        answered(context.place(times.len() as u64)?)?;
        times.push(start.elapsed());
        while !is_confirmation(&confirmed.recv_blocking().ok_or("the feed ended")?.event) {}
    }
    times.sort_unstable();
    Ok(times)
}

struct Group {
    /// From command to reply, shortest first.
    times: Vec<Duration>,
    wall: Duration,
    engine_cpu: Duration,
    journal_cpu: Duration,
    written: JournalMetrics,
}

/// So many orders are always on their way; each that is answered makes room for one.
fn in_flight(context: &LiveBench, length: RunLength, first: u64) -> BenchResult<Group> {
    let (engine_cpu, journal_cpu) = (cpu_of_threads("engine"), cpu_of_threads("journal"));
    let before = context.journal.metrics();
    let mut waiting = VecDeque::with_capacity(IN_FLIGHT);
    let (mut times, begun) = (Vec::new(), Instant::now());
    for number in first.. {
        let is_over = length.is_over(begun, number - first);
        if !is_over {
            waiting.push_back((Instant::now(), context.place(number)?));
        }
        if is_over || waiting.len() == IN_FLIGHT {
            let Some((asked, ticket)) = waiting.pop_front() else { break };
            answered(ticket)?;
            times.push(asked.elapsed());
        }
    }
    let wall = begun.elapsed();
    times.sort_unstable();
    let after = context.journal.metrics();
    Ok(Group {
        times,
        wall,
        engine_cpu: cpu_of_threads("engine") - engine_cpu,
        journal_cpu: cpu_of_threads("journal") - journal_cpu,
        written: JournalMetrics {
            frames: after.frames - before.frames,
            records: after.records - before.records,
            ..after
        },
    })
}

/// An order that is refused would be answered too quickly.
fn answered(ticket: ReplyReceiver) -> BenchResult<()> {
    let reply = ticket.recv_blocking().map_err(|_| "the engine gave no answer")?;
    reply.outcome.map(drop).map_err(|refusal| refusal.to_string().into())
}

fn bare_row(bare: &[Duration]) -> Row {
    Row::yardstick("one bare fdatasync (p50)", percentile(bare, 50), format!("p99 {:.1?}", percentile(bare, 99)))
}

fn single_row(single: &[Duration], bare: &[Duration]) -> Row {
    let (p50, p99) = (percentile(single, 50), percentile(single, 99));
    let syncs = p50.as_secs_f64() / percentile(bare, 50).as_secs_f64();
    let aim = percentile(bare, 50) * SINGLE_AIM_SYNCS;
    Row::time("one durable order (p50)", p50, aim, format!("{syncs:.1} bare syncs; p99 {p99:.1?} of {}", single.len()))
}

impl Group {
    fn row(&self, bare: &[Duration]) -> Row {
        let orders = self.times.len() as f64;
        let micros = |cpu: Duration| cpu.as_secs_f64() * 1e6 / orders;
        let syncs = self.written.frames as f64 / self.wall.as_secs_f64();
        let limit = 1.0 / percentile(bare, 50).as_secs_f64();
        let beside = format!(
            "p50 {:.1?}, p99 {:.1?}, max {:.1?}; CPU an order: engine {:.1} µs, journal {:.1} µs; {:.0} records a sync, {} syncs/s of {} bare",
            percentile(&self.times, 50),
            percentile(&self.times, 99),
            self.times.last().copied().unwrap_or_default(),
            micros(self.engine_cpu),
            micros(self.journal_cpu),
            self.written.records as f64 / self.written.frames as f64,
            thousands(syncs),
            thousands(limit),
        );
        Row::rate("durable orders, 256 in flight", orders / self.wall.as_secs_f64(), IN_FLIGHT_AIM, beside)
    }
}

/// The whole journal, without the help of a snapshot.
fn replay(folder: &Path) -> BenchResult<Row> {
    let lock = DataDirLock::acquire(&folder.join("desk"))?;
    let begun = Instant::now();
    let (_, journal) = Journal::open(&lock, &journal_options(), &mut |_| {})?;
    let checked = begun.elapsed();
    let no_snapshots = SnapshotStore::open(&DataDirLock::acquire(&folder.join("empty"))?, INSTANCE)?;
    let ledger = JournalLedger::new(inbox().0);
    let mut meter = Meter::default();
    let mut found = None;
    meter.measure(|| {
        let (reader, progress) = (&mut |_: u64, _: &[PublishedEvent]| {}, &mut |_| {});
        found =
            Some(recover(lock.folder(), journal.last_sequence(), &no_snapshots, &ledger, u64::MAX, reader, progress));
    });
    let (_engine, recovered) = found.ok_or("not measured")?.map_err(|problem| problem.to_string())?;
    let inputs = recovered.replayed as f64;
    let cpu_nanos = thousands(meter.cpu.as_secs_f64() * 1e9 / inputs);
    let beside = format!("{cpu_nanos} ns of CPU each; {} inputs, checked in {checked:.1?} before", thousands(inputs));
    Ok(Row::rate("replay", inputs / meter.wall.as_secs_f64(), REPLAY_AIM, beside))
}
