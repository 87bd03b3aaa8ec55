//! Checked append-only log: each record has a length and a checksum. A torn last record is cut and reported; damage
//! before the end is an error. It has no thread, no chain and no segments.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::block::{self, BlockError, BlockPosition, BlockReader};
use crate::file_system::{FileSystem, OsFileSystem, WritableFile, write_all_at, zero_fill};
use crate::tail::{self, FileTail};
use crate::{StorageError, TornWrite};

const MAGIC: [u8; 12] = *b"RIALTO-LOG\x00\x01";
const START: BlockPosition = BlockPosition { seed: 0, offset: MAGIC.len() as u64 };
/// The largest payload.
pub const PAYLOAD_LIMIT_BYTES: usize = block::LIMIT_BYTES - block::HEAD_BYTES;
/// A log with zeros ahead has them from this length on, for as many bytes again as it is long, and for at most so many.
const RESERVE_MIN_BYTES: u64 = 64 << 10;
const RESERVE_MAX_BYTES: u64 = 16 << 20;

pub struct AppendLog {
    path: PathBuf,
    medium: Box<dyn WritableFile>,
    /// Where the next record goes.
    position: BlockPosition,
    block: Vec<u8>,
    /// The last record that was found, with its offset. A process before this one may have written it and not synced it.
    last_found: Option<(u64, Vec<u8>)>,
    /// Where the zeros end that are written ahead; none where the file grows with each record.
    reserved: Option<u64>,
    failed: Option<String>,
}

/// What was found in a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogReplay {
    pub records: u64,
    pub torn: Option<TornWrite>,
}

impl AppendLog {
    /// Opens or creates the log and passes every payload to `replay`, in order. A payload that `replay` cannot decode
    /// is an error with its offset. The caller ensures that no other process writes the file.
    pub fn open(
        path: &Path,
        replay: &mut dyn FnMut(&[u8]) -> Result<(), String>,
    ) -> Result<(LogReplay, Self), StorageError> {
        Self::open_on(&OsFileSystem, path, replay)
    }

    /// Hands every payload to `visit` and changes nothing, also where somebody else writes the file.
    pub fn read(path: &Path, visit: &mut dyn FnMut(&[u8]) -> Result<(), String>) -> Result<u64, StorageError> {
        let mut blocks = open_blocks(path)?;
        read_all(&mut blocks, path, visit).map(|(records, _)| records)
    }

    /// As [`Self::open`], on another file system.
    pub fn open_on(
        disk: &dyn FileSystem,
        path: &Path,
        replay: &mut dyn FnMut(&[u8]) -> Result<(), String>,
    ) -> Result<(LogReplay, Self), StorageError> {
        Self::open_with(disk, path, replay, false)
    }

    /// As [`Self::open`], for a log that is synced often: zeros are written ahead, so that a sync need not also make a new length of
    /// the file durable. The records of one sync must be one payload: in a file of fixed length the disk may keep the
    /// second of two unsynced records without the first, which looks like damage.
    pub fn open_reserved(
        path: &Path,
        replay: &mut dyn FnMut(&[u8]) -> Result<(), String>,
    ) -> Result<(LogReplay, Self), StorageError> {
        Self::open_with(&OsFileSystem, path, replay, true)
    }

    fn open_with(
        disk: &dyn FileSystem,
        path: &Path,
        replay: &mut dyn FnMut(&[u8]) -> Result<(), String>,
        is_reserved: bool,
    ) -> Result<(LogReplay, Self), StorageError> {
        if !path.exists() {
            Self::replace_on(disk, path, [])?;
        }
        let mut blocks = open_blocks(path)?;
        let (records, fault) = read_all(&mut blocks, path, replay)?;
        let torn = truncate_torn_end(disk, &blocks, path, fault, is_reserved)?;
        let length = blocks.file().metadata().map_err(StorageError::io("read", path))?.len();
        let medium = disk.open(path).map_err(StorageError::io("open", path))?;
        let position = blocks.position();
        let last_found = (records > 0).then(|| last_block(&blocks)).flatten();
        let (path, reserved) = (path.to_owned(), is_reserved.then_some(length));
        let log = Self { path, medium, position, block: Vec::new(), last_found, reserved, failed: None };
        Ok((LogReplay { records, torn }, log))
    }

    /// Replaces the log by one with these records. Whatever happens meanwhile, there is either the old log or the new one,
    /// and the new one is durable.
    pub fn replace_on(
        disk: &dyn FileSystem,
        path: &Path,
        payloads: impl IntoIterator<Item = Vec<u8>>,
    ) -> Result<Self, StorageError> {
        let unnamed = unnamed(path);
        let medium = create(disk, &unnamed).map_err(StorageError::io("create", &unnamed))?;
        let (path_kept, block, position) = (path.to_owned(), Vec::new(), START);
        let mut log = Self { path: path_kept, medium, position, block, last_found: None, reserved: None, failed: None };
        payloads.into_iter().try_for_each(|payload| log.append(&payload))?;
        log.sync()?;
        disk.rename(&unnamed, path).map_err(StorageError::io("rename", &unnamed))?;
        Ok(log)
    }

    /// Makes what was found durable, before anything is written behind it: a record that only the operating system's memory
    /// had would otherwise be damage in the middle after a power cut. It is written again, because a sync that failed once
    /// proves nothing when it succeeds later.
    pub fn confirm_found(&mut self) -> Result<(), StorageError> {
        self.check_usable()?;
        if let Some((offset, block)) = self.last_found.take() {
            let written = write_all_at(self.medium.as_ref(), &block, offset);
            self.check_io("write", written)?;
        }
        self.sync()
    }

