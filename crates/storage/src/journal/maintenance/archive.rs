//! Archive: full segments are packed, moved out of the journal's folder, and stay part of the journal. A server may run.
//!
//! A segment leaves the journal only when its packed copy was read back from the disk, byte for byte the same and with a good chain.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::StorageError;
use crate::file_system::{FileSystem, OsFileSystem};
use crate::journal::format::packed;
use crate::journal::format::segment::{self, Segment};
use crate::journal::format::segment_reader::SegmentReader;
use crate::journal::scan::ScanProgress;
use crate::lock::DataDirLock;

const UNFINISHED_EXTENSION: &str = "new";
const CHUNK_BYTES: usize = 256 << 10;

/// What went into the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Archived {
    pub segments: usize,
    /// Before and after.
    pub bytes: u64,
    pub packed_bytes: u64,
}

/// Packs the full segments of a journal, but for the newest `keep`. `durable` is the last sequence that is surely on the disk: only a
/// segment behind which another has such records is full.
pub fn archive(
    data_folder: &Path,
    durable: u64,
    keep: usize,
    progress: &mut dyn FnMut(ScanProgress),
) -> Result<Archived, StorageError> {
    archive_on(&OsFileSystem, data_folder, durable, keep, progress)
}

/// As [`archive`], through a file system of the caller.
pub fn archive_on(
    disk: &dyn FileSystem,
    data_folder: &Path,
    durable: u64,
    keep: usize,
    progress: &mut dyn FnMut(ScanProgress),
) -> Result<Archived, StorageError> {
    let folder = data_folder.join(crate::journal::FOLDER);
    let archive = packed::folder_of(&folder);
    let _one_at_a_time = DataDirLock::acquire(&archive)?;
    disk.sync_folder(data_folder).map_err(StorageError::io("sync", data_folder))?;
    let listed: Vec<_> = segment::list(&folder)?.into_iter().filter(|(first, _)| *first <= durable).collect();
    let full = listed.len().saturating_sub(1 + keep);
    let due: Vec<_> = (0..full).filter(|index| !packed::is_packed(&listed[*index].1)).collect();
    let total = due.iter().map(|index| fs::metadata(&listed[*index].1).map_or(0, |found| found.len())).sum();
    let mut archived = Archived::default();
    for index in due {
        let bytes = pack_one(disk, &listed[index].1, &listed[index + 1].1)?;
        archived.segments += 1;
        archived.bytes += bytes.0;
        archived.packed_bytes += bytes.1;
        progress(ScanProgress { read: archived.bytes, total });
    }
    Ok(archived)
}

/// A crash leaves the segment in one place or in both.
fn pack_one(disk: &dyn FileSystem, path: &Path, next: &Path) -> Result<(u64, u64), StorageError> {
    let target = packed::path_of(path);
    let unfinished = target.with_extension(UNFINISHED_EXTENSION);
    packed::pack(disk, path, &unfinished).map_err(StorageError::io("pack", path))?;
    check_packed(path, &unfinished, next)?;
    disk.rename(&unfinished, &target).map_err(StorageError::io("rename", &unfinished))?;
    let failed = || StorageError::io("read", &target);
    let bytes = (fs::metadata(path).map_err(failed())?.len(), fs::metadata(&target).map_err(failed())?.len());
    disk.remove(path).map_err(StorageError::io("remove", path))?;
    Ok(bytes)
}

/// What comes out of the packed file must be the segment, and the segment must be good up to the next one.
fn check_packed(path: &Path, packed: &Path, next: &Path) -> Result<(), StorageError> {
    let file = packed::unpack(packed)?;
    let again = file.try_clone().map_err(StorageError::io("read", packed))?;
    let (segment, original) = Segment::open(path.to_owned())?;
    if !is_same(original, again).map_err(StorageError::io("compare", path))? {
        return Err(StorageError::damaged(packed, 0, "it does not unpack to the segment that was packed"));
    }
    let mut frames = SegmentReader::new(segment, file)?;
    let fault = loop {
        if let Err(fault) = frames.step()? {
            break fault;
        }
    };
    frames.check_sealed(fault, &Segment::look(PathBuf::from(next))?.header)
}

fn is_same(one: File, other: File) -> io::Result<bool> {
    let [mut one, mut other] = [one, other].map(|file| BufReader::with_capacity(CHUNK_BYTES, file));
    io::Seek::rewind(&mut one)?;
    io::Seek::rewind(&mut other)?;
    let (mut left, mut right) = (vec![0; CHUNK_BYTES], vec![0; CHUNK_BYTES]);
    loop {
        let length = read_up_to(&mut one, &mut left)?;
        if length != read_up_to(&mut other, &mut right)? || left[..length] != right[..length] {
            return Ok(false);
        }
        if length == 0 {
            return Ok(true);
        }
    }
}

fn read_up_to(from: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < into.len() {
        match from.read(&mut into[filled..])? {
            0 => break,
            length => filled += length,
        }
    }
    Ok(filled)
}
