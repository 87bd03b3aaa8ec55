//! Rebuilding a log: an empty log begins anew from the journal of one folder.

use std::path::Path;

use super::log_replicator::settle_outcome;
use super::status::ReplicationStatus;
use super::unproven_frames::UnprovenFrames;
use crate::StorageError;
use crate::journal::{ChainAnchor, InstanceId, chain_at};
use crate::replication::cursor::LogCursor;
use crate::replication::port::{LogOutcome, QuorumLog};
use crate::replication::types::Epoch;

/// Epochs between the last one that a folder knows and the first one of a rebuilt log: others may have led meanwhile, and no epoch may be
/// led twice.
const EPOCHS_LEFT_OUT: u64 = 1_000;

/// The epoch in which a log begins anew.
pub fn epoch_of_rebuilt_log(known: Epoch) -> Epoch {
    match known.0 {
        0 => Epoch(1),
        known => Epoch(known.saturating_add(EPOCHS_LEFT_OUT)),
    }
}

/// Begins the log behind the frame `after` of a journal that nothing writes, by an epoch record on the condition that the log is
/// empty, and appends the frames that the journal has behind it. False where the log has another beginning.
///
/// Whoever reads the record waits before it leads, as after every leader: the frames get there before.
pub fn rebuild_log(
    log: &mut impl QuorumLog,
    (folder, instance): (&Path, InstanceId),
    (epoch, after): (Epoch, ChainAnchor),
    status: &ReplicationStatus,
) -> Result<bool, StorageError> {
    let failed = |reason: String| StorageError::Failed { reason };
    let missing = || failed(format!("the journal has no frame that ends at sequence {}", after.sequence));
    let start = LogCursor::at_start(epoch, chain_at(folder, instance, after)?.ok_or_else(missing)?);
    let outcome = log.lead(epoch, &start);
    let mut outcome = settle_outcome(log, outcome, status, |log| log.lead(epoch, &start)).map_err(failed)?;
    let mut frames = UnprovenFrames::behind(folder, after.sequence)?;
    while let (LogOutcome::Accepted { .. }, Some(frame)) = (&outcome, frames.take()?) {
        let sent = log.append(&frame);
        outcome = settle_outcome(log, sent, status, |log| log.append(&frame)).map_err(failed)?;
    }
    Ok(matches!(outcome, LogOutcome::Accepted { .. }))
}
