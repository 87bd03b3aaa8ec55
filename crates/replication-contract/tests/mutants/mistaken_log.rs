//! Logs whose verbs make one mistake each: what a sound handle refuses or names, they do.

use storage::journal::{FrameChain, SealedFrame};
use storage::replication::{
    CandidateId, DropReason, EntryFault, Epoch, LoadReply, LogBeginning, LogCursor, LogEntry, LogError, LogEvent,
    LogOutcome, LogPayload, LogPosition, LogRefusal, LogStore, MessageId, QuorumLog, ReplicatedLog, StoreReply,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogMistake {
    /// None.
    Sound,
    /// A frame is sent behind one whose outcome is not known.
    TwoInFlight,
    /// An unknown outcome is given out as a refusal.
    DoubtIsRefusal,
    /// Frames are sent without a lead, at the end of the log.
    AppendsWithoutLead,
    /// Frames are sent as they come.
    NoCheckBeforeSending,
    /// An epoch record is sent whatever its epoch.
    AnyEpoch,
    /// A new leader begins a chain of its own.
    ForgetsTheChain,
    /// Where nothing is in flight, settle says yes.
    SettleSaysYes,
    NoChainCheck,
    NoEpochCheck,
    NoInstanceCheck,
    NoHistoryCheck,
    NoRepeatCheck,
    /// An entry that is no entry is passed over.
    SkipsBadEntries,
    /// The size of a part is ignored.
    ReadsTooMany,
    /// A fault is the end.
    FaultIsTheEnd,
    TrimsAnything,
    /// Whoever has read an entry trims it.
    TrimsWithoutLead,
}

impl LogMistake {
    pub(crate) const ALL: &[Self] = &[
        Self::TwoInFlight,
        Self::DoubtIsRefusal,
        Self::AppendsWithoutLead,
        Self::NoCheckBeforeSending,
        Self::AnyEpoch,
        Self::ForgetsTheChain,
        Self::SettleSaysYes,
        Self::NoChainCheck,
        Self::NoEpochCheck,
        Self::NoInstanceCheck,
        Self::NoHistoryCheck,
        Self::NoRepeatCheck,
        Self::SkipsBadEntries,
        Self::ReadsTooMany,
        Self::FaultIsTheEnd,
        Self::TrimsAnything,
        Self::TrimsWithoutLead,
    ];
}

pub(crate) struct MistakenLog<S> {
    sound: ReplicatedLog<S>,
    store: S,
    candidate: CandidateId,
    mistake: LogMistake,
    epoch: Epoch,
    /// Where a leader with a pipeline believes to be.
    believed: LogPosition,
}

impl<S: LogStore + Clone> MistakenLog<S> {
    pub(crate) fn new(store: S, candidate: CandidateId, mistake: LogMistake) -> Self {
        let sound = ReplicatedLog::new(store.clone(), candidate);
        Self { sound, store, candidate, mistake, epoch: Epoch(1), believed: LogPosition::START }
    }

    fn end(&mut self) -> LogPosition {
        let mut end = LogPosition::START;
        while let LoadReply::Entry(_) = self.store.load(end.next()) {
            end = end.next();
        }
        end
    }

    /// Past every check.
    fn send(&mut self, expected: LogPosition, epoch: Epoch, payload: LogPayload) -> LogOutcome {
        let (instance, id) = (replication_contract::sample_frames::INSTANCE, self.id(epoch, expected, &payload));
        match self.store.store(expected, &id, &LogEntry { instance, epoch, payload }.encode()) {
            StoreReply::Stored { position } | StoreReply::Duplicate { position } => LogOutcome::Accepted { position },
            StoreReply::OtherEnd { end } => LogOutcome::Fenced { end },
            reply => panic!("no rule comes here with {reply:?}"),
        }
    }

    fn id(&self, epoch: Epoch, expected: LogPosition, payload: &LogPayload) -> MessageId {
        match payload {
            LogPayload::EpochRecord { .. } => MessageId::of_epoch_record(epoch, self.candidate, expected),
            LogPayload::Frame(frame) => MessageId::of_frame(epoch, expected, frame.hash()),
            LogPayload::Mark { after, .. } => {
                MessageId::of_mark(epoch, expected, replication_contract::sample_frames::INSTANCE, after.hash)
            }
        }
    }

    fn send_frame(&mut self, expected: LogPosition, frame: &SealedFrame) -> LogOutcome {
        self.send(expected, self.epoch, LogPayload::Frame(frame.clone()))
    }

    fn doubt(&self, outcome: LogOutcome) -> LogOutcome {
        match outcome {
            LogOutcome::Unknown { cause } if self.mistake == LogMistake::DoubtIsRefusal => {
                LogOutcome::Refused { reason: LogRefusal::Rejected { reason: cause.to_string() } }
            }
            outcome => outcome,
        }
    }

    /// The next entry as this reader understands it; none where it passes over it.
    fn read_entry(&mut self, cursor: &mut LogCursor, bytes: &[u8]) -> Result<Option<LogEvent>, EntryFault> {
        let before = cursor.clone();
        match cursor.advance(bytes) {
            Ok(LogEvent::Dropped { reason, .. }) if self.overlooks_drop(reason) => {
                Ok(Some(overruled(cursor, &before, bytes)))
            }
            Ok(event) => Ok(Some(event)),
            Err(EntryFault::Damaged { .. }) if self.mistake == LogMistake::SkipsBadEntries => {
                *cursor = behind(&before, before.epoch());
                Ok(None)
            }
            Err(fault) if self.overlooks(&fault) => Ok(Some(overruled(cursor, &before, bytes))),
            Err(fault) => Err(fault),
        }
    }

    fn overlooks_drop(&self, reason: DropReason) -> bool {
        match reason {
            DropReason::OldEpoch => self.mistake == LogMistake::NoEpochCheck,
            DropReason::Repeated => self.mistake == LogMistake::NoRepeatCheck,
        }
    }

    fn overlooks(&self, fault: &EntryFault) -> bool {
        match fault {
            EntryFault::Chain(_) => self.mistake == LogMistake::NoChainCheck,
            EntryFault::UnknownEpoch { .. } | EntryFault::TwoLeaders { .. } | EntryFault::EpochBackwards { .. } => {
                self.mistake == LogMistake::NoEpochCheck
            }
            EntryFault::OtherInstance { .. } => self.mistake == LogMistake::NoInstanceCheck,
            EntryFault::OtherHistory { .. } => self.mistake == LogMistake::NoHistoryCheck,
            EntryFault::Damaged { .. } => false,
        }
    }
}

/// The entry, delivered in spite of its fault.
fn overruled(cursor: &mut LogCursor, before: &LogCursor, bytes: &[u8]) -> LogEvent {
    let LogEntry { epoch, payload, .. } = LogEntry::decode(bytes).expect("the entry was read before");
    let position = before.position().next();
    *cursor = behind(before, epoch.max(before.epoch()));
    match payload {
        LogPayload::EpochRecord { candidate, .. } => LogEvent::Led { position, epoch, candidate },
        LogPayload::Frame(frame) => LogEvent::Frame { position, epoch, frame },
        LogPayload::Mark { .. } => LogEvent::Marked { position, epoch },
    }
}

fn behind(before: &LogCursor, epoch: Epoch) -> LogCursor {
    let leader = before.leader().unwrap_or(CandidateId([0; 16]));
    LogCursor::resume(before.position().next(), (epoch, leader), before.chain().clone())
}

impl<S: LogStore + Clone> QuorumLog for MistakenLog<S> {
    fn lead(&mut self, epoch: Epoch, at: &LogCursor) -> LogOutcome {
        let own_chain = LogCursor::resume(
            at.position(),
            (at.epoch(), CandidateId([0; 16])),
            FrameChain::start(at.chain().instance()),
        );
        let at = if self.mistake == LogMistake::ForgetsTheChain { &own_chain } else { at };
        let outcome = match self.sound.lead(epoch, at) {
            LogOutcome::Refused { reason: LogRefusal::EpochNotRising { .. } }
                if self.mistake == LogMistake::AnyEpoch =>
            {
                let payload = LogPayload::EpochRecord { candidate: self.candidate, after: at.chain().head() };
                self.send(at.position(), epoch, payload)
            }
            outcome => outcome,
        };
        (self.epoch, self.believed) = (epoch, at.position().next());
        self.doubt(outcome)
    }

    fn append(&mut self, frame: &SealedFrame) -> LogOutcome {
        let outcome = self.sound.append(frame);
        let LogOutcome::Refused { reason } = &outcome else {
            self.believed = self.believed.next();
            return self.doubt(outcome);
        };
        match (self.mistake, reason) {
            (LogMistake::TwoInFlight, LogRefusal::Unsettled) => {
                let expected = self.believed;
                self.send_frame(expected, frame)
            }
            (LogMistake::AppendsWithoutLead, LogRefusal::NotLeading)
            | (LogMistake::NoCheckBeforeSending, LogRefusal::WrongFrame { .. }) => {
                let end = self.end();
                self.send_frame(end, frame)
            }
            _ => outcome,
        }
    }

    fn settle(&mut self) -> LogOutcome {
        match self.sound.settle() {
            LogOutcome::Refused { reason: LogRefusal::NothingInFlight }
                if self.mistake == LogMistake::SettleSaysYes =>
            {
                LogOutcome::Accepted { position: self.believed }
            }
            outcome => self.doubt(outcome),
        }
    }

    fn read(&mut self, cursor: &mut LogCursor, entries_max: usize) -> Result<Vec<LogEvent>, LogError> {
        let most = if self.mistake == LogMistake::ReadsTooMany { usize::MAX } else { entries_max };
        let (mut events, from) = (Vec::new(), cursor.position());
        while events.len() < most {
            let position = cursor.position().next();
            let LoadReply::Entry(bytes) = self.store.load(position) else { break };
            match self.read_entry(cursor, &bytes) {
                Ok(event) => events.extend(event),
                Err(_) if !events.is_empty() || self.mistake == LogMistake::FaultIsTheEnd => break,
                Err(_) => return self.sound.read(cursor, entries_max),
            }
        }
        if events.is_empty() && cursor.position() == from && self.mistake != LogMistake::FaultIsTheEnd {
            return self.sound.read(cursor, entries_max);
        }
        Ok(events)
    }

    fn entry(&mut self, position: LogPosition) -> Result<Option<LogEntry>, LogError> {
        self.sound.entry(position)
    }

    fn beginning(&mut self) -> Result<Option<LogBeginning>, LogError> {
        self.sound.beginning()
    }

    fn mark(&mut self) -> LogOutcome {
        let outcome = self.sound.mark();
        match &outcome {
            LogOutcome::Refused { reason: LogRefusal::NotLeading }
                if self.mistake == LogMistake::AppendsWithoutLead =>
            {
                let after = FrameChain::start(replication_contract::sample_frames::INSTANCE).head();
                let end = self.end();
                self.send(end, Epoch(0), LogPayload::Mark { leader: None, after })
            }
            LogOutcome::Refused { .. } => outcome,
            _ => {
                self.believed = self.believed.next();
                self.doubt(outcome)
            }
        }
    }

    fn trim(&mut self, below: LogPosition) -> Result<(), LogError> {
        match self.sound.trim(below) {
            Err(LogError::TrimTooFar { .. } | LogError::NoMark { .. }) if self.mistake == LogMistake::TrimsAnything => {
                self.store.discard(below).map_err(|reason| LogError::Unavailable { reason })
            }
            Err(LogError::NotLeading) if self.mistake == LogMistake::TrimsWithoutLead => {
                self.store.discard(below).map_err(|reason| LogError::Unavailable { reason })
            }
            outcome => outcome,
        }
    }
}
