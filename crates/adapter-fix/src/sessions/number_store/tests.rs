//! Sequence numbers over restarts of a server, and over takeovers in a cluster.

use std::path::Path;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use adapters::AdapterRecords;
use bus::RequestPayload;
use bus::inbox::{InboxReceiver, inbox};
use bus::reply::Reply;
use domain::AdapterName;
use domain::query::Answer;
use storage::JournalLedger;

use super::*;

fn numbers(store: &SharedNumbers) -> (SeqNum, SeqNum) {
    (store.next_outgoing(), store.next_incoming())
}

#[test]
fn numbers_go_on_after_a_restart_and_reports_that_the_engine_lacks_come_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("FIX-MAIN.numbers");
    let now = UtcTimestamp::from_nanos(5);
    let mut store = SharedNumbers::open(&NumberPlace::file(path.clone()), now).unwrap();
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
    let store = SharedNumbers::open(&NumberPlace::file(path.clone()), UtcTimestamp::from_nanos(6)).unwrap();
    assert_eq!((numbers(&store), store.created()), ((3, 7), now));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "5 3 7\n");
}

#[test]
fn numbers_of_messages_are_on_disk_before_they_leave_with_one_line_for_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("FIX-MAIN.numbers");
    let mut store = SharedNumbers::open(&NumberPlace::file(path.clone()), UtcTimestamp::from_nanos(5)).unwrap();
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
    let mut store =
        SharedNumbers::open(&NumberPlace::file(folder.path().join("numbers")), UtcTimestamp::from_nanos(5)).unwrap();
    let is_held = Arc::new(AtomicBool::new(true));
    let lease = Arc::clone(&is_held);
    store.set_lease(SendLease::new(move || lease.load(Ordering::SeqCst)));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut leaves = |number, kind: &str| {
        let message = format!("8=FIX.4.4\x019=50\x0135={kind}\x0134={number}\x01");
        store.append(number, Traffic::Application, message.as_bytes()).unwrap();
        runtime.block_on(store.flush()).unwrap();
        // The venue takes it in two parts.
        [store.may_leave(), store.may_leave()]
    };
    assert_eq!(["D", "G", "F", "H"].map(|kind| leaves(1, kind)), [const { [Ok(()), Ok(())] }; 4]);
    is_held.store(false, Ordering::SeqCst);
    let refused = || [(); 2].map(|()| Err(StoreError(NO_LEASE.to_owned())));
    assert_eq!(["D", "G", "F"].map(|kind| leaves(2, kind)), [(); 3].map(|()| refused()));
    assert_eq!(["H", "DX", "0"].map(|kind| leaves(3, kind)), [const { [Ok(()), Ok(())] }; 3]);
}

#[test]
fn a_reset_of_the_venue_is_noticed_again_after_a_crash_unless_the_journal_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("FIX-MAIN.numbers");
    std::fs::write(&path, "5 3 70\n").unwrap();
    let mut store = SharedNumbers::open(&NumberPlace::file(path.clone()), UtcTimestamp::from_nanos(6)).unwrap();
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
    let mut store = SharedNumbers::open(&NumberPlace::file(path.clone()), now).unwrap();
    let refusal = || SharedNumbers::open(&NumberPlace::file(path.clone()), now).err().unwrap().to_string();
    assert_eq!(refusal(), "the sequence numbers are in use by another process");
    // The file is another one after so many lines.
    (0..=LINES_MAX).for_each(|_| store.set_next_outgoing(9).unwrap());
    assert_eq!(refusal(), "the sequence numbers are in use by another process");
    drop(store);
    assert_eq!(numbers(&SharedNumbers::open(&NumberPlace::file(path.clone()), now).unwrap()), (9, 1));
}

#[test]
fn a_cut_line_does_not_count_and_a_reset_begins_at_1() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("FIX-MAIN.numbers");
    std::fs::write(&path, "5 3 7\n5 4 7\n5 9").unwrap();
    let mut store = SharedNumbers::open(&NumberPlace::file(path.clone()), UtcTimestamp::from_nanos(6)).unwrap();
    assert_eq!(numbers(&store), (4, 7));
    store.set_next_incoming(9, Traffic::Application).unwrap();
    store.note_passed();
    let before = store.unconfirmed().unwrap();
    store.reset(UtcTimestamp::from_nanos(8)).unwrap();
    store.set_next_incoming(20, Traffic::Application).unwrap();
    store.confirm_incoming(before).unwrap();
    drop(store);
    assert_eq!(
        numbers(&SharedNumbers::open(&NumberPlace::file(path.clone()), UtcTimestamp::from_nanos(9)).unwrap()),
        (1, 1)
    );
}

/// The journal of a cluster: what was appended is durable when it says so.
struct Journal {
    ledger: Arc<JournalLedger>,
    requests: InboxReceiver,
}

impl Journal {
    fn new() -> Self {
        let (inbox, requests) = inbox();
        Self { ledger: Arc::new(JournalLedger::new(inbox)), requests }
    }

