//! `rialto ha rebuild-log`: an empty log begins from the data folder of a stopped server.
//!
//! A single server becomes the first member of a cluster, or a member brings its cluster back whose log is lost. Only the condition of
//! the append decides that the log is empty. Where the command was cut off, the next one completes the log: its records of the loss and
//! for the audit are in the folder already.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use domain::Timestamp;
use replication_nats::JetStreamStore;
use storage::SnapshotStore;
use storage::journal::{self, ChainAnchor, InstanceId, Journal, JournalOptions};
use storage::lock::DataDirLock;
use storage::replication::{
    Epoch, KnownEpoch, LogBeginning, LogError, LogRebuild, ReplicationStatus, beginning_of, epoch_of_rebuilt_log,
    is_member_folder, join_rebuilt_log, known_epoch, leave_cluster,
};

use crate::clock::SystemClock;
use crate::cluster::candidate::{member_bytes, new_candidate};
use crate::cluster::cluster_file::ClusterConfig;
use crate::cluster::log_member::follow_failure;
use crate::cluster::member_folder;
use crate::config::Config;
use crate::data_dir::identity::DataDirIdentity;
use crate::data_dir::traces::Traces;
use crate::exit_failure::{Exit, ExitFailure};
use crate::users::execute::actor;
use crate::users::offline_log;

/// A log that has not taken everything by then does not answer. The command may be given again.
const LOG_WAIT: Duration = Duration::from_secs(60);
const FOREIGN_ENTRY: &str = "another process wrote to the log meanwhile: give the command again";

/// What only a person can have looked up.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct GivenEnd {
    /// The last record.
    pub(super) up_to: Option<u64>,
    /// No epoch was above it.
    pub(super) above_epoch: Option<u64>,
}

/// A stopped server.
struct StoppedServer<'a> {
    cluster: &'a ClusterConfig,
    config: &'a Config,
    lock: &'a DataDirLock,
    instance: InstanceId,
}

/// What is printed.
pub(super) fn rebuild(cluster: &ClusterConfig, config: &Config, given: GivenEnd) -> Result<String, ExitFailure> {
    let lock = DataDirLock::acquire(&config.data_dir)?;
    let identity = DataDirIdentity::load(&lock)?;
    if identity.is_restored() {
        return refused("the folder was restored from a backup as a new instance: restore it with --same-instance");
    }
    let server = StoppedServer { cluster, config, lock: &lock, instance: identity.journal_id() };
    let after = server.journal_end()?;
    let opened = JetStreamStore::open(cluster.log.clone());
    let mut store = opened.map_err(|error| ExitFailure::new(Exit::Refused, error.to_string()))?;
    let beginning = beginning_of(&mut store);
    let (journal, candidate) =
        (lock.folder().join(journal::FOLDER), new_candidate(&cluster.member, cluster.timing.lease)?);
    let rebuild = LogRebuild::new(store, candidate, (&journal, server.instance));
    match server.own_beginning(beginning)? {
        None => server.begin(rebuild, after, given),
        Some(beginning) => server.finish(rebuild, &beginning, given),
    }
}

