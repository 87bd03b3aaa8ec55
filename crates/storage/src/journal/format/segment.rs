//! Segment files: their names, their header, and the list of them in a folder.
//!
//! ```text
//! magic [8] · version u32 · zero u32 · instance [16] · number u64 · first sequence u64 · capacity u64
//! · hash of the previous segment's end [32] · zeros · checksum u32 over all before        (128 bytes)
//! ```

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::chain::{ChainHash, InstanceId};
use super::floor::{self, JournalFloor};
use super::packed;
use crate::block::BlockPosition;
use crate::bytes::field;
use crate::file_system::{FileSystem, OsFileSystem};
use crate::{StorageError, tail};

pub(crate) const HEADER_BYTES: usize = 128;
const CHECKSUM_AT: usize = HEADER_BYTES - 4;
const MAGIC: [u8; 8] = *b"RIALTO-J";
const VERSION: u32 = 1;
const EXTENSION: &str = ".journal";
/// The digits of the largest sequence, so that names sort as numbers do.
const NAME_DIGITS: usize = 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    pub(crate) instance: InstanceId,
    /// 1, 2, 3, …
    pub(crate) number: u64,
    /// The sequence of the first record, also the name of the file.
    pub(crate) first: u64,
    /// The length of the file; frames never pass it.
    pub(crate) capacity: u64,
    /// The hash of the last frame of the segment before.
    pub(crate) previous: ChainHash,
}

impl SegmentHeader {
    pub(crate) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut fields = Vec::with_capacity(HEADER_BYTES);
        fields.extend_from_slice(&MAGIC);
        fields.extend_from_slice(&VERSION.to_le_bytes());
        fields.extend_from_slice(&[0; 4]);
        fields.extend_from_slice(&self.instance.0);
        fields.extend_from_slice(&self.number.to_le_bytes());
        fields.extend_from_slice(&self.first.to_le_bytes());
        fields.extend_from_slice(&self.capacity.to_le_bytes());
        fields.extend_from_slice(&self.previous.0);
        let mut header = [0; HEADER_BYTES];
        header[..fields.len()].copy_from_slice(&fields);
        let checksum = crc32c::crc32c(&header[..CHECKSUM_AT]);
        header[CHECKSUM_AT..].copy_from_slice(&checksum.to_le_bytes());
        header
    }

    pub(crate) fn decode(bytes: &[u8; HEADER_BYTES]) -> Result<Self, String> {
        if bytes[..8] != MAGIC {
            return Err("it does not begin like a journal segment".to_owned());
        }
        if bytes[CHECKSUM_AT..] != crc32c::crc32c(&bytes[..CHECKSUM_AT]).to_le_bytes() {
            return Err("the checksum of the header does not match".to_owned());
        }
        let version = u32::from_le_bytes(field(bytes, 8));
        if version != VERSION {
            return Err(format!("format version {version} is not known, this program reads {VERSION}"));
        }
        Ok(Self {
            instance: InstanceId(field(bytes, 16)),
            number: u64::from_le_bytes(field(bytes, 32)),
            first: u64::from_le_bytes(field(bytes, 40)),
            capacity: u64::from_le_bytes(field(bytes, 48)),
            previous: ChainHash(field(bytes, 56)),
        })
    }

    /// Where the first frame lies. The seed follows from the whole header, so a frame fits one segment only.
    pub(crate) fn frames_start(&self) -> BlockPosition {
        BlockPosition { seed: crc32c::crc32c(&self.encode()[..CHECKSUM_AT]), offset: HEADER_BYTES as u64 }
    }

    /// What the first frame continues from: the header is a link of the chain too.
    pub(crate) fn hash(&self) -> ChainHash {
        ChainHash::compute(&self.encode())
    }
}

/// A segment whose header is good and fits its name.
#[derive(Debug, Clone)]
pub(crate) struct Segment {
    pub(crate) path: PathBuf,
    pub(crate) header: SegmentHeader,
}

