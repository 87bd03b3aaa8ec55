//! Cursor file: how far a process has read the log, beside its journal. The journal does not know positions and epochs of the log.
//!
//! ```text
//! magic [8] · version u32 · zero u32 · instance [16] · position u64 · epoch u64 · leader [16] · sequence u64 · hash [32] · checksum u32
//! ```
//!
//! It is written after each sync of the journal and never synced itself: after a crash it may be old, but never too new.

use std::path::Path;

use crate::StorageError;
use crate::bytes::field;
use crate::file_system::{FileSystem, OsFileSystem};
use crate::journal::{ChainAnchor, ChainHash, InstanceId};
use crate::lock::DataDirLock;
use crate::noted_record::{FIELDS_AT, NotedRecord, RecordFormat};
use crate::replication::cursor::LogCursor;
use crate::replication::types::{CandidateId, Epoch, LogPosition};

/// The name of the file inside a data folder.
const FILE: &str = "replication";
/// What it is called when the folder has left its cluster.
const LEFT: &str = "replication.left";
const FORMAT: RecordFormat = RecordFormat {
    magic: *b"RIALTO-R",
    bytes: 108,
    what: "cursor of a replicated log",
    advice: "delete it, and the log is read from its beginning",
};

/// What the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SavedCursor {
    pub(crate) instance: InstanceId,
    pub(crate) position: LogPosition,
    pub(crate) epoch: Epoch,
    pub(crate) leader: CandidateId,
    /// The last frame of the journal that was read up to there.
    pub(crate) end: ChainAnchor,
}

impl SavedCursor {
    /// None before the first leader: there is nothing to keep.
    fn of(cursor: &LogCursor) -> Option<Self> {
        let (position, epoch, leader) = (cursor.position(), cursor.epoch(), cursor.leader()?);
        let chain = cursor.chain();
        Some(Self { instance: chain.instance(), position, epoch, leader, end: chain.head() })
    }

    fn encode(&self) -> Vec<u8> {
        let Self { instance, position, epoch, leader, end } = self;
        let [position, epoch, sequence] = [position.0, epoch.0, end.sequence].map(u64::to_le_bytes);
        FORMAT.encode(&[&instance.0, &position, &epoch, &leader.0, &sequence, &end.hash.0])
    }

    /// Of a record that was checked.
    fn decode(bytes: &[u8]) -> Self {
        let fields = &bytes[FIELDS_AT..];
        let number = |at: usize| u64::from_le_bytes(field(fields, at));
        Self {
            instance: InstanceId(field(fields, 0)),
            position: LogPosition(number(16)),
            epoch: Epoch(number(24)),
            leader: CandidateId(field(fields, 32)),
            end: ChainAnchor { sequence: number(48), hash: ChainHash(field(fields, 56)) },
        }
    }
}

/// Whether a data folder belongs to a member of a cluster: what is written there outside of the cluster would be lost, or lock the
/// member out.
pub fn is_member_folder(data_folder: &Path) -> bool {
    data_folder.join(FILE).exists()
}

/// Makes the folder of a member an ordinary data folder; the name of the file that is kept of it. None where it is one already.
pub fn leave_cluster(lock: &DataDirLock) -> Result<Option<&'static str>, StorageError> {
    let (from, to) = (lock.folder().join(FILE), lock.folder().join(LEFT));
    if !from.exists() {
        return Ok(None);
    }
    OsFileSystem.rename(&from, &to).map_err(StorageError::io("rename", &from))?;
    OsFileSystem.sync_folder(lock.folder()).map_err(StorageError::io("sync", lock.folder()))?;
    Ok(Some(LEFT))
}

/// Makes a data folder that of a member which has read nothing yet: it finds its place in the log when it starts. Durable when it
/// returns.
pub fn join_cluster(data_folder: &Path) -> Result<(), StorageError> {
    let path = data_folder.join(FILE);
    let made = OsFileSystem.create(&path).and_then(|file| file.sync());
    made.map_err(StorageError::io("create", &path))?;
    OsFileSystem.sync_folder(data_folder).map_err(StorageError::io("sync", data_folder))
}

/// The last epoch that a folder knows, as a member of a cluster or from before it left one; 0 where it never was a member.
pub fn last_epoch_of(data_folder: &Path) -> Result<Epoch, StorageError> {
    let read = |file: &str| FORMAT.read(&data_folder.join(file));
    let known = [read(FILE)?, read(LEFT)?].into_iter().flatten().map(|bytes| SavedCursor::decode(&bytes).epoch);
    Ok(known.max().unwrap_or_default())
}

/// None where nothing was read yet, or where a power cut left nothing of it. Then the log is read from its beginning.
pub(crate) fn read(data_folder: &Path) -> Result<Option<SavedCursor>, StorageError> {
    Ok(FORMAT.read(&data_folder.join(FILE))?.map(|bytes| SavedCursor::decode(&bytes)))
}

/// Where a follower notes how far it has come.
pub(crate) struct CursorFile(NotedRecord);

impl CursorFile {
    pub(crate) fn open(data_folder: &Path) -> Result<Self, StorageError> {
        NotedRecord::open(&OsFileSystem, data_folder.join(FILE)).map(Self)
    }

    /// Of a cursor up to which the journal is synced.
    pub(crate) fn note(&mut self, cursor: &LogCursor) {
        if let Some(saved) = SavedCursor::of(cursor) {
            self.0.note(&saved.encode());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn saved() -> SavedCursor {
        SavedCursor {
            instance: InstanceId([7; 16]),
            position: LogPosition(12),
            epoch: Epoch(3),
            leader: CandidateId([5; 16]),
            end: ChainAnchor { sequence: 42, hash: ChainHash([9; 32]) },
        }
    }

    #[test]
    fn what_is_saved_is_read_and_every_flipped_bit_and_every_cut_is_seen() {
        let good = saved().encode();
        assert_eq!(SavedCursor::decode(&good), saved());
        assert_eq!(FORMAT.check(&good), Ok(()));
        for bit in 0..FORMAT.bytes * 8 {
            let mut bytes = good.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(FORMAT.check(&bytes).is_err(), "{bit}");
        }
        (0..FORMAT.bytes).for_each(|length| assert!(FORMAT.check(&good[..length]).is_err(), "{length}"));
    }

    #[test]
    fn a_folder_without_the_file_or_with_zeros_has_no_cursor() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()).unwrap(), None);
        fs::write(folder.path().join(FILE), [0; FORMAT.bytes]).unwrap();
        assert_eq!(read(folder.path()).unwrap(), None);
        fs::write(folder.path().join(FILE), b"RIALTO-R").unwrap();
        assert!(read(folder.path()).unwrap_err().to_string().contains("it is no cursor of a replicated log"));
    }
}
