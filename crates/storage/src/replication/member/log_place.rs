//! Place of a process in a log: where its own journal goes on there.
//!
//! The cursor file knows it. Where the log was trimmed beyond it, where a power cut left an old file or none, and where the log was begun
//! anew, the first entry of the log tells: it names a frame, and the own journal has that frame or not.

use std::path::Path;

use super::follow_error::FollowError;
use crate::StorageError;
use crate::journal::{InstanceId, chain_at};
use crate::replication::cursor::{EntryFault, LogCursor};
use crate::replication::event::LogBeginning;
use crate::replication::port::LogError;
use crate::replication::types::LogPosition;

/// The own journal.
pub(crate) struct OwnJournal<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) instance: InstanceId,
    pub(crate) last_sequence: u64,
}

/// A new cursor where the known one is not of this log, or of a part that is gone; none where it stays.
pub(crate) fn find_place(
    beginning: Option<LogBeginning>,
    known: &LogCursor,
    own: &OwnJournal<'_>,
) -> Result<Option<LogCursor>, FollowError> {
    let Some(beginning) = beginning else { return empty_log(known, own) };
    let LogBeginning { position, instance: found, after, .. } = beginning;
    if found != own.instance {
        let fault = EntryFault::OtherInstance { found, expected: own.instance };
        return Err(LogError::Bad { position, fault }.into());
    }
    if is_of_this_log(&beginning, known) {
        return Ok(None);
    }
    let chain = match chain_at(own.folder, own.instance, after) {
        Ok(chain) => chain,
        // Older segments were deleted: the journal goes on behind them, but cannot be compared there.
        Err(StorageError::Pruned { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let behind = FollowError::Behind { begins: after.sequence, ends: own.last_sequence };
    chain.map(|chain| Some(LogCursor::before(&beginning, chain))).ok_or(behind)
}

/// Epochs rise, also when a log is begun anew: a beginning of a later epoch than was read is that of another log.
fn is_of_this_log(beginning: &LogBeginning, known: &LogCursor) -> bool {
    beginning.position <= known.position().next()
        && beginning.epoch <= known.epoch()
        && (known.position() > LogPosition::START || beginning.after == known.chain().head())
}

/// Only a journal without records may begin an empty log by itself. With one, the log may have been lost.
fn empty_log(known: &LogCursor, own: &OwnJournal<'_>) -> Result<Option<LogCursor>, FollowError> {
    if own.last_sequence > 0 || known.position() > LogPosition::START {
        return Err(FollowError::EmptyLog { ends: own.last_sequence });
    }
    Ok(None)
}
