//! Simulated disk. Files lie in a real folder, so that the readers of `storage` work unchanged; which bytes of them are durable is
//! known here alone. At a power cut the files become what a disk may hold then: all that was synced, and of the rest any sectors.
//!
//! A kill of the process is gentler: what was written stays in the memory of the machine, synced or not.

use domain::SeededRng;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::schedule::{Fault, NewFile};
use storage::{FileSystem, OsFileSystem, WritableFile};

const SECTOR_BYTES: u64 = 512;
const EIO: i32 = 5;
const ENOSPC: i32 = 28;

#[derive(Clone)]
pub(crate) struct SimulatedDisk(Arc<Mutex<DiskState>>);

struct DiskState {
    files: Vec<DiskFile>,
    names: BTreeMap<PathBuf, usize>,
    /// Names that a power cut may undo: the folder was not synced since.
    unsynced_names: Vec<PathBuf>,
    rng: SeededRng,
    /// The power goes at this operation, counted down, by this fault; absent = it stays.
    cut_in: Option<(u32, Fault)>,
    /// The countdown begins when such a file gets its name.
    cut_at_name: Option<(NewFile, u32)>,
    /// The same when a venue's ledger is written.
    cut_at_ledger: Option<u32>,
    is_cut: bool,
    sync_fails: bool,
    write_fails: bool,
    is_full: bool,
    /// A write or a sync has failed since that was forgotten last.
    has_failed: bool,
    has_run_out: bool,
    /// Kinds of faults that were armed and have struck since they were asked for last.
    struck: Vec<&'static str>,
}

/// What has surely reached the disk, and the writes that are still on their way.
#[derive(Default)]
struct DiskFile {
    synced: Vec<u8>,
    pending: Vec<(u64, Vec<u8>)>,
    length: u64,
    /// A sync has failed: the machine shows what was written and takes it for synced, whatever the disk has.
    is_deceptive: bool,
}

