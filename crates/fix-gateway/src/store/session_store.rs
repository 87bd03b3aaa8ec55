//! Session store: sequence numbers, sent messages and the report cursor of one session. The FIX store appends, the
//! application reads in the same task, and operators look at it from other threads.
//!
//! A record is submitted before any command that arrived after its messages: when a command is durable, the answers
//! before it are durable too, and its MsgSeqNum is a complete position.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bus::lanes::LanePermit as LanePlace;
use bus::ledger::{LOSSES, losses_of, seq_num_stream, session_stream};
use bus::{InFlightPermit, Inbox, InboxError, Ledger, ReplyReceiver};
use domain::{CommandEnvelope, MessageOrigin, Text};
use fix::{SEQ_NUM_MAX, SeqNum, SessionId, StoreError, UtcTimestamp};
use minicbor::bytes::ByteSlice;

use super::store_record::{Cursor, LastLogon, StoreRecord};
use crate::limits::{NUMBERS_SKIPPED, RECORD_BYTES_MAX, RECORD_MESSAGES_MAX};
use crate::store::store_record::MsgSeqKey;

#[derive(Clone)]
pub(crate) struct SessionStore(Arc<Mutex<StoreState>>);

struct StoreState {
    ledger: Arc<dyn Ledger>,
    stream: String,
    session: Text,
    epoch: u32,
    created: UtcTimestamp,
    next_incoming: SeqNum,
    next_outgoing: SeqNum,
    cursor: Option<Cursor>,
    logon: Option<LastLogon>,
    /// First number of the record that is being filled.
    first: SeqNum,
    /// More than fit a record only while the Ledger's queue is full.
    messages: Vec<StoredMessage>,
    bytes: usize,
    /// The number of a command that is not submitted yet: no record may count it as received before.
    held_number: Option<SeqNum>,
    /// The record that starts an epoch has no message.
    starts_epoch: bool,
    /// The position in the newest record beside its messages.
    written_marks: StoreMarks,
    /// Submitted to the Ledger and perhaps not durable yet: messages from a number on, and the newest record's ticket.
    in_flight: Vec<(SeqNum, Vec<u8>)>,
    ticket: Option<ReplyReceiver>,
}

/// A command with its permit for the engine's inbox.
pub(crate) struct PendingSubmission {
    pub(crate) lane_place: LanePlace,
    pub(crate) envelope: CommandEnvelope,
    pub(crate) allowance: InFlightPermit,
}

/// A sent message: what it answers, and the position before it.
struct StoredMessage {
    bytes: Vec<u8>,
    marks: StoreMarks,
}

/// The position of both sides, beside the sent messages.
type StoreMarks = (SeqNum, Option<Cursor>, Option<LastLogon>);

impl SessionStore {
    /// The session as stored when the process ended, or a new one.
    pub(crate) fn open(ledger: Arc<dyn Ledger>, id: &SessionId, now: UtcTimestamp) -> Result<Self, String> {
        let mut book = StoreState::new(ledger, id.to_string().into(), now);
        match book.ledger.last(&book.stream) {
            Some(newest) => book.restore(MsgSeqKey::from_key(newest.key), StoreRecord::decode(&newest.bytes)?),
            None => book.flush().map_err(|closed| store_unavailable(&closed).0)?,
        }
        book.count_commands();
        book.skip_lost().map_err(|closed| store_unavailable(&closed).0)?;
        Ok(Self(Arc::new(Mutex::new(book))))
    }

