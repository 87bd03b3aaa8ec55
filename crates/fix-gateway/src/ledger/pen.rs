//! Session store: sequence numbers, sent messages and the report cursor of one session. The FIX store appends, the
//! application reads in the same task, and operators look at it from other threads.
//!
//! A record is submitted before any command that arrived after its messages: when a command is durable, the answers
//! before it are durable too, and its MsgSeqNum is a complete position.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bus::lanes::Place as LanePlace;
use bus::ledger::{LOSSES, losses_of, numbers_of, stream_of};
use bus::{Allowance, Closed, Inbox, Ledger, Ticket};
use domain::{Envelope, Origin, Text};
use fix::{SEQ_NUM_MAX, SeqNum, SessionId, StoreError, Time};
use minicbor::bytes::ByteSlice;

use super::page::{Cursor, LastLogon, Page};
use super::place::Place;
use crate::limits::{NUMBERS_SKIPPED, PAGE_BYTES_MAX, PAGE_MESSAGES_MAX};

#[derive(Clone)]
pub(crate) struct Pen(Arc<Mutex<Book>>);

struct Book {
    ledger: Arc<dyn Ledger>,
    stream: String,
    session: Text,
    life: u32,
    created: Time,
    next_incoming: SeqNum,
    next_outgoing: SeqNum,
    cursor: Option<Cursor>,
    logon: Option<LastLogon>,
    /// First number of the record that is being filled.
    first: SeqNum,
    /// More than fit a record only while the Ledger's queue is full.
    messages: Vec<Written>,
    bytes: usize,
    /// The number of a command that is not submitted yet: no record may count it as received before.
    held: Option<SeqNum>,
    /// The record that starts an epoch has no message.
    opens_life: bool,
    /// The position in the newest record beside its messages.
    kept: Marks,
    /// Submitted to the Ledger and perhaps not durable yet: messages from a number on, and the newest record's ticket.
    handed_over: Vec<(SeqNum, Vec<u8>)>,
    ticket: Option<Ticket>,
}

/// A command with its permit for the engine's inbox.
pub(crate) struct Handing {
    pub(crate) place: LanePlace,
    pub(crate) envelope: Envelope,
    pub(crate) allowance: Allowance,
}

/// A sent message: what it answers, and the position before it.
struct Written {
    bytes: Vec<u8>,
    marks: Marks,
}

/// The position of both sides, beside the sent messages.
type Marks = (SeqNum, Option<Cursor>, Option<LastLogon>);

impl Pen {
    /// The session as stored when the process ended, or a new one.
    pub(crate) fn open(ledger: Arc<dyn Ledger>, id: &SessionId, now: Time) -> Result<Self, String> {
        let mut book = Book::new(ledger, id.to_string().into(), now);
        match book.ledger.last(&book.stream) {
            Some(newest) => book.restore(Place::of(newest.key), Page::decode(&newest.bytes)?),
            None => book.hand_over().map_err(|closed| unavailable(&closed).0)?,
        }
        book.count_commands();
        book.skip_lost().map_err(|closed| unavailable(&closed).0)?;
        Ok(Self(Arc::new(Mutex::new(book))))
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        // The state is consistent after every call under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn created(&self) -> Time {
        self.book().created
    }

    /// The next incoming and the next outgoing number.
    pub(crate) fn numbers(&self) -> (SeqNum, SeqNum) {
        let book = self.book();
        (book.next_incoming, book.next_outgoing)
    }

    pub(crate) fn set_next_incoming(&self, next: SeqNum) {
        self.book().next_incoming = next;
    }

    pub(crate) fn append(&self, number: SeqNum, message: &[u8]) -> Result<(), StoreError> {
        self.book().append(number, message)
    }

    /// Starts an epoch: sequence numbers are reset, and earlier messages cannot be requested any more.
    pub(crate) fn begin_life(&self, created: Time, incoming: SeqNum, outgoing: SeqNum) -> Result<(), StoreError> {
        self.book().begin_life(created, incoming, outgoing)
    }

    pub(crate) fn cursor(&self) -> Option<Cursor> {
        self.book().cursor
    }

    pub(crate) fn advance(&self, cursor: Cursor) {
        let mut book = self.book();
        book.cursor = book.cursor.max(Some(cursor));
    }

    /// Whether sequence numbers were reset since the last report, and up to where the client has confirmed everything.
    pub(crate) fn read_before(&self) -> (bool, Option<u64>) {
        let book = self.book();
        (book.logon.is_none_or(|logon| logon.life != book.life), book.logon.map(|logon| logon.sequence))
    }

    /// Whether a report was sent that the client has not confirmed.
    pub(crate) fn is_owed(&self) -> bool {
        let book = self.book();
        book.cursor > book.logon.map(|logon| Cursor::behind(logon.sequence))
    }

