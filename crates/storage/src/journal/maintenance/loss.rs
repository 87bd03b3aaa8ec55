//! Accepted loss: cuts a journal whose end is gone behind its last good record, and keeps what it removes beside it. The
//! caller must name the last record that stays, so that it never happens by accident.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use crate::file_system::{FileSystem, OsFileSystem, zero_fill};
use crate::journal::format::chain::{ChainHash, InstanceId};
use crate::journal::format::segment::{self, HEADER_BYTES, Segment};
use crate::journal::head;
use crate::journal::scan::JournalScan;
use crate::lock::DataDirLock;
use crate::{Damage, StorageError};

/// What was found when the end was cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The last sequence that stays.
    pub end: u64,
    pub damage: Option<Damage>,
}

/// The highest sequence of which the head file knows; a damaged one claims nothing.
pub fn head_sequence(data_folder: &Path) -> Option<u64> {
    head::read(&data_folder.join(crate::journal::FOLDER)).ok().flatten().map(|head| head.sequence)
}

/// Cuts the journal behind `up_to`, which must be its last good record; files that lose something are kept in `aside`, a folder
/// of the same data folder. Until a first record is written by [`Journal::open_after_loss`], which must be above `known`, the
/// head file says that something is missing, so that a crash in between is no way around.
///
/// [`Journal::open_after_loss`]: crate::journal::Journal::open_after_loss
pub fn accept(
    lock: &DataDirLock,
    instance: InstanceId,
    up_to: u64,
    known: u64,
    aside: &Path,
) -> Result<Left, StorageError> {
    let folder = lock.folder().join(crate::journal::FOLDER);
    let mut scan = JournalScan::new(None);
    let damage = match scan.run(&folder, Some(instance), &mut |_| {}) {
        Ok(()) => None,
        Err(StorageError::Damaged(damage)) => Some(damage),
        Err(other) => return Err(other),
    };
    let end = scan.summary.last_sequence;
    if end != up_to {
        let reason = format!("the journal is good up to {end}, so {end} is the number to give, not {up_to}");
        return Err(StorageError::Setting { name: "--up-to", reason });
    }
    let failed = || StorageError::io("cut the end of", &folder);
    let aside = aside.join(crate::journal::FOLDER);
    keep_head(&folder, instance, known, &aside).map_err(failed())?;
    cut(&folder, &aside, scan.at.as_ref()).map_err(failed())?;
    Ok(Left { end, damage })
}

/// The head as it was is kept; the one that stays claims all that anybody knew, and fits no journal.
fn keep_head(folder: &Path, instance: InstanceId, known: u64, aside: &Path) -> io::Result<()> {
    fs::create_dir_all(aside)?;
    let path = folder.join(head::FILE);
    if path.exists() {
        fs::copy(&path, aside.join(head::FILE))?;
    }
    // Never a moment without a head: an empty one would claim nothing, and the short journal would open.
    let written = folder.join("head.new");
    fs::write(&written, head::Head { instance, sequence: known, hash: ChainHash::GENESIS }.encode())?;
    sync_file(&written)?;
    fs::rename(&written, &path)?;
    OsFileSystem.sync_folder(folder)
}

/// Makes the head durable; a writer leaves that to the system.
pub fn sync_head(data_folder: &Path) -> Result<(), StorageError> {
    let path = data_folder.join(crate::journal::FOLDER).join(head::FILE);
    sync_file(&path).map_err(StorageError::io("sync", &path))
}

pub(crate) fn sync_file(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.sync_all()
}

/// Segments before the last good frame stay as they are; the one that it stands in is blanked behind it; the rest goes.
pub(crate) fn cut(folder: &Path, aside: &Path, at: Option<&(Segment, u64)>) -> io::Result<()> {
    let has_good_frame = |offset: u64| offset > HEADER_BYTES as u64;
    let stays = |first: u64| {
        let end = at.map(|(last, offset)| (last.header.first, has_good_frame(*offset)));
        end.is_some_and(|(last, is_good)| first < last || (first == last && is_good))
    };
    // The newest first: a crash in between leaves no hole.
    for (first, path) in segment::list(folder).map_err(io::Error::other)?.into_iter().rev() {
        if !stays(first) {
            let name = path.file_name().unwrap_or_default();
            fs::rename(&path, aside.join(name))?;
        }
    }
    if let Some((segment, offset)) = at.filter(|(_, offset)| has_good_frame(*offset)) {
        let segment = segment.clone().unpacked(folder).map_err(io::Error::other)?;
        blank(&segment, *offset, aside)?;
    }
    OsFileSystem.sync_folder(folder)?;
    OsFileSystem.sync_folder(aside)
}

/// Zeros behind the good frames, as in a segment that was never written further. It replaces the old one in one step, and the
/// copy of the old one is never replaced: after a crash in between the same is done again.
fn blank(segment: &Segment, from: u64, aside: &Path) -> io::Result<()> {
    let (name, written) = (segment.path.file_name().unwrap_or_default(), segment.path.with_extension("cut"));
    let kept = aside.join(name);
    if !kept.exists() {
        fs::copy(&segment.path, &written)?;
        sync_file(&written)?;
        fs::rename(&written, &kept)?;
    }
    let mut blanked = File::create(&written)?;
    io::copy(&mut File::open(&segment.path)?.take(from), &mut blanked)?;
    zero_fill(&blanked, from, segment.header.capacity)?;
    blanked.sync_all()?;
    fs::rename(&written, &segment.path)
}
