//! Durable orders: inbox, live loop, journal on this disk, and an adapter that accepts everything. Then recovery.

use std::collections::VecDeque;
use std::error::Error;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use bus::inbox::{Inbox, Lanes, inbox};
use bus::ticket::Ticket;
use bus::{Catalogue, Feed, Outlet, Outlets};
use crossbeam_channel::{Sender, bounded};
use domain::order::Step;
use domain::{AdapterName, Event, EventClass, Instruction, Published, Text, Timestamp};
use runtime::{Ended, Live, Options, Parts, Recovered, recover};
use storage::journal::{self, InstanceId, Journal, Metrics, SyncMode, Watch};
use storage::lock::FolderLock;
use storage::{LedgerBook, Snapshots};

use crate::desk;
use crate::machine::{Meter, cpu_of_threads};
use crate::table::{Row, percentile, thousands};

type Outcome<T> = Result<T, Box<dyn Error>>;

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

pub(crate) fn rows(folder: &Path) -> Outcome<Vec<Row>> {
    let before = bare_syncs(folder)?;
    let desk = Desk::open(folder)?;
    let single = one_at_a_time(&desk)?;
    let group = in_flight(&desk)?;
    desk.close()?;
    let after = bare_syncs(folder)?;
    // The quieter one is nearer to what the disk can do.
    let bare = if percentile(&before, 50) < percentile(&after, 50) { before } else { after };
    Ok(vec![bare_row(&bare), single_row(&single, &bare), group.row(&bare), replay(folder)?])
}

