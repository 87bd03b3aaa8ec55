//! The engine with everything that it stands on, as it was when it stopped: journal, snapshots, read model, Ledger. Nothing of the
//! journal is changed before all that remembers it was asked.

use std::path::PathBuf;
use std::sync::Arc;

use access::AuditView;
use bus::inbox::{Inbox, InboxReceiver, inbox_with};
use bus::{Bus, Catalogue, EventFeed, JournalStatus};
use read_model_postgres::{Database, PostgresRowStore, PostgresRows};
use runtime::{RecoveredState, RecoveryError, RecoverySources, recover_from};
use storage::journal::{self, Inspected, InstanceId, Journal, JournalOptions};
use storage::{JournalLedger, ReadModel, RetiredIndex, SnapshotStore};
use tracing::{info, warn};

use super::older_segments;
use crate::cluster::member_folder;
use crate::config::{Config, HistoryStore};
use crate::data_dir::DataDir;
use crate::data_dir::traces::Traces;
use crate::exit_failure::{Exit, ExitFailure};
use crate::progress::ProgressReporter;

pub(crate) struct Core {
    pub(crate) folder: PathBuf,
    /// The identity of the journal.
    pub(crate) instance: InstanceId,
    pub(crate) engine: engine::Engine,
    pub(crate) recovered: RecoveredState,
    pub(crate) journal: Journal,
    pub(crate) snapshots: Arc<SnapshotStore>,
    pub(crate) read_model: Arc<ReadModel>,
    pub(crate) retired: Arc<RetiredIndex>,
    pub(crate) ledger: Arc<JournalLedger>,
    pub(crate) inbox: Inbox,
    pub(crate) lanes: InboxReceiver,
    pub(crate) clock: runtime::EngineClock,
    /// Of a server that followed before: it has the audit already.
    pub(crate) audit: Option<Arc<AuditView>>,
}

impl Core {
    pub(crate) fn recover(config: &Config, data_dir: &DataDir) -> Result<Self, ExitFailure> {
        let folder = data_dir.lock.folder().to_owned();
        member_folder::refuse_alone(&folder)?;
        let instance = data_dir.instance.journal_id();
        let traces = Traces::read(&folder, instance)?;
        let inspected = inspect_journal(config, data_dir, &traces)?;
        let end = inspected.found().last_sequence;
        let checked_from = inspected.checked_from();
        let snapshots = SnapshotStore::open(&data_dir.lock, instance)?;
        let read_model = Arc::new(open_read_model(config, data_dir, end)?);
        let retired = Arc::new(RetiredIndex::open(&data_dir.lock, instance)?);
        let reader = read_model.clone();
        let snapshots = Arc::new(snapshots.keep_for(move || reader.known_position()));
        let (inbox, lanes) = inbox_with(config.lane_limits(), config.in_flight_limits());
        let ledger = Arc::new(JournalLedger::new(inbox.clone()));
        let sources = RecoverySources {
            folder: &folder,
            last_sequence: end,
            snapshots: &snapshots,
            ledger: &ledger,
            retired: Some(&retired),
        };
        let (engine, recovered) = replay(&sources, &read_model)?;
        traces.check_orders(&folder, end, engine.last_order())?;
        let journal = open_journal(inspected)?;
        older_segments::check(&folder, checked_from);
        data_dir.clock.start_after(recovered.at);
        let clock = data_dir.clock.shared();
        Ok(Self {
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
            audit: None,
        })
    }
}

impl Core {
    /// The bus between this engine and the edges.
    pub(crate) fn bus(&self, feed: EventFeed, journal: Arc<dyn JournalStatus>) -> Bus {
        let history = self.read_model.clone();
        Bus { inbox: self.inbox.clone(), feed, catalogue: Catalogue::default(), history, journal }
    }
}

/// A database is not waited for: the server starts without it.
fn open_read_model(config: &Config, data_dir: &DataDir, journal_end: u64) -> Result<ReadModel, ExitFailure> {
    let HistoryStore::Postgres(url) = &config.history_store else {
        return Ok(ReadModel::open(&data_dir.lock, data_dir.instance.journal_id(), journal_end)?);
    };
    let unusable = |reason: String| ExitFailure::new(Exit::Refused, format!("history.store: {reason}"));
    let database = Database::new(url.as_ref().clone()).map_err(unusable)?;
    let folder = data_dir.lock.folder().join(journal::FOLDER);
    let input_times = Box::new(move |sequence| journal::input_time(&folder, sequence));
    let store = Box::new(PostgresRowStore::new(database.clone(), data_dir.instance.own_id(), input_times));
    Ok(ReadModel::connect(&data_dir.lock, journal_end, store, Arc::new(PostgresRows::new(database)))?)
}

fn inspect_journal(config: &Config, data_dir: &DataDir, traces: &Traces) -> Result<Inspected, ExitFailure> {
    let mut bar = ProgressReporter::new_for("checking the journal");
    let witnesses = traces.witnesses(data_dir.lock.folder());
    let instance = data_dir.instance.journal_id();
    let anchor = SnapshotStore::look(data_dir.lock.folder(), instance).newest_anchor()?;
    let options = JournalOptions { witnesses, anchor, ..config.journal_options(instance) };
    Ok(Journal::inspect(&data_dir.lock, &options, &mut |step| bar.show(step.read, step.total))?)
}

fn open_journal(inspected: Inspected) -> Result<Journal, ExitFailure> {
    let (found, journal) = inspected.open()?;
    if let Some(torn) = &found.torn {
        warn!("the last write was cut off and is dropped, nothing in it was acknowledged: {torn}");
    }
    Ok(journal)
}

fn replay(
    sources: &RecoverySources<'_>,
    read_model: &ReadModel,
) -> Result<(engine::Engine, RecoveredState), ExitFailure> {
    let mut bar = ProgressReporter::new_for("replaying the journal");
    let (engine, recovered) = recover_from(
        sources,
        read_model.replay_after(),
        &mut |through, events| read_model.append(through, events),
        &mut |step| bar.show(step.read, step.total),
    )
    .map_err(recovery_failure)?;
    info!(snapshot = recovered.snapshot, replayed = recovered.replayed, "the state is as it was");
    Ok((engine, recovered))
}

pub(crate) fn recovery_failure(problem: RecoveryError) -> ExitFailure {
    match problem {
        RecoveryError::Storage(error) => error.into(),
        other => ExitFailure::new(Exit::Damaged, other.to_string()),
    }
}
