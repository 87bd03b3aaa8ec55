//! The engine with everything that it stands on, as it was when it stopped: journal, snapshots, read model, Ledger. Nothing of the
//! journal is changed before all that remembers it was asked.

use std::path::PathBuf;
use std::sync::Arc;

use bus::inbox::{Inbox, Lanes, inbox_with};
use runtime::{Recovered, RecoveryError, recover};
use storage::journal::{Inspected, Journal, Options};
use storage::{LedgerBook, ReadModel, Snapshots};
use tracing::{info, warn};

use crate::config::Config;
use crate::failure::{Exit, Failure};
use crate::ground::Ground;
use crate::progress::Progress;
use crate::traces::Traces;

pub(super) struct Foundation {
    pub(super) folder: PathBuf,
    pub(super) engine: engine::Engine,
    pub(super) recovered: Recovered,
    pub(super) journal: Journal,
    pub(super) snapshots: Snapshots,
    pub(super) read_model: Arc<ReadModel>,
    pub(super) ledger: Arc<LedgerBook>,
    pub(super) inbox: Inbox,
    pub(super) lanes: Lanes,
    pub(super) clock: runtime::Clock,
}

impl Foundation {
    pub(super) fn lay(config: &Config, ground: &Ground) -> Result<Self, Failure> {
        let folder = ground.lock.folder().to_owned();
        let instance = ground.instance.journal_id();
        let traces = Traces::read(&folder, instance)?;
        let inspected = inspect_journal(config, ground, &traces)?;
        let end = inspected.found().last_sequence;
        let snapshots = Snapshots::open(&ground.lock, instance)?;
        let read_model = Arc::new(ReadModel::open(&ground.lock, instance, end)?);
        let (inbox, lanes) = inbox_with(config.room(), config.unanswered());
        let ledger = Arc::new(LedgerBook::new(inbox.clone()));
        let (engine, recovered) = replay(&folder, end, &snapshots, &ledger, &read_model)?;
        traces.check_orders(&folder, end, engine.last_order())?;
        let journal = open_journal(inspected)?;
        ground.clock.start_after(recovered.at);
        let clock = ground.clock.shared();
        Ok(Self { folder, engine, recovered, journal, snapshots, read_model, ledger, inbox, lanes, clock })
    }
}

fn inspect_journal(config: &Config, ground: &Ground, traces: &Traces) -> Result<Inspected, Failure> {
    let mut bar = Progress::of("checking the journal");
    let witnesses = traces.witnesses(ground.lock.folder());
    let options = Options { witnesses, ..config.journal_options(ground.instance.journal_id()) };
    Ok(Journal::inspect(&ground.lock, &options, &mut |step| bar.show(step.read, step.total))?)
}

fn open_journal(inspected: Inspected) -> Result<Journal, Failure> {
    let (found, journal) = inspected.open()?;
    if let Some(torn) = &found.torn {
        warn!("the last write was cut off and is dropped, nothing in it was acknowledged: {torn}");
    }
    Ok(journal)
}

fn replay(
    folder: &std::path::Path,
    end: u64,
    snapshots: &Snapshots,
    ledger: &LedgerBook,
    read_model: &ReadModel,
) -> Result<(engine::Engine, Recovered), Failure> {
    let mut bar = Progress::of("replaying the journal");
    let (engine, recovered) = recover(
        folder,
        end,
        snapshots,
        ledger,
        read_model.applied(),
        &mut |through, events| read_model.offer(through, events),
        &mut |step| bar.show(step.read, step.total),
    )
    .map_err(not_recovered)?;
    info!(snapshot = recovered.snapshot, replayed = recovered.replayed, "the state is as it was");
    Ok((engine, recovered))
}

fn not_recovered(problem: RecoveryError) -> Failure {
    match problem {
        RecoveryError::Storage(error) => error.into(),
        other => Failure::new(Exit::Damaged, other.to_string()),
    }
}
