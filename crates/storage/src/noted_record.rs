//! Noted records: small files of one record that is written in place after each step and not synced. After a power cut it may be
//! old, but never too new.
//!
//! ```text
//! magic [8] · version u32 · zero u32 · fields · checksum u32 over all before
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::StorageError;
use crate::bytes::field;
use crate::file_system::{FileSystem, WritableFile, write_all_at};

const VERSION: u32 = 1;
/// Where the fields begin.
pub(crate) const FIELDS_AT: usize = 16;
const CHECKSUM_BYTES: usize = 4;

/// One kind of record.
pub(crate) struct RecordFormat {
    pub(crate) magic: [u8; 8],
    /// Its length with the checksum.
    pub(crate) bytes: usize,
    /// What it is: part of a sentence.
    pub(crate) what: &'static str,
    /// What to do about a damaged one.
    pub(crate) advice: &'static str,
}

impl RecordFormat {
    /// The record with these fields, from [`FIELDS_AT`] on.
    pub(crate) fn encode(&self, fields: &[&[u8]]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes);
        bytes.extend_from_slice(&self.magic);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        fields.iter().for_each(|field| bytes.extend_from_slice(field));
        let checksum = crc32c::crc32c(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Whether the fields can be read.
    pub(crate) fn check(&self, bytes: &[u8]) -> Result<(), String> {
        if bytes.len() != self.bytes || bytes[..8] != self.magic {
            return Err(format!("it is no {}", self.what));
        }
        let checksum_at = self.bytes - CHECKSUM_BYTES;
        if bytes[checksum_at..] != crc32c::crc32c(&bytes[..checksum_at]).to_le_bytes() {
            return Err("the checksum does not match".to_owned());
        }
        match u32::from_le_bytes(field(bytes, 8)) {
            VERSION => Ok(()),
            version => Err(format!("format version {version} is not known, this program reads {VERSION}")),
        }
    }

    /// None where there is no file, or where a power cut came before anything of it reached the disk.
    pub(crate) fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, StorageError> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StorageError::io("read", path)(error)),
        };
        if bytes.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        let damaged = |reason| StorageError::damaged(path, 0, format!("{reason}; {}", self.advice));
        self.check(&bytes).map_err(damaged)?;
        Ok(Some(bytes))
    }
}

/// The open file.
pub(crate) struct NotedRecord {
    path: PathBuf,
    medium: Box<dyn WritableFile>,
    /// Whether it was said that it cannot be written.
    is_told: bool,
}

impl NotedRecord {
    pub(crate) fn open(disk: &dyn FileSystem, path: PathBuf) -> Result<Self, StorageError> {
        let opened = if path.exists() { disk.open(&path) } else { disk.create(&path) };
        let medium = opened.map_err(StorageError::io("open", &path))?;
        Ok(Self { path, medium, is_told: false })
    }

    /// One small write in place. Without it the file is only older than it could be, so trouble is told and no more.
    pub(crate) fn note(&mut self, record: &[u8]) {
        if let Err(error) = write_all_at(self.medium.as_ref(), record, 0)
            && !std::mem::replace(&mut self.is_told, true)
        {
            tracing::error!(%error, file = %self.path.display(), "how far the journal has come cannot be noted");
        }
    }

    /// What was noted last survives a power cut, for the few records that must. Trouble is told and no more.
    pub(crate) fn sync(&mut self) {
        if let Err(error) = self.medium.sync()
            && !std::mem::replace(&mut self.is_told, true)
        {
            tracing::error!(%error, file = %self.path.display(), "how far the journal has come is noted, but may be lost by a power cut");
        }
    }
}
