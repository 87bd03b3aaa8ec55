//! The view of the audit, as it is when a server starts, alone or as a follower: what it misses comes from the journal.

use std::path::Path;
use std::sync::Arc;

use access::AuditView;
use bus::JournalStatus;
use storage::JournalLedger;
use storage::ledger::{SequencedAdminRecord, read_admin_records};

use crate::exit_failure::ExitFailure;

/// Records that one transaction takes.
const BATCH_RECORDS_MAX: usize = 256;

/// It follows the journal from its end on. Before the engine runs, so that nothing is missed.
pub(crate) fn open(folder: &Path, ledger: &JournalLedger, journal_end: u64) -> Result<Arc<AuditView>, ExitFailure> {
    let view = Arc::new(AuditView::open_for(folder, journal_end)?);
    if view.applied() < ledger.admin().last_sequence {
        catch_up(folder, &view, journal_end)?;
    }
    if view.applied() < journal_end {
        view.note_complete(journal_end)?;
    }
    view.follow(ledger.follow_admin())?;
    Ok(view)
}

/// While the engine runs: what a view that failed lacks comes from the journal, and from now on it follows again.
pub(crate) fn complete(folder: &Path, view: &Arc<AuditView>, ledger: &JournalLedger) -> Result<(), ExitFailure> {
    // Before its end is looked at, so that nothing is missed between: what comes twice changes nothing.
    let records = ledger.follow_admin();
    catch_up(folder, view, ledger.admin().last_sequence)?;
    Ok(view.follow(records)?)
}

/// After the engine has stopped, or a follower's has: the next start need not read the journal for it.
pub(crate) fn close(view: &AuditView, ledger: &JournalLedger, journal: &dyn JournalStatus) {
    let noted = view.wait_for(ledger.admin().last_sequence).and_then(|()| view.note_complete(journal.durable()));
    if let Err(error) = noted {
        tracing::warn!(%error, "the next start reads the audit from the journal");
    }
}

fn catch_up(folder: &Path, view: &AuditView, journal_end: u64) -> Result<(), ExitFailure> {
    let (mut batch, mut written): (Vec<SequencedAdminRecord>, _) = (Vec::new(), Ok(()));
    read_admin_records(folder, view.applied(), journal_end, &mut |record| {
        batch.push(record);
        if batch.len() >= BATCH_RECORDS_MAX && written.is_ok() {
            written = view.apply(&batch);
            batch.clear();
        }
    })?;
    written.and_then(|()| view.apply(&batch)).map_err(ExitFailure::from)
}