impl SimulatedDisk {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(DiskState {
            files: vec![],
            names: BTreeMap::new(),
            unsynced_names: vec![],
            rng: SeededRng::new(seed, 0),
            cut_in: None,
            cut_at_name: None,
            cut_at_ledger: None,
            is_cut: false,
            sync_fails: false,
            write_fails: false,
            is_full: false,
            has_failed: false,
            has_run_out: false,
            struck: vec![],
        })))
    }

    pub(crate) fn shared(&self) -> Arc<dyn FileSystem> {
        Arc::new(self.clone())
    }

    /// The power goes at the n-th operation from now, 1 being the next.
    pub(crate) fn cut_at(&self, operation: u32) {
        self.lock().cut_in = Some((operation, Fault::PowerCut { operation }));
    }

    /// As [`Self::cut_at`], from the moment on at which such a file gets its name: 1 is in that moment.
    pub(crate) fn cut_at_name(&self, file: NewFile, operation: u32) {
        self.lock().cut_at_name = Some((file, operation));
    }

    /// As [`Self::cut_at`], from the next write to a venue's ledger on: 1 is within that write.
    pub(crate) fn cut_at_ledger(&self, operation: u32) {
        self.lock().cut_at_ledger = Some(operation);
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.lock().is_cut
    }

    /// The next sync of the journal fails, and what becomes of the data is unknown.
    pub(crate) fn fail_next_sync(&self) {
        self.lock().sync_fails = true;
    }

    pub(crate) fn fail_next_write(&self) {
        self.lock().write_fails = true;
    }

    pub(crate) fn set_full(&self, is_full: bool) {
        self.lock().is_full = is_full;
    }

    /// Whether a write or a sync has failed since [`Self::forget_failure`].
    pub(crate) fn has_failed(&self) -> bool {
        self.lock().has_failed
    }

    /// Whether a write found no room since then.
    pub(crate) fn has_run_out(&self) -> bool {
        self.lock().has_run_out
    }

    pub(crate) fn forget_failure(&self) {
        let mut state = self.lock();
        (state.has_failed, state.has_run_out) = (false, false);
    }

    /// The kinds of faults that waited for their moment and have struck since this was asked last.
    pub(crate) fn take_struck(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.lock().struck)
    }

    /// Faults that wait for their moment are forgotten.
    pub(crate) fn heal(&self) {
        let mut state = self.lock();
        (state.cut_in, state.cut_at_name, state.cut_at_ledger) = (None, None, None);
        (state.sync_fails, state.write_fails, state.is_full) = (false, false, false);
    }

    /// Files of the journal and snapshots that have any content, with their lengths without zeros at the end.
    pub(crate) fn used_files(&self) -> Vec<(PathBuf, u64)> {
        let state = self.lock();
        let is_kept = |path: &Path| is_of_journal(path) || is_snapshot(path);
        let used = |(path, file): (&PathBuf, &usize)| {
            let bytes = fs::read(path).ok().filter(|_| !state.files[*file].is_deceptive)?;
            let last = bytes.iter().rposition(|byte| *byte != 0)?;
            Some((path.clone(), last as u64 + 1))
        };
        state.names.iter().filter(|(path, _)| is_kept(path)).filter_map(used).collect()
    }

    /// A byte of a file at rest: what was written has reached the disk by now. None where the file is gone, or shorter.
    pub(crate) fn byte(&self, path: &Path, offset: u64) -> Option<u8> {
        let mut state = self.lock();
        let file = state.names.get(path).copied()?;
        let file = &mut state.files[file];
        file.sync();
        file.synced.get(usize::try_from(offset).ok()?).copied()
    }

    /// Sets a byte of a file at rest, where the file has it.
    pub(crate) fn set_byte(&self, path: &Path, offset: u64, value: u8) -> io::Result<()> {
        let mut state = self.lock();
        let Some(file) = state.names.get(path).copied() else { return Ok(()) };
        let file = &mut state.files[file];
        file.sync();
        let place = usize::try_from(offset).expect("files here are small");
        let Some(byte) = file.synced.get_mut(place) else { return Ok(()) };
        *byte = value;
        OsFileSystem.open(path)?.write_at(&[value], offset).map(drop)
    }

    /// A file that is there when the machine is switched on for the first time.
    pub(crate) fn put(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, bytes)?;
        let mut state = self.lock();
        let length = bytes.len() as u64;
        state.files.push(DiskFile { synced: bytes.to_vec(), length, ..DiskFile::default() });
        let file = state.files.len() - 1;
        state.names.insert(path.to_owned(), file);
        Ok(())
    }

    /// Makes the files what the disk holds without power, and switches it on again.
    pub(crate) fn power_cut(&self) -> io::Result<()> {
        let mut state = self.lock();
        let state = &mut *state;
        for path in std::mem::take(&mut state.unsynced_names) {
            if state.names.contains_key(&path) && state.rng.one_in(2) {
                state.names.remove(&path);
                fs::remove_file(&path)?;
            }
        }
        for (path, file) in &state.names {
            let file = &mut state.files[*file];
            if !file.pending.is_empty() || std::mem::take(&mut file.is_deceptive) {
                file.settle(&mut state.rng);
                file.length = file.synced.len() as u64;
                fs::write(path, &file.synced)?;
            }
        }
        (state.cut_in, state.cut_at_name, state.cut_at_ledger) = (None, None, None);
        (state.is_cut, state.sync_fails, state.write_fails) = (false, false, false);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, DiskState> {
        // One thread uses it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DiskState {
    /// Counts the operation; an error where the power is gone.
    fn begin(&mut self) -> io::Result<()> {
        match &mut self.cut_in {
            Some((left, fault)) if *left <= 1 => {
                let fault = fault.kind();
                self.cut(fault);
            }
            Some((left, _)) => *left -= 1,
            None => {}
        }
        if self.is_cut { Err(io::Error::from_raw_os_error(EIO)) } else { Ok(()) }
    }

    /// The power goes once.
    fn cut(&mut self, fault: &'static str) {
        if !std::mem::replace(&mut self.is_cut, true) {
            self.struck.push(fault);
        }
    }

    fn add(&mut self, path: &Path) -> usize {
        self.files.push(DiskFile::default());
        let file = self.files.len() - 1;
        self.names.insert(path.to_owned(), file);
        self.unsynced_names.push(path.to_owned());
        file
    }

    fn file(&self, path: &Path) -> io::Result<usize> {
        self.names.get(path).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// The folder is synced as a whole.
    fn sync_names(&mut self, folder: &Path) {
        self.unsynced_names.retain(|path| path.parent() != Some(folder));
    }
}

impl DiskFile {
    fn sync(&mut self) {
        for (offset, bytes) in std::mem::take(&mut self.pending) {
            self.put(offset, &bytes);
        }
    }

    /// Of what was not synced any sectors may have arrived, each with all writes or with those up to one of them.
    fn settle(&mut self, rng: &mut SeededRng) {
        let mut left_behind = BTreeSet::new();
        for (offset, bytes) in std::mem::take(&mut self.pending) {
            for (at, piece) in sectors(offset, &bytes) {
                let sector = at / SECTOR_BYTES;
                if left_behind.contains(&sector) || rng.one_in(2) {
                    left_behind.insert(sector);
                } else {
                    self.put(at, piece);
                }
            }
        }
    }

    fn put(&mut self, offset: u64, bytes: &[u8]) {
        let start = usize::try_from(offset).expect("files here are small");
        let end = start + bytes.len();
        self.synced.resize(self.synced.len().max(end), 0);
        self.synced[start..end].copy_from_slice(bytes);
    }
}

fn is_of_journal(path: &Path) -> bool {
    path.parent().is_some_and(|folder| folder.ends_with(storage::journal::FOLDER))
}

fn is_snapshot(path: &Path) -> bool {
    path.parent().is_some_and(|folder| folder.ends_with(storage::snapshot::FOLDER))
}

fn is_ledger(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "ledger")
}

impl NewFile {
    fn is_at(self, path: &Path) -> bool {
        match self {
            Self::Segment => is_segment(path),
            Self::Snapshot => is_snapshot(path),
            Self::Ledger => is_ledger(path),
        }
    }
}

/// Segments are named by a number, unlike the head file and the spare.
pub(crate) fn is_segment(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    is_of_journal(path) && name.starts_with(|first: char| first.is_ascii_digit())
}

fn sectors(mut offset: u64, mut bytes: &[u8]) -> Vec<(u64, &[u8])> {
    let mut sectors = Vec::new();
    while !bytes.is_empty() {
        let room = usize::try_from(SECTOR_BYTES - offset % SECTOR_BYTES).expect("below the size of a sector");
        let (sector, rest) = bytes.split_at(room.min(bytes.len()));
        sectors.push((offset, sector));
        offset += sector.len() as u64;
        bytes = rest;
    }
    sectors
}

impl FileSystem for SimulatedDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn WritableFile>> {
        let mut state = self.lock();
        state.begin()?;
        let inner = OsFileSystem.create(path)?;
        let file = state.add(path);
        Ok(Box::new(SimulatedFile::of(self, path, file, inner)))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn WritableFile>> {
        let mut state = self.lock();
        state.begin()?;
        let file = state.file(path)?;
        let inner = OsFileSystem.open(path)?;
        Ok(Box::new(SimulatedFile::of(self, path, file, inner)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.lock();
        if let Some((file, operation)) = state.cut_at_name.take_if(|(file, _)| file.is_at(to)) {
            state.cut_in = Some((operation, Fault::PowerCutAtName { file, operation }));
        }
        let begun = state.begin();
        if begun.is_err() && state.rng.one_in(2) {
            return begun;
        }
        let file = state.file(from)?;
        state.names.remove(from);
        state.names.insert(to.to_owned(), file);
        state.unsynced_names.retain(|path| path != from && path != to);
        fs::rename(from, to)?;
        begun
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.lock();
        let begun = state.begin();
        if begun.is_err() && state.rng.one_in(2) {
            return begun;
        }
        state.names.remove(path);
        fs::remove_file(path)?;
        begun
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        let mut state = self.lock();
        state.begin()?;
        state.sync_names(folder);
        Ok(())
    }

    fn truncate(&self, path: &Path, length: u64) -> io::Result<()> {
        let mut state = self.lock();
        state.begin()?;
        let file = state.file(path)?;
        let file = &mut state.files[file];
        file.sync();
        file.synced.resize(usize::try_from(length).expect("files here are small"), 0);
        file.length = length;
        OsFileSystem.truncate(path, length)
    }
}

struct SimulatedFile {
    file: usize,
    /// Syncs fail there alone: a log without a head cannot tell what a failed sync left.
    is_of_journal: bool,
    is_ledger: bool,
    inner: Box<dyn WritableFile>,
    disk: SimulatedDisk,
}

impl SimulatedFile {
    fn of(disk: &SimulatedDisk, path: &Path, file: usize, inner: Box<dyn WritableFile>) -> Self {
        Self { file, is_of_journal: is_of_journal(path), is_ledger: is_ledger(path), inner, disk: disk.clone() }
    }
}

impl WritableFile for SimulatedFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let mut state = self.disk.lock();
        if self.is_ledger
            && let Some(operation) = state.cut_at_ledger.take()
        {
            state.cut_in = Some((operation, Fault::PowerCutAtLedger { operation }));
        }
        let begun = state.begin();
        if begun.is_ok() && std::mem::take(&mut state.write_fails) {
            state.has_failed = true;
            state.struck.push(Fault::WriteFails.kind());
            return Err(io::Error::from_raw_os_error(EIO));
        }
        let is_full = state.is_full;
        let file = &mut state.files[self.file];
        let end = offset + bytes.len() as u64;
        if is_full && end > file.length {
            state.has_run_out = true;
            return Err(io::Error::from_raw_os_error(ENOSPC));
        }
        // A write that the power cut interrupts may have arrived in part.
        file.pending.push((offset, bytes.to_vec()));
        begun?;
        file.length = file.length.max(end);
        self.inner.write_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.disk.lock();
        state.begin()?;
        if self.is_of_journal && std::mem::take(&mut state.sync_fails) {
            let DiskState { files, rng, has_failed, struck, .. } = &mut *state;
            *has_failed = true;
            struck.push(Fault::SyncFails.kind());
            files[self.file].settle(rng);
            files[self.file].is_deceptive = true;
            return Err(io::Error::from_raw_os_error(EIO));
        }
        state.files[self.file].sync();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
