//! `rialto journal prune`: retention of the archive by age and size.

use std::path::Path;

use storage::journal::{self, JournalFloor, PruneLimits, PruneStop, Pruned};
use storage::{SnapshotStore, read_model};

use super::folder::BackupFolder;
use super::{check_journal, hold_if_free};
use crate::clock::SystemClock;
use crate::cluster::member_folder;
use crate::config::{Config, HistoryStore};
use crate::data_dir::identity::DataDirIdentity;
use crate::exit_failure::{Exit, ExitFailure};
use crate::progress::ProgressReporter;

const DAY_NANOS: i64 = 86_400_000_000_000;

/// Deletes what is due, and says what that was. Without a backup whatever is due goes for good.
pub fn prune(config: &Config, backup: Option<&Path>) -> Result<String, ExitFailure> {
    let data = &config.data_dir;
    check_journal(data)?;
    let (days, megabytes) = (config.archive_keep_days.0, config.archive_keep_megabytes.0);
    if days == 0 && megabytes == 0 {
        let text = "archive.keepDays and archive.keepMegabytes are 0: the archive keeps everything";
        return Err(ExitFailure::new(Exit::Refused, text));
    }
    member_folder::refuse_alone(data)?;
    let _held = hold_if_free(data)?;
    let copies = backup.map(|folder| BackupFolder::look(folder).map(|found| found.copies())).transpose()?;
    let now = SystemClock::new(config.clock_offset.0).now();
    let limits = PruneLimits {
        older_than: if days == 0 { i64::MIN } else { now.0 - days * DAY_NANOS },
        bytes_max: if megabytes == 0 { u64::MAX } else { megabytes.unsigned_abs() << 20 },
        covered: covered(config)?,
        copies: copies.as_deref(),
    };
    let mut bar = ProgressReporter::new_for("checking the archive");
    let pruned = journal::prune(data, limits, &mut |step| bar.show(step.read, step.total))?;
    Ok(summary(&pruned))
}

/// Records up to here are needed by no start: every snapshot has them, and so has the history of orders.
fn covered(config: &Config) -> Result<u64, ExitFailure> {
    let refused = |text: &str| ExitFailure::new(Exit::Refused, text);
    let data = &config.data_dir;
    let instance = DataDirIdentity::known(data).map(DataDirIdentity::journal_id);
    let instance = instance.ok_or_else(|| refused("nothing was written yet"))?;
    let snapshots = SnapshotStore::look(data, instance);
    let oldest = snapshots.oldest_valid(0)?;
    let oldest = oldest.ok_or_else(|| refused("there is no good snapshot: nothing of the journal can be spared"))?;
    let (first, oldest) = (oldest.sequence, snapshots.stands_in_up_to(oldest.sequence));
    if config.history_store != HistoryStore::Sqlite {
        return Ok(oldest);
    }
    let known = read_model::remembered(data, instance).ok_or_else(|| {
        refused("the read model cannot be read, and it would miss what is deleted: start the server first")
    })?;
    if known.applied < first {
        return Err(refused(
            "the read model is behind the oldest snapshot and needs what would be deleted: let it catch up first",
        ));
    }
    Ok(oldest)
}

fn summary(pruned: &Pruned) -> String {
    let Pruned { segments, bytes, floor, stop } = pruned;
    let mut text = format!("{segments} segments with {bytes} bytes were deleted from the archive\n");
    if let Some(JournalFloor { sequence, hash, .. }) = floor {
        text.push_str(&format!("the journal begins after {sequence}, at {hash}\n"));
    }
    match stop {
        None => {}
        Some(PruneStop::NotCovered { last }) => text.push_str(&format!(
            "more is due, but stays: records up to {last} are in no snapshot that all readers are beyond\n"
        )),
        Some(PruneStop::NotCopied { last }) => {
            text.push_str(&format!("more is due, but stays: the backup does not have the records up to {last}\n"));
        }
    }
    text
}
