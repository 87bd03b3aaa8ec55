//! What the rules share: a leader with frames in the log, and readers of all of it.

use std::fmt::Debug;

use storage::journal::SealedFrame;
use storage::replication::{Epoch, LogCursor, LogError, LogEvent, LogOutcome, LogPosition, LogRefusal};

use crate::lab::{LogClient, LogLab, Verdict};
use crate::sample_frames::{INSTANCE, frames};

/// How many entries a reader asks for at once.
const ENTRIES: usize = 64;

pub(super) fn expect<T: PartialEq + Debug>(what: &str, found: &T, expected: &T) -> Verdict {
    if found == expected { Ok(()) } else { Err(format!("{what}: expected {expected:?}, found {found:?}")) }
}

pub(super) fn ensure(is_met: bool, what: &str, found: &impl Debug) -> Verdict {
    if is_met { Ok(()) } else { Err(format!("{what}: found {found:?}")) }
}

pub(super) fn accepted(what: &str, found: &LogOutcome, position: u64) -> Verdict {
    expect(what, found, &LogOutcome::Accepted { position: LogPosition(position) })
}

pub(super) fn fenced(what: &str, found: &LogOutcome) -> Verdict {
    ensure(matches!(found, LogOutcome::Fenced { .. }), &format!("{what}: expected a fence"), found)
}

pub(super) fn unknown(what: &str, found: &LogOutcome) -> Verdict {
    ensure(matches!(found, LogOutcome::Unknown { .. }), &format!("{what}: expected an unknown outcome"), found)
}

pub(super) fn refused(what: &str, found: &LogOutcome, reason: LogRefusal) -> Verdict {
    expect(what, found, &LogOutcome::Refused { reason })
}

pub(super) fn start() -> LogCursor {
    LogCursor::start(INSTANCE)
}

/// A client that leads epoch 1 and whose first `count` frames are in the log, at positions 2 and up.
pub(super) fn leader(lab: &mut dyn LogLab, count: usize) -> Result<LogClient, String> {
    let mut client = lab.connect();
    accepted("lead of an empty log", &client.log.lead(Epoch(1), &start()), 1)?;
    for (frame, position) in frames().iter().take(count).zip(2..) {
        accepted("append", &client.log.append(frame), position)?;
    }
    Ok(client)
}

/// A client that has read everything and leads the epoch.
pub(super) fn successor(lab: &mut dyn LogLab, epoch: u64) -> Result<LogClient, String> {
    let mut client = lab.connect();
    let cursor = read_all(&mut client)?.1;
    let position = cursor.position().next().0;
    accepted("lead by a candidate that has read everything", &client.log.lead(Epoch(epoch), &cursor), position)?;
    Ok(client)
}

/// Everything from the start on.
pub(super) fn read_all(client: &mut LogClient) -> Result<(Vec<LogEvent>, LogCursor), String> {
    let (events, cursor, error) = read_until_fault(client);
    match error {
        None => Ok((events, cursor)),
        Some(error) => Err(format!("a good log could not be read: {error}")),
    }
}

/// What is delivered before the end or the first fault.
pub(super) fn read_until_fault(client: &mut LogClient) -> (Vec<LogEvent>, LogCursor, Option<LogError>) {
    read_from(client, start())
}

pub(super) fn read_from(client: &mut LogClient, mut cursor: LogCursor) -> (Vec<LogEvent>, LogCursor, Option<LogError>) {
    let mut events = Vec::new();
    loop {
        match client.log.read(&mut cursor, ENTRIES) {
            Ok(more) if more.is_empty() => return (events, cursor, None),
            Ok(more) => events.extend(more),
            Err(error) => return (events, cursor, Some(error)),
        }
    }
}

/// The journal that a new reader makes of the log.
pub(super) fn journal(lab: &mut dyn LogLab) -> Result<Vec<SealedFrame>, String> {
    Ok(frames_in(&read_all(&mut lab.connect())?.0))
}

pub(super) fn frames_in(events: &[LogEvent]) -> Vec<SealedFrame> {
    let frame = |event: &LogEvent| match event {
        LogEvent::Frame { frame, .. } => Some(frame.clone()),
        LogEvent::Led { .. } | LogEvent::Marked { .. } | LogEvent::Dropped { .. } => None,
    };
    events.iter().filter_map(frame).collect()
}

/// The log has these frames, once each, and nothing that had to be dropped.
pub(super) fn expect_journal(lab: &mut dyn LogLab, count: usize) -> Verdict {
    let events = read_all(&mut lab.connect())?.0;
    let dropped = events.iter().filter(|event| matches!(event, LogEvent::Dropped { .. })).count();
    expect("entries that do not count", &dropped, &0)?;
    expect("frames in the log", &frames_in(&events).len(), &count)?;
    ensure(frames_in(&events) == frames()[..count], "the frames are those that were appended", &count)
}
