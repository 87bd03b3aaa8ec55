//! Lock of the data directory: one process at a time. The operating system releases it when the process ends, so a lock
//! file left behind does not matter. The directory itself is locked, so a deleted lock file does not matter either; the file is
//! locked too, for servers of older builds, and names the owner.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::StorageError;

const LOCK_FILE: &str = "lock";

/// The right to write in a data folder. The folder is free again when the last clone is dropped.
#[derive(Debug, Clone)]
pub struct DataDirLock {
    folder: PathBuf,
    _held: Arc<[File; 2]>,
}

impl DataDirLock {
    /// Creates the folder where it is missing and locks it, or names the process that has it.
    pub fn acquire(folder: &Path) -> Result<Self, StorageError> {
        fs::create_dir_all(folder).map_err(StorageError::io("create", folder))?;
        let path = folder.join(LOCK_FILE);
        let whole = File::open(folder).map_err(StorageError::io("open", folder))?;
        let mut file = open_lock_file(&path)?;
        match whole.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(locked_by_other(folder, &mut file)),
            // A file system of another machine may lock files alone.
            Err(TryLockError::Error(problem)) => {
                tracing::warn!(%problem, folder = %folder.display(), "the folder itself cannot be locked");
            }
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(locked_by_other(folder, &mut file)),
            Err(TryLockError::Error(error)) => return Err(StorageError::io("lock", &path)(error)),
        }
        write_owner(&mut file).map_err(StorageError::io("write", &path))?;
        Ok(Self { folder: folder.to_owned(), _held: Arc::new([whole, file]) })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

fn open_lock_file(path: &Path) -> Result<File, StorageError> {
    // Not truncated here: the name inside belongs to the owner until we are it.
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(StorageError::io("open", path))
}

fn locked_by_other(folder: &Path, file: &mut File) -> StorageError {
    let mut name = String::new();
    let owner = match file.read_to_string(&mut name) {
        Ok(_) if !name.trim().is_empty() => name.trim().to_owned(),
        _ => "its process id is not known".to_owned(),
    };
    StorageError::Locked { folder: folder.to_owned(), owner }
}

fn write_owner(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "pid {}", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_opener_is_refused_with_the_folder_and_the_owner() {
        let folder = tempfile::tempdir().unwrap();
        let first = DataDirLock::acquire(folder.path()).unwrap();
        let refused = DataDirLock::acquire(folder.path()).unwrap_err().to_string();
        let expected = format!(
            "the data folder {} is in use by another process (pid {})",
            first.folder().display(),
            std::process::id()
        );
        assert_eq!(refused, expected);
    }

    #[test]
    fn the_folder_is_free_when_the_last_holder_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let first = DataDirLock::acquire(folder.path()).unwrap();
        let clone = first.clone();
        drop(first);
        assert!(DataDirLock::acquire(folder.path()).is_err());
        drop(clone);
        assert!(DataDirLock::acquire(folder.path()).is_ok());
    }

    #[test]
    fn a_deleted_lock_file_lets_no_second_one_in() {
        let folder = tempfile::tempdir().unwrap();
        let _first = DataDirLock::acquire(folder.path()).unwrap();
        fs::remove_file(folder.path().join(LOCK_FILE)).unwrap();
        let refused = DataDirLock::acquire(folder.path()).unwrap_err().to_string();
        let owner = "(its process id is not known)";
        let expected = format!("the data folder {} is in use by another process {owner}", folder.path().display());
        assert_eq!(refused, expected);
    }

    #[test]
    fn a_lock_file_left_behind_means_nothing() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(LOCK_FILE), "pid 99999999\n").unwrap();
        let _lock = DataDirLock::acquire(folder.path()).unwrap();
        let refused = DataDirLock::acquire(folder.path()).unwrap_err().to_string();
        assert!(refused.ends_with(&format!("(pid {})", std::process::id())), "{refused}");
    }
}
