//! Copies of a journal: into a backup while it is written, and back from one. Every frame is checked on its way.
//!
//! A sealed segment never changes, so a backup shares its file (a hard link) where it can. Of the segment that is being
//! written, the frames up to the limit are copied.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::StorageError;
use crate::block::BlockPosition;
use crate::file_system::{FileSystem, OsFileSystem, SequentialWriter, copy_durable, write_durable};
use crate::journal::format::chain::{ChainHash, InstanceId};
use crate::journal::format::floor::{self, JournalFloor};
use crate::journal::format::frame::{FrameBuilder, JournalFrame, RecordCursor};
use crate::journal::format::packed;
use crate::journal::format::record::{JournalBatch, JournalRecord};
use crate::journal::format::segment::{self, HEADER_BYTES, ListedSegments, Segment};
use crate::journal::format::segment_reader::SegmentReader;
use crate::journal::head::{self, Head};
use crate::journal::scan::ScanProgress;

const UNFINISHED_EXTENSION: &str = "new";

/// The last record of a copy: the first one beyond either limit ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyLimit {
    pub sequence: u64,
    /// Nanoseconds since 1970, UTC.
    pub time: i64,
}

/// One segment of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopiedSegment {
    /// The name of its file.
    pub file: String,
    pub first: u64,
    pub last: u64,
    /// Of the last record.
    pub time: i64,
    /// Header and frames.
    pub bytes: u64,
    /// The hash of the last frame.
    pub head: ChainHash,
}

/// A copy, with at least one segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopiedJournal {
    pub instance: InstanceId,
    /// Where it begins, if not even an earlier copy has what is before.
    pub floor: Option<JournalFloor>,
    pub segments: Vec<CopiedSegment>,
}

/// Where a backup keeps segments.
#[derive(Debug, Clone, Copy)]
pub struct BackupFolders<'a> {
    /// Sealed ones, shared by all backups.
    pub sealed: &'a Path,
    /// The one that was being written, of this backup alone.
    pub tail: &'a Path,
}

/// What a backup has from before.
#[derive(Debug, Clone, Copy, Default)]
pub struct EarlierCopies<'a> {
    /// In order, without one that was still written to.
    pub segments: &'a [CopiedSegment],
    /// Where they begin.
    pub floor: Option<JournalFloor>,
    /// Whether they are read again; else they were checked when they came there.
    pub is_read_again: bool,
}

impl<'a> EarlierCopies<'a> {
    /// Those that the journal has no more, up to its floor: a backup keeps what the archive has deleted. None where they do not lead there.
    fn below(&self, floor: &JournalFloor, sealed: &Path) -> Option<&'a [CopiedSegment]> {
        let count = self.segments.iter().take_while(|segment| segment.last <= floor.sequence).count();
        let older = &self.segments[..count];
        let is_whole = older.iter().all(|segment| sealed.join(&segment.file).exists());
        let ends_there = older.last().is_some_and(|last| last.head == floor.hash);
        (is_whole && ends_there).then_some(older)
    }

    fn find(&self, first: u64) -> Option<&'a CopiedSegment> {
        self.segments.iter().find(|segment| segment.first == first).filter(|_| !self.is_read_again)
    }
}

impl CopyLimit {
    pub const NONE: Self = Self { sequence: u64::MAX, time: i64::MAX };

    pub fn at_sequence(sequence: u64) -> Self {
        Self { sequence, ..Self::NONE }
    }

    fn has(&self, sequence: u64, time: i64) -> bool {
        sequence <= self.sequence && time <= self.time
    }
}

impl CopiedJournal {
    pub fn end(&self) -> Option<&CopiedSegment> {
        self.segments.last()
    }
}

/// How far a journal is surely on the disk, by its head file; none where that says nothing. A server may run.
pub fn durable_head(data_folder: &Path) -> Result<Option<Head>, StorageError> {
    const TRIES: usize = 100;
    let folder = data_folder.join(crate::journal::FOLDER);
    let mut found = head::read(&folder);
    // It is written in place: what is read may be half of two.
    for _ in 1..TRIES {
        if !matches!(found, Err(StorageError::Damaged(_))) {
            break;
        }
        found = head::read(&folder);
    }
    found
}

/// Copies a journal up to a sequence, also one that is being written; what `earlier` names is in `to` already. Where it fails,
/// everything that is complete in `to` stays usable.
pub fn back_up(
    data_folder: &Path,
    limit: u64,
    earlier: EarlierCopies<'_>,
    to: BackupFolders<'_>,
    progress: &mut dyn FnMut(ScanProgress),
) -> Result<CopiedJournal, StorageError> {
    back_up_on(&OsFileSystem, data_folder, limit, earlier, to, progress)
}

