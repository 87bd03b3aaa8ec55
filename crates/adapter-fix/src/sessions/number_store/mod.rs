//! Sequence numbers of a session on disk. Requests are not kept: a request that comes late could trade late, so a Resend Request
//! is answered by a gap fill. The incoming number on disk follows only when the engine has the reports, so that after a crash the
//! venue sends them again. In a cluster the journal has them too, for the member that takes over.

pub(crate) mod number_disk;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use adapters::{NO_LEASE, SendLease};
use domain::PlantedBug;
use fix::{MessageStore, MessageVisitor, SEQ_NUM_MAX, SeqNum, StoreError, Traffic, UtcTimestamp};
use fix_net::DurableStore;

use crate::sessions::NumberPlace;
use crate::sessions::number_reservation::{NumberReservation, PendingReservation};
use crate::sessions::session_numbers::SessionNumbers;
use number_disk::NumberFile;

/// The file is written anew when it has so many lines.
const LINES_MAX: usize = 100_000;
/// In place of the incoming number until the journal has it that the venue has begun anew: whatever number the venue has after a crash is
/// lower, so that the reset is noticed again.
const RESET_UNCONFIRMED: SeqNum = SEQ_NUM_MAX;
const SEPARATOR: u8 = 1;
/// The beginning of MsgType (35) in a message.
const MSG_TYPE: &[u8] = b"\x0135=";

/// Shared by the session's task and the adapter.
#[derive(Clone)]
pub(crate) struct SharedNumbers(Arc<Mutex<NumberStore>>);

struct NumberStore {
    place: NumberPlace,
    file: Box<dyn NumberFile>,
    lines: usize,
    /// As it is written: of two files the one that began later is newer.
    recorded: UtcTimestamp,
    /// The same for the session's hours: never later than what the file shows.
    created: UtcTimestamp,
    outgoing: SeqNum,
    incoming: SeqNum,
    /// How often incoming numbers have begun anew since the start.
    sequence: u64,
    /// Whether the journal may not have it yet that the venue has begun anew.
    is_reset_unconfirmed: bool,
    /// Everything below it was passed to the adapter.
    passed: SeqNum,
    /// The incoming number on disk.
    confirmed: SeqNum,
    /// Absent where no other member of a cluster goes on.
    reservation: Option<NumberReservation>,
    /// Absent where no other process could trade.
    lease: Option<SendLease>,
    /// An order, a change or a cancel has a number and has not left yet.
    has_trade: bool,
    /// Among the messages that were flushed last is one of these: it may be on its way to the socket.
    is_trade_leaving: bool,
    /// Numbers were used since the last line: one line for all of them is written before the first of their messages leaves.
    is_behind: bool,
}

impl SharedNumbers {
    /// Goes on where the file ends; a line that is cut is not counted. Two processes cannot use the numbers of one session.
    pub(crate) fn open(place: &NumberPlace, now: UtcTimestamp) -> io::Result<Self> {
        let file = place.disk.open(&place.file)?;
        let text = match std::fs::read(&place.file) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let (reservation, recorded) = reservation(place)?;
        let begun = SessionNumbers { created: now, outgoing: 1, incoming: 1 };
        let SessionNumbers { created, outgoing, incoming } =
            SessionNumbers::latest(last_numbers(&text), recorded).unwrap_or(begun);
        // What another member of a cluster has begun is not in this file.
        let written = if recorded.is_none() { file.written().and_then(nanos_of) } else { None };
        let mut store = NumberStore {
            created: began(created, now, written),
            reservation,
            place: place.clone(),
            file,
            lines: LINES_MAX,
            recorded: created,
            outgoing,
            incoming,
            sequence: 0,
            is_reset_unconfirmed: false,
            passed: incoming,
            confirmed: incoming,
            lease: None,
            has_trade: false,
            is_trade_leaving: false,
            is_behind: false,
        };
        store.save()?;
        Ok(Self(Arc::new(Mutex::new(store))))
    }

    /// Of orders, changes and cancels: none leaves without it.
    pub(crate) fn set_lease(&self, lease: SendLease) {
        self.lock().lease = Some(lease);
    }

    /// Whether another process may want the sessions of this one.
    pub(crate) fn may_be_replaced(&self) -> bool {
        self.lock().lease.as_ref().is_some_and(SendLease::may_be_replaced)
    }

