//! Port to a replicated log: its verbs, and what each of them may answer.

use std::fmt;

use super::cursor::{EntryFault, LogCursor};
use super::entry::LogEntry;
use super::event::{LogBeginning, LogEvent};
use super::types::{Epoch, LogPosition};
use crate::journal::SealedFrame;

/// A log of sealed journal frames that a majority of machines keeps. One handle is one candidate for the lead, on one thread; every
/// call waits for a bounded time.
pub trait QuorumLog {
    /// Becomes the leader of `epoch`, by an epoch record that is accepted only where the log ends at `at`, which is what the
    /// candidate has read. Of all candidates at one position, one is accepted.
    fn lead(&mut self, epoch: Epoch, at: &LogCursor) -> LogOutcome;

    /// Appends the next frame of the leader. Nothing else may be in flight.
    fn append(&mut self, frame: &SealedFrame) -> LogOutcome;

    /// Asks for the outcome of what is in flight: the same entry is sent again, under the same message id and the same condition.
    fn settle(&mut self) -> LogOutcome;

    /// The entries behind the cursor, which then stands behind them; none where there are no more yet. Each was checked against
    /// the chain and the epoch. Good entries before a bad one are delivered; the next call answers with the fault.
    fn read(&mut self, cursor: &mut LogCursor, entries_max: usize) -> Result<Vec<LogEvent>, LogError>;

    /// Where the log begins; none where it is empty. Nothing is decided by it: it only shows a reader where to look.
    fn beginning(&mut self) -> Result<Option<LogBeginning>, LogError>;

    /// The entry at a position; none where the log ends before it. It shows whose log this is, and is not checked against the chain.
    fn entry(&mut self, position: LogPosition) -> Result<Option<LogEntry>, LogError>;

    /// Appends a mark, at which the log may begin after a trim. As an append.
    fn mark(&mut self) -> LogOutcome;

    /// Removes the entries below a position, which must be that of the own epoch record or of an own mark. Only a leader may.
    fn trim(&mut self, below: LogPosition) -> Result<(), LogError>;
}

/// The outcome of a conditional append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogOutcome {
    /// A majority has it, at this position, for good.
    Accepted { position: LogPosition },
    /// Another entry stands where this one should: this handle leads no more, and the entry is not in the log. In `settle`, the log
    /// may have forgotten the message id and hold the entry; the leader must not count on either.
    Fenced { end: Option<LogPosition> },
    /// It may be in the log now, later or never: `settle` until it is known. Nothing else is sent meanwhile.
    Unknown { cause: UnknownCause },
    /// Certainly not in the log; the handle is as before.
    Refused { reason: LogRefusal },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnknownCause {
    /// No answer came in time.
    NoAnswer,
    /// The log has the message id, but the entry is not accepted yet.
    InProgress,
    /// The machine that answered knows less than was accepted before: it is an old one, or the log lost its end.
    LogBehind { end: LogPosition },
    /// A repeated entry was rejected; what became of the first one is not said by that.
    Rejected { reason: String },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogRefusal {
    /// Something is in flight: settle it first.
    Unsettled,
    /// Nothing is in flight.
    NothingInFlight,
    /// This handle does not lead, or was fenced.
    NotLeading,
    /// An epoch must be above every epoch that was read.
    EpochNotRising { epoch: Epoch, known: Epoch },
    /// The frame is not the next one of the leader's chain.
    WrongFrame { reason: String },
    /// The engine took it not, and said so.
    Rejected { reason: String },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogError {
    /// What comes next was trimmed away; the log begins at `first`.
    Trimmed { next: LogPosition, first: LogPosition },
    /// The entry at `position` is missing, but a later one is there.
    Gap { position: LogPosition, next: LogPosition },
    /// The entry at `position` must not be used.
    Bad { position: LogPosition, fault: EntryFault },
    /// The first entry is a frame: entries before it are lost.
    NoBeginning { position: LogPosition },
    /// The log cannot be read or trimmed now.
    Unavailable { reason: String },
    /// Only who leads trims: a reader does not know what others have read.
    NotLeading,
    /// More would be trimmed than this handle knows to be accepted.
    TrimTooFar { below: LogPosition, known: LogPosition },
    /// A log must begin with an epoch record or a mark, and this handle has written none there.
    NoMark { below: LogPosition },
}

impl fmt::Display for UnknownCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAnswer => f.write_str("no answer came in time"),
            Self::InProgress => f.write_str("the log has not finished it"),
            Self::LogBehind { end } => write!(f, "the log ends at {end}, below what it accepted before"),
            Self::Rejected { reason } => write!(f, "the repeated entry was rejected: {reason}"),
        }
    }
}

impl fmt::Display for LogRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsettled => f.write_str("an entry whose outcome is unknown must be settled first"),
            Self::NothingInFlight => f.write_str("there is no entry whose outcome is unknown"),
            Self::NotLeading => f.write_str("this process does not lead"),
            Self::EpochNotRising { epoch, known } => write!(f, "epoch {epoch} is not above epoch {known}"),
            Self::WrongFrame { reason } => write!(f, "the frame is not the next one: {reason}"),
            Self::Rejected { reason } => write!(f, "the log rejected it: {reason}"),
        }
    }
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trimmed { next, first } => write!(f, "entry {next} was trimmed, the log begins at {first}"),
            Self::Gap { position, next } => write!(f, "entry {position} is missing, entry {next} is there"),
            Self::Bad { position, fault } => write!(f, "entry {position} cannot be used: {fault}"),
            Self::NoBeginning { position } => {
                write!(f, "the log begins with entry {position}, which is a frame: entries before it are lost")
            }
            Self::NoMark { below } => write!(f, "the log cannot begin at {below}: no mark of this leader is there"),
            Self::Unavailable { reason } => write!(f, "the log does not answer: {reason}"),
            Self::NotLeading => f.write_str("the log is trimmed by its leader alone"),
            Self::TrimTooFar { below, known } => {
                write!(f, "entries below {below} cannot be trimmed, only those below {known}")
            }
        }
    }
}

impl std::error::Error for LogError {}
