//! How far the journal is durable, beside its segments: the sequence and the hash of the last frame that was synced.
//!
//! ```text
//! magic [8] · version u32 · zero u32 · instance [16] · sequence u64 · hash [32] · checksum u32 over all before
//! ```
//!
//! Frames that vanish from the end of the last segment leave zeros behind, as if they had never been; this file tells.
//! It is written after each sync and never synced itself: after a power cut it may be old, but never too new.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::format::chain::{ChainHash, InstanceId};
use crate::StorageError;
use crate::bytes::field;
use crate::file_system::{FileSystem, WritableFile, write_all_at};

/// The name of the file inside the folder of the journal.
pub(crate) const FILE: &str = "head";
const BYTES: usize = 76;
const CHECKSUM_AT: usize = BYTES - 4;
const MAGIC: [u8; 8] = *b"RIALTO-H";
const VERSION: u32 = 1;

/// The last frame that was surely on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    pub instance: InstanceId,
    pub sequence: u64,
    pub hash: ChainHash,
}

impl Head {
    pub(crate) fn encode(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.instance.0);
        bytes[32..40].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[40..72].copy_from_slice(&self.hash.0);
        let checksum = crc32c::crc32c(&bytes[..CHECKSUM_AT]);
        bytes[CHECKSUM_AT..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() != BYTES || bytes[..8] != MAGIC {
            return Err("it is no head of a journal".to_owned());
        }
        if bytes[CHECKSUM_AT..] != crc32c::crc32c(&bytes[..CHECKSUM_AT]).to_le_bytes() {
            return Err("the checksum does not match".to_owned());
        }
        let version = u32::from_le_bytes(field(bytes, 8));
        if version != VERSION {
            return Err(format!("format version {version} is not known, this program reads {VERSION}"));
        }
        let (instance, sequence) = (InstanceId(field(bytes, 16)), u64::from_le_bytes(field(bytes, 32)));
        Ok(Self { instance, sequence, hash: ChainHash(field(bytes, 40)) })
    }
}

/// None in a folder of an older build, or where a power cut came before anything of the file reached the disk.
pub(crate) fn read(folder: &Path) -> Result<Option<Head>, StorageError> {
    let path = folder.join(FILE);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StorageError::io("read", &path)(error)),
    };
    if bytes.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    let advice = "if nothing else of the journal is damaged, delete it";
    Head::decode(&bytes).map(Some).map_err(|reason| StorageError::damaged(&path, 0, format!("{reason}; {advice}")))
}

/// Where the writer notes how far it is durable.
pub(crate) struct HeadFile {
    path: PathBuf,
    medium: Box<dyn WritableFile>,
    instance: InstanceId,
    /// Whether it was said that it cannot be written.
    is_told: bool,
}

impl HeadFile {
    pub(crate) fn open(disk: &dyn FileSystem, folder: &Path, instance: InstanceId) -> Result<Self, StorageError> {
        let path = folder.join(FILE);
        let opened = if path.exists() { disk.open(&path) } else { disk.create(&path) };
        let medium = opened.map_err(StorageError::io("open", &path))?;
        Ok(Self { path, medium, instance, is_told: false })
    }

    /// One small write in place. Without it the file is only older than it could be, so trouble is told and no more.
    pub(crate) fn note(&mut self, sequence: u64, hash: ChainHash) {
        let head = Head { instance: self.instance, sequence, hash };
        if let Err(error) = write_all_at(self.medium.as_ref(), &head.encode(), 0)
            && !std::mem::replace(&mut self.is_told, true)
        {
            tracing::error!(%error, file = %self.path.display(), "the head of the journal cannot be noted");
        }
    }
}

#[cfg(test)]
mod tests {
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
        fs::write(folder.path().join(FILE), [0; BYTES]).unwrap();
        assert_eq!(read(folder.path()).unwrap(), None, "zeros that a power cut left");
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_seen() {
        let good = HEAD.encode();
        for bit in 0..BYTES * 8 {
            let mut bytes = good;
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(Head::decode(&bytes).is_err(), "{bit}");
        }
        (0..BYTES).for_each(|length| assert!(Head::decode(&good[..length]).is_err(), "{length}"));
    }
}
