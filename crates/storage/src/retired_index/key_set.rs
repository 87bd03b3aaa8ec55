//! Set of keys in files that grow by factors: one that is written is merged with its predecessor until that has at least twice as
//! many keys, so there are few files however long the set grows.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::key_file::{KeyFile, KeyFileWriter, KeySpan};
use crate::StorageError;
use crate::file_system::FileSystem;
use crate::journal::{self, InstanceId};

const EXTENSION: &str = ".keys";
const UNFINISHED_EXTENSION: &str = "new";
/// The digits of the largest sequence, so that names sort as numbers do.
const NAME_DIGITS: usize = 20;

pub(super) struct KeySet {
    disk: Arc<dyn FileSystem>,
    folder: PathBuf,
    /// The first part of the names of its files.
    name: &'static str,
    instance: InstanceId,
    has_filter: bool,
    /// Oldest first. Readers take the list and let go of the lock.
    files: RwLock<Arc<Vec<Arc<KeyFile>>>>,
    /// One writer at a time.
    writing: Mutex<()>,
}

impl KeySet {
    pub(super) fn open(
        disk: Arc<dyn FileSystem>,
        folder: &Path,
        name: &'static str,
        instance: InstanceId,
        has_filter: bool,
    ) -> Result<Self, StorageError> {
        let (folder, files) = (folder.to_owned(), RwLock::default());
        let set = Self { disk, folder, name, instance, has_filter, files, writing: Mutex::default() };
        set.replace(set.load()?);
        Ok(set)
    }

    /// Every key that was retired up to this sequence is here.
    pub(super) fn through(&self) -> u64 {
        self.list().last().map_or(0, |file| file.span.through)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list().iter().all(|file| file.count == 0)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.list().iter().map(|file| file.memory_bytes()).sum()
    }

