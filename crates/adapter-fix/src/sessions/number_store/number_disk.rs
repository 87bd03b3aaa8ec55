//! Where the numbers of a session are written: a file to which lines are added, so that a simulator can lose what a power cut would.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

/// A file to which lines are added.
pub trait NumberFile: Send {
    /// May be lost by a power cut, in part or as a whole, until the next sync.
    fn append(&mut self, line: &str) -> io::Result<()>;
    /// Returns when everything is on the disk.
    fn sync(&mut self) -> io::Result<()>;
    /// When it was written last, where that is known.
    fn written(&self) -> Option<SystemTime>;
}

/// The disk of a process. Reading is as everywhere.
pub trait NumberDisk: Send + Sync {
    /// Goes on with a file, or makes it. Two processes cannot have one.
    fn open(&self, path: &Path) -> io::Result<Box<dyn NumberFile>>;
    /// A file with this line alone in the place of the one before: whatever a power cut leaves, there is one of them, and the new one when
    /// this returns.
    fn replace(&self, path: &Path, line: &str) -> io::Result<Box<dyn NumberFile>>;
}

/// That of the operating system.
pub(crate) struct OsNumberDisk;

impl NumberDisk for OsNumberDisk {
    fn open(&self, path: &Path) -> io::Result<Box<dyn NumberFile>> {
        let file = locked(OpenOptions::new().create(true).append(true).open(path)?)?;
        // Another process may have put a new file in its place before this one was locked.
        if file.metadata()?.ino() != std::fs::metadata(path)?.ino() {
            return Err(in_use());
        }
        Ok(Box::new(file))
    }

    fn replace(&self, path: &Path, line: &str) -> io::Result<Box<dyn NumberFile>> {
        let beside = path.with_extension("numbers.new");
        let mut file = locked(File::create(&beside)?)?;
        file.write_all(line.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&beside, path)?;
        // Lines that are added from now on are lost with the name.
        path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())?;
        Ok(Box::new(file))
    }
}

impl NumberFile for File {
    fn append(&mut self, line: &str) -> io::Result<()> {
        self.write_all(line.as_bytes())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn written(&self) -> Option<SystemTime> {
        self.metadata().ok()?.modified().ok()
    }
}

/// Until the file is closed; a process that ends closes it.
fn locked(file: File) -> io::Result<File> {
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(in_use()),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn in_use() -> io::Error {
    io::Error::new(io::ErrorKind::ResourceBusy, "the sequence numbers are in use by another process")
}
