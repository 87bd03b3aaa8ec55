//! Journal recovery: cuts a torn end, drops an unused segment, syncs what was only written.

use std::fs::File;
use std::io;
use std::path::Path;

use domain::PlantedBug;

use super::format::segment::{HEADER_BYTES, Segment};
use super::scan::{JournalScan, JournalSummary};
use super::writer::OpenSegment;
use crate::block::BlockPosition;
use crate::file_system::{FileSystem, WritableFile, unshare, write_all_at, zero_fill};
use crate::tail;
use crate::{StorageError, TornWrite};

/// Repairs the end of a journal that was walked through. Gives the segment to go on with, if there is one.
pub(crate) fn repair(
    disk: &dyn FileSystem,
    folder: &Path,
    mut scan: JournalScan,
) -> Result<(JournalSummary, Option<OpenSegment>), StorageError> {
    if let Some(torn) = &scan.summary.torn {
        tracing::warn!(%torn, "torn write at the end of the journal was cut (crash during the last write)");
    }
    let last = match scan.last {
        Some((unused, end)) if end == HEADER_BYTES as u64 => {
            drop_unused(disk, &unused, &mut scan.summary)?;
            scan.before_last
        }
        last => last,
    };
    disk.sync_folder(folder).map_err(StorageError::io("sync", folder))?;
    let (torn, synced) = (scan.summary.torn.as_ref(), scan.synced);
    let reopen = |(segment, end): (Segment, u64)| reopen(disk, &segment.unpacked(folder)?, end, torn, synced);
    let open = last.map(reopen).transpose()?;
    Ok((scan.summary, open))
}

/// A crash came between the header and the first frame. The next frame may have another sequence than the one
/// that this file is named for, so it goes.
fn drop_unused(disk: &dyn FileSystem, unused: &Segment, found: &mut JournalSummary) -> Result<(), StorageError> {
    disk.remove(&unused.path).map_err(StorageError::io("remove", &unused.path))?;
    found.segments -= 1;
    found.bytes -= HEADER_BYTES as u64;
    Ok(())
}

fn reopen(
    disk: &dyn FileSystem,
    segment: &Segment,
    end: u64,
    torn: Option<&TornWrite>,
    synced: Option<(u64, u64)>,
) -> Result<OpenSegment, StorageError> {
    let Segment { path, header } = segment;
    unshare(disk, path).map_err(StorageError::io("copy", path))?;
    let medium = disk.open(path).map_err(StorageError::io("open", path))?;
    let dirty = torn.filter(|torn| torn.file == *path).map_or(0, |torn| torn.bytes);
    let length = std::fs::metadata(path).map_err(StorageError::io("read", path))?.len();
    let from = synced.filter(|(number, _)| *number == header.number).map_or(HEADER_BYTES as u64, |(_, offset)| offset);
    rewrite(medium.as_ref(), path, from, end)
        .and_then(|()| zero_fill(medium.as_ref(), end, end + dirty))
        .and_then(|()| zero_fill(medium.as_ref(), length.max(end), header.capacity))
        // Also where nothing was cut: frames found here may never have been synced, and now they count.
        .and_then(|()| medium.sync())
        .map_err(StorageError::io("repair the end of", path))?;
    Ok(OpenSegment {
        path: path.clone(),
        medium,
        number: header.number,
        capacity: header.capacity,
        position: BlockPosition { offset: end, ..header.frames_start() },
    })
}

/// Frames that were found behind the head may be in the memory of the machine only: after a sync that failed it takes them for
/// synced, and syncs them no more. What is written again is synced again.
fn rewrite(medium: &dyn WritableFile, path: &Path, from: u64, end: u64) -> io::Result<()> {
    if PlantedBug::SkipRewrite.is_planted() {
        return Ok(());
    }
    let found = tail::read_range(&File::open(path)?, from, end.saturating_sub(from))?;
    write_all_at(medium, &found, from)
}