    /// The newest files first: they are small.
    pub(super) fn contains(&self, key: u128) -> Result<bool, StorageError> {
        for file in self.list().iter().rev() {
            if file.contains(key)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns when the keys are durable. What the set has up to that sequence already is not written again.
    pub(super) fn store(&self, through: u64, mut keys: Vec<u128>) -> Result<(), StorageError> {
        let _one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let after = self.through();
        if through <= after {
            return Ok(());
        }
        keys.sort_unstable();
        keys.dedup();
        let count = keys.len() as u64;
        let written = self.write(KeySpan { after, through }, count, keys.into_iter().map(Ok))?;
        let mut files = Vec::clone(&self.list());
        files.push(Arc::new(written));
        self.replace(files.clone());
        self.merge(files)
    }

    /// All keys as one file that ends there, where the set goes further.
    pub(super) fn limit_to(&self, end: u64) -> Result<(), StorageError> {
        let _one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let files = self.list();
        if self.through() <= end {
            return Ok(());
        }
        let keys = files.iter().flat_map(|file| file.keys());
        let mut keys = keys.collect::<Result<Vec<u128>, StorageError>>()?;
        keys.sort_unstable();
        keys.dedup();
        let count = keys.len() as u64;
        let written = Arc::new(self.write(KeySpan { after: 0, through: end }, count, keys.into_iter().map(Ok))?);
        for older in files.iter().filter(|older| older.path() != written.path()) {
            self.disk.remove(older.path()).map_err(StorageError::io("delete", older.path()))?;
        }
        self.replace(vec![written]);
        Ok(())
    }

    fn merge(&self, mut files: Vec<Arc<KeyFile>>) -> Result<(), StorageError> {
        while let [.., older, newer] = &files[..]
            && older.count <= newer.count.saturating_mul(2)
        {
            let (older, newer) = (older.clone(), newer.clone());
            let span = KeySpan { after: older.span.after, through: newer.span.through };
            // It takes the name of the newer one, and what is left of the older one is in both.
            let merged = self.write(span, older.count + newer.count, merged(&older, &newer))?;
            files.truncate(files.len() - 2);
            files.push(Arc::new(merged));
            self.replace(files.clone());
            self.disk.remove(older.path()).map_err(StorageError::io("delete", older.path()))?;
        }
        Ok(())
    }

    fn write(
        &self,
        span: KeySpan,
        keys_max: u64,
        mut keys: impl Iterator<Item = Result<u128, StorageError>>,
    ) -> Result<KeyFile, StorageError> {
        let path = self.folder.join(format!("{}-{:0NAME_DIGITS$}{EXTENSION}", self.name, span.through));
        let unfinished = path.with_extension(UNFINISHED_EXTENSION);
        let failed = || StorageError::io("write", &unfinished);
        let filtered = if self.has_filter { keys_max } else { 0 };
        let mut writer = KeyFileWriter::create(self.disk.as_ref(), &unfinished, filtered).map_err(failed())?;
        keys.try_for_each(|key| writer.push(key?).map_err(failed()))?;
        writer.finish(span, self.instance).map_err(failed())?;
        self.disk.rename(&unfinished, &path).map_err(StorageError::io("rename to", &path))?;
        KeyFile::open(&path, self.instance)
    }

    /// Files that follow each other without a gap. What comes behind a gap, or cannot be read, is made again from the journal.
    fn load(&self) -> Result<Vec<Arc<KeyFile>>, StorageError> {
        let mut files: Vec<Arc<KeyFile>> = Vec::new();
        for path in self.paths()? {
            let reached = files.last().map_or(0, |file| file.span.through);
            match KeyFile::open(&path, self.instance) {
                Ok(file) if file.span.after <= reached => {
                    // A merge that was cut off left the older file, which the merged one has.
                    for older in files.extract_if(.., |older| older.span.after >= file.span.after) {
                        self.disk.remove(older.path()).map_err(StorageError::io("delete", older.path()))?;
                    }
                    files.push(Arc::new(file));
                }
                Ok(_) => self.discard(&path, "an earlier file is missing")?,
                Err(StorageError::Damaged(damage)) => self.discard(&path, &damage.reason)?,
                Err(other) => return Err(other),
            }
        }
        Ok(files)
    }

    /// A journal that was pruned cannot make them again: then nothing is deleted, and somebody has to bring the file back.
    fn discard(&self, path: &Path, reason: &str) -> Result<(), StorageError> {
        let journal = self.folder.parent().unwrap_or(Path::new(".")).join(journal::FOLDER);
        if journal::read_floor(&journal)?.is_some() {
            let advice = "the journal was pruned and cannot make it again; bring the folder back from a backup";
            return Err(StorageError::damaged(path, 0, format!("{reason}: {advice}")));
        }
        tracing::warn!(file = %path.display(), reason, "keys of retired orders are made again from the journal");
        self.disk.remove(path).map_err(StorageError::io("delete", path))
    }

    fn paths(&self) -> Result<Vec<PathBuf>, StorageError> {
        let failed = || StorageError::io("list", &self.folder);
        let mut paths = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(failed())? {
            let path = entry.map_err(failed())?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.strip_prefix(self.name).is_some_and(|rest| rest.starts_with('-') && rest.ends_with(EXTENSION)) {
                paths.push(path);
            }
        }
        paths.sort();
        Ok(paths)
    }

    fn list(&self) -> Arc<Vec<Arc<KeyFile>>> {
        self.files.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn replace(&self, files: Vec<Arc<KeyFile>>) {
        *self.files.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(files);
    }
}

/// The keys of both, in order and once.
fn merged(older: &KeyFile, newer: &KeyFile) -> impl Iterator<Item = Result<u128, StorageError>> {
    let (mut left, mut right) = (older.keys().peekable(), newer.keys().peekable());
    std::iter::from_fn(move || match (left.peek(), right.peek()) {
        (Some(Ok(a)), Some(Ok(b))) if a == b => {
            left.next();
            right.next()
        }
        (Some(Ok(a)), Some(Ok(b))) if a > b => right.next(),
        (Some(_), _) => left.next(),
        (None, _) => right.next(),
    })
}
