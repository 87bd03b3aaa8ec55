//! Replicated log: the verbs over any engine. Here stand the rules that keep two leaders apart.

use std::collections::BTreeSet;

use super::beginning::beginning_of;
use super::cursor::{EntryFault, LogCursor};
use super::entry::{LogEntry, LogPayload};
use super::event::{LogBeginning, LogEvent};
use super::port::{LogError, LogOutcome, LogRefusal, QuorumLog, UnknownCause};
use super::store::{LoadReply, LogStore, StoreReply};
use super::types::{CandidateId, Epoch, LogPosition, MessageId};
use crate::journal::{FrameChain, SealedFrame};

/// How often another copy of an entry is asked for: each machine several times, because one that has just started may not answer yet.
const COPIES_ASKED: usize = 16;
/// Marks of one lead at which the log may still begin.
const MARKS_MAX: usize = 4_096;

/// One candidate's handle.
#[derive(Debug)]
pub struct ReplicatedLog<S> {
    store: S,
    candidate: CandidateId,
    /// None before the lead, and after a fence.
    leadership: Option<Leadership>,
    in_flight: Option<InFlight>,
    /// The last position that was accepted or read.
    known: LogPosition,
    /// Positions of the own lead at which the log may begin.
    marks: BTreeSet<LogPosition>,
}

/// What a leader goes on from.
#[derive(Debug, Clone)]
struct Leadership {
    epoch: Epoch,
    position: LogPosition,
    chain: FrameChain,
}

/// The one entry whose outcome is not known yet. It is kept as it was sent.
#[derive(Debug)]
struct InFlight {
    expected: LogPosition,
    id: MessageId,
    entry: Vec<u8>,
    /// What the leader goes on from when it is accepted.
    then: Leadership,
    /// Whether an earlier attempt may have been stored.
    is_repeated: bool,
    /// Whether the log may begin with it.
    is_mark: bool,
}

impl<S: LogStore> ReplicatedLog<S> {
    /// `candidate` must be new for every handle.
    pub fn new(store: S, candidate: CandidateId) -> Self {
        Self { store, candidate, leadership: None, in_flight: None, known: LogPosition::START, marks: BTreeSet::new() }
    }

    fn send(&mut self) -> LogOutcome {
        let Some(sent) = &self.in_flight else { return refused(LogRefusal::NothingInFlight) };
        match self.store.store(sent.expected, &sent.id, &sent.entry) {
            StoreReply::Stored { position } | StoreReply::Duplicate { position } => self.on_stored(position),
            // An answer of less than was accepted before comes from a machine that is behind. It proves nothing.
            StoreReply::OtherEnd { end: Some(end) } if end <= sent.expected => {
                self.unknown(UnknownCause::LogBehind { end })
            }
            StoreReply::OtherEnd { end } => self.fence(end),
            StoreReply::InProgress => self.unknown(UnknownCause::InProgress),
            StoreReply::NoAnswer => self.unknown(UnknownCause::NoAnswer),
            StoreReply::Rejected { reason } if sent.is_repeated => self.unknown(UnknownCause::Rejected { reason }),
            StoreReply::Rejected { reason } => {
                self.in_flight = None;
                refused(LogRefusal::Rejected { reason })
            }
        }
    }

    /// An engine that keeps its word stores at the next position. Another one has to be left at once.
    fn on_stored(&mut self, position: LogPosition) -> LogOutcome {
        match self.in_flight.take() {
            Some(sent) if sent.expected.next() == position => {
                self.leadership = Some(Leadership { position, ..sent.then });
                self.known = self.known.max(position);
                self.keep_mark(sent.is_mark, position);
                LogOutcome::Accepted { position }
            }
            _ => self.fence(Some(position)),
        }
    }

    /// A leader whose followers hold the log writes marks for a long time; the oldest are of no use then.
    fn keep_mark(&mut self, is_mark: bool, position: LogPosition) {
        if is_mark {
            self.marks.insert(position);
        }
        if self.marks.len() > MARKS_MAX {
            self.marks.pop_first();
        }
    }

    fn unknown(&mut self, cause: UnknownCause) -> LogOutcome {
        if let Some(sent) = &mut self.in_flight {
            sent.is_repeated = true;
        }
        LogOutcome::Unknown { cause }
    }

    fn fence(&mut self, end: Option<LogPosition>) -> LogOutcome {
        (self.leadership, self.in_flight) = (None, None);
        self.marks.clear();
        LogOutcome::Fenced { end }
    }
}

impl<S: LogStore> QuorumLog for ReplicatedLog<S> {
    fn lead(&mut self, epoch: Epoch, at: &LogCursor) -> LogOutcome {
        if self.in_flight.is_some() {
            return refused(LogRefusal::Unsettled);
        }
        if epoch <= at.epoch() {
            return refused(LogRefusal::EpochNotRising { epoch, known: at.epoch() });
        }
        let (expected, chain) = (at.position(), at.chain().clone());
        let payload = LogPayload::EpochRecord { candidate: self.candidate, after: chain.head() };
        let entry = LogEntry { instance: chain.instance(), epoch, payload }.encode();
        let id = MessageId::of_epoch_record(epoch, self.candidate, expected);
        let then = Leadership { epoch, position: expected, chain };
        self.in_flight = Some(InFlight { expected, id, entry, then, is_repeated: false, is_mark: true });
        self.send()
    }

