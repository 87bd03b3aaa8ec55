//! Crash recovery: loads the newest valid snapshot and replays the journal after it, by the same code as live; and what a
//! journal goes on with after its end was lost and given up.

pub(crate) mod admin_state;
pub(crate) mod catch_up;
pub(crate) mod past_engine;

use std::path::Path;

use bus::inbox::inbox;
use bus::ledger::LOSSES;
use domain::command::{AcceptedLoss, Command};
use domain::{Caller, CommandEnvelope, Input, OrderId, PublishedEvent, RetiredOrdersInput, Sequenced, Timestamp};
use engine::{Engine, Outbox};
use storage::journal::{InstanceId, JournalBatch, JournalEntry, JournalReader, ScanProgress};
use storage::{JournalLedger, RetiredIndex, SnapshotStore, StorageError, journal, ledger};
use tracing::warn;

use crate::journal_records;
use crate::journal_records::UnreadableRecord;
use crate::simulation::RunDigest;

/// Result of the recovery.
#[derive(Debug, Clone, Default)]
pub struct RecoveredState {
    /// Of the newest journal record.
    pub last_sequence: u64,
    /// Numbers up to here may have been given to prices.
    pub reserved: u64,
    /// Of the snapshot that the replay began at; 0 = from the beginning.
    pub snapshot: u64,
    /// Records that were applied after it.
    pub replayed: u64,
    /// The time of the newest record.
    pub at: Timestamp,
    /// Over everything so far; absent where the journal began under a build that did not keep it.
    pub digest: Option<RunDigest>,
}

impl RecoveredState {
    /// Nothing was replayed yet.
    pub fn at_the_beginning() -> Self {
        Self { digest: Some(RunDigest::default()), ..Self::default() }
    }
}

#[derive(Debug)]
pub enum RecoveryError {
    Storage(StorageError),
    /// A record that this build cannot read.
    Unreadable {
        sequence: u64,
        reason: String,
    },
    /// A snapshot is newer than the journal: journal files are missing.
    JournalTooShort {
        journal: u64,
        snapshot: u64,
    },
}

impl std::fmt::Display for RecoveryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Storage(problem) => problem.fmt(f),
            Self::Unreadable { sequence, reason } => write!(f, "record {sequence} cannot be read: {reason}"),
            Self::JournalTooShort { journal, snapshot } => write!(
                f,
                "the journal ends at {journal} but a snapshot was taken at {snapshot}: journal files are missing"
            ),
        }
    }
}

impl From<StorageError> for RecoveryError {
    fn from(problem: StorageError) -> Self {
        Self::Storage(problem)
    }
}

/// What an engine is recovered from.
#[derive(Clone, Copy)]
pub struct RecoverySources<'a> {
    /// The data folder.
    pub folder: &'a Path,
    /// Of the journal's newest record.
    pub last_sequence: u64,
    pub snapshots: &'a SnapshotStore,
    pub ledger: &'a JournalLedger,
    /// Gets what is missing in it, where there is one.
    pub retired: Option<&'a RetiredIndex>,
}

/// Builds the engine as it was. `reader` is offered every event after `reader_has`, so that the read model catches up.
/// `last_sequence` is that of the journal's newest record. Ids of retired orders are taken as they are.
pub fn recover(
    folder: &Path,
    last_sequence: u64,
    snapshots: &SnapshotStore,
    ledger: &JournalLedger,
    reader_has: u64,
    reader: &mut dyn FnMut(u64, &[PublishedEvent]),
    progress: &mut dyn FnMut(ScanProgress),
) -> Result<(Engine, RecoveredState), RecoveryError> {
    let sources = RecoverySources { folder, last_sequence, snapshots, ledger, retired: None };
    recover_from(&sources, reader_has, reader, progress)
}

