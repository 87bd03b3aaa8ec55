//! Ledger of a FIX session: sent messages that can be sent again.

use super::*;
use bus::RequestPayload;
use bus::inbox::{InboxReceiver, inbox};
use domain::query::Answer;

/// A ledger, and the engine's side of the inbox, which makes records durable on command.
struct LedgerFixture {
    book: JournalLedger,
    lanes: InboxReceiver,
}

impl LedgerFixture {
    fn new() -> Self {
        let (inbox, lanes) = inbox();
        Self { book: JournalLedger::new(inbox), lanes }
    }

    /// What the runtime does: journal, absorb, answer. Gives back the records.
    fn commit(&self) -> Vec<Vec<u8>> {
        let requests = self.lanes.requests.try_iter();
        let commit = |request: bus::EngineRequest| {
            let RequestPayload::LedgerRecord(record) = request.payload else { panic!("{:?}", request.payload) };
            self.book.apply(1, &record).unwrap();
            request.reply_to.send(Reply { sequence: 1, outcome: Ok(Answer::Done) });
            record
        };
        requests.map(commit).collect()
    }

    fn send(&self, key: u64, report: &str) {
        self.book.append("FIX.4.4:BANK", key, report.as_bytes()).unwrap();
    }

    fn sent(&self, keys: RangeInclusive<u64>) -> Vec<(u64, String)> {
        let entries = self.book.read("FIX.4.4:BANK", keys, usize::MAX);
        entries.into_iter().map(|entry| (entry.key, String::from_utf8(entry.bytes).unwrap())).collect()
    }
}

fn reports(expected: &[(u64, &str)]) -> Vec<(u64, String)> {
    expected.iter().map(|(key, report)| (*key, (*report).to_owned())).collect()
}

#[test]
fn what_was_sent_is_read_back_once_it_is_durable() {
    let session = LedgerFixture::new();
    let ticket = session.book.append("FIX.4.4:BANK", 1, b"new 7").unwrap();
    session.send(2, "fill 7");
    assert_eq!(session.sent(0..=u64::MAX), [], "nothing is shown that a crash could undo");
    session.commit();
    assert_eq!(ticket.recv_blocking().unwrap().outcome, Ok(Answer::Done));
    assert_eq!(session.sent(0..=u64::MAX), reports(&[(1, "new 7"), (2, "fill 7")]));
}

#[test]
fn a_range_and_a_limit_narrow_what_is_read() {
    let session = LedgerFixture::new();
    (1..=5).for_each(|key| session.send(key, "report"));
    session.book.append("FIX.4.4:FUND", 3, b"of another").unwrap();
    session.commit();
    let keys = |range, limit| -> Vec<_> {
        session.book.read("FIX.4.4:BANK", range, limit).into_iter().map(|entry| entry.key).collect()
    };
    assert_eq!(keys(2..=4, 10), [2, 3, 4]);
    assert_eq!(keys(2..=4, 2), [2, 3]);
    #[expect(clippy::reversed_empty_ranges, reason = "a counterparty may ask for it")]
    let nothing = keys(4..=2, 10);
    assert_eq!(nothing, []);
    assert_eq!(session.book.read("nobody", 0..=9, 10), []);
}

#[test]
fn a_mark_drops_the_records_below_it_and_the_numbers_may_begin_again() {
    let session = LedgerFixture::new();
    (1..=3).for_each(|key| session.send(key, "yesterday"));
    session.book.truncate_before("FIX.4.4:BANK", 3).unwrap();
    session.commit();
    assert_eq!(session.sent(0..=9), reports(&[(3, "yesterday")]));
    session.book.truncate_before("FIX.4.4:BANK", u64::MAX).unwrap();
    session.book.truncate_before("nobody", 1).unwrap();
    session.send(1, "today");
    session.commit();
    assert_eq!(session.sent(0..=9), reports(&[(1, "today")]));
}

#[test]
fn a_key_that_is_appended_again_has_the_new_bytes() {
    let session = LedgerFixture::new();
    session.send(1, "first");
    session.send(1, "second");
    session.commit();
    assert_eq!(session.sent(0..=9), reports(&[(1, "second")]));
}

#[test]
fn after_a_restart_the_book_is_the_same_from_records_or_from_a_snapshot() {
    let session = LedgerFixture::new();
    (1..=4).for_each(|key| session.send(key, "report"));
    session.book.truncate_before("FIX.4.4:BANK", 2).unwrap();
    let before = session.commit();
    let snapshot = session.book.export();
    session.send(5, "after the snapshot");
    let after = session.commit();

    let replayed = LedgerFixture::new();
    before.iter().chain(&after).for_each(|record| replayed.book.apply(1, record).unwrap());
    let restored = LedgerFixture::new();
    restored.book.import(&snapshot).unwrap();
    after.iter().for_each(|record| restored.book.apply(1, record).unwrap());

    let expected = reports(&[(2, "report"), (3, "report"), (4, "report"), (5, "after the snapshot")]);
    assert_eq!(
        (session.sent(0..=9), replayed.sent(0..=9), restored.sent(0..=9)),
        (expected.clone(), expected.clone(), expected)
    );
    assert_eq!(session.book.export(), restored.book.export());
}

#[test]
fn bytes_that_are_no_record_and_no_export_are_refused_and_change_nothing() {
    let session = LedgerFixture::new();
    session.send(1, "report");
    session.commit();
    for bad in [&b""[..], b"\xff", b"\x82\x09\x80"] {
        assert!(session.book.apply(1, bad).unwrap_err().starts_with("not a record of the Ledger: "));
        assert!(session.book.import(bad).unwrap_err().starts_with("not an export of the Ledger: "));
    }
    assert_eq!(session.sent(0..=9), reports(&[(1, "report")]));
}

