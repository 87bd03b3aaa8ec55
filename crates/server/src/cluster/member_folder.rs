//! The data folder of a member, outside of the cluster.

use std::path::Path;

use domain::Timestamp;
use domain::command::AcceptedLoss;
use storage::StorageError;
use storage::journal::{self, Journal, JournalOptions};
use storage::lock::DataDirLock;
use storage::replication::is_member_folder;

use crate::config::Config;
use crate::data_dir::identity::DataDirIdentity;
use crate::data_dir::traces::Traces;
use crate::exit_failure::{Exit, ExitFailure};

/// Refuses to write alone into the folder of a member: the other members would not have it, and the log would go on differently, which
/// locks the member out.
pub(crate) fn refuse_alone(data_folder: &Path) -> Result<(), ExitFailure> {
    if !is_member_folder(data_folder) {
        return Ok(());
    }
    let folder = data_folder.display();
    let reason = format!(
        "{folder} belongs to a member of a cluster (it has the file replication): start it with --cluster; users and tokens are \
         changed at the leader"
    );
    Err(ExitFailure::new(Exit::Refused, reason))
}

/// The log may have had more than this member: what may have been given there is never given again, as after a loss. Returns the last
/// record before the one that says so.
pub(crate) fn accept_unknown_end(config: &Config, lock: &DataDirLock, now: Timestamp) -> Result<u64, ExitFailure> {
    let (folder, instance) = (lock.folder(), DataDirIdentity::load(lock)?.journal_id());
    let traces = Traces::read(folder, instance)?;
    let options = JournalOptions { witnesses: traces.witnesses(folder), ..config.journal_options(instance) };
    let (_, mut journal) = Journal::open(lock, &options, &mut |_| {})?;
    let end = journal.last_sequence();
    let loss = AcceptedLoss { end, order: traces.order(), transaction: traces.transaction() };
    let taken = journal.append(runtime::go_on_after(loss, traces.sequence().max(end), now));
    taken.map_err(|refused| StorageError::Failed { reason: refused.reason.to_string() })?;
    journal.close()?;
    journal::sync_head(folder)?;
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_member_is_not_used_alone() {
        let folder = tempfile::tempdir().unwrap();
        assert!(refuse_alone(folder.path()).is_ok());
        std::fs::write(folder.path().join("replication"), b"").unwrap();
        let refused = refuse_alone(folder.path()).unwrap_err();
        assert_eq!(refused.exit, Exit::Refused);
        assert!(refused.to_string().contains("belongs to a member of a cluster"), "{refused}");
    }
}
