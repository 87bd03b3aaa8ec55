//! `rialto backup` and `rialto restore`: a second copy of a data folder, taken while the server trades, and the way back from it.
//!
//! ```text
//! BACKUP/journal/                  sealed segments, shared by all points; hard links where the disk is the same
//! BACKUP/points/SEQUENCE-TIME/     one backup: manifest.json, the end of the journal, ledgers, users, sessions, bars
//! ```
//!
//! A point gets its name when all of it is durable, so a backup that was cut off leaves those before it as they were.

pub mod arguments;
mod folder;
mod manifest;
mod files;
mod restore;
mod point;
pub mod retention;

use std::path::Path;

use storage::lock::DataDirLock;
use storage::{Loss, StorageError, journal};

use crate::clock::SystemClock;
use crate::config::Config;
use crate::data_dir::identity::DataDirIdentity;
use crate::exit_failure::{Exit, ExitFailure};
use crate::progress::ProgressReporter;
use folder::BackupFolder;
use point::PointInProgress;

pub use restore::restore;

/// Packs full segments of the journal, and says how many.
pub fn archive(config: &Config, keep: usize) -> Result<String, ExitFailure> {
    let data = &config.data_dir;
    check_journal(data)?;
    let _held = hold_if_free(data)?;
    let durable = journal::durable_head(data)?.map_or(0, |head| head.sequence);
    let mut bar = ProgressReporter::new_for("packing segments");
    let archived = journal::archive(data, durable, keep, &mut |step| bar.show(step.read, step.total))?;
    let journal::Archived { segments, bytes, packed_bytes } = archived;
    if segments == 0 {
        return Ok(format!("nothing to archive: no full segment is older than the newest {keep}\n"));
    }
    Ok(format!("{segments} segments were moved to the archive: {bytes} bytes, packed {packed_bytes}\n"))
}

fn check_journal(data: &Path) -> Result<(), ExitFailure> {
    let folder = data.join(journal::FOLDER);
    if folder.is_dir() {
        return Ok(());
    }
    Err(ExitFailure::new(Exit::Refused, format!("there is no journal in {}", folder.display())))
}

/// Takes a backup and says what is in it.
pub fn back_up(config: &Config, folder: &Path, checks_all: bool) -> Result<String, ExitFailure> {
    let data = &config.data_dir;
    check_journal(data)?;
    let held = hold_if_free(data)?;
    let identity = DataDirIdentity::known(data)
        .ok_or_else(|| ExitFailure::new(Exit::Refused, format!("nothing was written yet in {}", data.display())))?;
    let backup = BackupFolder::open(folder, &identity)?;
    let taken = SystemClock::new(config.clock_offset.0).now();
    let mut point = PointInProgress::begin(&backup, taken)?;
    let durable = journal::durable_head(data)?;
    let limit = match (&held, &durable) {
        // No server runs: every good record counts, as it would at a start.
        (Some(_), _) => u64::MAX,
        (None, Some(head)) => head.sequence,
        (None, None) => return Err(ExitFailure::new(Exit::Failed, "the server has made nothing durable yet")),
    };
    point.copy_journal(data, limit, checks_all)?;
    check_complete(data, durable, &point)?;
    point.copy_files(data)?;
    point.finish(&identity)
}

/// The lock, where no server has it. Held until the work is over, so that none begins to write.
fn hold_if_free(data: &Path) -> Result<Option<DataDirLock>, ExitFailure> {
    match DataDirLock::acquire(data) {
        Ok(lock) => Ok(Some(lock)),
        Err(StorageError::Locked { .. }) => Ok(None),
        Err(other) => Err(other.into()),
    }
}

/// A journal that lost its end is no backup.
fn check_complete(data: &Path, durable: Option<journal::Head>, point: &PointInProgress<'_>) -> Result<(), ExitFailure> {
    let Some(head) = durable else { return Ok(()) };
    let (end, hash) = point.end();
    if end > head.sequence || (end == head.sequence && hash == head.hash) {
        return Ok(());
    }
    let known = vec![format!("its head file knows of {}", head.sequence)];
    Err(StorageError::Lost(Loss { folder: data.to_owned(), end, known }).into())
}