    fn state(&self) -> MutexGuard<'_, StoreState> {
        // The state is consistent after every call under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn created(&self) -> UtcTimestamp {
        self.state().created
    }

    /// The next incoming and the next outgoing number.
    pub(crate) fn sequence_numbers(&self) -> (SeqNum, SeqNum) {
        let book = self.state();
        (book.next_incoming, book.next_outgoing)
    }

    pub(crate) fn set_next_incoming(&self, next: SeqNum) {
        self.state().next_incoming = next;
    }

    pub(crate) fn append(&self, number: SeqNum, message: &[u8]) -> Result<(), StoreError> {
        self.state().append(number, message)
    }

    /// Starts an epoch: sequence numbers are reset, and earlier messages cannot be requested any more.
    pub(crate) fn start_epoch(
        &self,
        created: UtcTimestamp,
        incoming: SeqNum,
        outgoing: SeqNum,
    ) -> Result<(), StoreError> {
        self.state().start_epoch(created, incoming, outgoing)
    }

    pub(crate) fn cursor(&self) -> Option<Cursor> {
        self.state().cursor
    }

    pub(crate) fn advance(&self, cursor: Cursor) {
        let mut book = self.state();
        book.cursor = book.cursor.max(Some(cursor));
    }

    /// Whether sequence numbers were reset since the last report, and up to where the client has confirmed everything.
    pub(crate) fn confirmed_position(&self) -> (bool, Option<u64>) {
        let book = self.state();
        (book.logon.is_none_or(|logon| logon.epoch != book.epoch), book.logon.map(|logon| logon.sequence))
    }

    /// Whether a report was sent that the client has not confirmed.
    pub(crate) fn has_unconfirmed(&self) -> bool {
        let book = self.state();
        book.cursor > book.logon.map(|logon| Cursor::after(logon.sequence))
    }

    /// A new client has missed nothing of what happened so far.
    pub(crate) fn on_first_logon(&self, sequence: u64) {
        let mut book = self.state();
        if book.logon.is_none() {
            book.cursor = book.cursor.or(Some(Cursor::after(sequence)));
            book.logon = Some(LastLogon { epoch: book.epoch, sequence });
        }
    }

    /// Missed reports have numbers of this epoch now, and can be requested by them.
    pub(crate) fn on_caught_up(&self) {
        let mut book = self.state();
        let life = book.epoch;
        book.logon = book.logon.map(|logon| LastLogon { epoch: life, ..logon });
    }

    /// The client has confirmed everything up to here.
    pub(crate) fn confirm_read(&self, sequence: u64) {
        let mut book = self.state();
        book.logon = book.logon.map(|logon| LastLogon { sequence: logon.sequence.max(sequence), ..logon });
    }

    /// The origin of a command in the last received message. Until the command is submitted, no record counts that
    /// message.
    pub(crate) fn hold_for_command(&self, echo: String) -> MessageOrigin {
        let mut book = self.state();
        book.held_number = Some(book.next_incoming.saturating_sub(1));
        let (session, number) = (book.session.clone(), book.message_key());
        MessageOrigin { session, seq_num: number, request_echo: Some(echo.into()), poss_resend: false }
    }

    /// Submits the records before the command, and then the command; where there is no room for the records, nothing is
    /// done.
    pub(crate) fn submit_held(&self, inbox: &Inbox, handing: &mut Option<PendingSubmission>) -> Result<(), InboxError> {
        let mut book = self.state();
        book.flush()?;
        if let Some(PendingSubmission { lane_place: place, envelope, allowance }) = handing.take() {
            inbox.send_reserved(place, envelope, allowance)?;
        }
        book.held_number = None;
        Ok(())
    }

    /// Identifies the last received message, over all epochs of the session.
    pub(crate) fn message_key(&self) -> u64 {
        self.state().message_key()
    }

    /// Submits pending messages; returns the ticket of the newest record that may not be durable yet.
    pub(crate) fn flush(&self) -> Result<Option<ReplyReceiver>, InboxError> {
        let mut book = self.state();
        book.flush()?;
        Ok(book.ticket.take())
    }

    /// Submits also the position after the last message: received numbers, and what the client has confirmed.
    pub(crate) fn flush_all(&self) -> Result<Option<ReplyReceiver>, InboxError> {
        let mut book = self.state();
        book.flush()?;
        // After the highest number there is no key for a record; only a reset follows it.
        if book.marks() != book.written_marks && book.first <= SEQ_NUM_MAX {
            book.write_record()?;
        }
        Ok(book.ticket.take())
    }

    /// All submitted records are durable, and are read from the Ledger.
    pub(crate) fn on_durable(&self) {
        self.state().in_flight.clear();
    }

    pub(crate) fn read(&self, from: SeqNum, to: SeqNum) -> Result<Vec<(SeqNum, Vec<u8>)>, StoreError> {
        self.state().read(from, to)
    }
}