/// As [`back_up`], through a file system of the caller.
pub fn back_up_on(
    disk: &dyn FileSystem,
    data_folder: &Path,
    limit: u64,
    earlier: EarlierCopies<'_>,
    to: BackupFolders<'_>,
    progress: &mut dyn FnMut(ScanProgress),
) -> Result<CopiedJournal, StorageError> {
    let folder = data_folder.join(crate::journal::FOLDER);
    segment::read_listed(&folder, |listed| back_up_listed(disk, listed, limit, earlier, to, progress))
}

fn back_up_listed(
    disk: &dyn FileSystem,
    listed: ListedSegments,
    limit: u64,
    earlier: EarlierCopies<'_>,
    to: BackupFolders<'_>,
    progress: &mut dyn FnMut(ScanProgress),
) -> Result<CopiedJournal, StorageError> {
    let begins = listed.floor;
    let listed: Vec<_> = listed.segments.into_iter().filter(|(first, _)| *first <= limit).collect();
    let (mut segments, floor) = match begins.and_then(|floor| earlier.below(&floor, to.sealed)) {
        Some(older) => (older.to_vec(), earlier.floor),
        None => (Vec::with_capacity(listed.len()), begins),
    };
    if earlier.is_read_again {
        check_again(&segments, floor.as_ref(), to.sealed)?;
    }
    let total = unknown_bytes(&listed, &earlier);
    let mut work = BackupWork { disk, to, begins, before: None, read: 0, total, progress };
    for (index, (first, path)) in listed.iter().enumerate() {
        let copied = match listed.get(index + 1) {
            Some((_, next)) => work.sealed(path, next, earlier.find(*first))?,
            None => work.tail(path, limit)?,
        };
        segments.extend(copied);
    }
    sync_folder(disk, to.sealed)?;
    sync_folder(disk, to.tail)?;
    let Some(before) = work.before.filter(|_| !segments.is_empty()) else {
        let reason = "there is no record in the journal yet".to_owned();
        return Err(StorageError::Setting { name: "backup", reason });
    };
    Ok(CopiedJournal { instance: before.header.instance, floor, segments })
}

/// Copies of segments that the journal has no more.
fn check_again(older: &[CopiedSegment], floor: Option<&JournalFloor>, sealed: &Path) -> Result<(), StorageError> {
    let mut before: Option<Segment> = None;
    let mut head = floor.map_or(ChainHash::GENESIS, |floor| floor.hash);
    for known in older {
        let path = sealed.join(&known.file);
        let (found, file) = Segment::open(path.clone())?;
        found.check_place(before.as_ref(), floor)?;
        let mut frames = SegmentReader::new(found.clone(), file)?;
        let is_continued = found.header.previous == head;
        while frames.step()?.is_ok() {}
        if !is_continued || frames.head() != known.head {
            return Err(StorageError::damaged(&path, frames.offset(), "it is not what the backup says"));
        }
        (head, before) = (known.head, Some(found));
    }
    Ok(())
}

fn unknown_bytes(listed: &[(u64, PathBuf)], earlier: &EarlierCopies<'_>) -> u64 {
    let new = listed.iter().filter(|(first, _)| earlier.find(*first).is_none());
    new.map(|(_, path)| fs::metadata(path).map_or(0, |found| found.len())).sum()
}

struct BackupWork<'a> {
    disk: &'a dyn FileSystem,
    to: BackupFolders<'a>,
    /// Where the journal begins.
    begins: Option<JournalFloor>,
    /// The segment before the one that is copied.
    before: Option<Segment>,
    read: u64,
    total: u64,
    progress: &'a mut dyn FnMut(ScanProgress),
}

