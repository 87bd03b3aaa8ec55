//! Batches of one turn of the live loop: what came in, and the inputs, each with its sequence and its journal record; and the
//! classification of requests and inputs.

use std::collections::VecDeque;

use bus::inbox::{EngineRequest, RequestPayload};
use bus::reply::ReplySender;
use domain::command::MarketData;
use domain::report::Report;
use domain::{Command, Input, MessageOrigin, RiskScope, SecurityId, Sequenced, Timestamp};
use storage::journal::JournalRecord;

use crate::journal_records;
use crate::live::sequencer::Sequencer;

/// Input of one turn.
#[derive(Default)]
pub(super) struct InputBatch {
    pub(super) requests: VecDeque<EngineRequest>,
    pub(super) reports: Vec<Report>,
    /// How many of the reports an adapter sent; the others are of the loop itself.
    pub(super) venue_reports: u64,
    pub(super) prices: Vec<MarketData>,
    pub(super) mark_due: bool,
}

/// Why a loop ends in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StopCause {
    /// Whoever runs the server has stopped everything else before.
    Asked,
    /// Nobody is there any more: a start failed half-way, and adapters may still run.
    Abandoned,
}

pub(super) enum LoopWake {
    Work(InputBatch),
    Stop(StopCause),
    Failed(String),
}

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

/// A request that is recorded and not answered yet.
#[allow(
    clippy::large_enum_variant,
    reason = "a command is the usual case, and a box would be an allocation for each order"
)]
pub(crate) enum UnansweredRequest {
    Command(Sequenced<Input>),
    Query(Box<domain::Query>),
    LedgerRecord(u64, Vec<u8>),
    NoReply,
}

/// The scope of a kill, or of a trading state: once it is released, the engine itself decides what may leave.
pub(crate) fn gate_scope_of(input: &Input) -> Option<RiskScope> {
    match input {
        Input::Command(envelope) => match envelope.command {
            Command::Kill { scope, .. } | Command::SetTradingState { scope, .. } => Some(scope),
            _ => None,
        },
        _ => None,
    }
}

/// The session message of an input.
pub(crate) fn origin_of(input: Input) -> Option<Box<MessageOrigin>> {
    match input {
        Input::Command(envelope) => envelope.caller.origin,
        Input::Report(_) | Input::Marks(_) | Input::Clock | Input::Market(_) | Input::RetiredOrders(_) => None,
    }
}

/// A delivery log record needs no marks.
pub(crate) fn needs_marks(wanted: &RequestPayload) -> bool {
    !matches!(wanted, RequestPayload::DeliveryLog(_))
}

/// The security whose newest price must be applied first.
pub(crate) fn security_of(wanted: &RequestPayload) -> Option<SecurityId> {
    match wanted {
        RequestPayload::Command(envelope) => engine::security_of(&envelope.command),
        RequestPayload::Query(query) => match &**query {
            domain::Query::CheckOrder(ask, _) => Some(ask.security),
            _ => None,
        },
        RequestPayload::LedgerRecord(_) | RequestPayload::DeliveryLog(_) => None,
    }
}
