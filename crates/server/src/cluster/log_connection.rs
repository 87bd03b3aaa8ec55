//! Connection to the replicated log, and the identity that a new member takes from it.

use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{io, thread};

use crossbeam_channel::{Receiver, TryRecvError};
use replication_nats::{JetStreamSettings, JetStreamStore, LogOpenError, MemberLink, MemberRequests, ServerWatch};
use storage::journal;
use storage::replication::{LogBeginning, LogError, ReplicatedLog, begin_empty_log, beginning_of};
use tracing::{info, warn};

use super::cluster_state::ClusterState;
use crate::data_dir::DataDir;
use crate::data_dir::identity::DataDirIdentity;
use crate::exit_failure::{Exit, ExitFailure};

/// The servers are asked so often whether they sync every write.
const CHECK_SERVERS_EVERY: Duration = Duration::from_secs(15);
/// Between two attempts to reach the log.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

pub(crate) type ClusterLog = ReplicatedLog<JetStreamStore>;

/// The log, and the messages between members beside it.
pub(crate) struct LogConnection {
    pub(crate) log: ClusterLog,
    pub(crate) link: MemberLink,
    pub(crate) requests: MemberRequests,
}

/// Connects, and takes the identity of the journal in the log where this member has no journal yet. Waits for the log; none where a
/// stop was asked for meanwhile.
pub(crate) fn open(
    settings: &JetStreamSettings,
    cluster: &Arc<ClusterState>,
    data_dir: &mut DataDir,
    stopped: &Receiver<()>,
) -> Result<Option<LogConnection>, ExitFailure> {
    if data_dir.instance.is_restored() {
        let reason = "a folder that was restored from a backup as a new instance cannot be a member: restore it with --same-instance";
        return Err(ExitFailure::new(Exit::Refused, reason));
    }
    let connect = || match JetStreamStore::open(settings.clone()) {
        Ok(store) => Ok(Some(store)),
        Err(LogOpenError::Unavailable { reason }) => Ok(retry_later(&reason)),
        Err(refused) => Err(ExitFailure::new(Exit::Refused, format!("the replicated log can't be used: {refused}"))),
    };
    let Some(mut store) = until_stopped(stopped, connect)? else { return Ok(None) };
    let adopted = until_stopped(stopped, || adopt_instance(&mut store, data_dir))?;
    if adopted.is_none() {
        return Ok(None);
    }
    watch_servers(store.server_watch(), cluster.clone())
        .map_err(|error| ExitFailure::new(Exit::Failed, error.to_string()))?;
    let reported = cluster.clone();
    let link = store.link(move |message| reported.on_standby_report(message));
    let link = link.map_err(|error| ExitFailure::new(Exit::Failed, error.to_string()))?;
    let requests = store.member_requests();
    tell_status(&store, cluster)?;
    Ok(Some(LogConnection { requests, log: ReplicatedLog::new(store, cluster.candidate), link }))
}

/// The servers are asked as long as this process runs: one may be replaced, on an empty disk and with default settings, or be back after it
/// was silent. With one that does not sync every write, a majority may acknowledge what no disk has. Then this member ends.
fn watch_servers(mut servers: ServerWatch, cluster: Arc<ClusterState>) -> io::Result<()> {
    let watch = move || {
        loop {
            thread::sleep(CHECK_SERVERS_EVERY);
            // Where a majority does not answer, the log says so.
            if let Err(refused @ LogOpenError::Refused { .. }) = servers.check() {
                return cluster.replication.refuse(refused.to_string());
            }
            cluster.set_unverified_servers(servers.unverified(Instant::now()));
        }
    };
    thread::Builder::new().name("cluster-check".into()).spawn(watch).map(drop)
}

/// All members know of each other what they say of themselves.
fn tell_status(store: &JetStreamStore, cluster: &Arc<ClusterState>) -> Result<(), ExitFailure> {
    let failed = |reason: &dyn std::fmt::Display| ExitFailure::new(Exit::Failed, reason.to_string());
    let (heard, told) = (cluster.clone(), cluster.clone());
    let link = store.status_link(move |message| heard.on_member_status(message)).map_err(|error| failed(&error))?;
    let tell = move || told.send_status(&link);
    thread::Builder::new().name("cluster-status".into()).spawn(tell).map(drop).map_err(|error| failed(&error))
}

/// Whatever it tries, until it succeeds.
fn until_stopped<T>(
    stopped: &Receiver<()>,
    mut attempt: impl FnMut() -> Result<Option<T>, ExitFailure>,
) -> Result<Option<T>, ExitFailure> {
    loop {
        if let Some(found) = attempt()? {
            return Ok(Some(found));
        }
        if stopped.recv_timeout(RETRY_PAUSE).is_ok() || stopped.try_recv() == Err(TryRecvError::Disconnected) {
            return Ok(None);
        }
    }
}

fn retry_later<T>(reason: &str) -> Option<T> {
    warn!(reason, "the replicated log does not answer; trying again");
    None
}

/// A member without a journal takes the identity of the journal in the log; of several that find the log empty, one gives it its own.
fn adopt_instance(store: &mut JetStreamStore, data_dir: &mut DataDir) -> Result<Option<()>, ExitFailure> {
    if journal::instance_of(&data_dir.lock.folder().join(journal::FOLDER))?.is_some() {
        return Ok(Some(()));
    }
    match beginning_of(store) {
        Ok(Some(beginning)) => adopt(&beginning, data_dir).map(Some),
        Ok(None) if begin_empty_log(store, data_dir.instance.journal_id()) => {
            info!("the log is empty: it begins with the identity of this member");
            Ok(Some(()))
        }
        Ok(None) => Ok(retry_later("another member may have begun the log")),
        Err(LogError::Unavailable { reason }) => Ok(retry_later(&reason)),
        Err(error) => {
            Err(ExitFailure::new(Exit::Damaged, format!("the beginning of the replicated log can't be read: {error}")))
        }
    }
}

fn adopt(beginning: &LogBeginning, data_dir: &mut DataDir) -> Result<(), ExitFailure> {
    let (instance, after) = (beginning.instance, beginning.after.sequence);
    if after > 0 {
        let reason = format!(
            "the log begins behind record {after}, and this folder is empty: take a backup of a member, and restore it here with \
             rialto restore BACKUP --as-member"
        );
        return Err(ExitFailure::new(Exit::Refused, reason));
    }
    if instance != data_dir.instance.journal_id() {
        info!(%instance, "this member takes the identity of the journal in the log");
        data_dir.instance = DataDirIdentity::adopt(&data_dir.lock, instance)?;
    }
    Ok(())
}
