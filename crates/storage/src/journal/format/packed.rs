//! Packed segments: a segment as one zstd frame, in the folder of the archive. Unpacked, it is the same file byte for byte.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::StorageError;
use crate::file_system::{FileSystem, OsFileSystem, SequentialWriter, parent};

/// The folder of packed segments inside a data folder.
pub const ARCHIVE: &str = "archive";
/// Behind the name of the segment.
pub(crate) const EXTENSION: &str = "zst";
/// Fast, and a third of the size.
const LEVEL: i32 = 3;
const OWNER_ONLY: u32 = 0o600;

/// The folder of the archive that belongs to a journal.
pub(crate) fn folder_of(journal: &Path) -> PathBuf {
    parent(journal).join(ARCHIVE)
}

/// Where a segment is when it is packed.
pub(crate) fn path_of(segment: &Path) -> PathBuf {
    let mut name = segment.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{EXTENSION}"));
    folder_of(parent(segment)).join(name)
}

pub(crate) fn is_packed(path: &Path) -> bool {
    path.extension() == Some(OsStr::new(EXTENSION))
}

/// On the disk when it returns.
pub(crate) fn pack(disk: &dyn FileSystem, segment: &Path, to: &Path) -> io::Result<()> {
    let mut from = File::open(segment)?;
    let mut encoder = zstd::Encoder::new(SequentialWriter::create(disk, to)?, LEVEL)?;
    encoder.include_checksum(true)?;
    encoder.set_pledged_src_size(Some(from.metadata()?.len()))?;
    io::copy(&mut from, &mut encoder)?;
    encoder.finish()?.file.sync()
}

/// The segment in a file that has no name any more.
pub(crate) fn unpack(path: &Path) -> Result<File, StorageError> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = format!("rialto-{}-{}.segment", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let unnamed = std::env::temp_dir().join(name);
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create_new(true).mode(OWNER_ONLY).open(&unnamed);
    let file = file.and_then(|file| fs::remove_file(&unnamed).map(|()| file));
    let file = file.map_err(StorageError::io("create", &unnamed))?;
    unpack_into(path, &mut &file)?;
    Ok(file)
}

/// The segment as a file of that name, on the disk when it returns.
pub(crate) fn unpack_to(path: &Path, to: &Path) -> Result<(), StorageError> {
    unpack_on(&OsFileSystem, path, to)
}

/// As [`unpack_to`], through a file system of the caller.
pub(crate) fn unpack_on(disk: &dyn FileSystem, path: &Path, to: &Path) -> Result<(), StorageError> {
    let mut writer = SequentialWriter::create(disk, to).map_err(StorageError::io("create", to))?;
    unpack_into(path, &mut writer)?;
    writer.file.sync().map_err(StorageError::io("sync", to))
}

fn unpack_into(path: &Path, file: &mut dyn io::Write) -> Result<(), StorageError> {
    let mut decoder = decoder(path)?;
    let mut chunk = vec![0; 128 << 10];
    loop {
        // What cannot be unpacked is damaged; what cannot be written is another trouble.
        match decoder.read(&mut chunk).map_err(|error| damaged(path, &error))? {
            0 => return Ok(()),
            length => file.write_all(&chunk[..length]).map_err(StorageError::io("unpack", path))?,
        }
    }
}

/// The first bytes of the segment.
pub(crate) fn read_start(path: &Path, into: &mut [u8]) -> Result<(), StorageError> {
    decoder(path)?.read_exact(into).map_err(|error| damaged(path, &error))
}

fn decoder(path: &Path) -> Result<zstd::Decoder<'static, io::BufReader<File>>, StorageError> {
    let file = File::open(path).map_err(StorageError::io("open", path))?;
    zstd::Decoder::new(file).map_err(|error| damaged(path, &error))
}

fn damaged(path: &Path, error: &io::Error) -> StorageError {
    StorageError::damaged(path, 0, format!("it cannot be unpacked: {error}"))
}
