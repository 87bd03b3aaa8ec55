//! Cursor file: how far a process has read the log, beside its journal. The journal does not know positions and epochs of the log.
//!
//! ```text
//! magic [8] · version u32 · zero u32 · instance [16] · position u64 · epoch u64 · leader [16] · sequence u64 · hash [32] · checksum u32
//! ```
//!
//! It is written after each sync of the journal, and synced itself where the epoch changes: after a crash it may be old, but never too
//! new, and the epoch is not lost. Position 0 stands for a folder from which the log of the epoch begins, and whose member has read
//! nothing of it yet.

use std::path::Path;

use crate::StorageError;
use crate::bytes::field;
use crate::file_system::{FileSystem, OsFileSystem, write_durable};
use crate::journal::{ChainAnchor, ChainHash, InstanceId};
use crate::lock::DataDirLock;
use crate::noted_record::{FIELDS_AT, NotedRecord, RecordFormat};
use crate::replication::cursor::LogCursor;
use crate::replication::types::{CandidateId, Epoch, LogPosition};

/// The name of the file inside a data folder.
const FILE: &str = "replication";
/// What it is called when the folder has left its cluster.
const LEFT: &str = "replication.left";
/// While it is written.
const UNFINISHED: &str = "replication.new";
const FORMAT: RecordFormat = RecordFormat {
    magic: *b"RIALTO-R",
    bytes: 108,
    what: "cursor of a replicated log",
    advice: "replace it by an empty file, and the log is read from its beginning",
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

/// Makes the folder of a member an ordinary data folder; the name of the file that is kept of it. None where it is one already. A file
/// of before that knows a later epoch stays.
pub fn leave_cluster(lock: &DataDirLock) -> Result<Option<&'static str>, StorageError> {
    let (from, to) = (lock.folder().join(FILE), lock.folder().join(LEFT));
    if !from.exists() {
        return Ok(None);
    }
    let moved = match noted_epoch(&from)? < noted_epoch(&to)? {
        true => OsFileSystem.remove(&from),
        false => OsFileSystem.rename(&from, &to),
    };
    moved.map_err(StorageError::io("rename", &from))?;
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

/// As [`join_cluster`], of the folder from which a log begins in this epoch: it stays known, whatever becomes of the log.
pub fn join_rebuilt_log(data_folder: &Path, instance: InstanceId, epoch: Epoch) -> Result<(), StorageError> {
    let (path, new) = (data_folder.join(FILE), data_folder.join(UNFINISHED));
    let (position, leader, end) = (LogPosition::START, CandidateId([0; 16]), ChainAnchor::START);
    let record = SavedCursor { instance, position, epoch, leader, end }.encode();
    let made = write_durable(&OsFileSystem, &new, &record).and_then(|()| OsFileSystem.rename(&new, &path));
    made.map_err(StorageError::io("create", &path))
}

/// What a data folder knows of the epochs of its cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownEpoch {
    /// It never was that of a member.
    NeverMember,
    /// It is, or was, and does not say: its member has read nothing yet, or a power cut left nothing of what was noted.
    Unknown,
    Last(Epoch),
}

/// The last epoch that a folder knows, as a member of a cluster or from before it left one.
pub fn known_epoch(data_folder: &Path) -> Result<KnownEpoch, StorageError> {
    let [file, left] = [FILE, LEFT].map(|name| data_folder.join(name));
    Ok(match (noted_epoch(&file)?, noted_epoch(&left)?) {
        (Some(noted), before) => KnownEpoch::Last(noted.max(before.unwrap_or_default())),
        // It was a member once more since, in epochs that are lost.
        (None, _) if file.exists() => KnownEpoch::Unknown,
        (None, Some(before)) => KnownEpoch::Last(before),
        (None, None) if left.exists() => KnownEpoch::Unknown,
        (None, None) => KnownEpoch::NeverMember,
    })
}

