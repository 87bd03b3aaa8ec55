//! Snapshot store, so that a start replays only the end of the journal.
//!
//! An invalid snapshot is skipped and logged; in the worst case the whole journal is replayed. A file gets its name
//! when all of it is durable.

mod header;

#[cfg(test)]
mod tests;

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::PlantedBug;

use crate::file_system::{FileSystem, OsFileSystem, create_folder, parent, write_all_at};
use crate::journal::{self, ChainAnchor, InstanceId, StartAnchor};
use crate::lock::DataDirLock;
use crate::{Damage, StorageError};
use header::{HEADER_BYTES, SnapshotHeader};

pub use header::BUILD_BYTES_MAX;

/// The folder of the snapshots inside a data folder.
pub const FOLDER: &str = "snapshots";
/// Others are deleted once a new one is durable.
pub const SNAPSHOTS_KEPT: usize = 2;

const EXTENSION: &str = ".snapshot";
const UNFINISHED_EXTENSION: &str = ".snapshot.new";
/// The digits of the largest sequence, so that names sort as numbers do.
const NAME_DIGITS: usize = 20;

pub struct SnapshotStore {
    /// Held here too, so that the folder stays locked while snapshots are written; absent where they are only read.
    _lock: Option<DataDirLock>,
    folder: PathBuf,
    instance: InstanceId,
    disk: Arc<dyn FileSystem>,
    /// The newest snapshot at or below this sequence is kept too. Where the sequence is not known, those from before the start are.
    needed: Option<Box<dyn Fn() -> Option<u64> + Send + Sync>>,
    /// The newest one when the store was opened.
    newest_at_start: u64,
}

/// The state after the input of that sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSnapshot {
    pub sequence: u64,
    pub state: Vec<u8>,
    pub digest: [u8; 32],
    /// The program that wrote it.
    pub build: String,
}

/// Two states with the same digest are the same state.
pub fn digest(state: &[u8]) -> [u8; 32] {
    *blake3::hash(state).as_bytes()
}

impl SnapshotStore {
    pub fn open(lock: &DataDirLock, instance: InstanceId) -> Result<Self, StorageError> {
        Self::open_on(Arc::new(OsFileSystem), lock, instance)
    }

    /// To be read only: nothing is changed, and the folder may be in use.
    pub fn look(data_folder: &Path, instance: InstanceId) -> Self {
        let (folder, disk) = (data_folder.join(FOLDER), Arc::new(OsFileSystem));
        Self { _lock: None, folder, instance, disk, needed: None, newest_at_start: 0 }
    }

    /// As [`Self::open`], on another file system.
    pub fn open_on(disk: Arc<dyn FileSystem>, lock: &DataDirLock, instance: InstanceId) -> Result<Self, StorageError> {
        let folder = lock.folder().join(FOLDER);
        create_folder(disk.as_ref(), lock.folder(), &folder)?;
        let snapshots = Self { _lock: Some(lock.clone()), folder, instance, disk, needed: None, newest_at_start: 0 };
        snapshots.remove_unfinished()?;
        let newest_at_start = snapshots.list(EXTENSION)?.last().map_or(0, |(sequence, _)| *sequence);
        Ok(Self { newest_at_start, ..snapshots })
    }

    /// A read model that is behind begins at the newest snapshot at or below what it has: that one is kept too. One that has not said yet
    /// what it has got it before this start, so that it needs none that is written later.
    pub fn keep_for(self, needed: impl Fn() -> Option<u64> + Send + Sync + 'static) -> Self {
        Self { needed: Some(Box::new(needed)), ..self }
    }

    /// Returns when the snapshot is durable. It then is one of the two that are kept.
    pub fn write(&self, sequence: u64, state: &[u8], build: &str) -> Result<(), StorageError> {
        let header = SnapshotHeader {
            instance: self.instance,
            sequence,
            length: state.len() as u64,
            digest: digest(state),
            build: build.to_owned(),
            anchor: self.journal_head(),
        };
        let header = header.encode().map_err(|reason| StorageError::Setting { name: "build", reason })?;
        let unfinished = self.folder.join(file_name(sequence, UNFINISHED_EXTENSION));
        let path = self.folder.join(file_name(sequence, EXTENSION));
        self.write_whole(&unfinished, &header, state).map_err(StorageError::io("write", &unfinished))?;
        self.disk.rename(&unfinished, &path).map_err(StorageError::io("rename to", &path))?;
        self.remove_others(sequence);
        Ok(())
    }

    /// The newest snapshot that is good, of those at or below `up_to` where that is given. Damaged ones are logged
    /// by name and skipped.
    pub fn latest_valid(&self, up_to: Option<u64>) -> Result<Option<StoredSnapshot>, StorageError> {
        let (found, damaged) = self.search(up_to)?;
        for damage in damaged {
            tracing::warn!(%damage, "snapshot is damaged and skipped; an older one is used");
        }
        Ok(found)
    }