    fn append(&mut self, frame: &SealedFrame) -> LogOutcome {
        if self.in_flight.is_some() {
            return refused(LogRefusal::Unsettled);
        }
        let Some(Leadership { epoch, position, chain }) = self.leadership.clone() else {
            return refused(LogRefusal::NotLeading);
        };
        let chain = match chain.with(frame) {
            Ok(chain) => chain,
            Err(error) => return refused(LogRefusal::WrongFrame { reason: error.to_string() }),
        };
        let (instance, id) = (chain.instance(), MessageId::of_frame(epoch, position, frame.hash()));
        let entry = LogEntry { instance, epoch, payload: LogPayload::Frame(frame.clone()) }.encode();
        let then = Leadership { epoch, position, chain };
        self.in_flight = Some(InFlight { expected: position, id, entry, then, is_repeated: false, is_mark: false });
        self.send()
    }

    fn mark(&mut self) -> LogOutcome {
        if self.in_flight.is_some() {
            return refused(LogRefusal::Unsettled);
        }
        let Some(then) = self.leadership.clone() else { return refused(LogRefusal::NotLeading) };
        let (expected, epoch, instance, after) = (then.position, then.epoch, then.chain.instance(), then.chain.head());
        let payload = LogPayload::Mark { leader: Some(self.candidate), after };
        let entry = LogEntry { instance, epoch, payload }.encode();
        let id = MessageId::of_mark(epoch, expected, instance, after.hash);
        self.in_flight = Some(InFlight { expected, id, entry, then, is_repeated: false, is_mark: true });
        self.send()
    }

    fn beginning(&mut self) -> Result<Option<LogBeginning>, LogError> {
        beginning_of(&mut self.store)
    }

    fn entry(&mut self, position: LogPosition) -> Result<Option<LogEntry>, LogError> {
        let error = match self.store.load(position) {
            LoadReply::Entry(bytes) => match LogEntry::decode(&bytes) {
                Ok(entry) => return Ok(Some(entry)),
                Err(reason) => Some(LogError::Bad { position, fault: EntryFault::Damaged { reason } }),
            },
            // One machine may not have it yet.
            LoadReply::End => None,
            LoadReply::Missing { next } => Some(LogError::Gap { position, next }),
            LoadReply::Unreadable { reason } => Some(LogError::Unavailable { reason }),
            LoadReply::Trimmed { first } => return Err(LogError::Trimmed { next: position, first }),
            LoadReply::Unavailable { reason } => return Err(LogError::Unavailable { reason }),
        };
        let mut copies = (0..COPIES_ASKED).filter_map(|_| self.store.load_copy(position));
        match (copies.find_map(|bytes| LogEntry::decode(&bytes).ok()), error) {
            (None, Some(error)) => Err(error),
            (found, _) => Ok(found),
        }
    }

    fn settle(&mut self) -> LogOutcome {
        self.send()
    }

    fn read(&mut self, cursor: &mut LogCursor, entries_max: usize) -> Result<Vec<LogEvent>, LogError> {
        let mut events = Vec::new();
        while events.len() < entries_max {
            match self.read_one(cursor) {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                // The cursor stands before it, so the next call meets it again.
                Err(_) if !events.is_empty() => break,
                Err(error) => return Err(error),
            }
        }
        // A cursor that nothing was read behind may be of another log.
        if !events.is_empty() {
            self.known = self.known.max(cursor.position());
        }
        Ok(events)
    }

    fn trim(&mut self, below: LogPosition) -> Result<(), LogError> {
        if self.leadership.is_none() {
            return Err(LogError::NotLeading);
        }
        if below > self.known {
            return Err(LogError::TrimTooFar { below, known: self.known });
        }
        if !self.marks.contains(&below) {
            return Err(LogError::NoMark { below });
        }
        self.store.discard(below).map_err(|reason| LogError::Unavailable { reason })?;
        self.marks = self.marks.split_off(&below);
        Ok(())
    }
}

impl<S: LogStore> ReplicatedLog<S> {
    fn read_one(&mut self, cursor: &mut LogCursor) -> Result<Option<LogEvent>, LogError> {
        let position = cursor.position().next();
        let error = match self.store.load(position) {
            LoadReply::Entry(entry) => match cursor.advance(&entry) {
                Ok(event) => return Ok(Some(event)),
                Err(fault) => LogError::Bad { position, fault },
            },
            LoadReply::End => return Ok(None),
            LoadReply::Missing { next } => LogError::Gap { position, next },
            LoadReply::Unreadable { reason } => LogError::Unavailable { reason },
            LoadReply::Trimmed { first } => return Err(LogError::Trimmed { next: position, first }),
            LoadReply::Unavailable { reason } => return Err(LogError::Unavailable { reason }),
        };
        self.read_copy(cursor, &error).map(Some).ok_or(error)
    }

    /// One machine may have lost what others have. A copy is checked like everything else.
    fn read_copy(&mut self, cursor: &mut LogCursor, error: &LogError) -> Option<LogEvent> {
        let position = cursor.position().next();
        let mut copies = (0..COPIES_ASKED).filter_map(|_| self.store.load_copy(position));
        let event = copies.find_map(|entry| cursor.advance(&entry).ok())?;
        tracing::error!(
            %error,
            "one machine of the replicated log has a damaged entry, another copy is good: look at the disks of its servers"
        );
        Some(event)
    }
}

fn refused(reason: LogRefusal) -> LogOutcome {
    LogOutcome::Refused { reason }
}