    /// A new client has missed nothing of what happened so far.
    pub(crate) fn meet(&self, sequence: u64) {
        let mut book = self.book();
        if book.logon.is_none() {
            book.cursor = book.cursor.or(Some(Cursor::behind(sequence)));
            book.logon = Some(LastLogon { life: book.life, sequence });
        }
    }

    /// Missed reports have numbers of this epoch now, and can be requested by them.
    pub(crate) fn caught_up(&self) {
        let mut book = self.book();
        let life = book.life;
        book.logon = book.logon.map(|logon| LastLogon { life, ..logon });
    }

    /// The client has confirmed everything up to here.
    pub(crate) fn read_up_to(&self, sequence: u64) {
        let mut book = self.book();
        book.logon = book.logon.map(|logon| LastLogon { sequence: logon.sequence.max(sequence), ..logon });
    }

    /// The origin of a command in the last received message. Until the command is submitted, no record counts that
    /// message.
    pub(crate) fn hold(&self, memo: String) -> Origin {
        let mut book = self.book();
        book.held = Some(book.next_incoming.saturating_sub(1));
        let (session, number) = (book.session.clone(), book.message_key());
        Origin { session, number, memo: Some(memo.into()), may_be_known: false }
    }

    /// Submits the records before the command, and then the command; where there is no room for the records, nothing is
    /// done.
    pub(crate) fn release(&self, inbox: &Inbox, handing: &mut Option<Handing>) -> Result<(), Closed> {
        let mut book = self.book();
        book.hand_over()?;
        if let Some(Handing { place, envelope, allowance }) = handing.take() {
            inbox.hand_over(place, envelope, allowance)?;
        }
        book.held = None;
        Ok(())
    }

    /// Identifies the last received message, over all epochs of the session.
    pub(crate) fn message_key(&self) -> u64 {
        self.book().message_key()
    }

    /// Submits pending messages; returns the ticket of the newest record that may not be durable yet.
    pub(crate) fn hand_over(&self) -> Result<Option<Ticket>, Closed> {
        let mut book = self.book();
        book.hand_over()?;
        Ok(book.ticket.take())
    }

    /// Submits also the position after the last message: received numbers, and what the client has confirmed.
    pub(crate) fn hand_over_all(&self) -> Result<Option<Ticket>, Closed> {
        let mut book = self.book();
        book.hand_over()?;
        // After the highest number there is no key for a record; only a reset follows it.
        if book.marks() != book.kept && book.first <= SEQ_NUM_MAX {
            book.write_page()?;
        }
        Ok(book.ticket.take())
    }

    /// All submitted records are durable, and are read from the Ledger.
    pub(crate) fn settled(&self) {
        self.book().handed_over.clear();
    }

    pub(crate) fn read(&self, from: SeqNum, to: SeqNum) -> Result<Vec<(SeqNum, Vec<u8>)>, StoreError> {
        self.book().read(from, to)
    }
}

impl Book {
    fn new(ledger: Arc<dyn Ledger>, session: Text, created: Time) -> Self {
        Self {
            ledger,
            stream: stream_of(&session),
            session,
            life: 0,
            created,
            next_incoming: 1,
            next_outgoing: 1,
            cursor: None,
            logon: None,
            first: 1,
            messages: Vec::new(),
            bytes: 0,
            held: None,
            opens_life: true,
            kept: (1, None, None),
            handed_over: Vec::new(),
            ticket: None,
        }
    }

    fn restore(&mut self, place: Place, page: Page) {
        self.life = place.life;
        self.created = Time::from_nanos(page.created);
        self.next_incoming = page.next_incoming;
        self.next_outgoing = page.next_outgoing;
        self.cursor = page.cursor;
        self.logon = page.logon;
        self.first = page.next_outgoing;
        self.opens_life = false;
        self.kept = self.marks();
    }

    /// Durable commands count as received, also where no record follows them.
    fn count_commands(&mut self) {
        let newest = self.ledger.last(&numbers_of(&self.session)).map(|entry| Place::of(entry.key));
        if let Some(place) = newest.filter(|place| place.life == self.life) {
            self.next_incoming = self.next_incoming.max(place.number + 1);
        }
    }

    /// Where the end of the journal was lost, more may have been sent than is known: numbers are left out, once for each loss.
    /// A client asks for them and is told that there is nothing; it is asked for what it sent itself.
    fn skip_lost(&mut self) -> Result<(), Closed> {
        let Some(loss) = self.ledger.last(LOSSES) else { return Ok(()) };
        let answered = losses_of(&self.session);
        if self.ledger.last(&answered).is_some_and(|newest| newest.key >= loss.key) {
            return Ok(());
        }
        self.next_outgoing += NUMBERS_SKIPPED;
        self.first = self.next_outgoing;
        self.write_page()?;
        self.ledger.append(&answered, loss.key, &[]).map(drop)
    }

    fn message_key(&self) -> u64 {
        Place { life: self.life, number: self.next_incoming.saturating_sub(1) }.key()
    }

