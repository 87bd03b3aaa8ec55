//! One process of a cluster: a data folder, and its handle of the shared log.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use replication_contract::sample_frames::INSTANCE;
use replication_contract::{FaultQueue, FaultyStore, MemoryLog, MemoryLogClient};
use storage::SnapshotStore;
use storage::journal::{
    DurabilityEvent, FOLDER, Journal, JournalBatch, JournalOptions, JournalReader, JournalRecord, SealedFrame,
};
use storage::lock::DataDirLock;
use storage::replication::{
    CandidateId, FollowError, Leading, LogCursor, LogEvent, LogFollower, ReplicatedLog, ReplicationStatus,
};
use tempfile::TempDir;

/// What takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);
/// So small that a few frames fill a segment.
const SEGMENT_BYTES: u64 = 1024;

pub(crate) type Log = ReplicatedLog<FaultyStore<MemoryLogClient>>;

pub(crate) struct Member {
    folder: TempDir,
    lives: u8,
    number: u8,
    pub(crate) segment_bytes: u64,
    pub(crate) faults: FaultQueue,
}

/// A leader at work.
pub(crate) struct Leader {
    pub(crate) journal: Box<Journal>,
    pub(crate) status: Arc<ReplicationStatus>,
}

impl Member {
    pub(crate) fn new(number: u8) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, lives: 0, number, segment_bytes: SEGMENT_BYTES, faults: FaultQueue::default() }
    }

    pub(crate) fn data_folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// Starts the process: it opens its journal and finds its place in the log.
    pub(crate) fn start(&mut self, log: &MemoryLog) -> Result<LogFollower<Log>, FollowError> {
        self.lives += 1;
        self.faults = FaultQueue::default();
        let candidate = CandidateId([self.number * 16 + self.lives; 16]);
        let store = FaultyStore::new(log.client(), self.faults.clone());
        let lock = DataDirLock::acquire(self.folder.path()).unwrap();
        // As a server starts: from its newest snapshot.
        let anchor = SnapshotStore::look(self.folder.path(), INSTANCE).newest_anchor().unwrap();
        let options = JournalOptions { segment_bytes: self.segment_bytes, anchor, ..JournalOptions::new(INSTANCE) };
        LogFollower::open(ReplicatedLog::new(store, candidate), candidate, &lock, &options)
    }

    /// Starts it, and lets it read everything.
    pub(crate) fn follow(&mut self, log: &MemoryLog) -> LogFollower<Log> {
        let mut follower = self.start(log).unwrap();
        read_all(&mut follower);
        follower
    }

    pub(crate) fn lead(&mut self, log: &MemoryLog) -> Leader {
        match lead(self.follow(log)) {
            Ok((leader, _)) => leader,
            Err(_) => panic!("another one leads"),
        }
    }

    /// The records of its journal, as texts.
    pub(crate) fn records(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut reader = JournalReader::open(&self.folder.path().join(FOLDER), 0).unwrap();
        while let Some(entry) = reader.read_to(u64::MAX).unwrap() {
            found.push(String::from_utf8(entry.payload.to_vec()).unwrap());
        }
        found
    }

    pub(crate) fn frames(&self) -> Vec<SealedFrame> {
        let mut reader = JournalReader::open(&self.folder.path().join(FOLDER), 0).unwrap();
        std::iter::from_fn(|| reader.next_sealed().unwrap()).collect()
    }

    /// The segments, byte for byte, by name.
    pub(crate) fn segments(&self) -> BTreeMap<String, Vec<u8>> {
        let files = fs::read_dir(self.folder.path().join(FOLDER)).unwrap().map(Result::unwrap);
        let named = files.map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap()));
        named.filter(|(name, _)| !name.starts_with("head") && !name.starts_with("next")).collect()
    }
}

/// What was read: frames that count.
pub(crate) fn read_all(follower: &mut LogFollower<Log>) -> usize {
    let mut frames = 0;
    loop {
        let events = follower.follow(3).unwrap();
        if events.is_empty() {
            return frames;
        }
        frames += events.iter().filter(|event| matches!(event, LogEvent::Frame { .. })).count();
    }
}

/// Leads, or gives the follower back.
pub(crate) fn lead(follower: LogFollower<Log>) -> Result<(Leader, LogCursor), Box<LogFollower<Log>>> {
    lead_with(follower, 0)
}

/// As [`lead`], but nothing counts before so many standbys have it.
pub(crate) fn lead_with(
    follower: LogFollower<Log>,
    standbys: usize,
) -> Result<(Leader, LogCursor), Box<LogFollower<Log>>> {
    lead_as(follower, ReplicationStatus::with_standbys(standbys))
}

/// As [`lead`], with a status of its own.
pub(crate) fn lead_as(
    follower: LogFollower<Log>,
    status: ReplicationStatus,
) -> Result<(Leader, LogCursor), Box<LogFollower<Log>>> {
    let status = Arc::new(status);
    match follower.lead(&status).unwrap() {
        Leading::Leader { journal, end } => Ok((Leader { journal, status }, end)),
        Leading::Fenced(follower) => Err(follower),
    }
}

impl Leader {
    /// Records one order; it is not waited for.
    pub(crate) fn record(&mut self, sequence: u64, text: &str) {
        let record = JournalRecord { sequence, kind: 1, payload: text.as_bytes().to_vec() };
        self.journal.append(JournalBatch { time: 1, records: vec![record] }).unwrap();
    }

    /// Waits until everything up to a sequence counts.
    pub(crate) fn wait_durable(&self, sequence: u64) {
        let begun = Instant::now();
        while self.journal.durable() < sequence {
            assert!(begun.elapsed() < PATIENCE, "{:?}", self.journal.monitor().failure());
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    pub(crate) fn record_durably(&mut self, sequence: u64, text: &str) {
        self.record(sequence, text);
        self.wait_durable(sequence);
    }

    /// Waits until this disk and the log have everything up to a sequence, whether it counts or not.
    pub(crate) fn wait_committed(&self, sequence: u64) {
        let begun = Instant::now();
        while self.journal.committed() < sequence {
            assert!(begun.elapsed() < PATIENCE, "{:?}", self.journal.monitor().failure());
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits until a frame was tried in vain.
    pub(crate) fn wait_until_it_waits(&self) {
        let begun = Instant::now();
        while self.status.state().waiting.is_none() {
            assert!(begun.elapsed() < PATIENCE, "the log takes everything");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    pub(crate) fn wait_failed(&self) -> String {
        loop {
            match self.journal.durability_events().recv_timeout(PATIENCE).expect("the journal fails") {
                DurabilityEvent::Failed { error } => return error,
                DurabilityEvent::Advanced { .. } => {}
            }
        }
    }

    /// The process ends. What waits for the log does not get there any more.
    pub(crate) fn end(self) {
        self.status.stop();
        drop(self.journal);
    }
}