/// None where there is no file, or one that does not say.
fn noted_epoch(path: &Path) -> Result<Option<Epoch>, StorageError> {
    match FORMAT.read(path) {
        Ok(bytes) => Ok(bytes.map(|bytes| SavedCursor::decode(&bytes).epoch)),
        Err(StorageError::Damaged(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// None where nothing was read yet, or where a power cut left nothing of it. Then the log is read from its beginning.
pub(crate) fn read(data_folder: &Path) -> Result<Option<SavedCursor>, StorageError> {
    Ok(FORMAT.read(&data_folder.join(FILE))?.map(|bytes| SavedCursor::decode(&bytes)))
}

/// Where a follower notes how far it has come.
pub(crate) struct CursorFile {
    record: NotedRecord,
    /// The epoch that a power cut does not take.
    synced: Option<Epoch>,
}

impl CursorFile {
    pub(crate) fn open(data_folder: &Path) -> Result<Self, StorageError> {
        if !is_member_folder(data_folder) {
            join_cluster(data_folder)?;
        }
        let record = NotedRecord::open(&OsFileSystem, data_folder.join(FILE))?;
        Ok(Self { record, synced: None })
    }

    /// Of a cursor up to which the journal is synced.
    pub(crate) fn note(&mut self, cursor: &LogCursor) {
        let Some(saved) = SavedCursor::of(cursor) else { return };
        self.record.note(&saved.encode());
        if self.synced != Some(saved.epoch) {
            self.record.sync();
            self.synced = Some(saved.epoch);
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

    /// What the files of a folder say, and once more when it has left its cluster.
    fn known(file: Option<&[u8]>, left: Option<&[u8]>) -> [KnownEpoch; 2] {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in [(FILE, file), (LEFT, left)] {
            bytes.map_or(Ok(()), |bytes| fs::write(folder.path().join(name), bytes)).unwrap();
        }
        let lock = DataDirLock::acquire(folder.path()).unwrap();
        let before = known_epoch(folder.path()).unwrap();
        assert_eq!(leave_cluster(&lock).unwrap(), file.map(|_| LEFT));
        assert!(!is_member_folder(folder.path()));
        [before, known_epoch(folder.path()).unwrap()]
    }

    #[test]
    fn an_epoch_that_a_folder_knows_is_not_replaced_by_none_and_one_that_it_does_not_know_is_not_zero() {
        use KnownEpoch::{Last, NeverMember, Unknown};
        let noted = |epoch| SavedCursor { epoch: Epoch(epoch), ..saved() }.encode();
        assert_eq!(known(None, None), [NeverMember, NeverMember]);
        // Restored and never started, what a power cut left, and a file that is damaged.
        for nothing in [&[][..], &[0; FORMAT.bytes], b"RIALTO-R"] {
            assert_eq!(known(Some(nothing), None), [Unknown, Unknown]);
            assert_eq!(known(None, Some(nothing)), [Unknown, Unknown]);
            // It was a member again, and may have seen later epochs; what is known stays.
            assert_eq!(known(Some(nothing), Some(&noted(5))), [Unknown, Last(Epoch(5))]);
            assert_eq!(known(Some(&noted(5)), Some(nothing)), [Last(Epoch(5)), Last(Epoch(5))]);
        }
        assert_eq!(known(Some(&noted(3)), Some(&noted(5))), [Last(Epoch(5)), Last(Epoch(5))]);
        assert_eq!(known(Some(&noted(5)), Some(&noted(3))), [Last(Epoch(5)), Last(Epoch(5))]);
        assert_eq!(known(None, Some(&noted(5))), [Last(Epoch(5)), Last(Epoch(5))]);
    }

    #[test]
    fn a_folder_from_which_a_log_begins_knows_its_epoch_however_often_it_is_tried() {
        let folder = tempfile::tempdir().unwrap();
        let lock = DataDirLock::acquire(folder.path()).unwrap();
        for epoch in [1_005, 2_005, 3_005] {
            join_rebuilt_log(folder.path(), InstanceId([7; 16]), Epoch(epoch)).unwrap();
            assert!(is_member_folder(folder.path()));
            assert_eq!(known_epoch(folder.path()).unwrap(), KnownEpoch::Last(Epoch(epoch)));
            leave_cluster(&lock).unwrap();
            assert_eq!(known_epoch(folder.path()).unwrap(), KnownEpoch::Last(Epoch(epoch)));
        }
    }
}
