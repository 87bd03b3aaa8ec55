//! The engine with everything that it stands on, as it was when it stopped: journal, snapshots, read model, Ledger.

use std::path::PathBuf;
use std::sync::Arc;

use bus::inbox::{Inbox, Lanes, inbox_with};
use runtime::{Recovered, RecoveryError, recover};
use storage::journal::Journal;
use storage::{LedgerBook, ReadModel, Snapshots};
use tracing::{info, warn};

use crate::config::Config;
use crate::failure::{Exit, Failure};
use crate::ground::Ground;
use crate::progress::Progress;

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
        let journal = open_journal(config, ground)?;
        let snapshots = Snapshots::open(&ground.lock, ground.instance.journal_id())?;
        let read_model =
            Arc::new(ReadModel::open(&ground.lock, ground.instance.journal_id(), journal.last_sequence())?);
        let (inbox, lanes) = inbox_with(config.room(), config.unanswered());
        let ledger = Arc::new(LedgerBook::new(inbox.clone()));
        let (engine, recovered) = replay(&folder, &journal, &snapshots, &ledger, &read_model)?;
        ground.clock.start_after(recovered.at);
        let clock = ground.clock.shared();
        Ok(Self { folder, engine, recovered, journal, snapshots, read_model, ledger, inbox, lanes, clock })
    }
}

fn open_journal(config: &Config, ground: &Ground) -> Result<Journal, Failure> {
    let mut bar = Progress::of("checking the journal");
    let options = config.journal_options(ground.instance.journal_id());
    let (found, journal) = Journal::open(&ground.lock, &options, &mut |step| bar.show(step.read, step.total))?;
    if let Some(torn) = &found.torn {
        warn!("the last write was cut off and is dropped, nothing in it was acknowledged: {torn}");
    }
    Ok(journal)
}

fn replay(
    folder: &std::path::Path,
    journal: &Journal,
    snapshots: &Snapshots,
    ledger: &LedgerBook,
    read_model: &ReadModel,
) -> Result<(engine::Engine, Recovered), Failure> {
    let mut bar = Progress::of("replaying the journal");
    let (engine, recovered) = recover(
        folder,
        journal,
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
