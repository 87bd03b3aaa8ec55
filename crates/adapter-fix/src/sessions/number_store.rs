//! Sequence numbers of a session on disk. Requests are not kept: a request that comes late could trade late, so a Resend Request
//! is answered by a gap fill. The incoming number on disk follows only when the engine has the reports, so that after a crash the
//! venue sends them again.

use std::fs::{File, OpenOptions, TryLockError};
use std::future::Future;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use adapters::{NO_LEASE, SendLease};
use domain::PlantedBug;
use fix::{MessageStore, MessageVisitor, SEQ_NUM_MAX, SeqNum, StoreError, Traffic, UtcTimestamp};
use fix_net::DurableStore;

/// The file is written anew when it has so many lines.
const LINES_MAX: usize = 100_000;
/// In place of the incoming number until the journal has it that the venue has begun anew: whatever number the venue has after a crash is
/// lower, so that the reset is noticed again.
const RESET_UNCONFIRMED: SeqNum = SEQ_NUM_MAX;
const SEPARATOR: u8 = 1;
/// The beginning of MsgType (35) in a message.
const MSG_TYPE: &[u8] = b"\x0135=";

/// Shared by the session's task and the adapter.
#[derive(Debug, Clone)]
pub(crate) struct SharedNumbers(Arc<Mutex<NumberStore>>);

#[derive(Debug)]
struct NumberStore {
    path: PathBuf,
    file: File,
    lines: usize,
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
    /// Absent where no other process could trade.
    lease: Option<SendLease>,
    /// An order, a change or a cancel has a number and has not left yet.
    has_trade: bool,
    /// Numbers were used since the last line: one line for all of them is written before the first of their messages leaves.
    is_behind: bool,
}

impl SharedNumbers {
    /// Goes on where the file ends; a line that is cut is not counted. Two processes cannot use the numbers of one session.
    pub(crate) fn open(path: &Path, now: UtcTimestamp) -> io::Result<Self> {
        let file = locked(OpenOptions::new().create(true).append(true).open(path)?)?;
        // Another process may have put a new file in its place before this one was locked.
        if file.metadata()?.ino() != std::fs::metadata(path)?.ino() {
            return Err(in_use());
        }
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let (created, outgoing, incoming) = last_numbers(&text).unwrap_or((now, 1, 1));
        let mut store = NumberStore {
            path: path.to_owned(),
            file,
            lines: LINES_MAX,
            created,
            outgoing,
            incoming,
            sequence: 0,
            is_reset_unconfirmed: false,
            passed: incoming,
            confirmed: incoming,
            lease: None,
            has_trade: false,
            is_behind: false,
        };
        store.save()?;
        Ok(Self(Arc::new(Mutex::new(store))))
    }

    /// Of orders, changes and cancels: none leaves without it.
    pub(crate) fn set_lease(&self, lease: SendLease) {
        self.lock().lease = Some(lease);
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
        store.save()
    }

    /// Nothing that was received needs to come again.
    pub(crate) fn confirm_all(&self) -> io::Result<()> {
        let mut store = self.lock();
        if store.confirmed == store.incoming && !store.is_reset_unconfirmed {
            return Ok(());
        }
        (store.confirmed, store.is_reset_unconfirmed) = (store.incoming, false);
        store.save()
    }

    fn lock(&self) -> MutexGuard<'_, NumberStore> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Incoming numbers of one sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PassedNumbers {
    sequence: u64,
    /// The first that was not passed on.
    next: SeqNum,
}

/// Of the last whole line.
fn last_numbers(text: &str) -> Option<(UtcTimestamp, SeqNum, SeqNum)> {
    let end = text.rfind('\n')?;
    text[..end].lines().rev().find_map(|line| {
        let mut words = line.split(' ');
        let created = words.next()?.parse().ok().map(UtcTimestamp::from_nanos)?;
        let numbers = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        words.next().is_none().then_some((created, numbers.0, numbers.1))
    })
}

