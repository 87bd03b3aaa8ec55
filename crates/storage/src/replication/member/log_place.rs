//! Place of a process in a log: where its own journal goes on there.
//!
//! The cursor file knows it, where the log has the noted entry at the noted position. Where the log was trimmed beyond it, where a power
//! cut left an old file or none, and where the log was begun anew, the first entry of the log tells: it names a frame, and the own
//! journal has that frame or not. Epochs alone do not show whose log it is: one that is begun anew may begin with a low one.

use std::path::Path;

use super::follow_error::FollowError;
use crate::StorageError;
use crate::journal::{InstanceId, chain_at};
use crate::replication::cursor::{EntryFault, LogCursor};
use crate::replication::entry::{LogEntry, LogPayload};
use crate::replication::event::LogBeginning;
use crate::replication::port::{LogError, QuorumLog};
use crate::replication::types::LogPosition;

/// The own journal.
pub(crate) struct OwnJournal<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) instance: InstanceId,
    pub(crate) last_sequence: u64,
}

pub(crate) enum LogPlace {
    /// The known one, behind this entry; none at the beginning of the log.
    Known(Option<LogPayload>),
    /// The known one is not of this log, or of a part that is gone.
    AtBeginning(LogCursor),
}

pub(crate) fn find_place(
    log: &mut impl QuorumLog,
    known: &LogCursor,
    own: &OwnJournal<'_>,
) -> Result<LogPlace, FollowError> {
    let Some(beginning) = log.beginning()? else { return empty_log(known, own) };
    let LogBeginning { position, instance: found, after, .. } = beginning;
    if found != own.instance {
        let fault = EntryFault::OtherInstance { found, expected: own.instance };
        return Err(LogError::Bad { position, fault }.into());
    }
    if let Some(LogEntry { payload, .. }) = last_read(log, &beginning, known)? {
        return Ok(LogPlace::Known(Some(payload)));
    }
    let chain = match chain_at(own.folder, own.instance, after) {
        Ok(chain) => chain,
        // Older segments were deleted: the journal goes on behind them, but cannot be compared there.
        Err(StorageError::Pruned { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let behind = FollowError::Behind { begins: after.sequence, ends: own.last_sequence };
    let cursor = chain.map(|chain| LogCursor::before(&beginning, chain)).ok_or(behind)?;
    Ok(if cursor == *known { LogPlace::Known(None) } else { LogPlace::AtBeginning(cursor) })
}

/// The entry that was read last, where this log has it at its position.
fn last_read(
    log: &mut impl QuorumLog,
    beginning: &LogBeginning,
    known: &LogCursor,
) -> Result<Option<LogEntry>, LogError> {
    if known.position() < beginning.position {
        return Ok(None);
    }
    match log.entry(known.position()) {
        Ok(entry) => Ok(entry.filter(|entry| known.is_behind(entry))),
        // Since its beginning was looked at.
        Err(LogError::Trimmed { first, .. }) => {
            Err(LogError::Unavailable { reason: format!("it was trimmed meanwhile, and begins at {first}") })
        }
        Err(error) => Err(error),
    }
}

/// Only a journal without records may begin an empty log by itself. With one, the log may have been lost.
fn empty_log(known: &LogCursor, own: &OwnJournal<'_>) -> Result<LogPlace, FollowError> {
    if own.last_sequence > 0 || known.position() > LogPosition::START {
        return Err(FollowError::EmptyLog { ends: own.last_sequence });
    }
    Ok(LogPlace::Known(None))
}
