//! Years on one node: what grows with the journal, with open orders and with orders that are long gone, each at 1, 10 and 100 times.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use domain::{Command, Input, SeededRng, Sequenced, Timestamp};
use engine::{Engine, Outbox};
use storage::journal::{
    self, AppendError, DurabilityEvent, InstanceId, Journal, JournalBatch, JournalOptions, JournalRecord, SyncMode,
};
use storage::lock::DataDirLock;
use storage::{JournalLedger, RetiredIndex};

use crate::table::{Row, percentile, thousands};
use crate::{backup, memory, start, workload};

type BenchResult<T> = Result<T, Box<dyn Error>>;

const TIMES: [u64; 3] = [1, 10, 100];

/// A backup is taken of the journal of this length.
const BACKUP_TIMES: u64 = 10;
/// A record that recovery passes over, as deliveries to strategies are.
const FILLER_KIND: u8 = 4;
const FILLER_BYTES: usize = 64 << 10;
/// Numbers that the server may have reserved for prices lie below.
const SEQUENCES_SKIPPED: u64 = 100_000_000;
/// A start with a hundred times the journal takes at most so many times as long.
const START_AIM: u32 = 2;

const OPEN_ORDERS: u64 = 1_000;
/// Messages of one FIX session, and their length; the most that fit into what is kept of a session.
const SESSION_MESSAGES: [u64; 2] = [600, 60_000];
const MESSAGE_BYTES: usize = 200;
const SNAPSHOTS: usize = 15;
const PAUSE_AIM: Duration = Duration::from_millis(2);

const RETIRED_ORDERS: u64 = 100_000;
const RETIRED_AIM_MIB: f64 = 9.54;
const SEED: u64 = 5;
const INSTANCE: InstanceId = InstanceId(*b"years on a node!");

pub(crate) fn rows(folder: &Path, journal_bytes: u64) -> BenchResult<Vec<Row>> {
    let mut rows = starts(folder, journal_bytes)?;
    for times in TIMES {
        rows.push(retired(&folder.join("retired"), RETIRED_ORDERS * times)?);
    }
    Ok(rows)
}

/// The release binary, from the newest snapshot, with older segments that it does not read.
fn starts(folder: &Path, longest: u64) -> BenchResult<Vec<Row>> {
    let (mut rows, mut first) = (Vec::new(), None);
    for times in TIMES {
        let data = folder.join("data");
        let bytes = longest / TIMES[2] * times;
        start::serve(&data)?;
        fill(&data, bytes)?;
        let (with_replay, _) = start::serve(&data)?;
        let taken = (0..3).map(|_| start::serve(&data).map(|(taken, _)| taken)).collect::<BenchResult<Vec<_>>>()?;
        let taken = taken.into_iter().min().unwrap_or_default();
        let aim = *first.get_or_insert(taken) * START_AIM;
        rows.push(Row::time(
            format!("start, journal of {} MiB", thousands((bytes >> 20) as f64)),
            taken,
            aim,
            format!("best of 3; {with_replay:.1?} where the snapshot is before all of it"),
        ));
        if times == BACKUP_TIMES {
            rows.push(backup::row(&data)?);
            fs::remove_dir_all(folder.join("backups"))?;
        }
        fs::remove_dir_all(&data)?;
    }
    Ok(rows)
}

/// Appends records to the journal of a folder that no server holds.
fn fill(data: &Path, bytes: u64) -> BenchResult<()> {
    let lock = DataDirLock::acquire(data)?;
    let instance = journal::instance_of(&data.join(journal::FOLDER))?.ok_or("no journal")?;
    let options = JournalOptions { sync: SyncMode::Os, ..JournalOptions::new(instance) };
    let (found, mut journal) = Journal::open(&lock, &options, &mut |_| {})?;
    let time = i64::try_from(std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_nanos())?;
    let first = found.last_sequence + SEQUENCES_SKIPPED;
    for sequence in first..first + bytes / FILLER_BYTES as u64 {
        let record = JournalRecord { sequence, kind: FILLER_KIND, payload: vec![0xa5; FILLER_BYTES] };
        append(&mut journal, JournalBatch { time, records: vec![record] })?;
    }
    Ok(journal.close()?)
}

/// Waits for the disk where the queue is full.
fn append(journal: &mut Journal, mut batch: JournalBatch) -> BenchResult<()> {
    while let Err(refused) = journal.append(batch) {
        if refused.reason != AppendError::QueueFull {
            return Err(refused.reason.to_string().into());
        }
        batch = refused.batch;
        match journal.durability_events().recv()? {
            DurabilityEvent::Advanced { .. } => {}
            DurabilityEvent::Failed { error } => return Err(error.into()),
        }
    }
    Ok(())
}

