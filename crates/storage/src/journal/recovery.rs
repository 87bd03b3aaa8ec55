//! Journal recovery: cuts a torn end, drops an unused segment, syncs what was only written.

use std::path::Path;

use super::scan::{JournalScan, JournalSummary};
use super::segment::{HEADER_BYTES, Segment};
use super::writer::OpenSegment;
use crate::block::BlockPosition;
use crate::file_system::{FileSystem, zero_fill};
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
    let open = last.map(|(segment, end)| reopen(disk, &segment, end, scan.summary.torn.as_ref())).transpose()?;
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
) -> Result<OpenSegment, StorageError> {
    let Segment { path, header } = segment;
    let medium = disk.open(path).map_err(StorageError::io("open", path))?;
    let dirty = torn.filter(|torn| torn.file == *path).map_or(0, |torn| torn.bytes);
    let length = std::fs::metadata(path).map_err(StorageError::io("read", path))?.len();
    zero_fill(medium.as_ref(), end, end + dirty)
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