    /// The session has passed on every message that it has counted.
    pub(crate) fn note_passed(&self) {
        let mut store = self.lock();
        store.passed = store.incoming;
        if PlantedBug::ConfirmUndelivered.is_planted() {
            store.confirmed = store.passed;
            // Written with the next numbers otherwise.
            let _ = store.save();
        }
    }

    /// Numbers that were passed on and are not on disk.
    pub(crate) fn unconfirmed(&self) -> Option<PassedNumbers> {
        let store = self.lock();
        (store.passed > store.confirmed).then_some(PassedNumbers { sequence: store.sequence, next: store.passed })
    }

    /// The journal has everything below; numbers from before a reset say nothing.
    pub(crate) fn confirm_incoming(&self, passed: PassedNumbers) -> io::Result<()> {
        let mut store = self.lock();
        if passed.sequence != store.sequence || passed.next <= store.confirmed || passed.next > store.incoming {
            return Ok(());
        }
        (store.confirmed, store.is_reset_unconfirmed) = (passed.next, false);
        store.save_and_record()
    }

    /// Nothing that was received needs to come again.
    pub(crate) fn confirm_all(&self) -> io::Result<()> {
        let mut store = self.lock();
        if store.confirmed == store.incoming && !store.is_reset_unconfirmed {
            return Ok(());
        }
        (store.confirmed, store.is_reset_unconfirmed) = (store.incoming, false);
        store.save_and_record()
    }

    fn lock(&self) -> MutexGuard<'_, NumberStore> {
        lock(&self.0)
    }
}

fn lock(store: &Mutex<NumberStore>) -> MutexGuard<'_, NumberStore> {
    store.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Incoming numbers of one sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PassedNumbers {
    sequence: u64,
    /// The first that was not passed on.
    next: SeqNum,
}

/// When numbers began. By a clock that ran ahead that is in the future, where no period of a session would ever be over for them: they were
/// there when their file was last written.
fn began(created: UtcTimestamp, now: UtcTimestamp, written: Option<UtcTimestamp>) -> UtcTimestamp {
    written.filter(|_| created > now).map_or(created, |written| written.min(now))
}

fn nanos_of(time: SystemTime) -> Option<UtcTimestamp> {
    let since_1970 = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    i64::try_from(since_1970.as_nanos()).ok().map(UtcTimestamp::from_nanos)
}

/// Of the last whole line.
fn last_numbers(text: &str) -> Option<SessionNumbers> {
    let end = text.rfind('\n')?;
    text[..end].lines().rev().find_map(SessionNumbers::parse)
}

/// With what the journal has.
fn reservation(place: &NumberPlace) -> io::Result<(Option<NumberReservation>, Option<SessionNumbers>)> {
    let Some(records) = place.records.clone() else { return Ok((None, None)) };
    let name = place.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (reservation, recorded) = NumberReservation::read(records, name).map_err(io::Error::other)?;
    Ok((Some(reservation), recorded))
}

impl NumberStore {
    /// What has a number must leave or end the session, so an order without the lease ends it.
    fn check_lease(&self) -> Result<(), StoreError> {
        match self.lease.as_ref().is_some_and(|lease| self.is_trade_leaving && !lease.is_held()) {
            true => Err(StoreError(NO_LEASE.to_owned())),
            false => Ok(()),
        }
    }

    /// The venue has begun anew with this number.
    fn follow_reset(&mut self, next: SeqNum) -> io::Result<()> {
        self.is_reset_unconfirmed = true;
        self.begin_incoming(next);
        self.save_and_record()?;
        // After a power cut the numbers of before would hide a reset behind which the venue has come further than they are.
        self.file.sync()
    }

    /// What was passed on under earlier numbers confirms nothing of these.
    fn begin_incoming(&mut self, next: SeqNum) {
        self.sequence += 1;
        (self.incoming, self.passed, self.confirmed) = (next, next, next);
    }

    fn numbers(&self) -> SessionNumbers {
        let incoming = if self.is_reset_unconfirmed { RESET_UNCONFIRMED } else { self.confirmed };
        SessionNumbers { created: self.recorded, outgoing: self.outgoing, incoming }
    }

    fn save_and_record(&mut self) -> io::Result<()> {
        self.save()?;
        let numbers = self.numbers();
        let recorded = self.reservation.as_mut().map(|reservation| reservation.record(numbers)).transpose();
        recorded.map(drop).map_err(|error| io::Error::other(error.to_string()))
    }