impl BackupWork<'_> {
    /// A segment behind which another has frames on the disk.
    fn sealed(
        &mut self,
        path: &Path,
        next: &Path,
        known: Option<&CopiedSegment>,
    ) -> Result<Option<CopiedSegment>, StorageError> {
        let next = Segment::look(next.to_owned())?;
        let found = Segment::look(path.to_owned())?;
        found.check_place(self.before.as_ref(), self.begins.as_ref())?;
        let target = self.to.sealed.join(segment::file_name(found.header.first));
        let is_known = |known: &&CopiedSegment| {
            known.first == found.header.first && known.head == next.header.previous && target.exists()
        };
        let copied = match known.filter(is_known) {
            Some(known) => known.clone(),
            None => self.share(path, &target, &next)?,
        };
        self.before = Some(found);
        Ok(Some(copied))
    }

    /// The file gets its name in the backup when all of it was read there and is good.
    fn share(&mut self, path: &Path, target: &Path, next: &Segment) -> Result<CopiedSegment, StorageError> {
        let unfinished = target.with_extension(UNFINISHED_EXTENSION);
        let found = Segment::look(path.to_owned())?;
        if packed::is_packed(&found.path) {
            packed::unpack_on(self.disk, &found.path, &unfinished)?;
        } else {
            link_or_copy(self.disk, path, &unfinished).map_err(StorageError::io("copy", path))?;
        }
        let file = File::open(&unfinished).map_err(StorageError::io("open", &unfinished))?;
        let copied = self.walk(SegmentReader::new(found, file)?, next)?;
        self.disk.rename(&unfinished, target).map_err(StorageError::io("rename", &unfinished))?;
        Ok(copied)
    }

    fn walk(&mut self, frames: SegmentReader, next: &Segment) -> Result<CopiedSegment, StorageError> {
        let capacity = frames.segment().header.capacity;
        let copied = walk_sealed(frames, next, &mut |offset| self.show(offset))?;
        self.read += capacity;
        Ok(copied)
    }

    fn tail(&mut self, path: &Path, limit: u64) -> Result<Option<CopiedSegment>, StorageError> {
        let (found, file) = Segment::open(path.to_owned())?;
        found.check_place(self.before.as_ref(), self.begins.as_ref())?;
        self.before = Some(found.clone());
        let mut frames = SegmentReader::new(found, file)?;
        let read = self.read;
        let (progress, total) = (&mut *self.progress, self.total);
        let mut show = |offset: u64| progress(ScanProgress { read: total.min(read + offset), total });
        copy_frames(self.disk, &mut frames, self.to.tail, CopyLimit::at_sequence(limit), &mut show)
            .map(|(copied, _)| copied)
    }

    fn show(&mut self, offset: u64) {
        let total = self.total;
        (self.progress)(ScanProgress { read: total.min(self.read + offset), total });
    }
}

/// Checks every frame of a segment, and that the next one continues it.
pub(super) fn walk_sealed(
    mut frames: SegmentReader,
    next: &Segment,
    progress: &mut dyn FnMut(u64),
) -> Result<CopiedSegment, StorageError> {
    let mut copied = begin(&frames);
    let fault = loop {
        let frame = match frames.step()? {
            Ok(frame) => frame,
            Err(fault) => break fault,
        };
        let time = last_time(&frames, &frame);
        note(&mut copied, frame.last, time, frames.offset(), frames.head());
        progress(frames.offset());
    };
    frames.check_sealed(fault, &next.header)?;
    Ok(copied)
}

/// Copies the segments of a backup, in order, into an empty folder, up to the limit and with a head file; checks every frame and
/// that each segment ends as the backup says. `floor` is where the backup begins.
pub fn restore(
    segments: &[(PathBuf, CopiedSegment)],
    floor: Option<JournalFloor>,
    limit: CopyLimit,
    data_folder: &Path,
    progress: &mut dyn FnMut(ScanProgress),
) -> Result<CopiedJournal, StorageError> {
    restore_on(&OsFileSystem, segments, floor, limit, data_folder, progress)
}

/// As [`restore`], through a file system of the caller.
pub fn restore_on(
    disk: &dyn FileSystem,
    segments: &[(PathBuf, CopiedSegment)],
    floor: Option<JournalFloor>,
    limit: CopyLimit,
    data_folder: &Path,
    progress: &mut dyn FnMut(ScanProgress),
) -> Result<CopiedJournal, StorageError> {
    let folder = data_folder.join(crate::journal::FOLDER);
    fs::create_dir_all(&folder).map_err(StorageError::io("create", &folder))?;
    if let Some(floor) = &floor {
        let archive = packed::folder_of(&folder);
        fs::create_dir_all(&archive).map_err(StorageError::io("create", &archive))?;
        floor::write(disk, &folder, floor)?;
    }
    let total: u64 = segments.iter().map(|(_, segment)| segment.bytes).sum();
    let (mut read, mut before, mut copies) = (0, None, Vec::new());
    for (path, expected) in segments {
        let (found, file) = Segment::open(path.clone())?;
        found.check_place(before.as_ref(), floor.as_ref())?;
        if copies.last().is_some_and(|last: &CopiedSegment| last.head != found.header.previous) {
            return Err(StorageError::damaged(path, 0, "it continues a frame that is not here"));
        }
        let mut frames = SegmentReader::new(found.clone(), file)?;
        let mut show = |offset: u64| progress(ScanProgress { read: total.min(read + offset), total });
        let (copied, is_whole) = copy_frames(disk, &mut frames, &folder, limit, &mut show)?;
        if is_whole && copied.as_ref().is_none_or(|copied| copied.head != expected.head) {
            let reason = format!("it does not end with record {} as its backup says", expected.last);
            return Err(StorageError::damaged(path, frames.offset(), reason));
        }
        read += expected.bytes;
        before = Some(found);
        copies.extend(copied);
        if !is_whole {
            break;
        }
    }
    finish(disk, &folder, floor, before, copies)
}