impl StoreState {
    fn new(ledger: Arc<dyn Ledger>, session: Text, created: UtcTimestamp) -> Self {
        Self {
            ledger,
            stream: session_stream(&session),
            session,
            epoch: 0,
            created,
            next_incoming: 1,
            next_outgoing: 1,
            cursor: None,
            logon: None,
            first: 1,
            messages: Vec::new(),
            bytes: 0,
            held_number: None,
            starts_epoch: true,
            written_marks: (1, None, None),
            in_flight: Vec::new(),
            ticket: None,
        }
    }

    fn restore(&mut self, place: MsgSeqKey, page: StoreRecord) {
        self.epoch = place.epoch;
        self.created = UtcTimestamp::from_nanos(page.created);
        self.next_incoming = page.next_incoming;
        self.next_outgoing = page.next_outgoing;
        self.cursor = page.cursor;
        self.logon = page.logon;
        self.first = page.next_outgoing;
        self.starts_epoch = false;
        self.written_marks = self.marks();
    }

    /// Durable commands count as received, also where no record follows them.
    fn count_commands(&mut self) {
        let newest = self.ledger.last(&seq_num_stream(&self.session)).map(|entry| MsgSeqKey::from_key(entry.key));
        if let Some(place) = newest.filter(|place| place.epoch == self.epoch) {
            self.next_incoming = self.next_incoming.max(place.number + 1);
        }
    }

    /// Where the end of the journal was lost, more may have been sent than is known: numbers are left out, once for each loss.
    /// A client asks for them and is told that there is nothing; it is asked for what it sent itself.
    fn skip_lost(&mut self) -> Result<(), InboxError> {
        let Some(loss) = self.ledger.last(LOSSES) else { return Ok(()) };
        let answered = losses_of(&self.session);
        if self.ledger.last(&answered).is_some_and(|newest| newest.key >= loss.key) {
            return Ok(());
        }
        self.next_outgoing += NUMBERS_SKIPPED;
        self.first = self.next_outgoing;
        self.write_record()?;
        self.ledger.append(&answered, loss.key, &[]).map(drop)
    }

    fn message_key(&self) -> u64 {
        MsgSeqKey { epoch: self.epoch, number: self.next_incoming.saturating_sub(1) }.key()
    }

    fn append(&mut self, number: SeqNum, message: &[u8]) -> Result<(), StoreError> {
        if number != self.next_outgoing {
            return Err(StoreError(format!("MsgSeqNum {number} instead of {}", self.next_outgoing)));
        }
        if number > SEQ_NUM_MAX {
            return Err(StoreError("sequence numbers are exhausted: reset the session".to_owned()));
        }
        let is_full =
            self.messages.len() as u64 >= RECORD_MESSAGES_MAX || self.bytes + message.len() > RECORD_BYTES_MAX;
        match if is_full { self.flush() } else { Ok(()) } {
            // It is submitted as soon as there is room: a counted message keeps its answer.
            Ok(()) | Err(InboxError::Busy) => {}
            Err(InboxError::Stopped) => return Err(store_unavailable(&InboxError::Stopped)),
        }
        self.bytes += message.len();
        self.messages.push(StoredMessage { bytes: message.to_vec(), marks: self.marks() });
        self.next_outgoing += 1;
        Ok(())
    }

    fn start_epoch(&mut self, created: UtcTimestamp, incoming: SeqNum, outgoing: SeqNum) -> Result<(), StoreError> {
        self.flush().map_err(|closed| store_unavailable(&closed))?;
        self.epoch += 1;
        self.created = created;
        self.next_incoming = incoming;
        self.next_outgoing = outgoing;
        self.first = outgoing;
        self.starts_epoch = true;
        // Its number is of the previous epoch.
        self.held_number = None;
        self.in_flight.clear();
        let opening = MsgSeqKey { epoch: self.epoch, number: 0 }.key();
        self.flush().map_err(|closed| store_unavailable(&closed))?;
        // A late truncation does no harm: a newer epoch is found first.
        drop(self.ledger.truncate_before(&self.stream, opening));
        Ok(())
    }

