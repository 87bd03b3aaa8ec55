//! Bits that flip on the disks of the servers, each in a log of its own: on one server another copy is read, on all of them the entry is
//! named, and no reader gets a wrong frame. None is silent: where another copy is read, the log of the reader says so.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use replication_contract::sample_frames::{INSTANCE, frames};
use rustix::process::Signal;
use storage::journal::SealedFrame;
use storage::replication::{Epoch, LogCursor, LogError, LogOutcome, LogPosition, QuorumLog};

use crate::nats_cluster::NatsCluster;
use crate::{append, log, read, settled};

/// How many; `make flip-bits` sets more.
const FLIPS: &str = "BIT_FLIPS";
const FLIPS_IN_TESTS: u64 = 3;
const SEED: &str = "RIALTO_SEED";
const FRAMES: usize = 12;
/// Readers of a log of which one server has the wrong bit, until one is told: each connects to a server by chance, which answers by itself.
const READERS_MAX: usize = 40;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// One bit of one frame, on some servers.
struct BitFlip {
    stream: String,
    frame: usize,
    bit: usize,
    servers: Vec<usize>,
}

impl BitFlip {
    /// In turn on all servers and on the one that leads the stream.
    fn choose(cluster: &NatsCluster, number: u64, random: &mut domain::SeededRng) -> Self {
        let stream = format!("flip-{number}");
        let frame = usize::try_from(random.below(FRAMES as u64)).unwrap();
        let bit = usize::try_from(random.below(frames()[frame].bytes.len() as u64 * 8)).unwrap();
        let all = (0..cluster.len()).collect();
        let servers =
            if number.is_multiple_of(2) { all } else { vec![cluster.number_of(&cluster.stream_leader(&stream))] };
        Self { stream, frame, bit, servers }
    }

    fn apply(&self, cluster: &NatsCluster) {
        for server in &self.servers {
            let folder = cluster.data_folder(*server);
            assert!(flip_bit_in(&folder, (&self.stream, &frames()[self.frame]), self.bit), "server {server}");
        }
    }

    /// The entry of the frame; the first is the epoch record.
    fn position(&self) -> LogPosition {
        LogPosition(self.frame as u64 + 2)
    }

    /// Where one server has the wrong bit, it is made the one that answers.
    fn check(&self, cluster: &NatsCluster) -> &'static str {
        if let [server] = self.servers[..] {
            cluster.make_stream_leader(&self.stream, server);
            cluster.wait_for_copies(&self.stream);
        }
        for _ in 0..READERS_MAX {
            let (outcome, text) = logged(|| self.check_read(read(&mut log(cluster.open(&self.stream), 2))));
            if outcome == NAMED {
                return NAMED;
            }
            if text.lines().any(|line| self.is_named_by(line)) {
                return "told, and read from another copy";
            }
        }
        assert!(self.is_repaired(cluster), "bit {} of frame {} on {:?} is silent", self.bit, self.frame, self.servers);
        "repaired by JetStream"
    }

    fn is_named_by(&self, line: &str) -> bool {
        let position = self.position();
        let names = [format!("entry {position} "), format!("and {position} cannot be read")];
        line.contains("another copy is good") && names.iter().any(|name| line.contains(name))
    }

    /// Whether the frame is on the server's disk as it was written.
    fn is_repaired(&self, cluster: &NatsCluster) -> bool {
        let frame = &frames()[self.frame].bytes;
        let has_frame = |path: PathBuf| fs::read(path).unwrap().windows(frame.len()).any(|window| window == frame);
        self.servers
            .iter()
            .all(|server| block_files(&cluster.data_folder(*server), &self.stream).into_iter().any(has_frame))
    }

    fn check_read(&self, (found, cursor, error): (Vec<SealedFrame>, LogCursor, Option<LogError>)) -> &'static str {
        let what = format!("bit {} of frame {} on {:?}", self.bit, self.frame, self.servers);
        assert!(found == frames()[..found.len()], "{what}: a wrong frame was read");
        let Some(error) = error else {
            assert_eq!((found.len(), self.servers.len()), (FRAMES, 1), "{what} was not named");
            return GOOD;
        };
        assert_eq!((found.len(), cursor.position().next()), (self.frame, self.position()), "{what}: {error}");
        let is_named = match &error {
            LogError::Gap { position, .. } | LogError::Bad { position, .. } => *position == self.position(),
            LogError::Unavailable { reason } => reason.contains(&format!("{} cannot be read", self.position())),
            _ => false,
        };
        assert!(is_named && self.servers.len() > 1, "{what}: {error}");
        NAMED
    }
}

/// Every frame was read, and none is wrong.
const GOOD: &str = "good";
const NAMED: &str = "named";

/// What is logged by this thread meanwhile.
fn logged<T>(work: impl FnOnce() -> T) -> (T, String) {
    let lines = LogLines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    let done = tracing::subscriber::with_default(subscriber, work);
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    (done, text)
}

#[derive(Clone, Default)]
struct LogLines(Arc<Mutex<Vec<u8>>>);

impl Write for LogLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Flips a bit of a frame wherever a block file of the stream has it.
fn flip_bit_in(folder: &Path, (stream, frame): (&str, &SealedFrame), bit: usize) -> bool {
    let mut is_found = false;
    for path in block_files(folder, stream) {
        let mut content = fs::read(&path).unwrap();
        let length = frame.bytes.len();
        if let Some(at) = content.windows(length).position(|window| window == frame.bytes) {
            content[at + bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, content).unwrap();
            is_found = true;
        }
    }
    is_found
}

fn block_files(folder: &Path, stream: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| if path.is_dir() { block_files(&path, stream) } else { vec![path] };
    let is_block_of_stream = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "blk")
            && path.components().any(|part| part.as_os_str() == stream)
    };
    entries.flat_map(below).filter(is_block_of_stream).collect()
}

#[test]
fn a_bit_that_flips_on_a_disk_is_named_or_read_from_another_copy() {
    let (flips, seed) = (number(FLIPS, FLIPS_IN_TESTS), number(SEED, 1));
    let mut random = domain::SeededRng::from_seed(seed);
    let mut cluster = NatsCluster::three();
    let mut chosen = Vec::new();
    for number in 0..flips {
        let mut leader = log(cluster.open(&format!("flip-{number}")), 1);
        let first = leader.lead(Epoch(1), &LogCursor::start(INSTANCE));
        assert_eq!(settled(&mut leader, first), LogOutcome::Accepted { position: LogPosition(1) });
        append(&mut leader, &frames()[..FRAMES], 1);
        chosen.push(BitFlip::choose(&cluster, number, &mut random));
    }
    (0..cluster.len()).for_each(|number| cluster.end(number, Signal::TERM));
    chosen.iter().for_each(|flip| flip.apply(&cluster));
    (0..cluster.len()).for_each(|number| cluster.run(number));
    for (number, flip) in chosen.iter().enumerate() {
        let outcome = flip.check(&cluster);
        println!("flip {number}, seed {seed}: frame {}, bit {}: {outcome}", flip.frame, flip.bit);
    }
}