    fn append(&mut self, number: SeqNum, message: &[u8]) -> Result<(), StoreError> {
        if number != self.next_outgoing {
            return Err(StoreError(format!("MsgSeqNum {number} instead of {}", self.next_outgoing)));
        }
        if number > SEQ_NUM_MAX {
            return Err(StoreError("sequence numbers are exhausted: reset the session".to_owned()));
        }
        let is_full = self.messages.len() as u64 >= PAGE_MESSAGES_MAX || self.bytes + message.len() > PAGE_BYTES_MAX;
        match if is_full { self.hand_over() } else { Ok(()) } {
            // It is submitted as soon as there is room: a counted message keeps its answer.
            Ok(()) | Err(Closed::Busy) => {}
            Err(Closed::Stopped) => return Err(unavailable(&Closed::Stopped)),
        }
        self.bytes += message.len();
        self.messages.push(Written { bytes: message.to_vec(), marks: self.marks() });
        self.next_outgoing += 1;
        Ok(())
    }

    fn begin_life(&mut self, created: Time, incoming: SeqNum, outgoing: SeqNum) -> Result<(), StoreError> {
        self.hand_over().map_err(|closed| unavailable(&closed))?;
        self.life += 1;
        self.created = created;
        self.next_incoming = incoming;
        self.next_outgoing = outgoing;
        self.first = outgoing;
        self.opens_life = true;
        // Its number is of the previous epoch.
        self.held = None;
        self.handed_over.clear();
        let opening = Place { life: self.life, number: 0 }.key();
        self.hand_over().map_err(|closed| unavailable(&closed))?;
        // A late truncation does no harm: a newer epoch is found first.
        drop(self.ledger.mark(&self.stream, opening));
        Ok(())
    }

    fn hand_over(&mut self) -> Result<(), Closed> {
        while !self.messages.is_empty() || self.opens_life {
            self.write_page()?;
        }
        Ok(())
    }

    /// A record without messages is replaced by the next, which has its key.
    fn write_page(&mut self) -> Result<(), Closed> {
        let number = if self.opens_life { 0 } else { self.first };
        let key = Place { life: self.life, number }.key();
        let count = if self.opens_life { 0 } else { self.page_messages() };
        let marks = self.page_marks(count);
        let page = self.page(count, marks).encode();
        self.ticket = Some(self.ledger.append(&self.stream, key, &page)?);
        self.opens_life = false;
        self.kept = marks;
        let numbered = (self.first..).zip(self.messages.drain(..count).map(|message| message.bytes));
        self.handed_over.extend(numbered);
        self.first += count as SeqNum;
        self.bytes = self.messages.iter().map(|message| message.bytes.len()).sum();
        Ok(())
    }

    /// As many as fit a record, at least one.
    fn page_messages(&self) -> usize {
        let mut bytes = 0;
        let fits = |(message, _): &(&Written, u64)| {
            bytes += message.bytes.len();
            bytes <= PAGE_BYTES_MAX
        };
        let count = self.messages.iter().zip(0..PAGE_MESSAGES_MAX).take_while(fits).count();
        count.max(1).min(self.messages.len())
    }

    /// A record counts as received only what its last message answers, because it does not contain later answers; its
    /// report cursor is the one before the next record begins.
    fn page_marks(&self, count: usize) -> Marks {
        let (incoming, cursor, logon) = self.messages.get(count).map_or(self.marks(), |next| next.marks);
        let answered =
            count.checked_sub(1).and_then(|last| self.messages.get(last)).map_or(incoming, |last| last.marks.0);
        (answered.min(self.held.unwrap_or(SeqNum::MAX)), cursor, logon)
    }

    fn marks(&self) -> Marks {
        (self.next_incoming, self.cursor, self.logon)
    }

    fn page(&self, count: usize, (next_incoming, cursor, logon): Marks) -> Page<&ByteSlice> {
        Page {
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
        let place = |number| Place { life: self.life, number }.key();
        let keys = place(from.saturating_sub(PAGE_MESSAGES_MAX).max(1))..=place(to);
        let mut found = std::collections::BTreeMap::new();
        for entry in self.ledger.read(&self.stream, keys, usize::MAX) {
            let page = Page::decode(&entry.bytes).map_err(StoreError)?;
            let messages = page.messages.into_iter().map(Vec::from);
            found.extend((Place::of(entry.key).number..).zip(messages));
        }
        found.extend(self.handed_over.iter().cloned());
        found.extend((self.first..).zip(self.messages.iter().map(|message| message.bytes.clone())));
        let wanted = found.into_iter().filter(|(number, bytes)| (from..=to).contains(number) && !bytes.is_empty());
        Ok(wanted.collect())
    }
}

pub(crate) fn unavailable(closed: &Closed) -> StoreError {
    StoreError(match closed {
        Closed::Busy => "the engine has too much to do".to_owned(),
        Closed::Stopped => "the engine has stopped".to_owned(),
    })
}
