//! Cursor file: how far a process has read the log, beside its journal. The journal does not know positions and epochs of the log.
//!
//! ```text
//! magic [8] · version u32 · zero u32 · instance [16] · position u64 · epoch u64 · leader [16] · sequence u64 · hash [32] · checksum u32
//! ```
//!
//! It is written after each sync of the journal and never synced itself: after a crash it may be old, but never too new.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::StorageError;
use crate::bytes::field;
use crate::file_system::{FileSystem, OsFileSystem, WritableFile, write_all_at};
use crate::journal::{ChainAnchor, ChainHash, InstanceId};
use crate::replication::cursor::LogCursor;
use crate::replication::types::{CandidateId, Epoch, LogPosition};

/// The name of the file inside a data folder.
const FILE: &str = "replication";
const BYTES: usize = 108;
const CHECKSUM_AT: usize = BYTES - 4;
const MAGIC: [u8; 8] = *b"RIALTO-R";
const VERSION: u32 = 1;

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

    fn encode(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.instance.0);
        bytes[32..40].copy_from_slice(&self.position.0.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.epoch.0.to_le_bytes());
        bytes[48..64].copy_from_slice(&self.leader.0);
        bytes[64..72].copy_from_slice(&self.end.sequence.to_le_bytes());
        bytes[72..104].copy_from_slice(&self.end.hash.0);
        let checksum = crc32c::crc32c(&bytes[..CHECKSUM_AT]);
        bytes[CHECKSUM_AT..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() != BYTES || bytes[..8] != MAGIC {
            return Err("it is no cursor of a replicated log".to_owned());
        }
        if bytes[CHECKSUM_AT..] != crc32c::crc32c(&bytes[..CHECKSUM_AT]).to_le_bytes() {
            return Err("the checksum does not match".to_owned());
        }
        let version = u32::from_le_bytes(field(bytes, 8));
        if version != VERSION {
            return Err(format!("format version {version} is not known, this program reads {VERSION}"));
        }
        let number = |at: usize| u64::from_le_bytes(field(bytes, at));
        Ok(Self {
            instance: InstanceId(field(bytes, 16)),
            position: LogPosition(number(32)),
            epoch: Epoch(number(40)),
            leader: CandidateId(field(bytes, 48)),
            end: ChainAnchor { sequence: number(64), hash: ChainHash(field(bytes, 72)) },
        })
    }
}

/// None where nothing was read yet, or where a power cut left nothing of it. Then the log is read from its beginning.
pub(crate) fn read(data_folder: &Path) -> Result<Option<SavedCursor>, StorageError> {
    let path = data_folder.join(FILE);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StorageError::io("read", &path)(error)),
    };
    if bytes.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    let advice = "delete it, and the log is read from its beginning";
    SavedCursor::decode(&bytes)
        .map(Some)
        .map_err(|reason| StorageError::damaged(&path, 0, format!("{reason}; {advice}")))
}

/// Where a follower notes how far it has come.
pub(crate) struct CursorFile {
    path: PathBuf,
    medium: Box<dyn WritableFile>,
}

impl CursorFile {
    pub(crate) fn open(data_folder: &Path) -> Result<Self, StorageError> {
        let path = data_folder.join(FILE);
        let opened = if path.exists() { OsFileSystem.open(&path) } else { OsFileSystem.create(&path) };
        let medium = opened.map_err(StorageError::io("open", &path))?;
        Ok(Self { path, medium })
    }

    /// One small write in place, of a cursor up to which the journal is synced.
    pub(crate) fn note(&mut self, cursor: &LogCursor) -> Result<(), StorageError> {
        let Some(saved) = SavedCursor::of(cursor) else { return Ok(()) };
        write_all_at(self.medium.as_ref(), &saved.encode(), 0).map_err(StorageError::io("write", &self.path))
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(SavedCursor::decode(&good), Ok(saved()));
        for bit in 0..BYTES * 8 {
            let mut bytes = good;
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(SavedCursor::decode(&bytes).is_err(), "{bit}");
        }
        (0..BYTES).for_each(|length| assert!(SavedCursor::decode(&good[..length]).is_err(), "{length}"));
    }

    #[test]
    fn a_folder_without_the_file_or_with_zeros_has_no_cursor() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()).unwrap(), None);
        fs::write(folder.path().join(FILE), [0; BYTES]).unwrap();
        assert_eq!(read(folder.path()).unwrap(), None);
        fs::write(folder.path().join(FILE), b"RIALTO-R").unwrap();
        assert!(read(folder.path()).unwrap_err().to_string().contains("it is no cursor of a replicated log"));
    }
}