/// As [`recover`], with an index of retired orders.
pub fn recover_from(
    sources: &RecoverySources<'_>,
    reader_has: u64,
    reader: &mut dyn FnMut(u64, &[PublishedEvent]),
    progress: &mut dyn FnMut(ScanProgress),
) -> Result<(Engine, RecoveredState), RecoveryError> {
    let RecoverySources { folder, last_sequence, snapshots, .. } = *sources;
    if let Some((snapshot, _)) = snapshots.newest_claim()?.filter(|(snapshot, _)| *snapshot > last_sequence) {
        return Err(RecoveryError::JournalTooShort { journal: last_sequence, snapshot });
    }
    let mut replay = RecoveryReplay::begin(sources, reader_has, reader)?;
    let from = replay.recovered.snapshot + 1;
    let source = JournalReader::open(&folder.join(journal::FOLDER), from)?;
    source.replay(&mut |entry| replay.on_record(&entry), progress)?;
    replay.recovered.last_sequence = last_sequence;
    Ok((replay.engine, replay.recovered))
}

/// Goes on with an engine that was recovered before, behind its last record, up to `last_sequence` only: a journal that is being written has
/// records behind it that are not durable, and the next call begins there. The Ledger of `sources` is the one that it was recovered with.
pub fn recover_further(
    before: (Engine, RecoveredState),
    sources: &RecoverySources<'_>,
    reader: &mut dyn FnMut(u64, &[PublishedEvent]),
) -> Result<(Engine, RecoveredState), RecoveryError> {
    let RecoverySources { folder, last_sequence, ledger, retired, .. } = *sources;
    let from = before.1.last_sequence + 1;
    let mut replay = RecoveryReplay::resume(before, (ledger, retired), reader);
    let source = JournalReader::open(&folder.join(journal::FOLDER), from)?;
    source.replay_to(last_sequence, &mut |entry| replay.on_record(&entry), &mut |_| {})?;
    replay.recovered.last_sequence = last_sequence;
    Ok((replay.engine, replay.recovered))
}

/// As [`recover_from`], up to `last_sequence` only, whatever the journal has behind it: what a follower's own journal has beyond the
/// log is not proven.
pub fn recover_up_to(
    sources: &RecoverySources<'_>,
    reader_has: u64,
    reader: &mut dyn FnMut(u64, &[PublishedEvent]),
) -> Result<(Engine, RecoveredState), RecoveryError> {
    let RecoverySources { folder, last_sequence, snapshots, .. } = *sources;
    if let Some((snapshot, _)) = snapshots.newest_claim()?.filter(|(snapshot, _)| *snapshot > last_sequence) {
        return Err(RecoveryError::JournalTooShort { journal: last_sequence, snapshot });
    }
    let mut replay = RecoveryReplay::begin(sources, reader_has, reader)?;
    replay.read_to(folder, last_sequence)?;
    replay.recovered.last_sequence = last_sequence;
    Ok((replay.engine, replay.recovered))
}

/// What can be said of a state without opening its journal for use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateAt {
    pub last_order: OrderId,
    /// Over everything so far; absent where the journal began under a build that did not keep it.
    pub digest: Option<String>,
}

/// The state after a record.
pub fn state_at(data_folder: &Path, instance: InstanceId, end: u64) -> Result<StateAt, RecoveryError> {
    let snapshots = SnapshotStore::look(data_folder, instance);
    let (engine, state) = replay_up_to(data_folder, end, &snapshots, &JournalLedger::new(inbox().0))?;
    let digest = state.digest.map(|digest| digest.finish(&engine, state.at, end));
    Ok(StateAt { last_order: engine.last_order(), digest })
}

/// The engine as it was after a record, for whoever only asks.
fn replay_up_to(
    folder: &Path,
    end: u64,
    snapshots: &SnapshotStore,
    ledger: &JournalLedger,
) -> Result<(Engine, RecoveredState), RecoveryError> {
    let mut ignore = |_: u64, _: &[PublishedEvent]| {};
    let sources = RecoverySources { folder, last_sequence: end, snapshots, ledger, retired: None };
    let mut replay = RecoveryReplay::begin(&sources, end, &mut ignore)?;
    replay.read_to(folder, end)?;
    Ok((replay.engine, replay.recovered))
}

pub(crate) struct RecoveryReplay<'a> {
    engine: Engine,
    out: Outbox,
    recovered: RecoveredState,
    ledger: &'a JournalLedger,
    retired: Option<&'a RetiredIndex>,
    reader_has: u64,
    reader: &'a mut dyn FnMut(u64, &[PublishedEvent]),
}