fn finish(
    disk: &dyn FileSystem,
    folder: &Path,
    floor: Option<JournalFloor>,
    before: Option<Segment>,
    segments: Vec<CopiedSegment>,
) -> Result<CopiedJournal, StorageError> {
    let (Some(Segment { header, .. }), Some(end)) = (before, segments.last()) else {
        let reason = "the backup has no record up to there".to_owned();
        return Err(StorageError::Setting { name: "--to", reason });
    };
    let head = Head { instance: header.instance, sequence: end.last, hash: end.head };
    let path = folder.join(head::FILE);
    write_durable(disk, &path, &head.encode()).map_err(StorageError::io("write", &path))?;
    sync_folder(disk, folder)?;
    Ok(CopiedJournal { instance: header.instance, floor, segments })
}

/// Copies the frames of a segment up to the limit into a file of the same name in another folder, and says whether that is all of
/// it. Nothing is left where not even the first record is within the limit.
fn copy_frames(
    disk: &dyn FileSystem,
    frames: &mut SegmentReader,
    folder: &Path,
    limit: CopyLimit,
    progress: &mut dyn FnMut(u64),
) -> Result<(Option<CopiedSegment>, bool), StorageError> {
    let mut copied = begin(frames);
    let path = folder.join(&copied.file);
    let failed = || StorageError::io("write", &path);
    let mut file = BufWriter::new(SequentialWriter::create(disk, &path).map_err(failed())?);
    file.write_all(&frames.segment().header.encode()).map_err(failed())?;
    let mut is_whole = true;
    loop {
        let place = BlockPosition { offset: frames.offset(), ..frames.segment().header.frames_start() };
        let Ok(frame) = frames.step()? else { break };
        let time = last_time(frames, &frame);
        if limit.has(frame.last, time) {
            file.write_all(frames.block()).map_err(failed())?;
            note(&mut copied, frame.last, time, frames.offset(), frames.head());
            progress(frames.offset());
            continue;
        }
        is_whole = false;
        if let Some((bytes, last, time, head)) = part_of(frames.body(), place, &frame, limit) {
            file.write_all(&bytes).map_err(failed())?;
            note(&mut copied, last, time, place.offset + bytes.len() as u64, head);
        }
        break;
    }
    let file = file.into_inner().map_err(|error| failed()(error.into_error()))?;
    file.file.sync().map_err(failed())?;
    if copied.last == 0 {
        disk.remove(&path).map_err(StorageError::io("remove", &path))?;
        return Ok((None, is_whole));
    }
    Ok((Some(copied), is_whole))
}

/// The records of a frame that are within the limit, as a frame of their own: many commands share a frame.
fn part_of(
    body: &[u8],
    place: BlockPosition,
    frame: &JournalFrame,
    limit: CopyLimit,
) -> Option<(Vec<u8>, u64, i64, ChainHash)> {
    let mut part = FrameBuilder::new();
    let mut cursor = RecordCursor::start();
    let mut last = None;
    while let Some(entry) = cursor.next(body).filter(|entry| limit.has(entry.sequence, entry.time)) {
        let record = JournalRecord { sequence: entry.sequence, kind: entry.kind, payload: entry.payload.to_vec() };
        part.push(&JournalBatch { time: entry.time, records: vec![record] });
        last = Some((entry.sequence, entry.time));
    }
    let (sequence, time) = last?;
    let head = part.finish(place, frame.previous);
    Some((part.bytes().to_vec(), sequence, time, head))
}

fn begin(frames: &SegmentReader) -> CopiedSegment {
    let header = &frames.segment().header;
    CopiedSegment {
        file: segment::file_name(header.first),
        first: header.first,
        last: 0,
        time: 0,
        bytes: HEADER_BYTES as u64,
        head: header.previous,
    }
}

fn note(copied: &mut CopiedSegment, last: u64, time: i64, bytes: u64, head: ChainHash) {
    (copied.last, copied.time, copied.bytes, copied.head) = (last, time, bytes, head);
}

/// The latest time of a frame's records.
fn last_time(frames: &SegmentReader, frame: &JournalFrame) -> i64 {
    let mut cursor = RecordCursor::start();
    let times = std::iter::from_fn(|| cursor.next(frames.body()).map(|entry| entry.time));
    times.take(frame.count as usize).max().unwrap_or(i64::MIN)
}

/// One file under two names where both are on one disk, else a copy.
fn link_or_copy(disk: &dyn FileSystem, from: &Path, to: &Path) -> io::Result<()> {
    if to.exists() {
        disk.remove(to)?;
    }
    if disk.link(from, to).is_ok() {
        return Ok(());
    }
    copy_durable(disk, from, to)
}

fn sync_folder(disk: &dyn FileSystem, folder: &Path) -> Result<(), StorageError> {
    disk.sync_folder(folder).map_err(StorageError::io("sync", folder))
}
