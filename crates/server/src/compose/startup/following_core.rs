//! What a follower's engine stands on: the log read to its end, and the engine as it was there. What the own journal has beyond the log
//! is not in it.

use std::path::PathBuf;
use std::sync::Arc;

use access::AuditView;
use bus::inbox::{Inbox, InboxReceiver, inbox_with};
use engine::Engine;
use runtime::{LeadHandover, RecoveredState, RecoverySources, recover_up_to};
use storage::journal::{InstanceId, JournalOptions};
use storage::replication::LogFollower;
use storage::{JournalLedger, ReadModel, RetiredIndex, SnapshotStore};
use tracing::info;

use super::older_segments;
use super::recovered_core::{Core, recovery_failure};
use crate::cluster::cluster_state::ClusterState;
use crate::cluster::log_connection::{ClusterLog, LogConnection};
use crate::cluster::log_member::{LogMember, follow_failure};
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::data_dir::traces::Traces;
use crate::exit_failure::ExitFailure;
use crate::users::audit_view;

pub(crate) struct FollowingCore {
    pub(crate) storage: FollowerStorage,
    pub(crate) state: (Engine, RecoveredState),
    pub(crate) member: LogMember,
    pub(crate) lanes: InboxReceiver,
    /// It gets the rows as the engine applies them, and goes on when this process leads.
    pub(crate) audit: Arc<AuditView>,
}

/// Shared by the follower's engine and its interfaces, and kept when it leads.
#[derive(Clone)]
pub(crate) struct FollowerStorage {
    pub(crate) folder: PathBuf,
    pub(crate) instance: InstanceId,
    pub(crate) snapshots: Arc<SnapshotStore>,
    pub(crate) read_model: Arc<ReadModel>,
    pub(crate) retired: Arc<RetiredIndex>,
    pub(crate) ledger: Arc<JournalLedger>,
    pub(crate) inbox: Inbox,
    pub(crate) clock: runtime::EngineClock,
}

impl FollowingCore {
    /// None where a stop was asked for before the log was read.
    pub(crate) fn recover(
        config: &Config,
        data_dir: &DataDir,
        LogConnection { log, link, .. }: LogConnection,
        cluster: &Arc<ClusterState>,
        is_stopped: impl Fn() -> bool,
    ) -> Result<Option<Self>, ExitFailure> {
        let follower = open_journal(config, data_dir, log, cluster)?;
        older_segments::check(data_dir.lock.folder(), follower.checked_from());
        let mut member = LogMember::new(follower, link, cluster.clone());
        if !member.catch_up(is_stopped)? {
            return Ok(None);
        }
        let proven = member.follower().cursor().chain().head().sequence;
        let (inbox, lanes) = inbox_with(config.lane_limits(), config.in_flight_limits());
        let storage = FollowerStorage::open(data_dir, proven, inbox)?;
        let state = storage.replay(proven)?;
        let audit = audit_view::open(&storage.folder, &storage.ledger, proven)?;
        data_dir.clock.start_after(state.1.at);
        Ok(Some(Self { storage, state, member, lanes, audit }))
    }
}

fn open_journal(
    config: &Config,
    data_dir: &DataDir,
    log: ClusterLog,
    cluster: &ClusterState,
) -> Result<LogFollower<ClusterLog>, ExitFailure> {
    let (folder, instance) = (data_dir.lock.folder(), data_dir.instance.journal_id());
    let witnesses = Traces::read(folder, instance)?.witnesses(folder);
    let anchor = SnapshotStore::look(folder, instance).newest_anchor()?;
    let options = JournalOptions { witnesses, anchor, ..config.journal_options(instance) };
    LogFollower::open(log, cluster.candidate, &data_dir.lock, &options).map_err(follow_failure)
}

impl FollowerStorage {
    fn open(data_dir: &DataDir, proven: u64, inbox: Inbox) -> Result<Self, ExitFailure> {
        let (lock, instance) = (&data_dir.lock, data_dir.instance.journal_id());
        let read_model = Arc::new(ReadModel::open(lock, instance, proven)?);
        let reader = read_model.clone();
        Ok(Self {
            folder: lock.folder().to_owned(),
            instance,
            snapshots: Arc::new(SnapshotStore::open(lock, instance)?.keep_for(move || reader.known_position())),
            read_model,
            retired: Arc::new(RetiredIndex::open(lock, instance)?),
            ledger: Arc::new(JournalLedger::new(inbox.clone())),
            inbox,
            clock: data_dir.clock.shared(),
        })
    }

    fn replay(&self, proven: u64) -> Result<(Engine, RecoveredState), ExitFailure> {
        let sources = RecoverySources {
            folder: &self.folder,
            last_sequence: proven,
            snapshots: &self.snapshots,
            ledger: &self.ledger,
            retired: Some(&self.retired),
        };
        let mut append = |through, events: &[_]| self.read_model.append(through, events);
        let found = recover_up_to(&sources, self.read_model.replay_after(), &mut append).map_err(recovery_failure)?;
        info!(snapshot = found.1.snapshot, replayed = found.1.replayed, proven, "the state is as the log proves");
        Ok(found)
    }

    /// This process leads: what an ordinary start would have recovered.
    pub(crate) fn into_core(self, handover: LeadHandover, audit: Arc<AuditView>) -> Core {
        let LeadHandover { engine, recovered, journal, inbox: lanes } = handover;
        let Self { folder, instance, snapshots, read_model, retired, ledger, inbox, clock } = self;
        Core {
            folder,
            instance,
            engine,
            recovered,
            journal,
            snapshots,
            read_model,
            retired,
            ledger,
            inbox,
            lanes,
            clock,
            audit: Some(audit),
        }
    }
}
