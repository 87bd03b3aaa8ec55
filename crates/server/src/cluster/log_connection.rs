//! Connection to the replicated log, and the identity that a new member takes from it.

use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, TryRecvError};
use replication_nats::{JetStreamSettings, JetStreamStore, LogOpenError, MemberLink, MemberRequests};
use storage::journal;
use storage::replication::{LogError, ReplicatedLog, instance_in};
use tracing::{info, warn};

use super::cluster_state::ClusterState;
use crate::data_dir::DataDir;
use crate::data_dir::identity::DataDirIdentity;
use crate::exit_failure::{Exit, ExitFailure};

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
    let reported = cluster.clone();
    let link = store.link(move |message| reported.on_standby_report(message));
    let link = link.map_err(|error| ExitFailure::new(Exit::Failed, error.to_string()))?;
    let requests = store.member_requests();
    Ok(Some(LogConnection { requests, log: ReplicatedLog::new(store, cluster.candidate), link }))
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

fn adopt_instance(store: &mut JetStreamStore, data_dir: &mut DataDir) -> Result<Option<()>, ExitFailure> {
    if journal::instance_of(&data_dir.lock.folder().join(journal::FOLDER))?.is_some() {
        return Ok(Some(()));
    }
    match instance_in(store) {
        Ok(Some(instance)) if instance != data_dir.instance.journal_id() => {
            info!(%instance, "this member takes the identity of the journal in the log");
            data_dir.instance = DataDirIdentity::adopt(&data_dir.lock, instance)?;
            Ok(Some(()))
        }
        Ok(_) => Ok(Some(())),
        Err(LogError::Unavailable { reason }) => Ok(retry_later(&reason)),
        Err(error) => {
            let advice = "begin with a copy of another member's data folder";
            Err(ExitFailure::new(
                Exit::Refused,
                format!("the log has no beginning for an empty folder: {error}; {advice}"),
            ))
        }
    }
}
