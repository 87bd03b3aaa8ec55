//! Cost of durability on this machine: a bare sync, one record to durable, many in flight, and reading it all back.
//!
//! `cargo run --release -p storage --example journal_bench [-- FOLDER]`

use std::error::Error;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use storage::StorageError;
use storage::journal::{
    ChainAnchor, DurabilityEvent, FOLDER, Head, InstanceId, Journal, JournalBatch, JournalEntry, JournalOptions,
    JournalReader, JournalRecord, StartAnchor, SyncMode, durable_head, verify,
};
use storage::lock::DataDirLock;

type Outcome<T> = Result<T, Box<dyn Error>>;

const ROUND: Duration = Duration::from_secs(1);
const PAYLOAD_BYTES: usize = 256;
const START_PAYLOAD_BYTES: usize = 4 << 10;
const IN_FLIGHT: u64 = 256;
const BARE_FILE_BYTES: usize = 4 << 20;

fn main() -> Outcome<()> {
    let parent = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let folder = tempfile::tempdir_in(parent)?;
    println!("load average                 {}", load_average());
    print_times("bare fdatasync", bare_sync(folder.path())?);
    print_times("one append to durable", single(&folder.path().join("single"), SyncMode::Always)?);
    print_times("  with sync = os", single(&folder.path().join("single-os"), SyncMode::Os)?);
    for sync in [SyncMode::Always, SyncMode::Os] {
        let (records, frames) = group(&folder.path().join(format!("group-{sync}")), sync)?;
        println!("{IN_FLIGHT} in flight, sync = {sync:<8} {records:>9} records/s in {frames} frames/s");
    }
    let records = replay(&folder.path().join("group-always"))?;
    println!("checked and read back        {records:>9} records/s");
    for megabytes in [2, 20, 200] {
        let [whole, anchored] = start(&folder.path().join(format!("start-{megabytes}")), megabytes)?;
        let show = |(bytes, took): (u64, Duration)| format!("{bytes:>11} bytes in {took:>9.1?}");
        println!("start, {megabytes:>3} MB: whole journal {}, from an anchor {}", show(whole), show(anchored));
    }
    println!("load average                 {}", load_average());
    Ok(())
}

/// What a start reads of a journal of that size and how long it takes: without a snapshot, and with one at its end.
fn start(folder: &Path, megabytes: u64) -> Outcome<[(u64, Duration); 2]> {
    let options =
        JournalOptions { sync: SyncMode::Os, segment_bytes: 1 << 20, ..JournalOptions::new(InstanceId([1; 16])) };
    let (_, mut journal) = Journal::open(&DataDirLock::acquire(folder)?, &options, &mut |_| {})?;
    for sequence in 1..=megabytes * (1 << 20) / START_PAYLOAD_BYTES as u64 {
        let record = JournalRecord { sequence, kind: 1, payload: vec![7; START_PAYLOAD_BYTES] };
        let mut batch = JournalBatch { time: 0, records: vec![record] };
        while let Err(refused) = journal.append(batch) {
            batch = refused.batch;
            wait(&journal)?;
        }
    }
    journal.close()?;
    let Head { sequence, hash, .. } = durable_head(folder)?.ok_or("a journal that was closed has a head")?;
    let head = ChainAnchor { sequence, hash };
    let anchor = StartAnchor { snapshot: sequence, head, says: "the bench knows another record".to_owned() };
    let inspect = |anchor: Option<StartAnchor>| -> Outcome<(u64, Duration)> {
        let (begun, mut bytes) = (Instant::now(), 0);
        let options = JournalOptions { anchor, ..options.clone() };
        Journal::inspect(&DataDirLock::acquire(folder)?, &options, &mut |step| bytes = step.total)?;
        Ok((bytes, begun.elapsed()))
    };
    Ok([inspect(None)?, inspect(Some(anchor))?])
}

/// Overwrites a zero-filled file record by record, each synced: the floor below every durable thing.
fn bare_sync(folder: &Path) -> Outcome<Vec<Duration>> {
    let file = File::create(folder.join("bare"))?;
    file.write_all_at(&vec![0; BARE_FILE_BYTES], 0)?;
    file.sync_all()?;
    let mut times = Vec::new();
    let begun = Instant::now();
    for offset in (0..BARE_FILE_BYTES - PAYLOAD_BYTES).step_by(PAYLOAD_BYTES).cycle() {
        if begun.elapsed() > ROUND {
            break;
        }
        let start = Instant::now();
        file.write_all_at(&[7; PAYLOAD_BYTES], offset as u64)?;
        file.sync_data()?;
        times.push(start.elapsed());
    }
    Ok(times)
}

/// The next record goes when the one before is durable.
fn single(folder: &Path, sync: SyncMode) -> Outcome<Vec<Duration>> {
    let mut journal = open(folder, sync)?;
    let mut times = Vec::new();
    let begun = Instant::now();
    let mut sequence = journal.durable();
    while begun.elapsed() < ROUND {
        let start = Instant::now();
        sequence += 1;
        append(&mut journal, sequence)?;
        wait(&journal)?;
        times.push(start.elapsed());
    }
    Ok(times)
}

/// Records and frames per second while so many records are on their way.
fn group(folder: &Path, sync: SyncMode) -> Outcome<(u64, u64)> {
    let mut journal = open(folder, sync)?;
    let begun = Instant::now();
    let mut sequence = journal.durable();
    while begun.elapsed() < ROUND {
        while sequence < journal.durable() + IN_FLIGHT {
            sequence += 1;
            append(&mut journal, sequence)?;
        }
        wait(&journal)?;
    }
    let metrics = journal.monitor().metrics();
    Ok((per_second(metrics.records, begun), per_second(metrics.frames, begun)))
}

/// Records per second of a start without a snapshot: the whole journal is checked, then read.
fn replay(folder: &Path) -> Outcome<u64> {
    let begun = Instant::now();
    let journal = folder.join(FOLDER);
    verify(&journal, &mut |_| {})?;
    let mut records = 0;
    let mut count = |_: JournalEntry<'_>| {
        records += 1;
        Ok::<(), StorageError>(())
    };
    JournalReader::open(&journal, 0)?.replay(&mut count, &mut |_| {})?;
    Ok(per_second(records, begun))
}

fn per_second(count: u64, begun: Instant) -> u64 {
    count * 1000 / u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX).max(1)
}

/// Opens a journal whose first segment is in use, so that its making is not measured.
fn open(folder: &Path, sync: SyncMode) -> Outcome<Journal> {
    let options = JournalOptions { sync, ..JournalOptions::new(InstanceId([1; 16])) };
    let (_, mut journal) = Journal::open(&DataDirLock::acquire(folder)?, &options, &mut |_| {})?;
    append(&mut journal, 1)?;
    wait(&journal)?;
    Ok(journal)
}

fn append(journal: &mut Journal, sequence: u64) -> Outcome<()> {
    let record = JournalRecord { sequence, kind: 1, payload: vec![7; PAYLOAD_BYTES] };
    journal.append(JournalBatch { time: 0, records: vec![record] }).map_err(|refused| refused.reason.to_string().into())
}

fn wait(journal: &Journal) -> Outcome<()> {
    match journal.durability_events().recv()? {
        DurabilityEvent::Advanced { .. } => Ok(()),
        DurabilityEvent::Failed { error } => Err(error.into()),
    }
}

fn print_times(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
    println!("{what:<28} p50 {:>10.1?}  p99 {:>10.1?}  of {}", at(50), at(99), times.len());
}

fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_else(|_| "unknown".to_owned());
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}
