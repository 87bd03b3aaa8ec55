//! Floor of a journal: the segments before it were verified and deleted. The chain goes on from here.
//!
//! ```text
//! magic [8] · version u32 · zero u32 · instance [16] · number of the last deleted segment u64 · its last sequence u64
//! · hash of its last frame [32] · checksum u32 over all before                              (84 bytes)
//! ```
//!
//! The file is durable before the first segment goes, and a segment below the floor is not listed any more: whatever a crash leaves of
//! the deletion, the journal begins at the floor.

use std::path::{Path, PathBuf};

use super::chain::{ChainHash, InstanceId};
use super::packed;
use crate::StorageError;
use crate::bytes::field;
use crate::file_system::{FileSystem, write_all_at};
use crate::noted_record::{FIELDS_AT, RecordFormat};

/// The name of the file inside the folder of the archive.
pub const FLOOR_FILE: &str = "floor";
const UNFINISHED_EXTENSION: &str = "new";
const FORMAT: RecordFormat = RecordFormat {
    magic: *b"RIALTO-F",
    bytes: 84,
    what: "floor of a journal",
    advice: "bring it back from a backup: without it the journal has no beginning",
};

/// The last frame that was deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalFloor {
    pub instance: InstanceId,
    /// The number of the segment that it stood in.
    pub segment: u64,
    /// Records up to and with this one are gone.
    pub sequence: u64,
    pub hash: ChainHash,
}

impl JournalFloor {
    fn encode(&self) -> Vec<u8> {
        FORMAT.encode(&[&self.instance.0, &self.segment.to_le_bytes(), &self.sequence.to_le_bytes(), &self.hash.0])
    }

    /// Of a record that was checked.
    fn decode(bytes: &[u8]) -> Self {
        Self {
            instance: InstanceId(field(bytes, FIELDS_AT)),
            segment: u64::from_le_bytes(field(bytes, FIELDS_AT + 16)),
            sequence: u64::from_le_bytes(field(bytes, FIELDS_AT + 24)),
            hash: ChainHash(field(bytes, FIELDS_AT + 32)),
        }
    }

    /// Refuses a reader that begins at a record that was deleted.
    pub(crate) fn check_has(floor: Option<Self>, from: u64) -> Result<(), StorageError> {
        match floor {
            Some(Self { sequence, .. }) if from <= sequence => Err(StorageError::Pruned { floor: sequence }),
            _ => Ok(()),
        }
    }
}

/// The floor of a journal, by the journal's folder; none where all of it is there.
pub fn read_floor(journal: &Path) -> Result<Option<JournalFloor>, StorageError> {
    Ok(FORMAT.read(&path_of(journal))?.map(|bytes| JournalFloor::decode(&bytes)))
}

/// Durable when it returns.
pub(crate) fn write(disk: &dyn FileSystem, journal: &Path, floor: &JournalFloor) -> Result<(), StorageError> {
    let path = path_of(journal);
    let unfinished = path.with_extension(UNFINISHED_EXTENSION);
    let file = disk.create(&unfinished).map_err(StorageError::io("create", &unfinished))?;
    let written = write_all_at(file.as_ref(), &floor.encode(), 0).and_then(|()| file.sync());
    written.map_err(StorageError::io("write", &unfinished))?;
    disk.rename(&unfinished, &path).map_err(StorageError::io("rename", &unfinished))
}

fn path_of(journal: &Path) -> PathBuf {
    packed::folder_of(journal).join(FLOOR_FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_and_every_cut_is_seen() {
        let floor = JournalFloor { instance: InstanceId([7; 16]), segment: 3, sequence: 42, hash: ChainHash([9; 32]) };
        let good = floor.encode();
        assert_eq!((good.len(), JournalFloor::decode(&good)), (FORMAT.bytes, floor));
        for bit in 0..FORMAT.bytes * 8 {
            let mut bytes = good.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(FORMAT.check(&bytes).is_err(), "{bit}");
        }
        (0..FORMAT.bytes).for_each(|length| assert!(FORMAT.check(&good[..length]).is_err(), "{length}"));
    }
}
