//! Beginning of a log: its first entry, which names the place in the journal from which the log goes on.
//!
//! A log that holds a whole journal begins at its start. One that was trimmed, or begun from a journal with history, begins later.
//! Its first entry is always a mark or an epoch record: a frame there means that entries were lost.

use super::cursor::EntryFault;
use super::entry::{LogEntry, LogPayload};
use super::event::LogBeginning;
use super::port::LogError;
use super::store::{LoadReply, LogStore, StoreReply};
use super::types::{Epoch, LogPosition, MessageId};
use crate::journal::{ChainAnchor, InstanceId};

/// The beginning of a log; none where it is empty.
pub fn beginning_of(store: &mut impl LogStore) -> Result<Option<LogBeginning>, LogError> {
    let first = LogPosition::START.next();
    match store.load(first) {
        LoadReply::Entry(bytes) => decode(first, &bytes),
        LoadReply::End => Ok(None),
        LoadReply::Missing { next } => Err(LogError::Gap { position: first, next }),
        LoadReply::Trimmed { first } => match store.load(first) {
            LoadReply::Entry(bytes) => decode(first, &bytes),
            LoadReply::Missing { next } => Err(LogError::Gap { position: first, next }),
            // It was trimmed once more meanwhile.
            other => Err(LogError::Unavailable { reason: format!("entry {first} cannot be read now: {other:?}") }),
        },
        LoadReply::Unreadable { reason } | LoadReply::Unavailable { reason } => Err(LogError::Unavailable { reason }),
    }
}

/// Whether the empty log now begins with the start of this journal. False where it is not known, or where another process was first:
/// look at its beginning again.
pub fn begin_empty_log(store: &mut impl LogStore, instance: InstanceId) -> bool {
    let (epoch, after) = (Epoch(0), ChainAnchor::START);
    let entry = LogEntry { instance, epoch, payload: LogPayload::Mark { leader: None, after } }.encode();
    let id = MessageId::of_mark(epoch, LogPosition::START, instance, after.hash);
    let reply = store.store(LogPosition::START, &id, &entry);
    matches!(reply, StoreReply::Stored { .. } | StoreReply::Duplicate { .. })
}

fn decode(position: LogPosition, bytes: &[u8]) -> Result<Option<LogBeginning>, LogError> {
    let damaged = |reason| LogError::Bad { position, fault: EntryFault::Damaged { reason } };
    let LogEntry { instance, epoch, payload } = LogEntry::decode(bytes).map_err(damaged)?;
    let (leader, after, is_epoch_record) = match payload {
        LogPayload::EpochRecord { candidate, after } => (Some(candidate), after, true),
        LogPayload::Mark { leader, after } => (leader, after, false),
        LogPayload::Frame(_) => return Err(LogError::NoBeginning { position }),
    };
    Ok(Some(LogBeginning { position, instance, epoch, leader, after, is_epoch_record }))
}
