//! Crash recovery: loads the newest valid snapshot and replays the journal after it, by the same code as live.

use std::path::Path;

use domain::{Input, Published, Stamped, Timestamp};
use engine::{Engine, Outbox};
use storage::journal::{self, Entry, Progress, Reader};
use storage::{LedgerBook, Snapshots, StorageError};

use tracing::warn;

use crate::records::{self, Unreadable};
use crate::simulation::Digest;

/// Result of the recovery.
#[derive(Debug, Clone, Default)]
pub struct Recovered {
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
    pub digest: Option<Digest>,
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

/// Builds the engine as it was. `reader` is offered every event after `reader_has`, so that the read model catches up.
/// `last_sequence` is that of the journal's newest record.
pub fn recover(
    folder: &Path,
    last_sequence: u64,
    snapshots: &Snapshots,
    ledger: &LedgerBook,
    reader_has: u64,
    reader: &mut dyn FnMut(u64, &[Published]),
    progress: &mut dyn FnMut(Progress),
) -> Result<(Engine, Recovered), RecoveryError> {
    if let Some((snapshot, _)) = snapshots.newest_claim()?.filter(|(snapshot, _)| *snapshot > last_sequence) {
        return Err(RecoveryError::JournalTooShort { journal: last_sequence, snapshot });
    }
    let mut replay = Replay::begin(snapshots, ledger, last_sequence, reader_has, reader)?;
    let from = replay.recovered.snapshot + 1;
    let source = Reader::open(&folder.join(journal::FOLDER), from)?;
    source.replay(&mut |entry| replay.take(&entry), progress)?;
    replay.recovered.last_sequence = last_sequence;
    Ok((replay.engine, replay.recovered))
}

/// The engine as it was after a record, for whoever only asks.
pub(crate) fn replay_up_to(
    folder: &Path,
    end: u64,
    snapshots: &Snapshots,
    ledger: &LedgerBook,
) -> Result<Engine, RecoveryError> {
    let mut ignore = |_: u64, _: &[Published]| {};
    let mut replay = Replay::begin(snapshots, ledger, end, end, &mut ignore)?;
    let mut source = Reader::open(&folder.join(journal::FOLDER), replay.recovered.snapshot + 1)?;
    while let Some(entry) = source.read_to(end)? {
        replay.take(&entry)?;
    }
    Ok(replay.engine)
}

struct Replay<'a> {
    engine: Engine,
    out: Outbox,
    recovered: Recovered,
    ledger: &'a LedgerBook,
    reader_has: u64,
    reader: &'a mut dyn FnMut(u64, &[Published]),
}

impl<'a> Replay<'a> {
    /// A reader that is behind the newest snapshot needs an older one, or the beginning. So does a build that cannot read the
    /// newest one: the journal has all that it was made of.
    fn begin(
        snapshots: &Snapshots,
        ledger: &'a LedgerBook,
        last_sequence: u64,
        reader_has: u64,
        reader: &'a mut dyn FnMut(u64, &[Published]),
    ) -> Result<Self, RecoveryError> {
        let (engine, out) = (Engine::default(), Outbox::default());
        let recovered = Recovered { digest: Some(Digest::default()), ..Recovered::default() };
        let mut replay = Self { engine, out, recovered, ledger, reader_has, reader };
        let mut limit = reader_has.min(last_sequence);
        while let Some(snapshot) = snapshots.newest_good(Some(limit))? {
            let Err(reason) = replay.load(snapshot.sequence, &snapshot.state) else { break };
            let (sequence, build) = (snapshot.sequence, snapshot.build);
            warn!(sequence, %build, %reason, "a snapshot cannot be read by this build, more of the journal is replayed");
            let Some(older) = sequence.checked_sub(1) else { break };
            limit = older;
        }
        Ok(replay)
    }

    /// All of it or nothing.
    fn load(&mut self, sequence: u64, state: &[u8]) -> Result<(), String> {
        let parts = records::decode_snapshot(state).map_err(|Unreadable(reason)| reason)?;
        let engine = Engine::from_state(parts.engine).map_err(|bad| bad.0.to_string())?;
        self.ledger.import(parts.ledger)?;
        self.engine = engine;
        self.recovered.reserved = parts.reserved;
        self.recovered.digest = parts.digest;
        self.recovered.at = parts.at;
        self.recovered.snapshot = sequence;
        Ok(())
    }

    fn take(&mut self, entry: &Entry<'_>) -> Result<(), RecoveryError> {
        let unreadable =
            |Unreadable(reason): Unreadable| RecoveryError::Unreadable { sequence: entry.sequence, reason };
        match entry.kind {
            records::INPUT => self.apply(entry)?,
            records::RESERVATION => {
                let up_to = records::decode_reservation(entry.payload).map_err(unreadable)?;
                self.recovered.reserved = self.recovered.reserved.max(up_to);
            }
            records::LEDGER => self.ledger.absorb(entry.payload).map_err(|reason| unreadable(Unreadable(reason)))?,
            // Deliveries to strategies; recovery never runs their code.
            records::DIARY => {}
            other => return Err(unreadable(Unreadable(format!("record kind {other} is not known to this build")))),
        }
        self.recovered.replayed += 1;
        self.recovered.at = Timestamp(entry.time);
        Ok(())
    }

    fn apply(&mut self, entry: &Entry<'_>) -> Result<(), RecoveryError> {
        let what = records::decode_input(entry.payload)
            .map_err(|Unreadable(reason)| RecoveryError::Unreadable { sequence: entry.sequence, reason })?;
        let (sequence, at) = (entry.sequence, Timestamp(entry.time));
        if let Input::Command(envelope) = &what {
            envelope.caller.origin.iter().for_each(|origin| self.ledger.note(origin));
        }
        // Callers were answered, and venues were instructed, when it happened.
        let _ = self.engine.apply(&Stamped { sequence, at, what }, &mut self.out);
        self.out.instructions.clear();
        if let Some(digest) = &mut self.recovered.digest {
            self.out.events.iter().for_each(|event| digest.see(event));
        }
        let events = self.out.events.drain(..).map(|event| Published { sequence, at, event });
        if sequence > self.reader_has {
            (self.reader)(sequence, &events.collect::<Vec<_>>());
        }
        Ok(())
    }
}
