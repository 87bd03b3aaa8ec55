//! A disk that records what is done to real files, and what is left of it after a power cut: synced data is there; of written data any
//! sectors may be.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::file_system::{FileSystem, OsFileSystem, WritableFile};

const SECTOR_BYTES: u64 = 512;

#[derive(Debug, Clone)]
pub(crate) enum DiskOperation {
    Create { file: usize, path: PathBuf },
    Write { file: usize, offset: u64, bytes: Vec<u8> },
    Sync { file: usize },
    Rename { from: PathBuf, to: PathBuf },
    Remove { path: PathBuf },
    SyncFolder { folder: PathBuf },
    Told(u64),
}

/// What has surely reached the disk, and the writes that are still on their way.
#[derive(Default)]
pub(crate) struct DiskAfterCut {
    names: BTreeMap<PathBuf, usize>,
    files: BTreeMap<usize, Vec<u8>>,
    pending: Vec<(usize, u64, Vec<u8>)>,
    /// Where a new name may be lost until its folder is synced: the folder that was there from the beginning, and the files and
    /// folders below it whose names are surely there.
    lasting: Option<(PathBuf, BTreeSet<PathBuf>)>,
}

impl DiskAfterCut {
    /// New names below this folder may be lost too.
    pub(crate) fn forgetful(root: &Path) -> Self {
        Self { lasting: Some((root.to_owned(), BTreeSet::new())), ..Self::default() }
    }

    pub(crate) fn apply(&mut self, step: &DiskOperation) {
        match step {
            DiskOperation::Create { file, path } => drop(self.names.insert(path.clone(), *file)),
            DiskOperation::Write { file, offset, bytes } => self.pending.push((*file, *offset, bytes.clone())),
            DiskOperation::Sync { file } => self.sync(*file),
            DiskOperation::Rename { from, to } => self.rename(from, to),
            DiskOperation::Remove { path } => drop(self.names.remove(path)),
            DiskOperation::SyncFolder { folder } => self.sync_names(folder),
            DiskOperation::Told(_) => {}
        }
    }

    fn sync(&mut self, synced: usize) {
        for (file, offset, bytes) in std::mem::take(&mut self.pending) {
            if file == synced {
                self.put(file, offset, &bytes);
            } else {
                self.pending.push((file, offset, bytes));
            }
        }
    }

    /// A folder takes along what is in it.
    fn rename(&mut self, from: &Path, to: &Path) {
        let moved = |path: &Path| path.strip_prefix(from).ok().map(|rest| joined(to, rest));
        let names = std::mem::take(&mut self.names);
        self.names = names.into_iter().map(|(path, file)| (moved(&path).unwrap_or(path), file)).collect();
        if let Some((_, lasting)) = &mut self.lasting {
            *lasting = std::mem::take(lasting).into_iter().map(|path| moved(&path).unwrap_or(path)).collect();
            lasting.insert(to.to_owned());
        }
    }

    /// The names of files and folders that lie in it.
    fn sync_names(&mut self, folder: &Path) {
        let Some((_, lasting)) = &mut self.lasting else { return };
        let below = self.names.keys().filter(|path| path.starts_with(folder));
        let direct = below.filter_map(|path| path.ancestors().find(|found| found.parent() == Some(folder)));
        lasting.extend(direct.map(Path::to_owned));
    }

    fn is_lost(&self, path: &Path, seed: u32) -> bool {
        let Some((root, lasting)) = &self.lasting else { return false };
        let mut names = path.ancestors().take_while(|found| *found != root);
        let is_unsure = !names.all(|found| lasting.contains(found));
        is_unsure && crc32c::crc32c_append(seed, path.as_os_str().as_encoded_bytes()).is_multiple_of(2)
    }

    /// What is found in each file afterwards.
    pub(crate) fn switch_off(mut self, seed: u32) -> Vec<(PathBuf, Vec<u8>)> {
        for (index, (file, offset, bytes)) in std::mem::take(&mut self.pending).into_iter().enumerate() {
            for (at, sector) in sectors(offset, &bytes) {
                let dice = crc32c::crc32c_append(seed, &[index as u64, at].map(u64::to_le_bytes).concat());
                if dice.is_multiple_of(2) {
                    self.put(file, at, sector);
                }
            }
        }
        let bytes = |file| self.files.get(&file).cloned().unwrap_or_default();
        let left = self.names.iter().filter(|(path, _)| !self.is_lost(path, seed));
        left.map(|(path, file)| (path.clone(), bytes(*file))).collect()
    }