impl NumberStore {
    /// What has a number must leave or end the session, so an order without the lease ends it.
    fn check_lease(&mut self) -> Result<(), StoreError> {
        let has_trade = std::mem::take(&mut self.has_trade);
        match self.lease.as_ref().is_some_and(|lease| has_trade && !lease.is_held()) {
            true => Err(StoreError(NO_LEASE.to_owned())),
            false => Ok(()),
        }
    }

    /// The venue has begun anew with this number.
    fn follow_reset(&mut self, next: SeqNum) -> io::Result<()> {
        self.is_reset_unconfirmed = true;
        self.begin_incoming(next);
        self.save()
    }

    /// What was passed on under earlier numbers confirms nothing of these.
    fn begin_incoming(&mut self, next: SeqNum) {
        self.sequence += 1;
        (self.incoming, self.passed, self.confirmed) = (next, next, next);
    }

    fn save(&mut self) -> io::Result<()> {
        let incoming = if self.is_reset_unconfirmed { RESET_UNCONFIRMED } else { self.confirmed };
        let line = format!("{} {} {incoming}\n", self.created.nanos(), self.outgoing);
        self.is_behind = false;
        if self.lines >= LINES_MAX {
            return self.rewrite(&line);
        }
        self.lines += 1;
        self.file.write_all(line.as_bytes())
    }

    fn rewrite(&mut self, line: &str) -> io::Result<()> {
        let beside = self.path.with_extension("numbers.new");
        let mut file = locked(File::create(&beside)?)?;
        file.write_all(line.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&beside, &self.path)?;
        (self.file, self.lines) = (file, 1);
        Ok(())
    }
}