impl<'a> RecoveryReplay<'a> {
    /// A reader that is behind the newest snapshot needs an older one, or the beginning. So does a build that cannot read the
    /// newest one: the journal has all that it was made of.
    pub(crate) fn begin(
        sources: &RecoverySources<'a>,
        reader_has: u64,
        reader: &'a mut dyn FnMut(u64, &[PublishedEvent]),
    ) -> Result<Self, RecoveryError> {
        let RecoverySources { folder, last_sequence, snapshots, ledger, retired } = *sources;
        let (engine, out) = (Engine::default(), Outbox::default());
        let recovered = RecoveredState::at_the_beginning();
        let mut replay = Self { engine, out, recovered, ledger, retired, reader_has, reader };
        let mut limit = reader_has.min(last_sequence);
        while let Some(snapshot) = snapshots.latest_valid(Some(limit))? {
            let Err(reason) = replay.load(snapshot.sequence, &snapshot.state) else { break };
            let (sequence, build) = (snapshot.sequence, snapshot.build);
            warn!(sequence, %build, %reason, "a snapshot cannot be read by this build, more of the journal is replayed");
            let Some(older) = sequence.checked_sub(1) else { break };
            limit = older;
        }
        let floor = journal::read_floor(&folder.join(journal::FOLDER))?.map_or(0, |floor| floor.sequence);
        if replay.recovered.snapshot < floor {
            replay.begin_above(floor, last_sequence, snapshots)?;
        }
        Ok(replay)
    }

    /// The journal has no beginning any more: the oldest snapshot above the floor stands in for it, and what the reader misses before
    /// that is in no journal.
    fn begin_above(&mut self, floor: u64, end: u64, snapshots: &SnapshotStore) -> Result<(), RecoveryError> {
        let mut from = floor;
        while let Some(snapshot) = snapshots.oldest_valid(from)?.filter(|snapshot| snapshot.sequence <= end) {
            let Err(reason) = self.load(snapshot.sequence, &snapshot.state) else {
                let (missing_after, from) = (self.reader_has, snapshot.sequence);
                warn!(
                    missing_after,
                    from, "the read model misses records that were deleted from the archive; a backup has them"
                );
                self.reader_has = self.reader_has.max(from);
                return Ok(());
            };
            warn!(sequence = snapshot.sequence, %reason, "a snapshot cannot be used");
            from = snapshot.sequence + 1;
        }
        Err(RecoveryError::Storage(StorageError::Pruned { floor }))
    }

    /// Goes on with an engine that was recovered before.
    pub(crate) fn resume(
        (engine, recovered): (Engine, RecoveredState),
        (ledger, retired): (&'a JournalLedger, Option<&'a RetiredIndex>),
        reader: &'a mut dyn FnMut(u64, &[PublishedEvent]),
    ) -> Self {
        let reader_has = recovered.last_sequence;
        Self { engine, out: Outbox::default(), recovered, ledger, retired, reader_has, reader }
    }

    pub(crate) fn into_engine(self) -> (Engine, RecoveredState) {
        (self.engine, self.recovered)
    }

    /// The digest of the state after everything so far.
    pub(crate) fn digest(&self) -> Option<String> {
        let digest = self.recovered.digest.clone()?;
        Some(digest.finish(&self.engine, self.recovered.at, self.recovered.last_sequence))
    }

    /// Applies the records behind the snapshot, up to and with a sequence.
    fn read_to(&mut self, folder: &Path, end: u64) -> Result<(), RecoveryError> {
        let mut source = JournalReader::open(&folder.join(journal::FOLDER), self.recovered.snapshot + 1)?;
        while let Some(entry) = source.read_to(end)? {
            self.on_record(&entry)?;
        }
        Ok(())
    }

    /// The sequence of the snapshot that the replay begins at; 0 = from the beginning.
    pub(crate) fn snapshot(&self) -> u64 {
        self.recovered.snapshot
    }