impl Segment {
    pub(crate) fn open(path: PathBuf) -> Result<(Self, File), StorageError> {
        let (path, file) = open_file(path)?;
        let header = read_header(&file, &path)?;
        Ok((Self::named(path, header)?, file))
    }

    /// Only its header is read.
    pub(crate) fn look(path: PathBuf) -> Result<Self, StorageError> {
        if !packed::is_packed(&path) {
            return Self::open(path).map(|(segment, _)| segment);
        }
        let mut bytes = [0; HEADER_BYTES];
        packed::read_start(&path, &mut bytes)?;
        let header = SegmentHeader::decode(&bytes).map_err(|reason| StorageError::damaged(&path, 0, reason))?;
        Self::named(path, header)
    }

    fn named(path: PathBuf, header: SegmentHeader) -> Result<Self, StorageError> {
        if first_in_path(&path) != Some(header.first) {
            let reason = format!("the file is named for another sequence than its header, {}", header.first);
            return Err(StorageError::damaged(&path, 0, reason));
        }
        Ok(Self { path, header })
    }

    /// The segment as a file of the journal's folder that can be written: out of the archive, where it is there.
    pub(crate) fn unpacked(self, folder: &Path) -> Result<Self, StorageError> {
        if !packed::is_packed(&self.path) {
            return Ok(self);
        }
        let path = folder.join(file_name(self.header.first));
        let unfinished = path.with_extension("unpacking");
        packed::unpack_to(&self.path, &unfinished)?;
        OsFileSystem.rename(&unfinished, &path).map_err(StorageError::io("unpack", &path))?;
        OsFileSystem.remove(&self.path).map_err(StorageError::io("remove", &self.path))?;
        Ok(Self { path, ..self })
    }

    /// `self` must be the very next segment after `before`.
    pub(crate) fn check_follows(&self, before: Option<&Self>) -> Result<(), StorageError> {
        let expected = before.map_or(1, |before| before.header.number + 1);
        if self.header.number != expected {
            let reason = format!("it is segment {}, but segment {expected} is missing before it", self.header.number);
            return Err(StorageError::damaged(&self.path, 0, reason));
        }
        match before {
            Some(before) => self.check_instance(before.header.instance),
            None => Ok(()),
        }
    }

    /// `self` must be the next segment after `before`, or the first one of the journal.
    pub(crate) fn check_place(&self, before: Option<&Self>, floor: Option<&JournalFloor>) -> Result<(), StorageError> {
        match before {
            Some(_) => self.check_follows(before),
            None => self.check_begins(floor),
        }
    }

    /// `self` must be the first segment of a journal: the one after the floor, or the very first.
    fn check_begins(&self, floor: Option<&JournalFloor>) -> Result<(), StorageError> {
        let Some(floor) = floor else { return self.check_follows(None) };
        let SegmentHeader { number, previous, .. } = &self.header;
        if *number != floor.segment + 1 || *previous != floor.hash {
            let reason =
                format!("it is segment {number}, and does not continue the floor after segment {}", floor.segment);
            return Err(StorageError::damaged(&self.path, 0, reason));
        }
        self.check_instance(floor.instance)
    }

    pub(crate) fn check_instance(&self, expected: InstanceId) -> Result<(), StorageError> {
        let found = self.header.instance;
        if found == expected {
            return Ok(());
        }
        let reason = format!("it belongs to the journal of instance {found}, not {expected}");
        Err(StorageError::damaged(&self.path, 0, reason))
    }
}

fn read_header(file: &File, path: &Path) -> Result<SegmentHeader, StorageError> {
    let mut bytes = [0; HEADER_BYTES];
    match file.read_exact_at(&mut bytes, 0) {
        Ok(()) => SegmentHeader::decode(&bytes).map_err(|reason| StorageError::damaged(path, 0, reason)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Err(StorageError::damaged(path, 0, "it is shorter than a segment header"))
        }
        Err(error) => Err(StorageError::io("read", path)(error)),
    }
}

pub(crate) fn file_name(first: u64) -> String {
    format!("{first:0NAME_DIGITS$}{EXTENSION}")
}