#[test]
fn a_record_above_the_limit_is_refused_and_never_reaches_the_journal() {
    let session = LedgerFixture::new();
    let ticket = session.book.append("FIX.4.4:BANK", 1, &vec![0; LEDGER_RECORD_BYTES_MAX + 1]).unwrap();
    let refusal = ticket.recv_blocking().unwrap().outcome.unwrap_err();
    let expected =
        Refusal::TooLarge { field: "bytes", value: Decimal::from(1_048_577), limit: Decimal::from(1_048_576) };
    assert_eq!(refusal, expected);
    assert_eq!(session.commit(), Vec::<Vec<u8>>::new());
}

#[test]
fn a_stream_without_marks_drops_its_oldest_records() {
    let session = LedgerFixture::new();
    let report = "x".repeat(LEDGER_RECORD_BYTES_MAX);
    (1..=20).for_each(|key| session.send(key, &report));
    session.book.append("FIX.4.4:FUND", 1, b"of another").unwrap();
    session.commit();
    let held: Vec<_> = session.sent(0..=u64::MAX).into_iter().map(|(key, _)| key).collect();
    assert_eq!(held, (6..=20).collect::<Vec<_>>());
    assert_eq!(session.book.read("FIX.4.4:FUND", 0..=9, 9).len(), 1);
}

#[test]
fn a_stopped_engine_takes_nothing() {
    let LedgerFixture { book, lanes } = LedgerFixture::new();
    drop(lanes);
    assert_eq!(book.append("FIX.4.4:BANK", 1, b"report").unwrap_err(), InboxError::Stopped);
    assert_eq!(book.truncate_before("FIX.4.4:BANK", 1).unwrap_err(), InboxError::Stopped);
}

#[test]
fn the_number_of_a_sessions_newest_command_survives_in_a_snapshot() {
    let session = LedgerFixture::new();
    let order =
        |number| MessageOrigin { session: "BANK".into(), seq_num: number, request_echo: None, poss_resend: false };
    let newest = |book: &JournalLedger, name| book.last(&seq_num_stream(name)).map(|entry| entry.key);
    assert_eq!(newest(&session.book, "BANK"), None);
    [4, 7, 5].map(order).iter().for_each(|origin| session.book.record_seq_num(origin));
    let restored = LedgerFixture::new();
    restored.book.import(&session.book.export()).unwrap();
    assert_eq!((newest(&session.book, "BANK"), newest(&restored.book, "BANK")), (Some(7), Some(7)));
    assert_eq!(newest(&session.book, "FUND"), None);
}

fn settings(document: &str) -> AdminRecord {
    let kept = domain::admin::SettingsRecord {
        owner: "anna".into(),
        document: document.into(),
        revision: 1,
        changed: domain::Timestamp(0),
    };
    AdminRecord { changes: vec![domain::admin::AdminChange::PutSettings(kept)] }
}

/// The state goes into a snapshot, and durable records to whoever keeps a view of them.
#[test]
fn records_of_administration_become_the_state_of_a_snapshot_and_are_passed_on() {
    let session = LedgerFixture::new();
    session.send(1, "new 7");
    let follower = session.book.follow_admin();
    session.book.append_admin(settings("{}")).unwrap();
    assert_eq!(*session.book.admin(), AdminState::default(), "not before it is durable");
    session.commit();
    assert_eq!(follower.try_recv().unwrap(), (1, settings("{}")));
    let restored = LedgerFixture::new();
    restored.book.import(&session.book.export()).unwrap();
    assert_eq!((restored.book.admin(), restored.sent(1..=9)), (session.book.admin(), reports(&[(1, "new 7")])));
    assert_eq!(&*restored.book.admin().settings["anna"].document, "{}");
}

/// They would let everybody in.
#[test]
fn a_build_that_knows_no_users_cannot_read_a_snapshot_with_users() {
    let session = LedgerFixture::new();
    session.send(1, "new 7");
    session.commit();
    let as_before = |export: &[u8]| minicbor::decode::<BTreeMap<String, BTreeMap<u64, ByteVec>>>(export).is_ok();
    assert!(as_before(&session.book.export()));
    session.book.append_admin(settings("{}")).unwrap();
    session.commit();
    assert!(!as_before(&session.book.export()));
}

/// However the messages came there: the bytes are those of ordered maps, as every release wrote and reads them.
#[test]
fn an_export_has_the_bytes_of_ordered_maps() {
    let session = LedgerFixture::new();
    [300, 1, 64, 63, 128, 7].into_iter().for_each(|key| session.send(key, &format!("report {key}")));
    session.send(7, "report 7 again");
    session.book.append("FIX.4.4:FUND", 9, b"of another").unwrap();
    session.book.truncate_before("FIX.4.4:BANK", 7).unwrap();
    session.commit();
    let bank = [(7, "report 7 again"), (63, "report 63"), (64, "report 64"), (128, "report 128"), (300, "report 300")];
    let stream = |records: &[(u64, &str)]| -> BTreeMap<u64, ByteVec> {
        records.iter().map(|(key, report)| (*key, ByteVec::from(report.as_bytes().to_vec()))).collect()
    };
    let expected = BTreeMap::from([("FIX.4.4:BANK", stream(&bank)), ("FIX.4.4:FUND", stream(&[(9, "of another")]))]);
    assert_eq!(session.book.export(), minicbor::to_vec(&expected).unwrap());
}