    /// Every record that waits becomes durable.
    fn commit(&self) {
        for request in self.requests.requests.try_iter() {
            let RequestPayload::LedgerRecord(record) = request.payload else { panic!("{:?}", request.payload) };
            self.ledger.apply(1, &record).unwrap();
            request.reply_to.send(Reply { sequence: 1, outcome: Ok(Answer::Done) });
        }
    }

    /// The numbers of the session at a member with this folder.
    fn member(&self, folder: &Path) -> SharedNumbers {
        let records = AdapterRecords::new(self.ledger.clone(), AdapterName("MAIN".into()));
        let place = NumberPlace { records: Some(records), ..NumberPlace::file(folder.join("MAIN.numbers")) };
        SharedNumbers::open(&place, UtcTimestamp::from_nanos(5)).unwrap()
    }

    fn record(&self) -> String {
        let records = AdapterRecords::new(self.ledger.clone(), AdapterName("MAIN".into()));
        records.read("MAIN.numbers").unwrap_or_default()
    }
}

/// Sends messages up to this number. Whether they leave at once; otherwise they leave when the journal has what they wait for.
fn leaves_at_once(journal: &Journal, store: &mut SharedNumbers, number: SeqNum) -> bool {
    store.append(number, Traffic::Application, b"").unwrap();
    let mut flushed = pin!(store.flush());
    let mut context = Context::from_waker(Waker::noop());
    if flushed.as_mut().poll(&mut context).is_ready() {
        return true;
    }
    journal.commit();
    assert_eq!(flushed.as_mut().poll(&mut context), Poll::Ready(Ok(())));
    false
}

#[test]
fn no_message_leaves_under_a_number_that_the_next_leader_could_use_again() {
    let (journal, a, b) = (Journal::new(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut leader = journal.member(a.path());
    assert!(!leaves_at_once(&journal, &mut leader, 1), "no member would know of it");
    assert_eq!(journal.record(), "5 1002 1");
    let mut sent = |number| leaves_at_once(&journal, &mut leader, number);
    assert!([2, 501, 1_001].map(&mut sent).iter().all(|at_once| *at_once), "one record for all of them");
    assert_eq!(numbers(&journal.member(b.path())), (1_002, 1));
    assert!(!sent(1_002), "what was asked for on the way is not durable");
    assert_eq!(numbers(&journal.member(tempfile::tempdir().unwrap().path())), (2_002, 1));
}

#[test]
fn the_next_leader_asks_for_the_reports_that_the_journal_lacks_and_for_no_other() {
    let (journal, a, b) = (Journal::new(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut leader = journal.member(a.path());
    leader.set_next_incoming(40, Traffic::Application).unwrap();
    leader.note_passed();
    leader.confirm_incoming(leader.unconfirmed().unwrap()).unwrap();
    leader.set_next_incoming(60, Traffic::Application).unwrap();
    leader.note_passed();
    journal.commit();
    assert_eq!(numbers(&journal.member(b.path())), (1_001, 40));
}

#[test]
fn numbers_that_begin_anew_are_in_the_journal_before_anything_leaves_under_them() {
    let (journal, a) = (Journal::new(), tempfile::tempdir().unwrap());
    let mut leader = journal.member(a.path());
    leaves_at_once(&journal, &mut leader, 1);
    leader.reset(UtcTimestamp::from_nanos(9)).unwrap();
    assert!(!leaves_at_once(&journal, &mut leader, 1), "another leader would begin anew once more");
    assert_eq!(journal.record(), "9 1001 1");
    assert!(leaves_at_once(&journal, &mut leader, 2));
}

#[test]
fn a_member_whose_clock_runs_ahead_goes_on_with_what_another_one_began_anew_behind_it() {
    let (journal, ahead, behind) = (Journal::new(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut leader = journal.member(ahead.path());
    leader.reset(UtcTimestamp::from_nanos(900)).unwrap();
    leaves_at_once(&journal, &mut leader, 40);
    drop(leader);
    let mut next = journal.member(behind.path());
    next.reset(UtcTimestamp::from_nanos(300)).unwrap();
    leaves_at_once(&journal, &mut next, 1);
    assert_eq!(journal.record(), "901 1001 1");
    let back = journal.member(ahead.path());
    assert_eq!((numbers(&back), back.created()), ((1_001, 1), UtcTimestamp::from_nanos(901)));
}

#[test]
fn a_session_without_a_journal_that_takes_its_numbers_ends() {
    let Journal { ledger, requests } = Journal::new();
    drop(requests);
    let folder = tempfile::tempdir().unwrap();
    let records = AdapterRecords::new(ledger, AdapterName("MAIN".into()));
    let place = NumberPlace { records: Some(records), ..NumberPlace::file(folder.path().join("MAIN.numbers")) };
    let mut store = SharedNumbers::open(&place, UtcTimestamp::from_nanos(5)).unwrap();
    store.append(1, Traffic::Application, b"").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(runtime.block_on(store.flush()), Err(StoreError("the engine has stopped".to_owned())));
}