    /// To the disk, and what the journal must have too before the messages leave.
    fn flush(&mut self) -> Result<Option<PendingReservation>, StoreError> {
        self.is_trade_leaving = std::mem::take(&mut self.has_trade);
        let saved = if self.is_behind { self.save() } else { Ok(()) };
        saved.and_then(|()| self.file.sync()).map_err(|error| failed(&error))?;
        let numbers = self.numbers();
        let needed = self.reservation.as_mut().map(|reservation| reservation.needed(numbers)).transpose();
        needed.map(Option::flatten).map_err(|error| StoreError(error.to_string()))
    }

    fn confirm_reservation(&mut self, reserved: SeqNum) {
        self.reservation.iter_mut().for_each(|reservation| reservation.confirm(reserved));
    }

    fn save(&mut self) -> io::Result<()> {
        let line = format!("{}\n", self.numbers());
        self.is_behind = false;
        if self.lines >= LINES_MAX {
            return self.rewrite(&line);
        }
        self.lines += 1;
        self.file.append(&line)
    }

    fn rewrite(&mut self, line: &str) -> io::Result<()> {
        (self.file, self.lines) = (self.place.disk.replace(&self.place.file, line)?, 1);
        Ok(())
    }
}

/// Whether a message is an order, a change or a cancel.
fn trades(message: &[u8]) -> bool {
    let begin = message.windows(MSG_TYPE.len()).position(|window| window == MSG_TYPE);
    let value = begin.map_or(&[][..], |begin| &message[begin + MSG_TYPE.len()..]);
    matches!(value, [b'D' | b'F' | b'G', SEPARATOR, ..])
}

fn failed(error: &io::Error) -> StoreError {
    StoreError(error.to_string())
}

impl MessageStore for SharedNumbers {
    fn created(&self) -> UtcTimestamp {
        self.lock().created
    }

    fn next_outgoing(&self) -> SeqNum {
        self.lock().outgoing
    }

    fn next_incoming(&self) -> SeqNum {
        self.lock().incoming
    }

    fn append(&mut self, number: SeqNum, _: Traffic, message: &[u8]) -> Result<(), StoreError> {
        let mut store = self.lock();
        (store.outgoing, store.is_behind) = (number + 1, true);
        store.has_trade |= store.lease.is_some() && trades(message);
        Ok(())
    }

    fn set_next_incoming(&mut self, next: SeqNum, _: Traffic) -> Result<(), StoreError> {
        let mut store = self.lock();
        match next < store.incoming {
            true => store.follow_reset(next).map_err(|error| failed(&error)),
            false => {
                store.incoming = next;
                Ok(())
            }
        }
    }

    fn set_next_outgoing(&mut self, next: SeqNum) -> Result<(), StoreError> {
        let mut store = self.lock();
        store.outgoing = next;
        store.save().map_err(|error| failed(&error))
    }

    /// Nothing is kept.
    fn read(&mut self, _: SeqNum, _: SeqNum, _: &mut MessageVisitor<'_>) -> Result<(), StoreError> {
        Ok(())
    }

    fn reset(&mut self, now: UtcTimestamp) -> Result<(), StoreError> {
        let mut store = self.lock();
        // Whatever the clocks of members say: the newest beginning has the newest time, so no member takes its own older file for newer.
        let recorded = now.max(UtcTimestamp::from_nanos(store.recorded.nanos() + 1));
        (store.recorded, store.created, store.outgoing) = (recorded, now, 1);
        store.begin_incoming(1);
        store.save().map_err(|error| failed(&error))?;
        let numbers = store.numbers();
        let begun = store.reservation.as_mut().map(|reservation| reservation.begin_anew(numbers)).transpose();
        begun.map(drop).map_err(|error| StoreError(error.to_string()))
    }

    fn refresh(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}

impl DurableStore for SharedNumbers {
    fn flush(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send {
        let store = Arc::clone(&self.0);
        let needed = self.lock().flush();
        async move {
            if let Some(pending) = needed? {
                let reserved = pending.recv().await?;
                lock(&store).confirm_reservation(reserved);
            }
            Ok(())
        }
    }

    /// For as long as an order waits for the venue to read, too: another member may lead meanwhile.
    fn may_leave(&mut self) -> Result<(), StoreError> {
        self.lock().check_lease()
    }

    fn flush_on_disconnect(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send {
        self.flush()
    }
}