    /// The oldest good snapshot at or above a sequence: where a journal whose beginning was deleted can be replayed from.
    pub fn oldest_valid(&self, from: u64) -> Result<Option<StoredSnapshot>, StorageError> {
        for (sequence, path) in self.list(EXTENSION)?.into_iter().filter(|(sequence, _)| *sequence >= from) {
            match self.read(sequence, &path) {
                Ok(snapshot) => return Ok(Some(snapshot)),
                Err(StorageError::Damaged(damage)) => tracing::warn!(%damage, "snapshot is damaged and skipped"),
                Err(other) => return Err(other),
            }
        }
        Ok(None)
    }

    /// How far the journal must reach for a start from the snapshot of a sequence: what its anchor knows, which may be beyond it.
    pub fn needs_journal_to(&self, sequence: u64) -> u64 {
        let header = read_header(&self.folder.join(file_name(sequence, EXTENSION))).ok();
        header.and_then(|header| header.anchor).map_or(sequence, |anchor| anchor.sequence.max(sequence))
    }

    /// Records up to here are not read by a start from the snapshot of a sequence: the frame of its anchor is.
    pub fn stands_in_up_to(&self, sequence: u64) -> u64 {
        let header = read_header(&self.folder.join(file_name(sequence, EXTENSION))).ok();
        let anchor = header.and_then(|header| header.anchor);
        anchor.map_or(sequence, |anchor| sequence.min(anchor.sequence.saturating_sub(1)))
    }

    /// The file of the snapshot of a sequence, below the data folder.
    pub fn file_of(sequence: u64) -> String {
        format!("{FOLDER}/{}", file_name(sequence, EXTENSION))
    }

    /// The newest snapshot of this journal by name and header, whatever became of its state: the journal was that far.
    pub fn newest_claim(&self) -> Result<Option<(u64, PathBuf)>, StorageError> {
        let is_ours = |sequence: u64, path: &Path| -> bool {
            let belongs = |header: SnapshotHeader| header.check_belongs(self.instance, sequence);
            read_header(path).and_then(belongs).is_ok()
        };
        Ok(self.list(EXTENSION)?.into_iter().rev().find(|(sequence, path)| is_ours(*sequence, path)))
    }

    /// Where a start may begin to check the journal: what the newest snapshot knows of it. None where that was written by an older
    /// build, or in a folder without a head file.
    pub fn newest_anchor(&self) -> Result<Option<StartAnchor>, StorageError> {
        let Some((snapshot, path)) = self.newest_claim()? else { return Ok(None) };
        let Some(head) = read_header(&path).ok().and_then(|header| header.anchor) else { return Ok(None) };
        let says = format!("the snapshot {} knows another record {}", path.display(), head.sequence);
        Ok(Some(StartAnchor { snapshot, head, says }))
    }

    /// How far the journal is on the disk now, by its head file.
    fn journal_head(&self) -> Option<ChainAnchor> {
        let head = journal::durable_head(parent(&self.folder)).ok().flatten()?;
        (head.instance == self.instance).then_some(ChainAnchor { sequence: head.sequence, hash: head.hash })
    }

    /// Moves those that are newer than a sequence, or know the journal beyond it, into another folder.
    pub fn keep_aside(&self, newer_than: u64, aside: &Path) -> Result<usize, StorageError> {
        let knows_more = |path: &Path| {
            let anchor = read_header(path).ok().and_then(|header| header.anchor);
            anchor.is_some_and(|anchor| anchor.sequence > newer_than)
        };
        let is_newer = |(sequence, path): &(u64, PathBuf)| *sequence > newer_than || knows_more(path);
        let newer: Vec<_> = self.list(EXTENSION)?.into_iter().filter(is_newer).collect();
        let aside = aside.join(FOLDER);
        fs::create_dir_all(&aside).map_err(StorageError::io("create", &aside))?;
        for (sequence, path) in &newer {
            let kept = aside.join(file_name(*sequence, EXTENSION));
            fs::rename(path, &kept).map_err(StorageError::io("move aside", path))?;
        }
        self.disk.sync_folder(&self.folder).map_err(StorageError::io("sync", &self.folder))?;
        Ok(newer.len())
    }

    fn search(&self, up_to: Option<u64>) -> Result<(Option<StoredSnapshot>, Vec<Damage>), StorageError> {
        let mut damaged = Vec::new();
        for (sequence, path) in self.list(EXTENSION)?.into_iter().rev() {
            if up_to.is_some_and(|limit| sequence > limit) {
                continue;
            }
            match self.read(sequence, &path) {
                Ok(snapshot) => return Ok((Some(snapshot), damaged)),
                Err(StorageError::Damaged(damage)) => damaged.push(damage),
                Err(other) => return Err(other),
            }
        }
        Ok((None, damaged))
    }