/// Until the file is closed; a process that ends closes it.
fn locked(file: File) -> io::Result<File> {
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(in_use()),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn in_use() -> io::Error {
    io::Error::new(io::ErrorKind::ResourceBusy, "the sequence numbers are in use by another process")
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
        (store.created, store.outgoing) = (now, 1);
        store.begin_incoming(1);
        store.save().map_err(|error| failed(&error))
    }

    fn refresh(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}

impl DurableStore for SharedNumbers {
    fn flush(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send {
        let mut store = self.lock();
        let saved = if store.is_behind { store.save() } else { Ok(()) };
        let saved = saved.and_then(|()| store.file.sync_data()).map_err(|error| failed(&error));
        std::future::ready(saved.and_then(|()| store.check_lease()))
    }

    fn flush_on_disconnect(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send {
        self.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn numbers(store: &SharedNumbers) -> (SeqNum, SeqNum) {
        (store.next_outgoing(), store.next_incoming())
    }

    #[test]
    fn numbers_go_on_after_a_restart_and_reports_that_the_engine_lacks_come_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("FIX-MAIN.numbers");
        let now = UtcTimestamp::from_nanos(5);
        let mut store = SharedNumbers::open(&path, now).unwrap();
        assert_eq!(numbers(&store), (1, 1));
        store.append(1, Traffic::Session, b"").unwrap();
        store.append(2, Traffic::Application, b"").unwrap();
        store.set_next_incoming(7, Traffic::Application).unwrap();
        store.note_passed();
        let passed = store.unconfirmed().unwrap();
        store.set_next_incoming(9, Traffic::Application).unwrap();
        assert_eq!(store.unconfirmed(), Some(passed), "a message that is counted may not be passed on yet");
        store.confirm_incoming(passed).unwrap();
        assert_eq!(store.unconfirmed(), None);
        drop(store);
        let store = SharedNumbers::open(&path, UtcTimestamp::from_nanos(6)).unwrap();
        assert_eq!((numbers(&store), store.created()), ((3, 7), now));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "5 3 7\n");
    }

    #[test]
    fn numbers_of_messages_are_on_disk_before_they_leave_with_one_line_for_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("FIX-MAIN.numbers");
        let mut store = SharedNumbers::open(&path, UtcTimestamp::from_nanos(5)).unwrap();
        (1..=3).for_each(|number| store.append(number, Traffic::Application, b"").unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "5 1 1\n");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(store.flush()).unwrap();
        runtime.block_on(store.flush()).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "5 1 1\n5 4 1\n");
    }

    #[test]
    fn an_order_without_the_lease_ends_the_session_before_it_leaves_and_a_question_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = SharedNumbers::open(&folder.path().join("numbers"), UtcTimestamp::from_nanos(5)).unwrap();
        let is_held = Arc::new(AtomicBool::new(true));
        let lease = Arc::clone(&is_held);
        store.set_lease(SendLease::new(move || lease.load(Ordering::SeqCst)));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut leaves = |number, kind: &str| {
            let message = format!("8=FIX.4.4\x019=50\x0135={kind}\x0134={number}\x01");
            store.append(number, Traffic::Application, message.as_bytes()).unwrap();
            runtime.block_on(store.flush())
        };
        assert_eq!(["D", "G", "F", "H"].map(|kind| leaves(1, kind)), [Ok(()), Ok(()), Ok(()), Ok(())]);
        is_held.store(false, Ordering::SeqCst);
        let refused = Err(StoreError(NO_LEASE.to_owned()));
        assert_eq!(["D", "G", "F"].map(|kind| leaves(2, kind)), [refused.clone(), refused.clone(), refused]);
        assert_eq!(["H", "DX", "0"].map(|kind| leaves(3, kind)), [Ok(()), Ok(()), Ok(())]);
    }

    #[test]
    fn a_reset_of_the_venue_is_noticed_again_after_a_crash_unless_the_journal_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("FIX-MAIN.numbers");
        std::fs::write(&path, "5 3 70\n").unwrap();
        let mut store = SharedNumbers::open(&path, UtcTimestamp::from_nanos(6)).unwrap();
        store.set_next_incoming(80, Traffic::Application).unwrap();
        store.note_passed();
        let before = store.unconfirmed().unwrap();
        store.set_next_incoming(1, Traffic::Session).unwrap();
        store.set_next_incoming(90, Traffic::Application).unwrap();
        store.note_passed();
        store.confirm_incoming(before).unwrap();
        let last = || std::fs::read_to_string(&path).unwrap().lines().last().unwrap().to_owned();
        assert_eq!(last(), format!("5 3 {SEQ_NUM_MAX}"), "what came before the reset confirms nothing");
        store.confirm_incoming(store.unconfirmed().unwrap()).unwrap();
        assert_eq!(last(), "5 3 90");
    }

    #[test]
    fn two_processes_cannot_use_the_numbers_of_one_session() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("FIX-MAIN.numbers");
        let now = UtcTimestamp::from_nanos(5);
        let mut store = SharedNumbers::open(&path, now).unwrap();
        let refusal = || SharedNumbers::open(&path, now).unwrap_err().to_string();
        assert_eq!(refusal(), "the sequence numbers are in use by another process");
        // The file is another one after so many lines.
        (0..=LINES_MAX).for_each(|_| store.set_next_outgoing(9).unwrap());
        assert_eq!(refusal(), "the sequence numbers are in use by another process");
        drop(store);
        assert_eq!(numbers(&SharedNumbers::open(&path, now).unwrap()), (9, 1));
    }

    #[test]
    fn a_cut_line_does_not_count_and_a_reset_begins_at_1() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("FIX-MAIN.numbers");
        std::fs::write(&path, "5 3 7\n5 4 7\n5 9").unwrap();
        let mut store = SharedNumbers::open(&path, UtcTimestamp::from_nanos(6)).unwrap();
        assert_eq!(numbers(&store), (4, 7));
        store.set_next_incoming(9, Traffic::Application).unwrap();
        store.note_passed();
        let before = store.unconfirmed().unwrap();
        store.reset(UtcTimestamp::from_nanos(8)).unwrap();
        store.set_next_incoming(20, Traffic::Application).unwrap();
        store.confirm_incoming(before).unwrap();
        drop(store);
        assert_eq!(numbers(&SharedNumbers::open(&path, UtcTimestamp::from_nanos(9)).unwrap()), (1, 1));
    }
}