impl StoppedServer<'_> {
    /// Of a log without entries.
    fn begin(
        &self,
        rebuild: LogRebuild<'_, JetStreamStore>,
        after: ChainAnchor,
        given: GivenEnd,
    ) -> Result<String, ExitFailure> {
        let Self { cluster, config, lock, instance } = *self;
        let is_member = is_member_folder(lock.folder());
        check_end(after.sequence, is_member, given.up_to)?;
        let epoch = first_epoch(known_epoch(lock.folder())?, given.above_epoch)?;
        let now = SystemClock::new(config.clock_offset.0).now();
        if is_member {
            member_folder::accept_unknown_end(config, lock, now)?;
        }
        audit(config, lock, (cluster, after.sequence, epoch), now)?;
        // From here on the folder is not used alone any more, whatever becomes of the log.
        join_rebuilt_log(lock.folder(), instance, epoch)?;
        match rebuild.begin((epoch, after), &limited_wait())? {
            true => Ok(summary(cluster, after.sequence, epoch)),
            false => refused(FOREIGN_ENTRY),
        }
    }

    /// Of a log that begins from this folder, where the command was cut off before.
    fn finish(
        &self,
        mut rebuild: LogRebuild<'_, JetStreamStore>,
        beginning: &LogBeginning,
        given: GivenEnd,
    ) -> Result<String, ExitFailure> {
        let (stream, after) = (&self.cluster.log.stream, beginning.after.sequence);
        let is_own = beginning.leader.is_some_and(|leader| leader.0.starts_with(&member_bytes(&self.cluster.member)));
        let Some(end) = rebuild.unfinished_end(beginning).map_err(follow_failure)? else {
            return refused(&format!(
                "the log {stream} begins behind record {after} of this journal already: start the members. One that is refused says why"
            ));
        };
        match given.up_to {
            _ if !is_own => refused(&format!(
                "the log {stream} begins behind record {after} by a rialto ha rebuild-log for the folder of another member, which has not \
                 finished: give it again there"
            )),
            Some(given) if given != after => refused(&format!(
                "the log {stream} begins behind record {after}, so {after} is the number to give, not {given}"
            )),
            _ => {
                let epoch = end.epoch().next().unwrap_or_default();
                join_rebuilt_log(self.lock.folder(), self.instance, epoch)?;
                match rebuild.finish(&end, &limited_wait())? {
                    true => Ok(summary(self.cluster, after, epoch)),
                    false => refused(FOREIGN_ENTRY),
                }
            }
        }
    }

    /// The last frame of the journal, which is checked as at a start.
    fn journal_end(&self) -> Result<ChainAnchor, ExitFailure> {
        let (folder, instance) = (self.lock.folder(), self.instance);
        let witnesses = Traces::read(folder, instance)?.witnesses(folder);
        let anchor = SnapshotStore::look(folder, instance).newest_anchor()?;
        let options = JournalOptions { witnesses, anchor, ..self.config.journal_options(instance) };
        let inspected = Journal::inspect(self.lock, &options, &mut |_| {})?;
        let found = inspected.found();
        Ok(ChainAnchor { sequence: found.last_sequence, hash: found.head })
    }

    /// The beginning of a log of this journal; none of a log without entries.
    fn own_beginning(
        &self,
        found: Result<Option<LogBeginning>, LogError>,
    ) -> Result<Option<LogBeginning>, ExitFailure> {
        let stream = &self.cluster.log.stream;
        match found {
            Ok(Some(beginning)) if beginning.instance != self.instance => refused(&format!(
                "the log {stream} has entries of the journal {}, not of {}: give another name to `stream`",
                beginning.instance,
                self.lock.folder().display()
            )),
            Ok(beginning) => Ok(beginning),
            Err(error) => refused(&format!(
                "the log {stream} is not empty, or cannot be read: {error}. A log that is damaged for good is left: give another name to \
                 `stream` in the file of every member"
            )),
        }
    }
}

fn refused<T>(reason: &str) -> Result<T, ExitFailure> {
    Err(ExitFailure::new(Exit::Refused, reason))
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

/// The epoch in which the log begins, above every one of the log that is lost.
fn first_epoch(known: KnownEpoch, above: Option<u64>) -> Result<Epoch, ExitFailure> {
    let above = above.map(Epoch);
    match (known, above) {
        (KnownEpoch::Last(known), above) => Ok(epoch_of_rebuilt_log(known.max(above.unwrap_or_default()))),
        (KnownEpoch::NeverMember, above) => Ok(epoch_of_rebuilt_log(above.unwrap_or_default())),
        (KnownEpoch::Unknown, Some(above)) => Ok(epoch_of_rebuilt_log(above)),
        (KnownEpoch::Unknown, None) => refused(
            "this folder of a member does not say which epochs its cluster had: it was restored and never started, or a power cut has taken \
             that. Say --above-epoch with a number that no epoch was above. The logs of the members name each epoch (\"this server leads\"), \
             and each change of the lead took one, so where nobody knows --above-epoch 1000000 is safe",
        ),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_begins_above_every_epoch_and_not_where_nobody_knows_them() {
        use KnownEpoch::{Last, NeverMember, Unknown};
        let begins = |known, above| first_epoch(known, above).map(|epoch| epoch.0).map_err(|error| error.to_string());
        assert_eq!(begins(NeverMember, None), Ok(1));
        assert_eq!(
            begins(NeverMember, Some(7)),
            Ok(1_007),
            "a backup of a member that was restored with --same-instance"
        );
        assert_eq!(begins(Last(Epoch(5)), None), Ok(1_005));
        assert_eq!(begins(Last(Epoch(5)), Some(7)), Ok(1_007));
        assert_eq!(begins(Last(Epoch(5)), Some(3)), Ok(1_005));
        assert_eq!(begins(Unknown, Some(7)), Ok(1_007));
        let refused = begins(Unknown, None).unwrap_err();
        assert!(refused.contains("Say --above-epoch with a number that no epoch was above"), "{refused}");
    }
}