pub(crate) fn pauses() -> BenchResult<Vec<Row>> {
    let open = TIMES.map(|times| {
        let orders = OPEN_ORDERS * times;
        let name = match orders {
            OPEN_ORDERS => "snapshot pause, 1,000 open orders",
            100_000.. => "snapshot pause, 100,000 open orders",
            _ => "snapshot pause, 10,000 open orders",
        };
        pause(name, orders, &with_orders(orders, false))
    });
    let traded = OPEN_ORDERS * TIMES[2];
    let traded = pause("snapshot pause, 100,000 filled orders", traded, &with_orders(traded, true));
    let sessions = SESSION_MESSAGES.map(session_pause).into_iter().collect::<BenchResult<Vec<_>>>()?;
    Ok(open.into_iter().chain([traded]).chain(sessions).collect())
}

/// The copy of what the Ledger has of a FIX session, which the loop makes for the same snapshot.
fn session_pause(messages: u64) -> BenchResult<Row> {
    let ledger = JournalLedger::new(bus::inbox::inbox().0);
    for number in 1..=messages {
        ledger.apply(number, &storage::ledger::record("FIX.4.4:BANK", number, &[0xa5; MESSAGE_BYTES]))?;
    }
    let name = format!("snapshot pause, {} FIX messages", thousands(messages as f64));
    Ok(pause_row(name, messages, || ledger.snapshot(), |copy| copy.encode().len()))
}

/// What stops the loop: the copy of the state. Another thread encodes and writes it.
fn pause(name: &'static str, orders: u64, engine: &Engine) -> Row {
    pause_row(name.into(), orders, || engine.snapshot(), |copy| copy.encode_state().len())
}

fn pause_row<T>(name: String, items: u64, copy: impl Fn() -> T, encoded: impl Fn(&T) -> usize) -> Row {
    let mut times = Vec::with_capacity(SNAPSHOTS);
    let mut bytes = 0;
    for _ in 0..SNAPSHOTS {
        let begun = Instant::now();
        let copied = copy();
        times.push(begun.elapsed());
        bytes = encoded(&copied);
    }
    times.sort_unstable();
    let (longest, each) = (times.last().copied().unwrap_or_default(), bytes as u64 / items);
    let beside =
        format!("longest {longest:.1?} of {SNAPSHOTS}; {} bytes of snapshot, {each} each", thousands(bytes as f64));
    Row::time(name, percentile(&times, 50), PAUSE_AIM, beside)
}

/// Open orders, or such as have a ClOrdID and were filled: those of today are kept.
fn with_orders(orders: u64, are_filled: bool) -> Engine {
    let mut engine = memory::opened();
    let inputs = (0..orders).flat_map(|number| {
        let mut placed = workload::order(number);
        if let (true, Command::Place(ask)) = (are_filled, &mut placed.command) {
            ask.cl_ord_id = Some(format!("C{number}").into());
        }
        let placed = Input::Command(Box::new(placed));
        let accepted = Input::Report(workload::accepted(workload::id(number)));
        let filled = are_filled.then(|| Input::Report(workload::filled(number)));
        [Some(placed), Some(accepted), filled].into_iter().flatten().map(move |input| (number, input))
    });
    for ((number, payload), sequence) in inputs.zip(10_000..) {
        let millis = i64::try_from(number).unwrap_or(i64::MAX);
        let input = Sequenced { sequence, at: Timestamp(workload::OPENING.0 + millis * 1_000_000), payload };
        engine.apply(&input, &mut Outbox::default()).expect("everything is let through");
    }
    engine
}

/// What is left in memory of orders that are long gone: of the index that refuses their ids.
fn retired(folder: &Path, orders: u64) -> BenchResult<Row> {
    let name = match orders {
        RETIRED_ORDERS => "memory of 100,000 retired orders",
        10_000_000.. => "memory of 10,000,000 retired orders",
        _ => "memory of 1,000,000 retired orders",
    };
    fs::create_dir_all(folder)?;
    let lock = DataDirLock::acquire(folder)?;
    let index = RetiredIndex::open(&lock, INSTANCE)?;
    let mut random = SeededRng::from_seed(SEED);
    let mut key = move || (u128::from(random.next_u64()) << 64) | u128::from(random.next_u64());
    // A day of a hundredth each.
    let begun = Instant::now();
    for day in 1..=100 {
        let keys = |count: u64, key: &mut dyn FnMut() -> u128| (0..count).map(|_| key()).collect::<Vec<_>>();
        let (ids, others) = (keys(orders / 100, &mut key), keys(orders / 100, &mut key));
        index.store(day, ids, others)?;
    }
    let (stored, mib) = (begun.elapsed(), index.memory_bytes() as f64 / f64::from(1 << 20));
    let disk: u64 = fs::read_dir(folder.join(storage::retired_index::FOLDER))?
        .filter_map(|entry| entry.ok()?.metadata().ok())
        .map(|found| found.len())
        .sum();
    let beside = format!("{} bytes on disk an order; stored in {stored:.1?}", disk / orders);
    drop((index, lock));
    fs::remove_dir_all(folder)?;
    Ok(Row::mib(name, mib, RETIRED_AIM_MIB, beside))
}