    /// All of it or nothing.
    fn load(&mut self, sequence: u64, state: &[u8]) -> Result<(), String> {
        let parts = journal_records::decode_snapshot(state).map_err(|UnreadableRecord(reason)| reason)?;
        let engine = Engine::from_state(parts.engine).map_err(|bad| bad.0.to_string())?;
        if self.retired.is_some_and(|index| index.through() < engine.forgotten_through()) {
            return Err("it has forgotten ids of retired orders that the index does not have".to_owned());
        }
        self.ledger.import(parts.ledger)?;
        self.engine = engine;
        self.recovered.reserved = parts.reserved;
        self.recovered.digest = parts.digest;
        self.recovered.at = parts.at;
        self.recovered.snapshot = sequence;
        Ok(())
    }

    pub(crate) fn on_record(&mut self, entry: &JournalEntry<'_>) -> Result<(), RecoveryError> {
        let unreadable =
            |UnreadableRecord(reason): UnreadableRecord| RecoveryError::Unreadable { sequence: entry.sequence, reason };
        match entry.kind {
            journal_records::INPUT => self.apply(entry)?,
            journal_records::RESERVATION => {
                let up_to = journal_records::decode_reservation(entry.payload).map_err(unreadable)?;
                self.recovered.reserved = self.recovered.reserved.max(up_to);
            }
            journal_records::LEDGER => {
                self.ledger
                    .apply(entry.sequence, entry.payload)
                    .map_err(|reason| unreadable(UnreadableRecord(reason)))?;
            }
            // Deliveries to strategies; recovery never runs their code.
            journal_records::DELIVERY_LOG => {}
            // Whoever follows a leader compares the digest in it, before.
            journal_records::PULSE => {}
            other => {
                return Err(unreadable(UnreadableRecord(format!("record kind {other} is not known to this build"))));
            }
        }
        self.recovered.replayed += 1;
        self.recovered.last_sequence = entry.sequence;
        // A record that a command wrote by the wall clock may be dated before its predecessor.
        self.recovered.at = self.recovered.at.max(Timestamp(entry.time));
        Ok(())
    }

    /// An index that is behind gets the keys that the engine is about to forget.
    fn restore_index(&self, input: &Input) -> Result<(), RecoveryError> {
        let (Some(index), Input::RetiredOrders(RetiredOrdersInput::Stored(through))) = (self.retired, input) else {
            return Ok(());
        };
        if index.through() >= *through {
            return Ok(());
        }
        if let Some(keys) = self.engine.keys_to_store().filter(|keys| keys.through == *through) {
            index.store(keys.through, keys.ids, keys.others)?;
        }
        Ok(())
    }

    fn apply(&mut self, entry: &JournalEntry<'_>) -> Result<(), RecoveryError> {
        let what = journal_records::decode_input(entry.payload)
            .map_err(|UnreadableRecord(reason)| RecoveryError::Unreadable { sequence: entry.sequence, reason })?;
        let (sequence, at) = (entry.sequence, Timestamp(entry.time));
        if let Input::Command(envelope) = &what {
            envelope.caller.origin.iter().for_each(|origin| self.ledger.record_seq_num(origin));
        }
        self.restore_index(&what)?;
        // Callers were answered, and venues were instructed, when it happened.
        let _ = self.engine.apply(&Sequenced { sequence, at, payload: what }, &mut self.out);
        self.out.instructions.clear();
        if let Some(digest) = &mut self.recovered.digest {
            self.out.events.iter().for_each(|event| digest.update(event));
        }
        let events = self.out.events.drain(..).map(|event| PublishedEvent { sequence, at, event });
        if sequence > self.reader_has {
            (self.reader)(sequence, &events.collect::<Vec<_>>());
        }
        Ok(())
    }
}

/// So many sequences are left out: prices take numbers that no journal holds, a million at a time.
const SEQUENCES_SKIPPED: u64 = 1_000_000_000;

/// The first batch after a loss. No number that anything knew of is given again, nor any that may have been given behind it.
pub fn go_on_after(loss: AcceptedLoss, known: u64, at: Timestamp) -> JournalBatch {
    let sequence = known + SEQUENCES_SKIPPED;
    let command = Box::new(CommandEnvelope { caller: Caller::platform(), command: Command::AcceptLoss(loss) });
    let told = journal_records::ledger(sequence + 1, ledger::record(LOSSES, sequence, &[]));
    JournalBatch { time: at.0, records: vec![journal_records::input(sequence, &Input::Command(command)), told] }
}

#[cfg(test)]
mod tests;
