//! Fuzz targets of everything that is read from files and request bodies. Each begins with a kept input of `corpus/TARGET`,
//! changes it in several places and gives it to the reader: it may refuse it, and never panics, hangs or makes wrong data of it.
//! As plain tests they run a bounded number of inputs; `make fuzz` lets each run for ten minutes.

#![allow(clippy::unwrap_used, reason = "a test that can't go on may say so")]

use std::fs;
use std::path::{Path, PathBuf};

use bolero::TypeGenerator;
use domain::{BarSize, Input, SecurityId, Text};
use engine::Engine;
use server::config::{Config, ReferencePath, Sources};
use server::simulate::plan::SimulationPlan;
use storage::SnapshotStore;
use storage::journal::{self, InstanceId, JournalReader};
use storage::price_files::{CsvSource, PriceFileKind, PriceFileSpec, PriceSource};
use tempfile::TempDir;

/// Random inputs of one run as a plain test.
const ITERATIONS: usize = 500;
/// The kind of a journal record that holds an input.
const INPUT: u8 = 1;
/// A changed input grows no longer than this.
const BYTES_MAX: usize = 1 << 16;

/// What readers of numbers, texts and tables stumble over.
const WORDS: [&str; 24] = [
    "0",
    "-1",
    "1e400",
    "-0.0",
    "9223372036854775808",
    "99999999999999999999999999999",
    "0.000000000000000000000001",
    "NaN",
    "null",
    "true",
    "\"",
    "\\u0000",
    "\\ud800",
    "[[[[[[[[",
    "{}",
    "=",
    ",",
    "\n",
    "\r\n",
    "\u{feff}",
    "é",
    "'''",
    "\0\0\0\0\0\0\0\0",
    "\u{1b}\u{ff}",
];

/// A change of the input; places count from its beginning and wrap round.
#[derive(Debug, Clone, TypeGenerator)]
enum Edit {
    Flip { at: u16, bit: u8 },
    Set { at: u16, byte: u8 },
    Insert { at: u16, word: u8 },
    Remove { at: u16, length: u8 },
    Repeat { at: u16, length: u8, times: u8 },
    Copy { from: u16, length: u8, to: u16 },
    Cut { at: u16 },
}

impl Edit {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let place = |at: u16, bytes: &[u8]| usize::from(at) % bytes.len().max(1);
        let range = |at: u16, length: u8, bytes: &[u8]| {
            let start = place(at, bytes).min(bytes.len());
            start..(start + usize::from(length)).min(bytes.len())
        };
        match *self {
            Self::Flip { at, bit } if !bytes.is_empty() => {
                let at = place(at, bytes);
                bytes[at] ^= 1 << (bit % 8);
            }
            Self::Set { at, byte } if !bytes.is_empty() => {
                let at = place(at, bytes);
                bytes[at] = byte;
            }
            Self::Flip { .. } | Self::Set { .. } => {}
            Self::Insert { at, word } => {
                let at = place(at, bytes).min(bytes.len());
                bytes.splice(at..at, WORDS[usize::from(word) % WORDS.len()].bytes());
            }
            Self::Remove { at, length } => drop(bytes.drain(range(at, length, bytes))),
            Self::Repeat { at, length, times } => {
                let range = range(at, length, bytes);
                let again = bytes[range.clone()].repeat(usize::from(times));
                bytes.splice(range.end..range.end, again);
            }
            Self::Copy { from, length, to } => {
                let copied = bytes[range(from, length, bytes)].to_vec();
                let to = place(to, bytes).min(bytes.len());
                bytes.splice(to..to, copied);
            }
            Self::Cut { at } => bytes.truncate(place(at, bytes)),
        }
        bytes.truncate(BYTES_MAX);
    }
}

fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(target);
    let listed = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = listed.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    files.iter().map(|path| (name(path), fs::read(path).unwrap())).collect()
}

/// Every kept input as it is, and many with changes; the reader gets the name of the input too. A macro, because bolero names a
/// target by the function that it stands in.
macro_rules! fuzz {
    ($kept:expr, $read:expr) => {{
        let (kept, read) = ($kept, reader($read));
        kept.iter().for_each(|(name, bytes)| read(name, bytes));
        bolero::check!().with_iterations(ITERATIONS).with_type::<(u8, Vec<Edit>)>().for_each(|(seed, edits)| {
            let (name, bytes) = &kept[usize::from(*seed) % kept.len()];
            let mut bytes = bytes.clone();
            edits.iter().for_each(|edit| edit.apply(&mut bytes));
            read(name, &bytes);
        });
    }};
}

fn reader<F: Fn(&str, &[u8])>(read: F) -> F {
    read
}

