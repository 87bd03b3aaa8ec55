//! `rialto journal accept-loss`: the way back for a folder whose journal lost its end for good. Nothing that was known of the
//! lost part is used again, whatever does not fit any more is kept aside, and the audit has it.

use std::path::Path;

use domain::Timestamp;
use domain::command::AcceptedLoss;
use storage::journal::{self, InstanceId, Journal, VerifyReport};
use storage::lock::DataDirLock;
use storage::{SnapshotStore, StorageError, read_model};

use crate::clock::SystemClock;
use crate::config::Config;
use crate::data_dir::identity::DataDirIdentity;
use crate::data_dir::private;
use crate::data_dir::traces::{LOST, Traces};
use crate::exit_failure::{Exit, ExitFailure};
use crate::users::execute::actor;
use crate::users::offline_log;

/// Says what was done.
pub fn accept(config: &Config, up_to: u64) -> Result<String, ExitFailure> {
    if !config.data_dir.join(journal::FOLDER).is_dir() {
        let text = format!("there is no journal in {}", config.data_dir.join(journal::FOLDER).display());
        return Err(ExitFailure::new(Exit::Refused, text));
    }
    let lock = DataDirLock::acquire(&config.data_dir)?;
    private::close(lock.folder())?;
    let instance = DataDirIdentity::load(&lock)?.journal_id();
    let traces = Traces::read_with_lost(lock.folder(), instance)?;
    let report = check(lock.folder(), instance, &traces)?;
    if report.damage.is_none() && report.known.is_empty() {
        let end = report.good.last_sequence;
        let text = format!("nothing is lost: the journal is good up to {end}, and nothing remembers more");
        return Err(ExitFailure::new(Exit::Refused, text));
    }
    check_floor(&lock, instance, up_to)?;
    let now = SystemClock::new(config.clock_offset.0).now();
    let aside = lock.folder().join(LOST).join(now.0.to_string());
    give_up(config, &lock, instance, up_to, &traces, &aside, now)?;
    Ok(summary(up_to, &report, &aside))
}

/// A pruned journal begins with a snapshot: without one that is left, nothing could start from it.
fn check_floor(lock: &DataDirLock, instance: InstanceId, up_to: u64) -> Result<(), ExitFailure> {
    let Some(floor) = journal::read_floor(&lock.folder().join(journal::FOLDER))? else { return Ok(()) };
    let left = SnapshotStore::look(lock.folder(), instance).latest_valid(Some(up_to))?;
    if left.is_some_and(|snapshot| snapshot.sequence >= floor.sequence) {
        return Ok(());
    }
    let text = format!(
        "the journal was pruned up to {}, and no good snapshot from there up to {up_to} is left to begin with: restore a backup",
        floor.sequence
    );
    Err(ExitFailure::new(Exit::Refused, text))
}

/// What a start would say, as a report.
pub fn check(data_folder: &Path, instance: InstanceId, traces: &Traces) -> Result<VerifyReport, ExitFailure> {
    let folder = data_folder.join(journal::FOLDER);
    let mut bar = crate::progress::ProgressReporter::new_for("checking the journal");
    let witnesses = traces.witnesses(data_folder);
    let show = &mut |walked: journal::ScanProgress| bar.show(walked.read, walked.total);
    let mut report = journal::verify_with(&folder, &witnesses, show)?;
    if traces.has_orders() && report.damage.is_none() && report.known.is_empty() {
        let state = runtime::state_at(data_folder, instance, report.good.last_sequence);
        let state = state.map_err(|problem| ExitFailure::new(Exit::Damaged, problem.to_string()))?;
        report.known = traces.orders_beyond(state.last_order);
    }
    Ok(report)
}

/// A crash in between leaves a journal that is refused as before: the same command goes on.
fn give_up(
    config: &Config,
    lock: &DataDirLock,
    instance: InstanceId,
    up_to: u64,
    traces: &Traces,
    aside: &Path,
    now: Timestamp,
) -> Result<(), ExitFailure> {
    let known = traces.sequence().max(up_to);
    let left = journal::accept_loss(lock, instance, up_to, known, aside)?;
    SnapshotStore::open(lock, instance)?.keep_aside(left.end, aside)?;
    read_model::keep_aside(lock.folder(), aside)?;
    keep_audit_aside(lock.folder(), aside)?;
    let loss = AcceptedLoss { end: left.end, order: traces.order(), transaction: traces.transaction() };
    let (_, mut journal) = Journal::open_after_loss(lock, &config.journal_options(instance))?;
    let taken = journal.append(runtime::go_on_after(loss, known, now));
    taken.map_err(|refused| StorageError::Failed { reason: refused.reason.to_string() })?;
    journal.close()?;
    // An older head on the disk after a power cut would refuse the journal that was just accepted.
    journal::sync_head(lock.folder())?;
    audit(config, lock, (left.end, known), aside, now)?;
    Ok(journal::sync_head(lock.folder())?)
}

fn audit(
    config: &Config,
    lock: &DataDirLock,
    (end, known): (u64, u64),
    aside: &Path,
    now: Timestamp,
) -> Result<(), ExitFailure> {
    let detail = format!("records after {end} given up, known up to {known}, kept in {}", aside.display());
    tracing::warn!("{detail}");
    let note = |users: &access::UserStore| Ok(users.note(&actor("journal accept-loss"), detail, now)?);
    offline_log::with_users(config, lock, now, note)
}

/// Its rows of the lost part are in no journal; it is written again from what is left.
fn keep_audit_aside(data_folder: &Path, aside: &Path) -> Result<(), ExitFailure> {
    for file in ["", "-wal", "-shm"].map(|end| format!("{}{end}", access::AUDIT_FILE)) {
        let (from, to) = (data_folder.join(&file), aside.join(&file));
        if from.exists() {
            std::fs::create_dir_all(aside).map_err(|error| ExitFailure::io("create", aside, &error))?;
            std::fs::rename(&from, &to).map_err(|error| ExitFailure::io("keep aside", &from, &error))?;
        }
    }
    Ok(())
}

fn summary(end: u64, report: &VerifyReport, aside: &Path) -> String {
    let damage = report.damage.iter().map(ToString::to_string);
    let why: String = damage.chain(report.known.iter().cloned()).map(|line| format!("  {line}\n")).collect();
    format!(
        "records after {end} are given up:\n{why}what they stood in is kept in {}\n\
         no id, order number or FIX number of before is used again; accounts whose venue has orders that are not known \
         here are halted when it connects\n",
        aside.display()
    )
}