    fn put(&mut self, file: usize, offset: u64, bytes: &[u8]) {
        let content = self.files.entry(file).or_default();
        let start = usize::try_from(offset).unwrap();
        let end = start + bytes.len();
        content.resize(content.len().max(end), 0);
        content[start..end].copy_from_slice(bytes);
    }
}

/// An empty rest adds nothing, not even a slash.
fn joined(folder: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { folder.to_owned() } else { folder.join(rest) }
}

fn sectors(mut offset: u64, mut bytes: &[u8]) -> Vec<(u64, &[u8])> {
    let mut sectors = Vec::new();
    while !bytes.is_empty() {
        let room = usize::try_from(SECTOR_BYTES - offset % SECTOR_BYTES).unwrap();
        let (sector, rest) = bytes.split_at(room.min(bytes.len()));
        sectors.push((offset, sector));
        offset += sector.len() as u64;
        bytes = rest;
    }
    sectors
}

/// Real files, and a list of all that was done to them.
#[derive(Default, Clone)]
pub(crate) struct RecordingDisk(Arc<Mutex<Recording>>);

#[derive(Default)]
struct Recording {
    steps: Vec<DiskOperation>,
    names: BTreeMap<PathBuf, usize>,
    files: usize,
}

impl RecordingDisk {
    /// Everything that was done to its files so far.
    pub(crate) fn steps(&self) -> Vec<DiskOperation> {
        self.0.lock().unwrap().steps.clone()
    }

    /// A file that was there before.
    pub(crate) fn know(&self, path: PathBuf) {
        self.0.lock().unwrap().names.insert(path, 0);
    }

    pub(crate) fn note(&self, step: DiskOperation) {
        self.0.lock().unwrap().steps.push(step);
    }

    fn medium(&self, file: usize, inner: Box<dyn WritableFile>) -> Box<dyn WritableFile> {
        Box::new(RecordingMedium { file, inner, disk: self.clone() })
    }
}

impl FileSystem for RecordingDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn WritableFile>> {
        let mut recording = self.0.lock().unwrap();
        recording.files += 1;
        let file = recording.files;
        recording.names.insert(path.to_owned(), file);
        recording.steps.push(DiskOperation::Create { file, path: path.to_owned() });
        Ok(self.medium(file, OsFileSystem.create(path)?))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn WritableFile>> {
        let file = self.0.lock().unwrap().names[path];
        Ok(self.medium(file, OsFileSystem.open(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut recording = self.0.lock().unwrap();
        let names = std::mem::take(&mut recording.names);
        let moved = |path: PathBuf| path.strip_prefix(from).map_or_else(|_| path.clone(), |rest| joined(to, rest));
        recording.names = names.into_iter().map(|(path, file)| (moved(path), file)).collect();
        recording.steps.push(DiskOperation::Rename { from: from.to_owned(), to: to.to_owned() });
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.note(DiskOperation::Remove { path: path.to_owned() });
        fs::remove_file(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.note(DiskOperation::SyncFolder { folder: folder.to_owned() });
        Ok(())
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        let file = self.0.lock().unwrap().names[path];
        self.note(DiskOperation::Sync { file });
        Ok(())
    }

    /// What has a second name was synced under its first.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let bytes = fs::read(from)?;
        let linked = self.create(to)?;
        linked.write_at(&bytes, 0)?;
        linked.sync()
    }

    fn truncate(&self, path: &Path, length: u64) -> io::Result<()> {
        OsFileSystem.truncate(path, length)
    }
}

struct RecordingMedium {
    file: usize,
    inner: Box<dyn WritableFile>,
    disk: RecordingDisk,
}

impl WritableFile for RecordingMedium {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.disk.note(DiskOperation::Write { file: self.file, offset, bytes: bytes.to_vec() });
        self.inner.write_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.note(DiskOperation::Sync { file: self.file });
        Ok(())
    }
}