/// A file with these bytes, in a folder of its own.
fn file_with(folder: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// Each body by each reader: whatever path a client sends it to.
#[test]
fn bodies() {
    fuzz!(&corpus("bodies"), |_, body| {
        let _ = wire::OrderBody::parse(body);
        let _ = wire::TransactionBody::parse(body);
        let _ = wire::SubscriptionBody::parse(body);
        let _ = wire::SettlementBody::parse(body);
        let _ = wire::limits::parse_limits(body);
        let _ = wire::KillBody::parse(body);
        let _ = wire::StateBody::parse(body);
        let _ = wire::LoginBody::parse(body);
        let _ = wire::UserBody::parse(body);
        let _ = wire::TokenBody::parse(body);
        let _ = wire::FixNumbersBody::parse(body);
        let _ = wire::operations::parse_import(body);
        let _ = wire::operations::parse_empty(body);
        if let Ok(text) = std::str::from_utf8(body) {
            let _ = wire::SecuritySearch::parse(text);
        }
    });
}

/// What is decoded is encoded again to what decodes to the same.
#[test]
fn records() {
    let [(name, bytes)] = &corpus("journal")[..] else { panic!("one journal is kept") };
    let inputs = records_in(name, bytes).into_iter().filter(|(_, _, kind, _)| *kind == INPUT);
    let inputs: Vec<_> = inputs.map(|(sequence, _, _, payload)| (sequence.to_string(), payload)).collect();
    assert!(inputs.len() > 20, "{}", inputs.len());
    fuzz!(&inputs, |_, record| {
        let Ok(input) = minicbor::decode::<Input>(record) else { return };
        let again = minicbor::to_vec(&input).unwrap();
        assert_eq!(minicbor::decode::<Input>(&again).unwrap(), input);
    });
}

/// A journal whose file has changed never gives a record that was not written.
#[test]
fn journal() {
    let kept = corpus("journal");
    let [(name, bytes)] = &kept[..] else { panic!("one journal is kept") };
    let written = records_in(name, bytes);
    fuzz!(&kept, |name, bytes| {
        let found = records_in(name, bytes);
        assert_eq!(found, written[..found.len()], "a wrong record was read");
    });
}

type Written = (u64, i64, u8, Vec<u8>);

/// The records of a journal that can be read.
fn records_in(name: &str, bytes: &[u8]) -> Vec<Written> {
    let folder = tempfile::tempdir().unwrap();
    file_with(&folder, name, bytes);
    let Ok(report) = journal::verify(folder.path(), &mut |_| {}) else { return vec![] };
    let mut found = Vec::new();
    let first = report.good.first_sequence.unwrap_or(1);
    let Ok(mut reader) = JournalReader::open(folder.path(), first) else { return vec![] };
    while let Ok(Some(entry)) = reader.read_to(report.good.last_sequence) {
        found.push((entry.sequence, entry.time, entry.kind, entry.payload.to_vec()));
    }
    found
}

/// A snapshot that has changed is passed over, or is still the same.
#[test]
fn snapshots() {
    let kept = corpus("snapshots");
    let [(name, bytes)] = &kept[..] else { panic!("one snapshot is kept") };
    let good = state_in(name, bytes);
    assert!(good.is_some());
    fuzz!(&kept, |name, bytes| {
        let state = state_in(name, bytes);
        assert!(state.is_none() || state == good, "a wrong state was read");
    });
}

fn state_in(name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let snapshots = folder.path().join(storage::snapshot::FOLDER);
    fs::create_dir(&snapshots).unwrap();
    fs::write(snapshots.join(name), bytes).unwrap();
    let instance = InstanceId(bytes.get(16..32)?.try_into().unwrap());
    SnapshotStore::look(folder.path(), instance).latest_valid(None).ok()?.map(|found| found.state)
}

/// The state inside a snapshot: whoever could write it past its checksum still gets a refusal and no panic.
#[test]
fn states() {
    let [(name, bytes)] = &corpus("snapshots")[..] else { panic!("one snapshot is kept") };
    let state = state_in(name, bytes).unwrap();
    let mut parts = minicbor::Decoder::new(&state);
    parts.array().unwrap();
    let engine = vec![("engine".to_owned(), parts.bytes().unwrap().to_vec())];
    assert!(Engine::from_state(&engine[0].1).is_ok());
    fuzz!(&engine, |_, state| {
        if let Ok(engine) = Engine::from_state(state) {
            assert!(!engine.encode_state().is_empty());
        }
    });
}

#[test]
fn configuration() {
    let folder = tempfile::tempdir().unwrap();
    fuzz!(&corpus("configuration"), |_, text| {
        let file = Some(file_with(&folder, "rialto.toml", text));
        if let Err(problems) = Config::load(&Sources { file, ..Sources::default() }) {
            assert!(!problems.to_string().is_empty());
        }
    });
}

/// One file of the demo's reference data at a time.
#[test]
fn reference() {
    let folder = tempfile::tempdir().unwrap();
    let good = corpus("reference");
    good.iter().for_each(|(name, bytes)| drop(file_with(&folder, name, bytes)));
    fuzz!(&good, |name, text| {
        file_with(&folder, name, text);
        if let Err(problems) = server::reference::read(&ReferencePath::Folder(folder.path().to_owned())) {
            assert!(!problems.to_string().is_empty());
        }
        let (_, bytes) = good.iter().find(|(known, _)| known == name).unwrap();
        file_with(&folder, name, bytes);
    });
}

/// `KIND-….csv`, read to its end or to the first line that is refused.
#[test]
fn prices() {
    let folder = tempfile::tempdir().unwrap();
    fuzz!(&corpus("prices"), |name, text| {
        let kind = match name.split('-').next() {
            Some("book") => PriceFileKind::Book,
            Some("trade") => PriceFileKind::Trade,
            Some("tick") => PriceFileKind::Tick,
            _ => PriceFileKind::Bar(BarSize::Day1),
        };
        let path = file_with(&folder, name, text);
        let (security, feed) = (SecurityId(1), Text::from("test"));
        let spec = PriceFileSpec { path, name: name.to_owned(), kind, security, feed, may_be_negative: false };
        let Ok(mut source) = CsvSource::open(&spec) else { return };
        while let Ok(Some(_)) = source.next() {}
    });
}

#[test]
fn plans() {
    let folder = tempfile::tempdir().unwrap();
    fuzz!(&corpus("plans"), |_, text| {
        let path = file_with(&folder, "plan.toml", text);
        if let Err(failure) = SimulationPlan::read(&path) {
            assert!(!failure.to_string().is_empty());
        }
    });
}
