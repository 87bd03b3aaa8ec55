//! The way back: a data folder from a backup, up to any record. It is made beside its place and gets its name when all of it was
//! read, checked and synced.

use std::fs;
use std::path::{Path, PathBuf};

use adapters::simulated::copy_ledger_up_to;
use domain::Timestamp;
use domain::command::AcceptedLoss;
use runtime::{RecoveryError, StateAt};
use storage::file_system::{OsFileSystem, complete_folder};
use storage::journal::{self, CopiedJournal, CopiedSegment, Journal};
use storage::lock::DataDirLock;
use storage::replication::join_cluster;
use storage::{RetiredIndex, SnapshotStore, StorageError, retired_index, snapshot};

use super::arguments::{PointInTime, RestoredIdentity};
use super::files;
use super::folder::{BackupFolder, BackupPoint};
use super::manifest::ManifestFile;
use crate::clock::SystemClock;
use crate::config::Config;
use crate::data_dir::identity::DataDirIdentity;
use crate::data_dir::traces::{LEDGER_EXTENSION, VENUES};
use crate::exit_failure::{Exit, ExitFailure};
use crate::progress::ProgressReporter;
use crate::users::execute::actor;
use crate::users::offline_log;

const UNFINISHED: &str = ".restoring";
const DAMAGED: &str = "the backup's manifest is wrong";

/// Makes the data folder of the configuration, and says what it has.
pub fn restore(
    config: &Config,
    folder: &Path,
    to: Option<PointInTime>,
    restored: RestoredIdentity,
) -> Result<String, ExitFailure> {
    let target = &config.data_dir;
    check_free(target)?;
    let backup = BackupFolder::look(folder)?;
    let point = backup.find(to)?;
    let work = make_room(target)?;
    let copied = copy_journal(&backup, point, to, &work)?;
    let end = copied.end().map_or(0, |end| end.last);
    let identity = identity(point, &copied, restored)?;
    identity.write_to(&work).map_err(|error| ExitFailure::io("write", &work, &error))?;
    copy_base(point, &copied, &work)?;
    let state = runtime::state_at(&work, copied.instance, end).map_err(not_replayed)?;
    let left_out = copy_files(point, &work, &state)?;
    let now = SystemClock::new(config.clock_offset.0).now();
    match restored {
        RestoredIdentity::New => audit(config, &work, point, end, now)?,
        RestoredIdentity::Same => {
            go_on(config, &work, &copied, backup.newest_sequence(), now)?;
            audit(config, &work, point, end, now)?;
        }
        // What the log does not have would be a fork of it. The member finds its place when it starts.
        RestoredIdentity::Member => join_cluster(&work)?,
    }
    put_in_place(&work, target)?;
    Ok(summary(target, &copied, &state, &identity, &left_out))
}

/// Nothing is ever written over.
fn check_free(target: &Path) -> Result<(), ExitFailure> {
    let is_free = match fs::read_dir(target) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    if is_free {
        return Ok(());
    }
    let text =
        format!("{} is in the way: a restore needs --data-dir with a folder that is new or empty", target.display());
    Err(ExitFailure::new(Exit::Refused, text))
}

/// A folder beside the target; what a restore that was cut off has left there goes.
fn make_room(target: &Path) -> Result<PathBuf, ExitFailure> {
    let mut name = target.as_os_str().to_owned();
    name.push(UNFINISHED);
    let work = PathBuf::from(name);
    let failed = |error| ExitFailure::io("make room in", &work, &error);
    if work.exists() {
        fs::remove_dir_all(&work).map_err(failed)?;
    }
    fs::create_dir_all(&work).map_err(failed)?;
    Ok(work)
}

fn copy_journal(
    backup: &BackupFolder,
    point: &BackupPoint,
    to: Option<PointInTime>,
    work: &Path,
) -> Result<CopiedJournal, ExitFailure> {
    let segments = point.manifest.copied().ok_or_else(|| ExitFailure::new(Exit::Damaged, DAMAGED))?;
    let last = segments.len().saturating_sub(1);
    let own = point.folder.join(journal::FOLDER);
    let place = |(index, segment): (usize, CopiedSegment)| {
        let folder = if index == last { own.clone() } else { backup.sealed() };
        (folder.join(&segment.file), segment)
    };
    let placed: Vec<_> = segments.into_iter().enumerate().map(place).collect();
    let mut bar = ProgressReporter::new_for("restoring the journal");
    Ok(journal::restore(&placed, point.manifest.floor(), PointInTime::limit(to), work, &mut |step| {
        bar.show(step.read, step.total);
    })?)
}

fn identity(
    point: &BackupPoint,
    copied: &CopiedJournal,
    restored: RestoredIdentity,
) -> Result<DataDirIdentity, ExitFailure> {
    match (point.manifest.identity(), restored) {
        (Some(first), RestoredIdentity::Member) if first.is_restored() => {
            let reason = "the backup is of a folder that was restored as a new instance, which cannot be in a cluster";
            Err(ExitFailure::new(Exit::Refused, reason))
        }
        (Some(first), RestoredIdentity::Same | RestoredIdentity::Member) => Ok(first),
        _ => DataDirIdentity::new_for_journal(copied.instance),
    }
}

