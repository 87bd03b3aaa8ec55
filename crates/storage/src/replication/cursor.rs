//! Log cursor: how far a reader has come, and the check of the next entry against everything before it.

use std::fmt;

use super::entry::{LogEntry, LogPayload};
use super::event::{DropReason, LogBeginning, LogEvent};
use super::types::{CandidateId, Epoch, LogPosition};
use crate::journal::{ChainAnchor, ChainError, FrameChain, InstanceId, SealedFrame};

/// The end of what was read. It is also what a candidate for the lead shows; one that is resumed must be of
/// what was read before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogCursor {
    position: LogPosition,
    epoch: Epoch,
    /// Of that epoch; none before the first.
    leader: Option<CandidateId>,
    chain: FrameChain,
}

/// Why an entry must not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryFault {
    /// The bytes are no entry.
    Damaged { reason: String },
    /// It belongs to another journal.
    OtherInstance { found: InstanceId, expected: InstanceId },
    /// No record in the log begins this epoch.
    UnknownEpoch { epoch: Epoch, known: Epoch },
    /// A leader began an epoch that is over: it had not read the log to its end, and whatever it sends must not be dropped in silence.
    EpochBackwards { epoch: Epoch, known: Epoch },
    /// A second candidate has this epoch.
    TwoLeaders { epoch: Epoch },
    /// The new leader goes on from another frame than the last one here.
    OtherHistory { epoch: Epoch, after: ChainAnchor, known: ChainAnchor },
    /// The frame is not the next one of the journal.
    Chain(ChainError),
}

impl LogCursor {
    /// Before the first entry of a log.
    pub fn start(instance: InstanceId) -> Self {
        Self { position: LogPosition::START, epoch: Epoch(0), leader: None, chain: FrameChain::start(instance) }
    }

    /// Before the first entry of a log that begins anew in `epoch`, behind the end of `chain`.
    pub(crate) fn at_start(epoch: Epoch, chain: FrameChain) -> Self {
        Self { position: LogPosition::START, epoch: Epoch(epoch.0.saturating_sub(1)), leader: None, chain }
    }

    /// Behind an entry that was read in an earlier life.
    pub fn resume(position: LogPosition, (epoch, leader): (Epoch, CandidateId), chain: FrameChain) -> Self {
        Self { position, epoch, leader: Some(leader), chain }
    }

    /// Before the first entry of a log that begins later than its journal. `chain` is the own journal up to what that entry names.
    pub fn before(beginning: &LogBeginning, chain: FrameChain) -> Self {
        let LogBeginning { position, epoch, leader, .. } = *beginning;
        let position = LogPosition(position.0.saturating_sub(1));
        match beginning.is_epoch_record {
            true => Self { position, epoch: Epoch(epoch.0.saturating_sub(1)), leader: None, chain },
            false => Self { position, epoch, leader, chain },
        }
    }

    pub fn position(&self) -> LogPosition {
        self.position
    }

    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    pub fn leader(&self) -> Option<CandidateId> {
        self.leader
    }

    pub fn chain(&self) -> &FrameChain {
        &self.chain
    }

    /// Whether the cursor stands behind this entry, and the log that has it at this position is the one that was read. An entry that
    /// did not count when it was read tells nothing.
    pub(crate) fn is_behind(&self, entry: &LogEntry) -> bool {
        let (known, is_known_epoch) = (self.chain.head(), entry.epoch == self.epoch);
        is_known_epoch
            && entry.instance == self.chain.instance()
            && match &entry.payload {
                LogPayload::Frame(frame) => frame.hash() == known.hash,
                LogPayload::EpochRecord { candidate, after } => self.leader == Some(*candidate) && *after == known,
                LogPayload::Mark { leader, after } => self.leader == *leader && *after == known,
            }
    }

    /// Moves behind the own epoch record, which was accepted.
    pub(crate) fn lead(&mut self, epoch: Epoch, candidate: CandidateId) {
        (self.position, self.epoch, self.leader) = (self.position.next(), epoch, Some(candidate));
    }

    /// Moves behind a mark of the own epoch, which was accepted.
    pub(crate) fn mark(&mut self) {
        self.position = self.position.next();
    }

