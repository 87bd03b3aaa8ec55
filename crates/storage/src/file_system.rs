//! File system interface of the writers, so that tests and the simulator can inject failures.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use crate::StorageError;

/// An open file that is written at given places.
pub trait WritableFile: Send {
    /// May write less than given, as the operating system may.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;
    /// Returns when the data is on the disk. After an error the state is unknown, and a retry proves nothing.
    fn sync(&self) -> io::Result<()>;
}

/// The operations on files that the writers need.
pub trait FileSystem: Send + Sync {
    fn create(&self, path: &Path) -> io::Result<Box<dyn WritableFile>>;
    fn open(&self, path: &Path) -> io::Result<Box<dyn WritableFile>>;
    /// Both names lie in one folder, which is synced: after a crash the file has the new name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Durable when it returns, as `rename` is.
    fn remove(&self, path: &Path) -> io::Result<()>;
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
    /// All that was written to a file so far; also of one that may not be written any more.
    fn sync_file(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }
    /// A second name for a file, where both are on one disk.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }
    /// Cuts the file to that length; durable when it returns, with all that was written before.
    fn truncate(&self, path: &Path, length: u64) -> io::Result<()>;
}

/// The file system of the operating system.
pub struct OsFileSystem;

impl FileSystem for OsFileSystem {
    fn create(&self, path: &Path) -> io::Result<Box<dyn WritableFile>> {
        let file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
        Ok(Box::new(file))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn WritableFile>> {
        Ok(Box::new(OpenOptions::new().write(true).open(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)?;
        self.sync_folder(parent(to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)?;
        self.sync_folder(parent(path))
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        File::open(folder)?.sync_all()
    }

    fn truncate(&self, path: &Path, length: u64) -> io::Result<()> {
        let file = OpenOptions::new().write(true).open(path)?;
        file.set_len(length)?;
        file.sync_all()
    }
}

impl WritableFile for File {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        FileExt::write_at(self, bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}

/// Writes a file from its beginning on.
pub(crate) struct SequentialWriter {
    pub(crate) file: Box<dyn WritableFile>,
    pub(crate) offset: u64,
}

impl SequentialWriter {
    pub(crate) fn create(disk: &dyn FileSystem, path: &Path) -> io::Result<Self> {
        Ok(Self { file: disk.create(path)?, offset: 0 })
    }
}

impl io::Write for SequentialWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write_at(bytes, self.offset)?;
        self.offset += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file with these bytes, which are on the disk when it returns.
pub fn write_durable(disk: &dyn FileSystem, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = disk.create(path)?;
    write_all_at(file.as_ref(), bytes, 0)?;
    file.sync()
}

/// A copy that is on the disk when it returns; the folder of its name is not synced.
pub fn copy_durable(disk: &dyn FileSystem, from: &Path, to: &Path) -> io::Result<()> {
    let mut source = File::open(from)?;
    let mut writer = SequentialWriter::create(disk, to)?;
    io::copy(&mut source, &mut writer)?;
    writer.file.sync()
}

/// Gives a folder its name when everything in it is on the disk: whatever a power cut leaves, what has the name is whole. Both names
/// lie in one folder.
pub fn complete_folder(disk: &dyn FileSystem, unfinished: &Path, named: &Path) -> io::Result<()> {
    sync_below(disk, unfinished)?;
    disk.rename(unfinished, named)
}

/// Every file and every folder below, and the folder itself.
fn sync_below(disk: &dyn FileSystem, folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            sync_below(disk, &entry.path())?;
        } else if kind.is_file() {
            disk.sync_file(&entry.path())?;
        }
    }
    disk.sync_folder(folder)
}

/// The hash of a whole file, in hexadecimal digits.
pub fn digest(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}

/// Goes on after short and interrupted writes.
pub(crate) fn write_all_at(medium: &dyn WritableFile, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match medium.write_at(bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                bytes = &bytes[written..];
                offset += written as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes zeros from one offset to another.
pub(crate) fn zero_fill(medium: &dyn WritableFile, mut from: u64, to: u64) -> io::Result<()> {
    static ZEROS: [u8; 64 << 10] = [0; 64 << 10];
    while from < to {
        let length = usize::try_from(to - from).map_or(ZEROS.len(), |left| left.min(ZEROS.len()));
        write_all_at(medium, &ZEROS[..length], from)?;
        from += length as u64;
    }
    Ok(())
}

/// A file that a backup has under a second name gets a copy of its own, before it is written again.
pub(crate) fn unshare(disk: &dyn FileSystem, path: &Path) -> io::Result<()> {
    if fs::metadata(path)?.nlink() < 2 {
        return Ok(());
    }
    let own = path.with_extension("own");
    fs::copy(path, &own)?;
    File::open(&own)?.sync_all()?;
    disk.rename(&own, path)
}

/// The folder is there and durable when it returns.
pub(crate) fn create_folder(disk: &dyn FileSystem, parent: &Path, folder: &Path) -> Result<(), StorageError> {
    fs::create_dir_all(folder).map_err(StorageError::io("create", folder))?;
    disk.sync_folder(parent).map_err(StorageError::io("sync", parent))
}

pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