/// Overwrites a zero-filled file record by record, each synced: the floor below every durable thing. Shortest first.
fn bare_syncs(folder: &Path) -> Outcome<Vec<Duration>> {
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
struct Desk {
    inbox: Inbox,
    feed: Feed,
    journal: Watch,
    stop: Sender<()>,
    engine: JoinHandle<Ended>,
    adapter: JoinHandle<()>,
    /// Kept to the end: no other process may use the folder.
    _lock: FolderLock,
}

impl Desk {
    fn open(folder: &Path) -> Outcome<Self> {
        let lock = FolderLock::take(&folder.join("desk"))?;
        let (inbox, lanes) = inbox();
        let feed = Feed::default();
        let mut outlets = Outlets::default();
        let outlet = outlets.open(AdapterName(desk::ADAPTER.into()));
        let (stop, stopped) = bounded(1);
        let (parts, recovered) = parts(&lock, &inbox, lanes, outlets, feed.clone(), stopped)?;
        let journal = parts.journal.watch();
        let options = Options {
            snapshot_every_inputs: SNAPSHOT_EVERY_INPUTS,
            journal_ticks: false,
            build: env!("CARGO_PKG_VERSION").into(),
        };
        let live = Live::new(parts, options, &recovered);
        let engine = thread::Builder::new().name("engine".into()).spawn(move || live.run())?;
        let adapter = accept_everything(inbox.clone(), outlet)?;
        let desk = Self { inbox, feed, journal, stop, engine, adapter, _lock: lock };
        desk.furnish()?;
        Ok(desk)
    }

    /// Reference data, cash, a price for every security, and an adapter that is logged on.
    fn furnish(&self) -> Outcome<()> {
        let feed = Text::from("bench");
        (0..desk::SECURITIES).for_each(|number| self.inbox.price(desk::tick(number, &feed)));
        for envelope in desk::opening(ORDERS_PER_SECOND) {
            answered(self.inbox.command(envelope).map_err(|closed| format!("{closed:?}"))?)?;
        }
        desk::logon().into_iter().try_for_each(|report| self.inbox.report(report)).map_err(|_| "the engine stopped")?;
        // A query sent after the log-on is answered after it.
        answered(self.inbox.query(domain::Query::Adapters).map_err(|closed| format!("{closed:?}"))?)
    }

    fn place(&self, number: u64) -> Outcome<Ticket> {
        self.inbox.command(desk::order(number)).map_err(|closed| format!("order {number}: {closed:?}").into())
    }

    fn close(self) -> Outcome<()> {
        self.stop.send(())?;
        let ended = self.engine.join().map_err(|_| "the engine's thread panicked")?;
        self.adapter.join().map_err(|_| "the adapter's thread panicked")?;
        if matches!(ended, Ended::InOrder(_)) { Ok(()) } else { Err(format!("{ended:?}").into()) }
    }
}

fn parts(
    lock: &FolderLock,
    inbox: &Inbox,
    lanes: Lanes,
    outlets: Outlets,
    feed: Feed,
    stop: crossbeam_channel::Receiver<()>,
) -> Outcome<(Parts, Recovered)> {
    let (_, journal) = Journal::open(lock, &journal_options(), &mut |_| {})?;
    let snapshots = Snapshots::open(lock, INSTANCE)?;
    let ledger = Arc::new(LedgerBook::new(inbox.clone()));
    let found = recover(lock.folder(), journal.last_sequence(), &snapshots, &ledger, 0, &mut |_, _| {}, &mut |_| {});
    let (engine, recovered) = found.map_err(|problem| problem.to_string())?;
    let parts = Parts {
        engine,
        lanes,
        journal,
        snapshots: snapshots.into(),
        ledger,
        feed,
        catalogue: Catalogue::default(),
        outlets,
        reader: Box::new(|_, _| {}),
        clock: Arc::new(now),
        stop,
    };
    Ok((parts, recovered))
}

fn journal_options() -> journal::Options {
    journal::Options { sync: SYNC, ..journal::Options::new(INSTANCE) }
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

/// Until the engine stops.
fn accept_everything(inbox: Inbox, outlet: Outlet) -> std::io::Result<JoinHandle<()>> {
    thread::Builder::new().name("adapter".into()).spawn(move || {
        for instruction in outlet {
            if let Instruction::Submit(order) = instruction
                && inbox.report(desk::accepted(order.id)).is_err()
            {
                return;
            }
        }
    })
}

/// The next order goes when the venue has confirmed the one before. Shortest first.
fn one_at_a_time(desk: &Desk) -> Outcome<Vec<Duration>> {
    let mut confirmed = desk.feed.listen(&[EventClass::OrderStatus], EVENTS_MAX);
    let is_confirmation = |event: &Event| matches!(event, Event::OrderStatus(status) if status.step == Step::Accepted);
    let mut times = Vec::new();
    let begun = Instant::now();
    while begun.elapsed() < ROUND {
        let start = Instant::now();
        answered(desk.place(times.len() as u64)?)?;
        times.push(start.elapsed());
        while !is_confirmation(&confirmed.next_blocking().ok_or("the feed ended")?.event) {}
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
    written: Metrics,
}

/// So many orders are always on their way; each that is answered makes room for one.
fn in_flight(desk: &Desk) -> Outcome<Group> {
    let first = now().0.unsigned_abs() % desk::SECURITIES;
    let (engine_cpu, journal_cpu) = (cpu_of_threads("engine"), cpu_of_threads("journal"));
    let before = desk.journal.metrics();
    let mut waiting = VecDeque::with_capacity(IN_FLIGHT);
    let (mut times, begun) = (Vec::new(), Instant::now());
    for number in first.. {
        let is_over = begun.elapsed() > ROUND;
        if !is_over {
            waiting.push_back((Instant::now(), desk.place(number)?));
        }
        if is_over || waiting.len() == IN_FLIGHT {
            let Some((asked, ticket)) = waiting.pop_front() else { break };
            answered(ticket)?;
            times.push(asked.elapsed());
        }
    }
    let wall = begun.elapsed();
    times.sort_unstable();
    let after = desk.journal.metrics();
    Ok(Group {
        times,
        wall,
        engine_cpu: cpu_of_threads("engine") - engine_cpu,
        journal_cpu: cpu_of_threads("journal") - journal_cpu,
        written: Metrics { frames: after.frames - before.frames, records: after.records - before.records, ..after },
    })
}

/// An order that is refused would be answered too quickly.
fn answered(ticket: Ticket) -> Outcome<()> {
    let reply = ticket.reply_blocking().map_err(|_| "the engine gave no answer")?;
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
fn replay(folder: &Path) -> Outcome<Row> {
    let lock = FolderLock::take(&folder.join("desk"))?;
    let begun = Instant::now();
    let (_, journal) = Journal::open(&lock, &journal_options(), &mut |_| {})?;
    let checked = begun.elapsed();
    let no_snapshots = Snapshots::open(&FolderLock::take(&folder.join("empty"))?, INSTANCE)?;
    let ledger = LedgerBook::new(inbox().0);
    let mut meter = Meter::default();
    let mut found = None;
    meter.measure(|| {
        let (reader, progress) = (&mut |_: u64, _: &[Published]| {}, &mut |_| {});
        found =
            Some(recover(lock.folder(), journal.last_sequence(), &no_snapshots, &ledger, u64::MAX, reader, progress));
    });
    let (_engine, recovered) = found.ok_or("not measured")?.map_err(|problem| problem.to_string())?;
    let inputs = recovered.replayed as f64;
    let cpu_nanos = thousands(meter.cpu.as_secs_f64() * 1e9 / inputs);
    let beside = format!("{cpu_nanos} ns of CPU each; {} inputs, checked in {checked:.1?} before", thousands(inputs));
    Ok(Row::rate("replay", inputs / meter.wall.as_secs_f64(), REPLAY_AIM, beside))
}