    /// Moves behind a frame of the own epoch, which was accepted. The log's handle has checked that it continues the chain.
    pub(crate) fn append(&mut self, frame: &SealedFrame) {
        if let Ok(chain) = self.chain.with(frame) {
            (self.position, self.chain) = (self.position.next(), chain);
        }
    }

    /// Checks the entry behind the cursor and moves behind it. After a fault the cursor stands where it was.
    pub fn advance(&mut self, entry: &[u8]) -> Result<LogEvent, EntryFault> {
        let LogEntry { instance, epoch, payload } =
            LogEntry::decode(entry).map_err(|reason| EntryFault::Damaged { reason })?;
        let expected = self.chain.instance();
        if instance != expected {
            return Err(EntryFault::OtherInstance { found: instance, expected });
        }
        let event = match payload {
            LogPayload::Frame(_) | LogPayload::Mark { .. } if epoch < self.epoch => {
                self.dropped(epoch, DropReason::OldEpoch)
            }
            LogPayload::Mark { leader, after } => self.on_mark(epoch, leader, after)?,
            LogPayload::EpochRecord { candidate, after } => self.on_epoch_record(epoch, candidate, after)?,
            LogPayload::Frame(frame) => self.on_frame(epoch, frame)?,
        };
        self.position = self.position.next();
        Ok(event)
    }

    fn on_epoch_record(
        &mut self,
        epoch: Epoch,
        candidate: CandidateId,
        after: ChainAnchor,
    ) -> Result<LogEvent, EntryFault> {
        if epoch < self.epoch {
            return Err(EntryFault::EpochBackwards { epoch, known: self.epoch });
        }
        if epoch == self.epoch {
            let is_repeated = self.leader == Some(candidate);
            let repeated = || self.dropped(epoch, DropReason::Repeated);
            return is_repeated.then(repeated).ok_or(EntryFault::TwoLeaders { epoch });
        }
        let known = self.chain.head();
        if after != known {
            return Err(EntryFault::OtherHistory { epoch, after, known });
        }
        (self.epoch, self.leader) = (epoch, Some(candidate));
        Ok(LogEvent::Led { position: self.position.next(), epoch, candidate })
    }

    fn on_mark(&self, epoch: Epoch, leader: Option<CandidateId>, after: ChainAnchor) -> Result<LogEvent, EntryFault> {
        if epoch > self.epoch {
            return Err(EntryFault::UnknownEpoch { epoch, known: self.epoch });
        }
        if leader != self.leader {
            return Err(EntryFault::TwoLeaders { epoch });
        }
        let known = self.chain.head();
        if after != known {
            return Err(EntryFault::OtherHistory { epoch, after, known });
        }
        Ok(LogEvent::Marked { position: self.position.next(), epoch })
    }

    fn on_frame(&mut self, epoch: Epoch, frame: SealedFrame) -> Result<LogEvent, EntryFault> {
        if epoch > self.epoch || self.leader.is_none() {
            return Err(EntryFault::UnknownEpoch { epoch, known: self.epoch });
        }
        if frame.hash() == self.chain.head().hash {
            return Ok(self.dropped(epoch, DropReason::Repeated));
        }
        self.chain = self.chain.with(&frame).map_err(EntryFault::Chain)?;
        Ok(LogEvent::Frame { position: self.position.next(), epoch, frame })
    }

    fn dropped(&self, epoch: Epoch, reason: DropReason) -> LogEvent {
        LogEvent::Dropped { position: self.position.next(), epoch, reason }
    }
}

impl fmt::Display for EntryFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged { reason } => f.write_str(reason),
            Self::OtherInstance { found, expected } => {
                write!(f, "it belongs to the journal of instance {found}, not {expected}")
            }
            Self::UnknownEpoch { epoch, known } => {
                write!(f, "it is of epoch {epoch}, which no record begins; the last one is {known}")
            }
            Self::EpochBackwards { epoch, known } => {
                write!(f, "a leader began epoch {epoch} behind epoch {known}")
            }
            Self::TwoLeaders { epoch } => write!(f, "epoch {epoch} has a second leader"),
            Self::OtherHistory { epoch, after, known } => {
                let (found, here) = (after.sequence, known.sequence);
                write!(f, "the leader of epoch {epoch} goes on from sequence {found}, {}; ", after.hash)?;
                write!(f, "here the journal ends at {here}, {}", known.hash)
            }
            Self::Chain(error) => error.fmt(f),
        }
    }
}
