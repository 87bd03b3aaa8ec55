//! Retention of the archive: its oldest segments are verified once more, a floor is written that the chain goes on from, and then they
//! are deleted. A server may run.
//!
//! Nothing is deleted that is damaged, that no snapshot stands in for, or, where copies are asked for, that no backup has.

use std::fs;
use std::path::{Path, PathBuf};

use super::copy::{CopiedSegment, walk_sealed};
use crate::StorageError;
use crate::file_system::{FileSystem, OsFileSystem};
use crate::journal::format::floor::{self, JournalFloor};
use crate::journal::format::packed;
use crate::journal::format::segment::{self, Segment};
use crate::journal::format::segment_reader::SegmentReader;
use crate::journal::scan::ScanProgress;
use crate::lock::DataDirLock;

/// What may go.
#[derive(Debug, Clone, Copy)]
pub struct PruneLimits<'a> {
    /// A segment whose last record is older is deleted; nanoseconds since 1970, UTC.
    pub older_than: i64,
    /// As long as the packed segments have more bytes, the oldest is deleted.
    pub bytes_max: u64,
    /// Records up to here are in a state that is kept.
    pub covered: u64,
    /// Files with copies of segments; where they are given, what has no good copy stays.
    pub copies: Option<&'a [(PathBuf, CopiedSegment)]>,
}

/// Why a segment that is due stays, and those after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PruneStop {
    NotCovered { last: u64 },
    NotCopied { last: u64 },
}

/// What was deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    pub segments: usize,
    pub bytes: u64,
    /// Where the journal begins now.
    pub floor: Option<JournalFloor>,
    pub stop: Option<PruneStop>,
}

/// Deletes the oldest packed segments of a journal as far as the limits say.
pub fn prune(
    data_folder: &Path,
    limits: PruneLimits<'_>,
    progress: &mut dyn FnMut(ScanProgress),
) -> Result<Pruned, StorageError> {
    prune_on(&OsFileSystem, data_folder, limits, progress)
}

/// As [`prune`], through a file system of the caller.
pub fn prune_on(
    disk: &dyn FileSystem,
    data_folder: &Path,
    limits: PruneLimits<'_>,
    progress: &mut dyn FnMut(ScanProgress),
) -> Result<Pruned, StorageError> {
    let folder = data_folder.join(crate::journal::FOLDER);
    let archive = packed::folder_of(&folder);
    if !archive.is_dir() {
        return Ok(Pruned::default());
    }
    let _one_at_a_time = DataDirLock::acquire(&archive)?;
    let mut plan = PrunePlan::new(floor::read_floor(&folder)?);
    plan.stop = plan.choose(&segment::list(&folder)?, limits, progress)?;
    if let Some(floor) = plan.floor.as_ref().filter(|_| !plan.due.is_empty()) {
        floor::write(disk, &folder, floor)?;
    }
    // Also what a prune that was cut off has left below the floor.
    let below = plan.floor.map_or(0, |floor| floor.sequence);
    for (_, path) in segment::list_archive(&folder)?.into_iter().filter(|(first, _)| *first <= below) {
        disk.remove(&path).map_err(StorageError::io("remove", &path))?;
    }
    let PrunePlan { due, bytes, floor, stop, .. } = plan;
    Ok(Pruned { segments: due.len(), bytes, floor, stop })
}

/// What is due, verified up to the floor that is to be.
struct PrunePlan {
    floor: Option<JournalFloor>,
    before: Option<Segment>,
    due: Vec<PathBuf>,
    bytes: u64,
    stop: Option<PruneStop>,
}

impl PrunePlan {
    fn new(floor: Option<JournalFloor>) -> Self {
        Self { floor, before: None, due: Vec::new(), bytes: 0, stop: None }
    }

    /// From the oldest on, up to the first that stays. The last segment of a journal always does.
    fn choose(
        &mut self,
        listed: &[(u64, PathBuf)],
        limits: PruneLimits<'_>,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<Option<PruneStop>, StorageError> {
        let packed = listed.iter().take_while(|(_, path)| packed::is_packed(path));
        let sizes: Vec<u64> = packed.map(|(_, path)| fs::metadata(path).map_or(0, |found| found.len())).collect();
        let total: u64 = sizes.iter().sum();
        for ((pair, size), read) in listed.windows(2).zip(&sizes).zip(1..) {
            let is_too_much = total - self.bytes > limits.bytes_max;
            if !is_too_much && limits.older_than == i64::MIN {
                return Ok(None);
            }
            let (found, checked) = self.verify(&pair[0].1, &pair[1].1)?;
            if !is_too_much && checked.time >= limits.older_than {
                return Ok(None);
            }
            if let Some(stop) = stop_at(&checked, limits)? {
                return Ok(Some(stop));
            }
            self.add(found, &checked, *size);
            progress(ScanProgress { read, total: sizes.len() as u64 });
        }
        Ok(None)
    }

    /// Every frame, that it continues what is before it, and that the next segment continues it.
    fn verify(&self, path: &Path, next: &Path) -> Result<(Segment, CopiedSegment), StorageError> {
        let (found, file) = Segment::open(path.to_owned())?;
        found.check_place(self.before.as_ref(), self.floor.as_ref())?;
        if self.floor.as_ref().is_some_and(|floor| floor.hash != found.header.previous) {
            return Err(StorageError::damaged(path, 0, "it continues a frame that is not here"));
        }
        let next = Segment::look(next.to_owned())?;
        next.check_follows(Some(&found))?;
        let checked = walk_sealed(SegmentReader::new(found.clone(), file)?, &next, &mut |_| {})?;
        Ok((found, checked))
    }

    fn add(&mut self, found: Segment, checked: &CopiedSegment, size: u64) {
        let (instance, segment) = (found.header.instance, found.header.number);
        self.floor = Some(JournalFloor { instance, segment, sequence: checked.last, hash: checked.head });
        self.due.push(found.path.clone());
        self.bytes += size;
        self.before = Some(found);
    }
}

fn stop_at(checked: &CopiedSegment, limits: PruneLimits<'_>) -> Result<Option<PruneStop>, StorageError> {
    if checked.last > limits.covered {
        return Ok(Some(PruneStop::NotCovered { last: checked.last }));
    }
    let Some(copies) = limits.copies else { return Ok(None) };
    let is_same = |(_, copy): &&(PathBuf, CopiedSegment)| copy.first == checked.first && copy.head == checked.head;
    let is_copied = match copies.iter().find(is_same) {
        Some((path, _)) if path.exists() => is_good_copy(path, checked)?,
        _ => false,
    };
    Ok((!is_copied).then_some(PruneStop::NotCopied { last: checked.last }))
}

/// Read again: a copy that is damaged is none.
fn is_good_copy(path: &Path, checked: &CopiedSegment) -> Result<bool, StorageError> {
    let (found, file) = Segment::open(path.to_owned())?;
    let mut frames = SegmentReader::new(found, file)?;
    while frames.step()?.is_ok() {}
    Ok(frames.head() == checked.head)
}