    fn flush(&mut self) -> Result<(), InboxError> {
        while !self.messages.is_empty() || self.starts_epoch {
            self.write_record()?;
        }
        Ok(())
    }

    /// A record without messages is replaced by the next, which has its key.
    fn write_record(&mut self) -> Result<(), InboxError> {
        let number = if self.starts_epoch { 0 } else { self.first };
        let key = MsgSeqKey { epoch: self.epoch, number }.key();
        let count = if self.starts_epoch { 0 } else { self.record_message_count() };
        let marks = self.record_marks(count);
        let page = self.record(count, marks).encode();
        self.ticket = Some(self.ledger.append(&self.stream, key, &page)?);
        self.starts_epoch = false;
        self.written_marks = marks;
        let numbered = (self.first..).zip(self.messages.drain(..count).map(|message| message.bytes));
        self.in_flight.extend(numbered);
        self.first += count as SeqNum;
        self.bytes = self.messages.iter().map(|message| message.bytes.len()).sum();
        Ok(())
    }

    /// As many as fit a record, at least one.
    fn record_message_count(&self) -> usize {
        let mut bytes = 0;
        let fits = |(message, _): &(&StoredMessage, u64)| {
            bytes += message.bytes.len();
            bytes <= RECORD_BYTES_MAX
        };
        let count = self.messages.iter().zip(0..RECORD_MESSAGES_MAX).take_while(fits).count();
        count.max(1).min(self.messages.len())
    }

    /// A record counts as received only what its last message answers, because it does not contain later answers; its
    /// report cursor is the one before the next record begins.
    fn record_marks(&self, count: usize) -> StoreMarks {
        let (incoming, cursor, logon) = self.messages.get(count).map_or(self.marks(), |next| next.marks);
        let answered =
            count.checked_sub(1).and_then(|last| self.messages.get(last)).map_or(incoming, |last| last.marks.0);
        (answered.min(self.held_number.unwrap_or(SeqNum::MAX)), cursor, logon)
    }

    fn marks(&self) -> StoreMarks {
        (self.next_incoming, self.cursor, self.logon)
    }

    fn record(&self, count: usize, (next_incoming, cursor, logon): StoreMarks) -> StoreRecord<&ByteSlice> {
        StoreRecord {
            created: self.created.nanos(),
            next_incoming,
            next_outgoing: self.first + count as SeqNum,
            cursor,
            logon,
            messages: self.messages[..count].iter().map(|message| message.bytes.as_slice().into()).collect(),
        }
    }

    /// From the Ledger, then what it may not show yet.
    fn read(&self, from: SeqNum, to: SeqNum) -> Result<Vec<(SeqNum, Vec<u8>)>, StoreError> {
        let place = |number| MsgSeqKey { epoch: self.epoch, number }.key();
        let keys = place(from.saturating_sub(RECORD_MESSAGES_MAX).max(1))..=place(to);
        let mut found = std::collections::BTreeMap::new();
        for entry in self.ledger.read(&self.stream, keys, usize::MAX) {
            let page = StoreRecord::decode(&entry.bytes).map_err(StoreError)?;
            let messages = page.messages.into_iter().map(Vec::from);
            found.extend((MsgSeqKey::from_key(entry.key).number..).zip(messages));
        }
        found.extend(self.in_flight.iter().cloned());
        found.extend((self.first..).zip(self.messages.iter().map(|message| message.bytes.clone())));
        let wanted = found.into_iter().filter(|(number, bytes)| (from..=to).contains(number) && !bytes.is_empty());
        Ok(wanted.collect())
    }
}

pub(crate) fn store_unavailable(closed: &InboxError) -> StoreError {
    StoreError(closed.to_string())
}