    /// The size of the file, without zeros ahead.
    pub fn bytes(&self) -> u64 {
        self.position.offset
    }

    /// Writes one record. It survives a crash of the process at once, and a power cut after `sync`.
    pub fn append(&mut self, payload: &[u8]) -> Result<(), StorageError> {
        self.check_usable()?;
        if payload.len() > PAYLOAD_LIMIT_BYTES {
            let reason = format!("{} bytes, the limit is {PAYLOAD_LIMIT_BYTES}", payload.len());
            return Err(StorageError::Setting { name: "payload", reason });
        }
        block::begin(&mut self.block);
        self.block.extend_from_slice(payload);
        block::seal(&mut self.block, self.position);
        self.reserve(self.position.offset + self.block.len() as u64)?;
        let written = write_all_at(self.medium.as_ref(), &self.block, self.position.offset);
        self.check_io("write", written)?;
        self.position.offset += self.block.len() as u64;
        Ok(())
    }

    /// Zeros behind the record that will end there, where the log has them and they are used up. The next sync makes them durable.
    fn reserve(&mut self, end: u64) -> Result<(), StorageError> {
        let Some(reserved) = self.reserved.filter(|reserved| *reserved < end && end >= RESERVE_MIN_BYTES) else {
            return Ok(());
        };
        let ahead = end + end.min(RESERVE_MAX_BYTES);
        let filled = zero_fill(self.medium.as_ref(), reserved.max(self.position.offset), ahead);
        self.check_io("write", filled)?;
        self.reserved = Some(ahead);
        Ok(())
    }

    pub fn sync(&mut self) -> Result<(), StorageError> {
        self.check_usable()?;
        let synced = self.medium.sync();
        self.check_io("sync", synced)
    }

    fn check_usable(&self) -> Result<(), StorageError> {
        match &self.failed {
            None => Ok(()),
            Some(reason) => Err(StorageError::Failed { reason: reason.clone() }),
        }
    }

    /// After the first failure the content of the disk is unknown, so the log accepts nothing more.
    fn check_io(&mut self, doing: &'static str, outcome: io::Result<()>) -> Result<(), StorageError> {
        outcome.map_err(|error| {
            let error = StorageError::io(doing, &self.path)(error);
            self.failed = Some(error.to_string());
            error
        })
    }
}

/// The name of a file until its content is durable.
fn unnamed(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    PathBuf::from(name)
}

fn create(disk: &dyn FileSystem, path: &Path) -> io::Result<Box<dyn WritableFile>> {
    let medium = disk.create(path)?;
    write_all_at(medium.as_ref(), &MAGIC, 0)?;
    Ok(medium)
}

/// The last good record with its offset.
fn last_block(blocks: &BlockReader) -> Option<(u64, Vec<u8>)> {
    let offset = blocks.position().offset.checked_sub(blocks.last_length())?;
    let block = tail::read_range(blocks.file(), offset, blocks.last_length()).ok()?;
    Some((offset, block))
}

fn open_blocks(path: &Path) -> Result<BlockReader, StorageError> {
    let file = File::open(path).map_err(StorageError::io("open", path))?;
    let mut magic = [0; MAGIC.len()];
    match file.read_exact_at(&mut magic, 0) {
        Ok(()) if magic == MAGIC => {}
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
            return Err(StorageError::io("read", path)(error));
        }
        _ => return Err(StorageError::damaged(path, 0, "it does not begin like an append log")),
    }
    BlockReader::new(file, START, u64::MAX).map_err(StorageError::io("read", path))
}

fn read_all(
    blocks: &mut BlockReader,
    path: &Path,
    replay: &mut dyn FnMut(&[u8]) -> Result<(), String>,
) -> Result<(u64, BlockError), StorageError> {
    let mut records = 0;
    loop {
        let offset = blocks.position().offset;
        if let Err(fault) = blocks.step().map_err(StorageError::io("read", path))? {
            return Ok((records, fault));
        }
        replay(blocks.body()).map_err(|reason| StorageError::damaged(path, offset, reason))?;
        records += 1;
    }
}

/// Cuts whatever lies behind the last good record, unless that is followed by a good one. Zeros that were written ahead stay.
fn truncate_torn_end(
    disk: &dyn FileSystem,
    blocks: &BlockReader,
    path: &Path,
    fault: BlockError,
    is_reserved: bool,
) -> Result<Option<TornWrite>, StorageError> {
    let offset = blocks.position().offset;
    let judged = tail::inspect(blocks.file(), blocks.position(), blocks.end());
    match judged.map_err(StorageError::io("read", path))? {
        FileTail::Followed { by } => {
            let reason = format!("{fault}, but a good record follows at offset {by}");
            return Err(StorageError::damaged(path, offset, reason));
        }
        FileTail::Clean if is_reserved => return Ok(None),
        FileTail::Clean | FileTail::Torn { .. } => {}
    }
    let length = blocks.file().metadata().map_err(StorageError::io("read", path))?.len();
    if length == offset {
        return Ok(None);
    }
    let torn = TornWrite { file: path.to_owned(), offset, bytes: length - offset };
    tracing::warn!(%torn, "torn write at the end of the log was cut (crash during the last write)");
    disk.truncate(path, offset).map_err(StorageError::io("cut the end of", path))?;
    Ok(Some(torn))
}

#[cfg(test)]
mod tests;
