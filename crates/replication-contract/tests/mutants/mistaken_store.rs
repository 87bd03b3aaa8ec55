//! Engines, and adapters of engines, that make one mistake each.

use std::sync::atomic::{AtomicU64, Ordering};

use storage::journal::ChainHash;
use storage::replication::{
    CandidateId, Epoch, LoadReply, LogEntry, LogPayload, LogPosition, LogStore, MessageId, StoreReply,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreMistake {
    /// None.
    Sound,
    /// The condition is sent with the end that the log has now.
    NoCondition,
    /// Neither condition nor message id.
    BareAppend,
    /// An epoch record has no candidate in its message id.
    SharedLeadId,
    /// The condition of an epoch record is the end of the log, not what was read.
    LeadsAtTheEnd,
    /// An epoch record is answered, but not stored.
    NoRecord,
    /// Every attempt has a message id of its own.
    FreshIds,
    /// After a lost answer the end of the log decides.
    TrustsInformation,
    /// The header of the segment is not sent.
    NoSegmentHeader,
    /// A rejection is taken for the end of the lead.
    RejectionFences,
    /// A rejection is taken for a lost answer.
    RejectionIsDoubt,
    /// Any other end is a fence.
    AnyEndFences,
    /// An end that is not named is no fence.
    UnnamedEndIsDoubt,
    /// What is in progress counts as stored.
    InProgressCounts,
    /// The position in the answer is not looked at.
    AnyPosition,
    /// A reader goes on behind a gap.
    SkipsGaps,
    /// Only one machine is asked.
    AsksNoCopy,
    /// What was trimmed looks like the end.
    TrimmedIsTheEnd,
    /// One more than was asked for is trimmed.
    TrimsTheLast,
    /// Nothing is trimmed.
    TrimsNothing,
}

impl StoreMistake {
    pub(crate) const ALL: &[Self] = &[
        Self::NoCondition,
        Self::BareAppend,
        Self::SharedLeadId,
        Self::LeadsAtTheEnd,
        Self::NoRecord,
        Self::FreshIds,
        Self::TrustsInformation,
        Self::NoSegmentHeader,
        Self::RejectionFences,
        Self::RejectionIsDoubt,
        Self::AnyEndFences,
        Self::UnnamedEndIsDoubt,
        Self::InProgressCounts,
        Self::AnyPosition,
        Self::SkipsGaps,
        Self::AsksNoCopy,
        Self::TrimmedIsTheEnd,
        Self::TrimsTheLast,
        Self::TrimsNothing,
    ];
}

pub(crate) struct MistakenStore<S> {
    inner: S,
    mistake: StoreMistake,
    /// The message id whose answer was lost.
    in_doubt: Option<MessageId>,
}

impl<S: LogStore> MistakenStore<S> {
    pub(crate) fn new(inner: S, mistake: StoreMistake) -> Self {
        Self { inner, mistake, in_doubt: None }
    }

    fn fresh_id(&self) -> MessageId {
        static ATTEMPTS: AtomicU64 = AtomicU64::new(0);
        let number = LogPosition(ATTEMPTS.fetch_add(1, Ordering::Relaxed));
        MessageId::of_frame(Epoch(u64::MAX), number, ChainHash([0; 32]))
    }

    fn end(&mut self) -> LogPosition {
        let mut end = LogPosition::START;
        while let LoadReply::Entry(_) | LoadReply::Trimmed { .. } = self.inner.load(end.next()) {
            end = end.next();
        }
        end
    }

    fn request(&mut self, expected: LogPosition, id: &MessageId, entry: &[u8]) -> StoreReply {
        use StoreMistake::*;
        let is_record = id.as_str().starts_with("epoch-");
        let looks_stored = self.in_doubt.as_ref() == Some(id) && self.end() > expected;
        match self.mistake {
            NoCondition | BareAppend => {
                let id = if self.mistake == BareAppend { self.fresh_id() } else { id.clone() };
                let end = self.end();
                self.inner.store(end, &id, entry)
            }
            LeadsAtTheEnd if is_record => {
                let end = self.end();
                match self.inner.store(end, id, entry) {
                    StoreReply::Stored { .. } => StoreReply::Stored { position: expected.next() },
                    other => other,
                }
            }
            NoRecord if is_record => StoreReply::Stored { position: expected.next() },
            SharedLeadId if is_record => {
                let epoch =
                    id.as_str().split('-').nth(1).and_then(|epoch| epoch.parse().ok()).expect("the id names its epoch");
                let no_candidate = CandidateId([0; 16]);
                let id = MessageId::of_epoch_record(Epoch(epoch), no_candidate, expected);
                self.inner.store(expected, &id, entry)
            }
            FreshIds => {
                let id = self.fresh_id();
                self.inner.store(expected, &id, entry)
            }
            TrustsInformation if looks_stored => StoreReply::Stored { position: expected.next() },
            NoSegmentHeader => self.inner.store(expected, id, &without_header(entry)),
            _ => self.inner.store(expected, id, entry),
        }
    }

    fn understood(&self, reply: StoreReply, expected: LogPosition) -> StoreReply {
        use StoreMistake::*;
        match (self.mistake, reply) {
            (RejectionFences, StoreReply::Rejected { .. }) => StoreReply::OtherEnd { end: None },
            (RejectionIsDoubt, StoreReply::Rejected { .. }) => StoreReply::NoAnswer,
            (AnyEndFences, StoreReply::OtherEnd { .. }) => StoreReply::OtherEnd { end: None },
            (UnnamedEndIsDoubt, StoreReply::OtherEnd { end: None }) => StoreReply::NoAnswer,
            (InProgressCounts, StoreReply::InProgress) => StoreReply::Stored { position: expected.next() },
            (AnyPosition, StoreReply::Stored { .. }) => StoreReply::Stored { position: expected.next() },
            (_, reply) => reply,
        }
    }
}

fn without_header(entry: &[u8]) -> Vec<u8> {
    let mut decoded = LogEntry::decode(entry).expect("an entry of the port");
    if let LogPayload::Frame(frame) = &mut decoded.payload {
        frame.segment = None;
    }
    decoded.encode()
}

impl<S: LogStore> LogStore for MistakenStore<S> {
    fn store(&mut self, expected: LogPosition, id: &MessageId, entry: &[u8]) -> StoreReply {
        let reply = self.request(expected, id, entry);
        self.in_doubt = (reply == StoreReply::NoAnswer).then(|| id.clone());
        self.understood(reply, expected)
    }

    fn load(&mut self, position: LogPosition) -> LoadReply {
        match (self.mistake, self.inner.load(position)) {
            (StoreMistake::SkipsGaps, LoadReply::Missing { next }) => self.inner.load(next),
            (StoreMistake::TrimmedIsTheEnd, LoadReply::Trimmed { .. }) => LoadReply::End,
            (_, reply) => reply,
        }
    }

    fn load_copy(&mut self, position: LogPosition) -> Option<Vec<u8>> {
        if self.mistake == StoreMistake::AsksNoCopy { None } else { self.inner.load_copy(position) }
    }

    fn discard(&mut self, below: LogPosition) -> Result<(), String> {
        match self.mistake {
            StoreMistake::TrimsTheLast => self.inner.discard(below.next()),
            StoreMistake::TrimsNothing => Ok(()),
            _ => self.inner.discard(below),
        }
    }
}