/// A segment that was archived since it was listed is found there.
fn open_file(path: PathBuf) -> Result<(PathBuf, File), StorageError> {
    if packed::is_packed(&path) {
        let file = packed::unpack(&path)?;
        return Ok((path, file));
    }
    match File::open(&path) {
        Ok(file) => Ok((path, file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound && packed::path_of(&path).exists() => {
            let path = packed::path_of(&path);
            packed::unpack(&path).map(|file| (path, file))
        }
        Err(error) => Err(StorageError::io("open", &path)(error)),
    }
}

/// The segments of a journal and of its archive above the floor, as (first sequence, path), in order. Other files are ignored.
pub(crate) fn list(folder: &Path) -> Result<Vec<(u64, PathBuf)>, StorageError> {
    Ok(list_from_floor(folder)?.segments)
}

/// The segments of a journal, with the floor that they begin at. Both are of one moment: with a floor that was read apart, a prune
/// between the two would look like damage.
pub(crate) struct ListedSegments {
    pub(crate) floor: Option<JournalFloor>,
    /// In order, by their first sequence.
    pub(crate) segments: Vec<(u64, PathBuf)>,
}

pub(crate) fn list_from_floor(folder: &Path) -> Result<ListedSegments, StorageError> {
    // In this order: a segment comes into the archive before it leaves the journal.
    let mut found: BTreeMap<u64, PathBuf> = list_in(folder)?.into_iter().collect();
    for (first, path) in list_archive(folder)? {
        found.entry(first).or_insert(path);
    }
    // Read last: what is not listed any more is below it.
    let floor = floor::read_floor(folder)?;
    let below = floor.map_or(0, |floor| floor.sequence);
    Ok(ListedSegments { floor, segments: found.into_iter().filter(|(first, _)| *first > below).collect() })
}

/// Reads the segments of a journal. Where a prune took some of them away meanwhile, they are listed and read again; every prune
/// leaves fewer, so this ends.
pub(crate) fn read_listed<T>(
    folder: &Path,
    mut read: impl FnMut(ListedSegments) -> Result<T, StorageError>,
) -> Result<T, StorageError> {
    loop {
        let listed = list_from_floor(folder)?;
        let floor = listed.floor;
        let outcome = read(listed);
        if outcome.is_ok() || floor::read_floor(folder)? == floor {
            return outcome;
        }
    }
}

/// Those of the archive alone, also below the floor.
pub(crate) fn list_archive(folder: &Path) -> Result<Vec<(u64, PathBuf)>, StorageError> {
    let archive = packed::folder_of(folder);
    if archive.is_dir() { list_in(&archive) } else { Ok(Vec::new()) }
}

fn list_in(folder: &Path) -> Result<Vec<(u64, PathBuf)>, StorageError> {
    let failed = || StorageError::io("list", folder);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed())? {
        let path = entry.map_err(failed())?.path();
        found.extend(first_in_path(&path).map(|first| (first, path)));
    }
    found.sort();
    Ok(found)
}

/// What there is to read in these segments; only the last has much room that is not used.
pub(crate) fn total_bytes<'a>(paths: impl Iterator<Item = &'a Path>) -> Result<u64, StorageError> {
    let mut paths = paths.peekable();
    let mut total = 0;
    while let Some(path) = paths.next() {
        // One that was archived since it was listed counts as nothing here; whoever reads it finds it.
        let Ok(file) = File::open(path) else { continue };
        let length = match paths.peek() {
            Some(_) => file.metadata().map(|found| found.len()),
            None => tail::used_bytes(&file),
        };
        total += length.map_err(StorageError::io("read", path))?;
    }
    Ok(total)
}

fn first_in_path(path: &Path) -> Option<u64> {
    let stem = if packed::is_packed(path) { path.file_stem() } else { path.file_name() };
    let name = stem?.to_str()?;
    let first = name.strip_suffix(EXTENSION)?.parse().ok()?;
    (file_name(first) == name).then_some(first)
}