    fn read(&self, sequence: u64, path: &Path) -> Result<StoredSnapshot, StorageError> {
        let bytes = fs::read(path).map_err(StorageError::io("read", path))?;
        self.check(sequence, &bytes).map_err(|(offset, reason)| StorageError::damaged(path, offset as u64, reason))
    }

    /// The snapshot in these bytes, or where they are wrong and why.
    fn check(&self, sequence: u64, bytes: &[u8]) -> Result<StoredSnapshot, (usize, String)> {
        let Some((header, state)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
            return Err((0, "it is shorter than the header of a snapshot".to_owned()));
        };
        let header = SnapshotHeader::decode(header).map_err(|reason| (0, reason))?;
        header.check_belongs(self.instance, sequence).map_err(|reason| (0, reason))?;
        if header.length != state.len() as u64 {
            let reason = format!("it holds {} bytes of state instead of {}", state.len(), header.length);
            return Err((HEADER_BYTES, reason));
        }
        if header.digest != digest(state) && !PlantedBug::TrustSnapshot.is_planted() {
            return Err((HEADER_BYTES, "the digest of the state does not match".to_owned()));
        }
        Ok(StoredSnapshot { sequence, state: state.to_vec(), digest: header.digest, build: header.build })
    }

    fn write_whole(&self, path: &Path, header: &[u8], state: &[u8]) -> io::Result<()> {
        let medium = self.disk.create(path)?;
        write_all_at(medium.as_ref(), header, 0)?;
        write_all_at(medium.as_ref(), state, header.len() as u64)?;
        medium.sync()
    }

    /// Leaves the snapshot just written, the one before it and the one that is needed. Sequences only rise, so one above it is of a journal
    /// whose end was lost. The new snapshot is valid whether or not this works, so a failure is only logged.
    fn remove_others(&self, written: u64) {
        let removed = self.list(EXTENSION).and_then(|found| {
            let (mut older, lost): (Vec<_>, Vec<_>) = found.into_iter().partition(|(sequence, _)| *sequence <= written);
            let bases = self.bases(&older);
            older.truncate(older.len().saturating_sub(SNAPSHOTS_KEPT));
            older.retain(|(sequence, _)| !bases.contains(sequence));
            self.remove_all(older)?;
            self.remove_all(lost)
        });
        if let Err(error) = removed {
            tracing::warn!(%error, "old snapshot could not be deleted");
        }
    }

    /// Those at which the reader that is kept for may have to begin.
    fn bases(&self, found: &[(u64, PathBuf)]) -> Vec<u64> {
        let Some(needed) = &self.needed else { return vec![] };
        let sequences = found.iter().map(|(sequence, _)| *sequence);
        match needed() {
            Some(reached) => sequences.rev().find(|sequence| *sequence <= reached).into_iter().collect(),
            None => sequences.filter(|sequence| *sequence <= self.newest_at_start).collect(),
        }
    }

    fn remove_unfinished(&self) -> Result<(), StorageError> {
        self.remove_all(self.list(UNFINISHED_EXTENSION)?)
    }

    fn remove_all(&self, files: Vec<(u64, PathBuf)>) -> Result<(), StorageError> {
        files.iter().try_for_each(|(_, path)| self.disk.remove(path).map_err(StorageError::io("delete", path)))
    }

    /// The files of that kind, as (sequence, path), oldest first. Other files are ignored.
    fn list(&self, extension: &str) -> Result<Vec<(u64, PathBuf)>, StorageError> {
        let failed = || StorageError::io("list", &self.folder);
        let mut found = Vec::new();
        if !self.folder.exists() {
            return Ok(found);
        }
        for entry in fs::read_dir(&self.folder).map_err(failed())? {
            let entry = entry.map_err(failed())?;
            if let Some(sequence) = entry.file_name().to_str().and_then(|name| sequence_in(name, extension)) {
                found.push((sequence, entry.path()));
            }
        }
        found.sort();
        Ok(found)
    }
}

fn read_header(path: &Path) -> Result<SnapshotHeader, String> {
    let mut header = [0; HEADER_BYTES];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut header));
    read.map_err(|error| error.to_string())?;
    SnapshotHeader::decode(&header)
}

fn file_name(sequence: u64, extension: &str) -> String {
    format!("{sequence:0NAME_DIGITS$}{extension}")
}

fn sequence_in(name: &str, extension: &str) -> Option<u64> {
    let sequence = name.strip_suffix(extension)?.parse().ok()?;
    (file_name(sequence, extension) == name).then_some(sequence)
}
