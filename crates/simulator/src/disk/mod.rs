//! Simulated disk. Files lie in a real folder, so that the readers of `storage` work unchanged; which bytes of them are durable is
//! known here alone. At a power cut the files become what a disk may hold then: all that was synced, and of the rest any sectors.
//!
//! A kill of the process is gentler: what was written stays in the memory of the machine, synced or not. It comes between two steps of
//! the simulator, or at an operation here: that one is done or not, and nothing is done after it.

mod disk_file;

use domain::SeededRng;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::schedule::{Fault, NewFile};
use disk_file::DiskFile;
use storage::{FileSystem, OsFileSystem, WritableFile};

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
    /// The process ends at this operation, counted down, by this fault.
    ends_in: Option<(u32, Fault)>,
    /// The countdown begins when such a file gets its name.
    ends_at_name: Option<(NewFile, u32, Fault)>,
    /// The same when a venue's ledger is written.
    ends_at_ledger: Option<(u32, Fault)>,
    /// What has ended the process.
    ended_by: Option<Fault>,
    sync_fails: bool,
    write_fails: bool,
    is_full: bool,
    /// A write or a sync has failed since that was forgotten last.
    has_failed: bool,
    has_run_out: bool,
    /// Kinds of faults that were armed and have struck since they were asked for last.
    struck: Vec<&'static str>,
}

impl SimulatedDisk {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(DiskState {
            files: vec![],
            names: BTreeMap::new(),
            unsynced_names: vec![],
            rng: SeededRng::new(seed, 0),
            ends_in: None,
            ends_at_name: None,
            ends_at_ledger: None,
            ended_by: None,
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

    /// The process ends by this fault at the n-th operation from now, 1 being the next.
    pub(crate) fn end_at(&self, operation: u32, fault: Fault) {
        self.lock().ends_in = Some((operation, fault));
    }

    /// As [`Self::end_at`], from the moment on at which such a file gets its name: 1 is in that moment.
    pub(crate) fn end_at_name(&self, file: NewFile, operation: u32, fault: Fault) {
        self.lock().ends_at_name = Some((file, operation, fault));
    }

    /// As [`Self::end_at`], from the next write to a venue's ledger on: 1 is within that write.
    pub(crate) fn end_at_ledger(&self, operation: u32, fault: Fault) {
        self.lock().ends_at_ledger = Some((operation, fault));
    }

    /// Whether an operation has ended the process.
    pub(crate) fn has_ended(&self) -> bool {
        self.lock().ended_by.is_some()
    }

    /// Whether that was for want of power.
    pub(crate) fn has_lost_power(&self) -> bool {
        let state = self.lock();
        state.ended_by.is_some() && !state.is_killed()
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
        (state.ends_in, state.ends_at_name, state.ends_at_ledger) = (None, None, None);
        (state.sync_fails, state.write_fails, state.is_full) = (false, false, false);
    }

    /// The process is gone, and the machine is not: what was written is there.
    pub(crate) fn survive_kill(&self) {
        self.lock().ended_by = None;
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
        (state.ends_in, state.ends_at_name, state.ends_at_ledger) = (None, None, None);
        (state.ended_by, state.sync_fails, state.write_fails) = (None, false, false);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, DiskState> {
        // One thread uses it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What becomes of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begun {
    GoesOn,
    /// The power goes meanwhile: it may be done, or in part.
    StrikesNow,
    /// The process has ended before: nothing is done.
    Gone,
}

impl Begun {
    fn result(self) -> io::Result<()> {
        if self == Self::GoesOn { Ok(()) } else { Err(io::Error::from_raw_os_error(EIO)) }
    }
}

impl DiskState {
    /// Counts the operation, and ends the process where it is the one.
    fn begin(&mut self) -> Begun {
        if self.ended_by.is_some() {
            return Begun::Gone;
        }
        match &mut self.ends_in {
            None => return Begun::GoesOn,
            Some((left, _)) if *left > 1 => {
                *left -= 1;
                return Begun::GoesOn;
            }
            Some(_) => {}
        }
        self.ended_by = self.ends_in.take().map(|(_, fault)| fault);
        self.struck.extend(self.ended_by.iter().map(Fault::kind));
        match self.is_killed() {
            false => Begun::StrikesNow,
            // The last thing that a process did before it was killed is done.
            true if self.rng.one_in(2) => Begun::GoesOn,
            true => Begun::Gone,
        }
    }

    /// As [`Self::begin`], for an operation that is done or not; an error where it is not.
    fn begin_whole(&mut self) -> io::Result<()> {
        self.begin().result()
    }

    /// As [`Self::begin`], for an operation that is done as a whole, but whose end is not seen where the power goes meanwhile; none where
    /// it is not done.
    fn begin_unseen(&mut self) -> Option<Begun> {
        let begun = self.begin();
        let is_done = begun == Begun::GoesOn || begun == Begun::StrikesNow && self.rng.one_in(2);
        is_done.then_some(begun)
    }

    fn is_killed(&self) -> bool {
        matches!(self.ended_by, Some(Fault::KillAtDisk { .. }))
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

impl FileSystem for SimulatedDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn WritableFile>> {
        let mut state = self.lock();
        state.begin_whole()?;
        let inner = OsFileSystem.create(path)?;
        let file = state.add(path);
        Ok(Box::new(SimulatedFile::of(self, path, file, inner)))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn WritableFile>> {
        let mut state = self.lock();
        state.begin_whole()?;
        let file = state.file(path)?;
        let inner = OsFileSystem.open(path)?;
        Ok(Box::new(SimulatedFile::of(self, path, file, inner)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.lock();
        if let Some((_, operation, fault)) = state.ends_at_name.take_if(|(file, ..)| file.is_at(to)) {
            state.ends_in = Some((operation, fault));
        }
        let Some(begun) = state.begin_unseen() else { return Begun::Gone.result() };
        let file = state.file(from)?;
        state.names.remove(from);
        state.names.insert(to.to_owned(), file);
        state.unsynced_names.retain(|path| path != from && path != to);
        fs::rename(from, to)?;
        begun.result()
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.lock();
        let Some(begun) = state.begin_unseen() else { return Begun::Gone.result() };
        state.names.remove(path);
        fs::remove_file(path)?;
        begun.result()
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        let mut state = self.lock();
        state.begin_whole()?;
        state.sync_names(folder);
        Ok(())
    }

    fn truncate(&self, path: &Path, length: u64) -> io::Result<()> {
        let mut state = self.lock();
        state.begin_whole()?;
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
            && let Some(fault) = state.ends_at_ledger.take()
        {
            state.ends_in = Some(fault);
        }
        let begun = state.begin();
        if begun == Begun::Gone {
            return begun.result().map(|()| 0);
        }
        if begun == Begun::GoesOn && std::mem::take(&mut state.write_fails) {
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
        begun.result()?;
        file.length = file.length.max(end);
        self.inner.write_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.disk.lock();
        state.begin_whole()?;
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
