//! Stamped batch: the inputs of one turn of the live loop, each with its sequence and its journal record.

use bus::inbox::{EngineRequest, RequestPayload};
use bus::reply::ReplySender;
use domain::{Input, Sequenced, Timestamp};
use storage::journal::JournalRecord;

use crate::journal_records;
use crate::requests::UnansweredRequest;
use crate::sequencer::Sequencer;

/// Bytes of journal records from which a batch takes no further request: it must stay well below what the journal takes as
/// one batch.
pub(crate) const BATCH_BYTES_MAX: usize = 4 << 20;

pub(crate) struct StampedBatch {
    at: Timestamp,
    /// Inputs that no client waits for: clock, marks, reports.
    pub(crate) unasked: Vec<Sequenced<Input>>,
    pub(crate) requests: Vec<StampedRequest>,
    pub(crate) records: Vec<JournalRecord>,
    /// Applied after the requests.
    pub(crate) last: Option<Sequenced<Input>>,
    bytes: usize,
}

/// A request with the sequence that it got, where it got one.
pub(crate) struct StampedRequest {
    pub(crate) reply_to: ReplySender,
    pub(crate) payload: UnansweredRequest,
}

impl StampedBatch {
    pub(crate) fn new(at: Timestamp, room: usize) -> Self {
        let (unasked, requests, records) = (Vec::new(), Vec::with_capacity(room), Vec::with_capacity(room + 2));
        Self { at, unasked, requests, records, last: None, bytes: 0 }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.bytes >= BATCH_BYTES_MAX
    }

    pub(crate) fn push_record(&mut self, record: JournalRecord) {
        self.bytes += record.payload.len();
        self.records.push(record);
    }

    pub(crate) fn push_input(&mut self, sequencer: &mut Sequencer, input: Input) {
        let stamped = self.stamp(sequencer, input);
        self.unasked.push(stamped);
    }

    /// Nothing may be pushed after it.
    pub(crate) fn push_last(&mut self, sequencer: &mut Sequencer, input: Input) {
        self.last = Some(self.stamp(sequencer, input));
    }

    pub(crate) fn push_request(&mut self, sequencer: &mut Sequencer, request: EngineRequest) {
        let payload = match request.payload {
            RequestPayload::Command(envelope) => {
                UnansweredRequest::Command(self.stamp(sequencer, Input::Command(envelope)))
            }
            RequestPayload::Query(query) => UnansweredRequest::Query(query),
            RequestPayload::LedgerRecord(bytes) => {
                let sequence = sequencer.next();
                self.push_record(journal_records::ledger(sequence, bytes.clone()));
                UnansweredRequest::LedgerRecord(sequence, bytes)
            }
            RequestPayload::DeliveryLog(record) => {
                self.push_record(journal_records::delivery_log(sequencer.next(), record));
                UnansweredRequest::NoReply
            }
        };
        self.requests.push(StampedRequest { reply_to: request.reply_to, payload });
    }

    fn stamp(&mut self, sequencer: &mut Sequencer, input: Input) -> Sequenced<Input> {
        let sequence = sequencer.next();
        self.push_record(journal_records::input(sequence, &input));
        Sequenced { sequence, at: self.at, payload: input }
    }
}
