//! `rialto ha rebuild-log`: an empty log begins from the data folder of a stopped server.
//!
//! A single server becomes the first member of a cluster, or a member brings its cluster back whose log is lost. Only the condition of
//! the append decides that the log is empty.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use domain::Timestamp;
use replication_nats::JetStreamStore;
use storage::SnapshotStore;
use storage::journal::{self, ChainAnchor, InstanceId, Journal, JournalOptions};
use storage::lock::DataDirLock;
use storage::replication::{
    Epoch, ReplicatedLog, ReplicationStatus, beginning_of, epoch_of_rebuilt_log, is_member_folder, join_cluster,
    last_epoch_of, leave_cluster, rebuild_log,
};

use crate::clock::SystemClock;
use crate::cluster::candidate::new_candidate;
use crate::cluster::cluster_file::ClusterConfig;
use crate::cluster::member_folder;
use crate::config::Config;
use crate::data_dir::identity::DataDirIdentity;
use crate::data_dir::traces::Traces;
use crate::exit_failure::{Exit, ExitFailure};
use crate::users::execute::actor;
use crate::users::offline_log;

/// A log that has not taken everything by then does not answer. The command may be given again.
const LOG_WAIT: Duration = Duration::from_secs(60);

/// What is printed.
pub(super) fn rebuild(cluster: &ClusterConfig, config: &Config, up_to: Option<u64>) -> Result<String, ExitFailure> {
    let lock = DataDirLock::acquire(&config.data_dir)?;
    let identity = DataDirIdentity::load(&lock)?;
    if identity.is_restored() {
        return refused("the folder was restored from a backup as a new instance: restore it with --same-instance");
    }
    let after = journal_end(config, &lock, identity.journal_id())?;
    let is_member = is_member_folder(lock.folder());
    let store = empty_log(cluster, identity.journal_id(), lock.folder())?;
    check_end(after.sequence, is_member, up_to)?;
    let epoch = epoch_of_rebuilt_log(last_epoch_of(lock.folder())?);
    let now = SystemClock::new(config.clock_offset.0).now();
    if is_member {
        member_folder::accept_unknown_end(config, &lock, now)?;
    }
    audit(config, &lock, (cluster, after.sequence, epoch), now)?;
    // From here on the folder is not used alone any more, whatever becomes of the log.
    join_cluster(lock.folder())?;
    let mut log = ReplicatedLog::new(store, new_candidate(&cluster.member, cluster.timing.lease)?);
    let folder = lock.folder().join(journal::FOLDER);
    let status = limited_wait();
    match rebuild_log(&mut log, (&folder, identity.journal_id()), (epoch, after), &status)? {
        true => Ok(summary(cluster, after.sequence, epoch)),
        false => refused("another process has begun the log meanwhile"),
    }
}

fn refused<T>(reason: &str) -> Result<T, ExitFailure> {
    Err(ExitFailure::new(Exit::Refused, reason))
}

/// The last frame of the journal, which is checked as at a start.
fn journal_end(config: &Config, lock: &DataDirLock, instance: InstanceId) -> Result<ChainAnchor, ExitFailure> {
    let folder = lock.folder();
    let witnesses = Traces::read(folder, instance)?.witnesses(folder);
    let anchor = SnapshotStore::look(folder, instance).newest_anchor()?;
    let options = JournalOptions { witnesses, anchor, ..config.journal_options(instance) };
    let inspected = Journal::inspect(lock, &options, &mut |_| {})?;
    let found = inspected.found();
    Ok(ChainAnchor { sequence: found.last_sequence, hash: found.head })
}

fn check_end(end: u64, is_member: bool, up_to: Option<u64>) -> Result<(), ExitFailure> {
    match up_to {
        _ if end == 0 => refused("the folder has no records: start its member, an empty log begins by itself"),
        Some(given) if given != end => refused(&format!(
            "the journal of this folder ends at record {end}, so {end} is the number to give, not {given}"
        )),
        None if is_member => refused(&format!(
            "the journal of this folder ends at record {end}. What was acknowledged behind it would be given up: look at the folder of \
             every other member with rialto journal verify, use the one with the most records, and say --up-to {end}"
        )),
        _ => Ok(()),
    }
}

/// The store of a log without entries; one that does not exist is made.
fn empty_log(cluster: &ClusterConfig, instance: InstanceId, folder: &Path) -> Result<JetStreamStore, ExitFailure> {
    let opened = JetStreamStore::open(cluster.log.clone());
    let mut store = opened.map_err(|error| ExitFailure::new(Exit::Refused, error.to_string()))?;
    match beginning_of(&mut store) {
        Ok(None) => Ok(store),
        Ok(Some(beginning)) if beginning.instance == instance => refused(&format!(
            "the log {} begins behind record {} of this journal already: start the members. One that is refused says why",
            cluster.log.stream, beginning.after.sequence
        )),
        Ok(Some(beginning)) => refused(&format!(
            "the log {} has entries of the journal {}, not of {}: give another name to `stream`",
            cluster.log.stream,
            beginning.instance,
            folder.display()
        )),
        Err(error) => refused(&format!(
            "the log {} is not empty, or cannot be read: {error}. A log that is damaged for good is left: give another name to `stream` \
             in the file of every member",
            cluster.log.stream
        )),
    }
}

fn audit(
    config: &Config,
    lock: &DataDirLock,
    (cluster, end, epoch): (&ClusterConfig, u64, Epoch),
    now: Timestamp,
) -> Result<(), ExitFailure> {
    // Its epoch stays known: a log that is begun once more must be above it, too.
    leave_cluster(lock)?;
    let detail =
        format!("the log {} begins from this folder behind record {end}, in epoch {epoch}", cluster.log.stream);
    offline_log::with_users(config, lock, now, |users| Ok(users.note(&actor("ha rebuild-log"), detail, now)?))?;
    Ok(journal::sync_head(lock.folder())?)
}

/// Ends the wait for a majority.
fn limited_wait() -> Arc<ReplicationStatus> {
    let status = Arc::new(ReplicationStatus::default());
    let waiting = status.clone();
    thread::spawn(move || {
        thread::sleep(LOG_WAIT);
        waiting.stop();
    });
    status
}

fn summary(cluster: &ClusterConfig, end: u64, epoch: Epoch) -> String {
    let stream = &cluster.log.stream;
    format!(
        "the log {stream} begins behind record {end}, in epoch {epoch}\n\
         start this member; others follow whose journals have record {end}, and folders that were restored with --as-member from a \
         backup of this one\n"
    )
}
