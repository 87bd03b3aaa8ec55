//! How far the journal is durable, beside its segments: the sequence and the hash of the last frame that was synced.
//!
//! ```text
//! magic [8] · version u32 · zero u32 · instance [16] · sequence u64 · hash [32] · checksum u32 over all before
//! ```
//!
//! Frames that vanish from the end of the last segment leave zeros behind, as if they had never been; this file tells.
//! It is written after each sync and never synced itself: after a power cut it may be old, but never too new.

use std::path::Path;

use super::format::chain::{ChainHash, InstanceId};
use crate::StorageError;
use crate::bytes::field;
use crate::file_system::FileSystem;
use crate::noted_record::{FIELDS_AT, NotedRecord, RecordFormat};

/// The name of the file inside the folder of the journal.
pub(crate) const FILE: &str = "head";
const FORMAT: RecordFormat = RecordFormat {
    magic: *b"RIALTO-H",
    bytes: 76,
    what: "head of a journal",
    advice: "if nothing else of the journal is damaged, delete it",
};

/// The last frame that was surely on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    pub instance: InstanceId,
    pub sequence: u64,
    pub hash: ChainHash,
}

impl Head {
    pub(crate) fn encode(&self) -> Vec<u8> {
        FORMAT.encode(&[&self.instance.0, &self.sequence.to_le_bytes(), &self.hash.0])
    }

    /// Of a record that was checked.
    fn decode(bytes: &[u8]) -> Self {
        let instance = InstanceId(field(bytes, FIELDS_AT));
        let sequence = u64::from_le_bytes(field(bytes, FIELDS_AT + 16));
        Self { instance, sequence, hash: ChainHash(field(bytes, FIELDS_AT + 24)) }
    }
}

/// None in a folder of an older build, or where a power cut came before anything of the file reached the disk.
pub(crate) fn read(folder: &Path) -> Result<Option<Head>, StorageError> {
    Ok(FORMAT.read(&folder.join(FILE))?.map(|bytes| Head::decode(&bytes)))
}

/// Where the writer notes how far it is durable.
pub(crate) struct HeadFile {
    record: NotedRecord,
    instance: InstanceId,
}

impl HeadFile {
    pub(crate) fn open(disk: &dyn FileSystem, folder: &Path, instance: InstanceId) -> Result<Self, StorageError> {
        Ok(Self { record: NotedRecord::open(disk, folder.join(FILE))?, instance })
    }

    pub(crate) fn note(&mut self, sequence: u64, hash: ChainHash) {
        self.record.note(&Head { instance: self.instance, sequence, hash }.encode());
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const HEAD: Head = Head { instance: InstanceId([7; 16]), sequence: 42, hash: ChainHash([9; 32]) };

    #[test]
    fn what_was_noted_is_read() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()).unwrap(), None);
        let mut file = HeadFile::open(&crate::file_system::OsFileSystem, folder.path(), HEAD.instance).unwrap();
        assert_eq!(read(folder.path()).unwrap(), None, "a file that is empty yet");
        file.note(41, ChainHash([1; 32]));
        file.note(HEAD.sequence, HEAD.hash);
        assert_eq!(read(folder.path()).unwrap(), Some(HEAD));
        fs::write(folder.path().join(FILE), [0; FORMAT.bytes]).unwrap();
        assert_eq!(read(folder.path()).unwrap(), None, "zeros that a power cut left");
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_seen() {
        let good = HEAD.encode();
        for bit in 0..FORMAT.bytes * 8 {
            let mut bytes = good.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(FORMAT.check(&bytes).is_err(), "{bit}");
        }
        (0..FORMAT.bytes).for_each(|length| assert!(FORMAT.check(&good[..length]).is_err(), "{length}"));
    }
}