/// What stands in for a beginning that was deleted.
fn copy_base(point: &BackupPoint, copied: &CopiedJournal, work: &Path) -> Result<(), ExitFailure> {
    for listed in point.manifest.files.iter().filter(|listed| is_base(listed)) {
        files::copy(&files::checked(&point.folder, listed)?, &work.join(&listed.file))?;
    }
    let (end, snapshots) = (copied.end().map_or(0, |end| end.last), SnapshotStore::look(work, copied.instance));
    if let Some((begins, _)) = snapshots.newest_claim()?
        && snapshots.needs_journal_to(begins) > end
    {
        let first = snapshots.needs_journal_to(begins);
        let text = format!(
            "--to is before record {first}, where this backup begins: older ones were deleted from the archive"
        );
        return Err(ExitFailure::new(Exit::Refused, text));
    }
    if !work.join(retired_index::FOLDER).is_dir() {
        return Ok(());
    }
    let lock = DataDirLock::acquire(work)?;
    Ok(RetiredIndex::open(&lock, copied.instance)?.limit_to(end)?)
}

fn is_base(listed: &ManifestFile) -> bool {
    let path = Path::new(&listed.file);
    path.starts_with(snapshot::FOLDER) || path.starts_with(retired_index::FOLDER)
}

fn not_replayed(problem: RecoveryError) -> ExitFailure {
    match problem {
        RecoveryError::Storage(error @ StorageError::Pruned { .. }) => error.into(),
        other => ExitFailure::new(Exit::Damaged, other.to_string()),
    }
}

/// Names the ledgers that could not be brought to the state of the journal.
fn copy_files(point: &BackupPoint, work: &Path, state: &StateAt) -> Result<Vec<String>, ExitFailure> {
    let mut left_out = Vec::new();
    for listed in point.manifest.files.iter().filter(|listed| !is_base(listed)) {
        let from = files::checked(&point.folder, listed)?;
        let to = work.join(&listed.file);
        if !is_ledger(listed) {
            files::copy(&from, &to)?;
            continue;
        }
        files::create_parent(&to).map_err(|error| ExitFailure::io("create", &to, &error))?;
        if !copy_ledger_up_to(&from, &to, state.last_order)? {
            left_out.push(listed.file.clone());
        }
    }
    Ok(left_out)
}

fn is_ledger(listed: &ManifestFile) -> bool {
    let path = Path::new(&listed.file);
    path.starts_with(VENUES) && path.extension().is_some_and(|end| end == LEDGER_EXTENSION)
}

/// Under the same name nothing may be given twice: what the first folder did after the backup is a loss.
fn go_on(config: &Config, work: &Path, copied: &CopiedJournal, newest: u64, now: Timestamp) -> Result<(), ExitFailure> {
    let end = copied.end().map_or(0, |end| end.last);
    let lock = DataDirLock::acquire(work)?;
    let (_, mut journal) = Journal::open_after_loss(&lock, &config.journal_options(copied.instance))?;
    let loss = AcceptedLoss { end, order: 0, transaction: 0 };
    let taken = journal.append(runtime::go_on_after(loss, newest.max(end), now));
    taken.map_err(|refused| StorageError::Failed { reason: refused.reason.to_string() })?;
    journal.close()?;
    Ok(journal::sync_head(work)?)
}

/// The first record of the restored folder: everything before it is as it was copied.
fn audit(config: &Config, work: &Path, point: &BackupPoint, end: u64, now: Timestamp) -> Result<(), ExitFailure> {
    let detail = format!("restored up to {end} from the backup {}", point.folder.display());
    offline_log::note(config, work, &actor("restore"), detail, now)?;
    Ok(journal::sync_head(work)?)
}

fn put_in_place(work: &Path, target: &Path) -> Result<(), ExitFailure> {
    let failed = |error| ExitFailure::io("complete", target, &error);
    complete_folder(&OsFileSystem, work, target).map_err(failed)
}

fn summary(
    target: &Path,
    copied: &CopiedJournal,
    state: &StateAt,
    identity: &DataDirIdentity,
    left_out: &[String],
) -> String {
    let (end, at) = copied.end().map_or((0, 0), |end| (end.last, end.time));
    let mut text =
        format!("restored       {}\nlast sequence  {end}\nlast record    {}\n", target.display(), Timestamp(at));
    for name in left_out {
        text.push_str(&format!("left out       {name}: it was compacted later, so this venue begins anew\n"));
    }
    let own = identity.to_string();
    text.push_str(&format!("instance       {}\n", own.lines().next().unwrap_or_default()));
    text.push_str(&format!("digest: {}\n", state.digest.as_deref().unwrap_or("not known")));
    text
}
