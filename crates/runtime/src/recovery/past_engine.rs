//! Engine of the past: the state after any sequence, from a snapshot and the journal. It stays where it was asked last, so that a
//! later point costs only the records in between.

use std::path::PathBuf;

use domain::{Sequenced, Timestamp};
use engine::{Engine, Outbox};
use storage::SnapshotStore;
use storage::journal::{self, InstanceId, JournalEntry, JournalReader};

use crate::journal_records::{self, SnapshotParts, UnreadableRecord};
use crate::recovery::RecoveryError;

pub struct PastEngine {
    folder: PathBuf,
    instance: InstanceId,
    cursor: Option<ReplayCursor>,
}

/// An engine, and the journal behind the last record that it has applied.
struct ReplayCursor {
    engine: Engine,
    source: JournalReader,
    reached: u64,
    /// The time of the last record.
    at: Timestamp,
}

impl PastEngine {
    pub fn new(folder: PathBuf, instance: InstanceId) -> Self {
        Self { folder, instance, cursor: None }
    }

    /// The engine after the input of that sequence, and the time of the last record. The journal must be durable that far.
    pub fn at_sequence(&mut self, sequence: u64) -> Result<(&Engine, Timestamp), RecoveryError> {
        let mut cursor = match self.cursor.take().filter(|cursor| cursor.reached <= sequence) {
            Some(cursor) => cursor,
            None => self.open(|found, _| found <= sequence)?,
        };
        cursor.advance(sequence)?;
        let cursor = self.cursor.insert(cursor);
        Ok((&cursor.engine, cursor.at))
    }

    /// The sequence of the last record at an instant or before it, of those up to `limit`.
    pub fn sequence_at(&self, instant: Timestamp, limit: u64) -> Result<u64, RecoveryError> {
        let mut base = self.open(|found, at| found <= limit && at <= instant)?;
        let mut sequence = base.reached;
        while let Some(entry) = base.source.read_to(limit)? {
            if entry.time > instant.0 {
                break;
            }
            sequence = entry.sequence;
        }
        Ok(sequence)
    }

    /// Begins at the newest snapshot that fits by its sequence and time, else at the beginning.
    fn open(&self, fits: impl Fn(u64, Timestamp) -> bool) -> Result<ReplayCursor, RecoveryError> {
        let snapshots = SnapshotStore::look(&self.folder, self.instance);
        let mut base = (Engine::default(), 0, Timestamp::default());
        let mut limit = u64::MAX;
        while let Some(snapshot) = snapshots.latest_valid(Some(limit))? {
            if let Some((engine, at)) = decode(&snapshot.state).filter(|(_, at)| fits(snapshot.sequence, *at)) {
                base = (engine, snapshot.sequence, at);
                break;
            }
            let Some(older) = snapshot.sequence.checked_sub(1) else { break };
            limit = older;
        }
        let (engine, reached, at) = base;
        let source = JournalReader::open(&self.folder.join(journal::FOLDER), reached + 1)?;
        Ok(ReplayCursor { engine, source, reached, at })
    }
}

/// The engine of a snapshot and its time; absent where this build cannot read it, or where it has no time.
fn decode(state: &[u8]) -> Option<(Engine, Timestamp)> {
    let SnapshotParts { engine, at, .. } = journal_records::decode_snapshot(state).ok()?;
    let engine = Engine::from_state(engine).ok()?;
    (at.0 > 0).then_some((engine, at))
}

impl ReplayCursor {
    fn advance(&mut self, sequence: u64) -> Result<(), RecoveryError> {
        while let Some(entry) = self.source.read_to(sequence)? {
            apply(&mut self.engine, &entry)?;
            self.at = self.at.max(Timestamp(entry.time));
        }
        self.reached = sequence;
        Ok(())
    }
}

fn apply(engine: &mut Engine, entry: &JournalEntry<'_>) -> Result<(), RecoveryError> {
    if entry.kind != journal_records::INPUT {
        return Ok(());
    }
    let payload = journal_records::decode_input(entry.payload)
        .map_err(|UnreadableRecord(reason)| RecoveryError::Unreadable { sequence: entry.sequence, reason })?;
    let input = Sequenced { sequence: entry.sequence, at: Timestamp(entry.time), payload };
    // All of it was answered, published and sent when it happened.
    let _ = engine.apply(&input, &mut Outbox::default());
    Ok(())
}
