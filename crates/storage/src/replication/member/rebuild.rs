//! Rebuilding a log: an empty log begins anew from the journal of one folder.
//!
//! ```text
//! epoch record behind the last record of the folder ▸ the frames that the rebuild has recorded itself ▸ mark
//! ```
//!
//! A member that leads before the frames are there leads without them, and numbers of the lost log are given again. So none leads behind
//! the epoch record of a rebuild before its mark, and a rebuild that was cut off is completed from the same folder.

use std::path::Path;

use super::follow_error::FollowError;
use super::log_replicator::settle_outcome;
use super::status::ReplicationStatus;
use super::unproven_frames::UnprovenFrames;
use crate::StorageError;
use crate::journal::{ChainAnchor, InstanceId, chain_at};
use crate::replication::cursor::LogCursor;
use crate::replication::event::{LogBeginning, LogEvent};
use crate::replication::port::{LogOutcome, QuorumLog};
use crate::replication::replicated_log::ReplicatedLog;
use crate::replication::store::LogStore;
use crate::replication::types::{CandidateId, Epoch};

/// Epochs between the last one that a folder knows and the first one of a rebuilt log: others may have led meanwhile, and no epoch may be
/// led twice.
const EPOCHS_LEFT_OUT: u64 = 1_000;
const ENTRIES_PER_READ: usize = 64;

/// The epoch in which a log begins anew, behind the last one that is known; 0 where there never was a cluster.
pub fn epoch_of_rebuilt_log(known: Epoch) -> Epoch {
    match known.0 {
        0 => Epoch(1),
        known => Epoch(known.saturating_add(EPOCHS_LEFT_OUT)),
    }
}

/// The journal of a folder that nothing writes, and the log that begins from it.
pub struct LogRebuild<'a, S> {
    log: ReplicatedLog<S>,
    /// Of the journal.
    folder: &'a Path,
    instance: InstanceId,
}

impl<'a, S: LogStore> LogRebuild<'a, S> {
    /// `candidate` must be new for every rebuild.
    pub fn new(store: S, candidate: CandidateId, (folder, instance): (&'a Path, InstanceId)) -> Self {
        Self { log: ReplicatedLog::new(store, candidate.for_rebuild()), folder, instance }
    }

    /// Begins the log behind the frame `after`, by an epoch record on the condition that the log is empty, and appends the frames that the
    /// journal has behind it. False where the log has another beginning.
    pub fn begin(self, (epoch, after): (Epoch, ChainAnchor), status: &ReplicationStatus) -> Result<bool, StorageError> {
        let missing = || failed(format!("the journal has no frame that ends at sequence {}", after.sequence));
        let chain = chain_at(self.folder, self.instance, after)?.ok_or_else(missing)?;
        self.append_rest(epoch, &LogCursor::at_start(epoch, chain), status)
    }

    /// The end of a log that begins from this folder by a rebuild that was cut off; none where the log is complete, or was begun otherwise.
    pub fn unfinished_end(&mut self, beginning: &LogBeginning) -> Result<Option<LogCursor>, FollowError> {
        let after = beginning.after;
        if !beginning.is_epoch_record || !beginning.leader.is_some_and(CandidateId::is_of_rebuild) {
            return Ok(None);
        }
        let chain = chain_at(self.folder, self.instance, after)?.ok_or_else(|| other_folder(after))?;
        let (mut cursor, mut is_unfinished, mut has_records) = (LogCursor::before(beginning, chain), false, false);
        let mut own = UnprovenFrames::behind(self.folder, after.sequence)?;
        loop {
            let events = self.log.read(&mut cursor, ENTRIES_PER_READ)?;
            if events.is_empty() {
                break;
            }
            for event in events {
                match event {
                    LogEvent::Led { candidate, .. } if !candidate.is_of_rebuild() => return Ok(None),
                    LogEvent::Led { .. } => is_unfinished = true,
                    LogEvent::Marked { .. } => is_unfinished = false,
                    LogEvent::Frame { frame, .. } if own.take()?.as_ref() != Some(&frame) => {
                        return Err(other_folder(after).into());
                    }
                    LogEvent::Frame { .. } => has_records = true,
                    LogEvent::Dropped { .. } => {}
                }
            }
        }
        // A rebuild records something in its folder before it begins the log.
        match is_unfinished {
            true if has_records || own.take()?.is_some() => Ok(Some(cursor)),
            true => Err(other_folder(after).into()),
            false => Ok(None),
        }
    }

    /// Appends what the log lacks of a rebuild that was cut off. False where another entry came first.
    pub fn finish(self, end: &LogCursor, status: &ReplicationStatus) -> Result<bool, StorageError> {
        let epoch = end.epoch().next().ok_or_else(|| failed("there is no epoch after the last".to_owned()))?;
        self.append_rest(epoch, end, status)
    }

    fn append_rest(mut self, epoch: Epoch, end: &LogCursor, status: &ReplicationStatus) -> Result<bool, StorageError> {
        let cut_off = |reason: String| {
            failed(format!("{reason}. The log may lack records: give the command again, and start no member before"))
        };
        let log = &mut self.log;
        let outcome = log.lead(epoch, end);
        let mut outcome = settle_outcome(log, outcome, status, |log| log.lead(epoch, end)).map_err(cut_off)?;
        let mut frames = UnprovenFrames::behind(self.folder, end.chain().head().sequence)?;
        while let (LogOutcome::Accepted { .. }, Some(frame)) = (&outcome, frames.take()?) {
            let sent = log.append(&frame);
            outcome = settle_outcome(log, sent, status, |log| log.append(&frame)).map_err(cut_off)?;
        }
        if let LogOutcome::Accepted { .. } = outcome {
            let sent = log.mark();
            outcome = settle_outcome(log, sent, status, QuorumLog::mark).map_err(cut_off)?;
        }
        Ok(matches!(outcome, LogOutcome::Accepted { .. }))
    }
}

fn failed(reason: String) -> StorageError {
    StorageError::Failed { reason }
}

fn other_folder(after: ChainAnchor) -> StorageError {
    failed(format!(
        "the log begins behind record {} by a rialto ha rebuild-log that was cut off, and what it wrote is not in this folder: give the \
         command for the folder that it was given for. Where that folder is lost, give another name to `stream` in the file of every member",
        after.sequence
    ))
}
