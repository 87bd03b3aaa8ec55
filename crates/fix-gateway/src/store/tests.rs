//! Session store over the Ledger, with an engine that commits on request.

use std::sync::Arc;

use bus::inbox::{InboxReceiver, inbox_with};
use bus::lanes::LaneLimits;
use bus::quotas::InFlightLimits;
use bus::reply::Reply;
use bus::{InboxError, RequestPayload};
use domain::query::Answer;
use fix::{
    Application, FixMessage, FixSession, FixSettings, LogonDecision, LogonTicket, MemoryStore, MessageStore,
    OutgoingMessage, SEQ_NUM_MAX, SessionEngine, SessionId, SessionSender, StoreError, Traffic, UtcTimestamp, tag,
};
use fix_net::DurableStore;
use storage::JournalLedger;

use super::store_record::Cursor;
use super::{LedgerStore, SessionStore};

struct StoreHarness {
    ledger: Arc<JournalLedger>,
    lanes: InboxReceiver,
}

impl StoreHarness {
    fn new() -> Self {
        Self::with(LaneLimits::default())
    }

    fn with(room: LaneLimits) -> Self {
        let (inbox, lanes) = inbox_with(room, InFlightLimits::default());
        Self { ledger: Arc::new(JournalLedger::new(inbox)), lanes }
    }

    fn session(&self) -> SessionStore {
        let id = SessionId { begin_string: "FIX.4.4".into(), sender: "RIALTO".into(), target: "DESK".into() };
        SessionStore::open(self.ledger.clone(), &id, UtcTimestamp::from_nanos(7)).unwrap()
    }

    /// The engine's loop on its queue: journal, apply, answer. Returns the number of records.
    fn commit(&self) -> usize {
        let requests = self.lanes.requests.try_iter().map(|request| {
            let RequestPayload::LedgerRecord(record) = request.payload else { panic!("{:?}", request.payload) };
            self.ledger.apply(1, &record).unwrap();
            request.reply_to.send(Reply { sequence: 1, outcome: Ok(Answer::Done) });
        });
        requests.count()
    }

    async fn commit_until(&self, settling: impl Future<Output = LedgerStore> + Send + 'static) -> LedgerStore {
        let settling = tokio::spawn(settling);
        while !settling.is_finished() {
            self.commit();
            tokio::task::yield_now().await;
        }
        settling.await.unwrap()
    }

    /// The connection of a session ends.
    async fn at_rest(&self, mut store: LedgerStore) -> LedgerStore {
        let resting = async move {
            store.flush_on_disconnect().await.unwrap();
            store
        };
        self.commit_until(resting).await
    }

    /// The process ends; what was not committed is gone.
    fn restart(self) -> Self {
        self.again()
    }

    /// As a process that starts now would read it.
    fn again(&self) -> Self {
        let next = Self::new();
        next.ledger.import(&self.ledger.export()).unwrap();
        next
    }
}

fn report(store: &mut LedgerStore, number: u64) {
    store.append(number, Traffic::Application, format!("report {number}").as_bytes()).unwrap();
}

fn read(store: &mut LedgerStore, from: u64, to: u64) -> Vec<(u64, String)> {
    let mut found = Vec::new();
    store.read(from, to, &mut |number, bytes| found.push((number, String::from_utf8_lossy(bytes).into()))).unwrap();
    found
}

fn reports(numbers: impl IntoIterator<Item = u64>) -> Vec<(u64, String)> {
    numbers.into_iter().map(|number| (number, format!("report {number}"))).collect()
}

#[test]
fn numbers_and_reports_survive_with_how_far_the_client_was_told() {
    let platform = StoreHarness::new();
    let mut store = LedgerStore(platform.session());
    store.append(1, Traffic::Session, b"logon").unwrap();
    store.set_next_incoming(3, Traffic::Session).unwrap();
    report(&mut store, 2);
    store.0.advance(Cursor { sequence: 40, reported: 1 });
    store.0.flush().unwrap();
    platform.commit();
    let platform = platform.restart();
    let mut store = LedgerStore(platform.session());
    assert_eq!((store.next_incoming(), store.next_outgoing(), store.created()), (3, 3, UtcTimestamp::from_nanos(7)));
    assert_eq!(store.0.cursor(), Some(Cursor { sequence: 40, reported: 1 }));
    assert_eq!(read(&mut store, 1, 9), reports([2]));
}

#[test]
fn what_a_crash_takes_back_was_never_sent() {
    let platform = StoreHarness::new();
    let mut store = LedgerStore(platform.session());
    report(&mut store, 1);
    store.0.flush().unwrap();
    platform.commit();
    report(&mut store, 2);
    store.0.flush().unwrap();
    let store = LedgerStore(platform.restart().session());
    assert_eq!(store.next_outgoing(), 2);
}

#[tokio::test]
async fn a_message_is_settled_when_it_is_durable() {
    let platform = StoreHarness::new();
    let mut store = LedgerStore(platform.session());
    report(&mut store, 1);
    let mut store = platform
        .commit_until(async move {
            store.flush().await.unwrap();
            store
        })
        .await;
    assert_eq!(read(&mut store, 1, 1), reports([1]));
}

#[tokio::test]
async fn at_rest_the_numbers_are_kept_that_nothing_was_sent_behind() {
    let platform = StoreHarness::new();
    let mut store = LedgerStore(platform.session());
    report(&mut store, 1);
    let mut store = platform.at_rest(store).await;
    // The client's Logout, which answers ours, and its confirmation.
    store.set_next_incoming(5, Traffic::Session).unwrap();
    store.0.on_first_logon(40);
    let store = platform.at_rest(store).await;
    assert_eq!(platform.commit(), 0);
    platform.at_rest(store).await;
    assert_eq!(platform.commit(), 0, "what is kept is not written again");
    let platform = platform.restart();
    let mut store = LedgerStore(platform.session());
    assert_eq!((store.next_incoming(), store.next_outgoing()), (5, 2));
    assert_eq!((store.0.confirmed_position(), read(&mut store, 1, 9)), ((false, Some(40)), reports([1])));
    // The next message replaces the record without messages.
    report(&mut store, 2);
    let store = platform.at_rest(store).await;
    assert_eq!(read(&mut LedgerStore(platform.restart().session()), 1, 9), reports([1, 2]));
    drop(store);
}

#[tokio::test]
async fn behind_the_highest_number_nothing_is_kept() {
    let platform = StoreHarness::new();
    let mut store = LedgerStore(platform.session());
    store.set_next_outgoing(SEQ_NUM_MAX).unwrap();
    report(&mut store, SEQ_NUM_MAX);
    let mut store = platform.at_rest(store).await;
    store.set_next_incoming(5, Traffic::Session).unwrap();
    platform.at_rest(store).await;
    let store = LedgerStore(platform.restart().session());
    assert_eq!((store.next_incoming(), store.next_outgoing()), (1, SEQ_NUM_MAX + 1));
}

#[test]
fn a_report_can_be_sent_again_before_it_is_durable() {
    let platform = StoreHarness::new();
    let mut store = LedgerStore(platform.session());
    (1..=3).for_each(|number| report(&mut store, number));
    store.0.flush().unwrap();
    report(&mut store, 4);
    assert_eq!(read(&mut store, 2, 9), reports(2..=4));
}

#[test]
fn many_reports_take_several_pages_and_are_read_across_them() {
    let platform = StoreHarness::new();
    let mut store = LedgerStore(platform.session());
    (1..=700).for_each(|number| report(&mut store, number));
    store.0.flush().unwrap();
    assert_eq!(platform.commit(), 4, "the opening of the book and three pages");
    let mut store = LedgerStore(platform.restart().session());
    assert_eq!(read(&mut store, 250, 520), reports(250..=520));
    assert_eq!(read(&mut store, 1, 1), reports([1]));
}

#[test]
fn an_answer_is_written_down_before_the_command_behind_it() {
    let platform = StoreHarness::new();
    let mut store = LedgerStore(platform.session());
    platform.commit();
    store.set_next_incoming(5, Traffic::Application).unwrap();
    report(&mut store, 1);
    store.set_next_incoming(6, Traffic::Application).unwrap();
    let origin = store.0.hold_for_command("memo".into());
    store.0.flush().unwrap();
    assert_eq!(platform.commit(), 1);
    let unanswered = LedgerStore(platform.again().session());
    assert_eq!(unanswered.next_incoming(), 5, "a command that was not handed over is not counted");
    platform.ledger.record_seq_num(&origin);
    let store = LedgerStore(platform.restart().session());
    assert_eq!(store.next_incoming(), 6);
}

#[test]
fn what_is_counted_has_its_answer_also_where_the_engine_has_no_place_for_a_page() {
    let platform = StoreHarness::with(LaneLimits { records: 1, ..LaneLimits::default() });
    let mut store = LedgerStore(platform.session());
    // The first record fills the queue; rejects are stored meanwhile.
    for number in 1..=700 {
        store.set_next_incoming(number + 1, Traffic::Application).unwrap();
        report(&mut store, number);
    }
    assert_eq!(store.0.flush().unwrap_err(), InboxError::Busy);
    let mut counted = Vec::new();
    while platform.commit() > 0 {
        let mut again = LedgerStore(platform.again().session());
        let (incoming, outgoing) = (again.next_incoming(), again.next_outgoing());
        assert_eq!(read(&mut again, 1, 999), reports(1..outgoing));
        counted.push((incoming, outgoing));
        // As soon as there is room, the next record is submitted.
        let _ = store.0.flush();
    }
    assert_eq!(counted, [(1, 1), (257, 257), (513, 513), (701, 701)]);
}

#[test]
fn a_reset_forgets_what_was_sent_and_commands_of_before_count_no_more() {
    let platform = StoreHarness::new();
    let mut store = LedgerStore(platform.session());
    store.set_next_incoming(9, Traffic::Application).unwrap();
    let origin = store.0.hold_for_command("memo".into());
    report(&mut store, 1);
    store.reset(UtcTimestamp::from_nanos(8)).unwrap();
    platform.commit();
    platform.ledger.record_seq_num(&origin);
    let platform = platform.restart();
    let mut store = LedgerStore(platform.session());
    assert_eq!((store.next_incoming(), store.next_outgoing(), store.created()), (1, 1, UtcTimestamp::from_nanos(8)));
    assert_eq!(read(&mut store, 1, 9), []);
    report(&mut store, 1);
    assert_eq!(read(&mut store, 1, 9), reports([1]));
}

#[test]
fn an_operators_numbers_are_the_next() {
    let platform = StoreHarness::new();
    let mut store = LedgerStore(platform.session());
    (1..=4).for_each(|number| report(&mut store, number));
    store.set_next_incoming(7, Traffic::Session).unwrap();
    store.set_next_outgoing(2).unwrap();
    platform.commit();
    let mut store = LedgerStore(platform.restart().session());
    assert_eq!((store.next_incoming(), store.next_outgoing()), (7, 2));
    assert_eq!(read(&mut store, 1, 9), []);
}

#[test]
fn a_client_that_was_never_here_has_missed_nothing() {
    let platform = StoreHarness::new();
    let store = platform.session();
    store.on_first_logon(40);
    assert_eq!((store.cursor(), store.confirmed_position()), (Some(Cursor::after(40)), (false, Some(40))));
    store.on_first_logon(50);
    store.advance(Cursor { sequence: 30, reported: 1 });
    assert_eq!(store.cursor(), Some(Cursor::after(40)), "a cursor never goes back");
    store.start_epoch(UtcTimestamp::from_nanos(9), 1, 1).unwrap();
    assert_eq!(store.confirmed_position(), (true, Some(40)));
}

#[test]
fn unconfirmed_reports_are_sent_again_after_every_sequence_reset() {
    let platform = StoreHarness::new();
    let store = platform.session();
    store.on_first_logon(40);
    assert!(!store.has_unconfirmed());
    store.advance(Cursor { sequence: 50, reported: 1 });
    assert!(store.has_unconfirmed());
    // The connection breaks, sequence numbers are reset, states are sent; and it breaks again before they are read.
    for beginning in 1..=3 {
        store.start_epoch(UtcTimestamp::from_nanos(beginning), 1, 1).unwrap();
        assert_eq!(store.confirmed_position(), (true, Some(40)));
        store.advance(Cursor::after(50 + beginning.unsigned_abs()));
        store.on_caught_up();
        assert_eq!((store.confirmed_position(), store.has_unconfirmed()), ((false, Some(40)), true));
    }
    store.confirm_read(53);
    assert_eq!((store.confirmed_position(), store.has_unconfirmed()), ((false, Some(53)), false));
    store.append(1, b"report").unwrap();
    store.flush().unwrap();
    platform.commit();
    assert_eq!(platform.restart().session().confirmed_position(), (false, Some(53)));
}

#[test]
fn every_way_to_begin_anew_is_one() {
    let platform = StoreHarness::new();
    let mut store = LedgerStore(platform.session());
    store.0.on_first_logon(40);
    // A Logon, a Logout, a disconnect, an operator and the schedule all reset the store; numbers set by an operator
    // start an epoch too.
    store.reset(UtcTimestamp::from_nanos(8)).unwrap();
    assert_eq!(store.0.confirmed_position(), (true, Some(40)));
    store.0.on_caught_up();
    store.set_next_outgoing(9).unwrap();
    assert_eq!(store.0.confirmed_position(), (true, Some(40)));
}

#[test]
fn numbers_end_before_their_place_in_the_book_does() {
    let platform = StoreHarness::new();
    let mut store = LedgerStore(platform.session());
    store.set_next_incoming(SEQ_NUM_MAX + 1, Traffic::Application).unwrap();
    store.set_next_outgoing(SEQ_NUM_MAX).unwrap();
    report(&mut store, SEQ_NUM_MAX);
    let used_up = StoreError("sequence numbers are exhausted: reset the session".to_owned());
    assert_eq!(store.append(SEQ_NUM_MAX + 1, Traffic::Application, b"report"), Err(used_up));
    store.0.flush().unwrap();
    platform.commit();
    let platform = platform.restart();
    let mut store = LedgerStore(platform.session());
    assert_eq!((store.next_incoming(), store.next_outgoing()), (SEQ_NUM_MAX + 1, SEQ_NUM_MAX + 1));
    assert_eq!(read(&mut store, SEQ_NUM_MAX, SEQ_NUM_MAX), reports([SEQ_NUM_MAX]));
}

/// Keeps the ids of the reports that it is handed, and whether each may be a duplicate.
#[derive(Default)]
struct ReportReader(Vec<String>);

impl Application for ReportReader {
    fn on_logon(&mut self, _: &FixMessage<'_>, _: LogonTicket) -> LogonDecision {
        LogonDecision::Accept
    }

    fn on_message(&mut self, message: &FixMessage<'_>, _: &mut dyn SessionSender) {
        let again = if message.flag(tag::POSS_DUP_FLAG) { " again" } else { "" };
        self.0.push(format!("{}{again}", message.text(tag::CL_ORD_ID).unwrap_or("?")));
    }
}

const ACCEPTOR: &str = "[SESSION]\nConnectionType=acceptor\nSocketAcceptPort=0\nBeginString=FIX.4.4\nSenderCompID=RIALTO\n\
    TargetCompID=DESK\nNonStopSession=Y\n";
const INITIATOR: &str = "[SESSION]\nConnectionType=initiator\nSocketConnectHost=localhost\nSocketConnectPort=1\nHeartBtInt=30\n\
    BeginString=FIX.4.4\nSenderCompID=DESK\nTargetCompID=RIALTO\nNonStopSession=Y\n";
const NOON: UtcTimestamp = UtcTimestamp::from_nanos(1_767_614_400_000_000_000);

fn engine<S: MessageStore>(settings: &str, store: S) -> SessionEngine<S, ReportReader> {
    let settings = FixSettings::parse(settings).unwrap().sessions.remove(0);
    SessionEngine::new(FixSession::new(Arc::new(settings), None, store), ReportReader::default())
}

/// A leader's end of a session, and its client.
struct ConnectedPair<'a> {
    platform: &'a StoreHarness,
    leader: SessionEngine<LedgerStore, ReportReader>,
    client: &'a mut SessionEngine<MemoryStore, ReportReader>,
}

impl<'a> ConnectedPair<'a> {
    fn log_on(platform: &'a StoreHarness, client: &'a mut SessionEngine<MemoryStore, ReportReader>) -> Self {
        let mut leader = engine(ACCEPTOR, LedgerStore(platform.session()));
        leader.connect(NOON);
        client.connect(NOON);
        let mut pair = Self { platform, leader, client };
        pair.exchange();
        pair
    }

    fn report(&mut self, id: &str) {
        let mut report = OutgoingMessage::new("8");
        report.field(tag::CL_ORD_ID, id);
        self.leader.send(NOON, &report).unwrap();
    }

    /// What is durable reaches the client; one that has hung up does not read it. Whether there was something.
    fn deliver(&mut self) -> bool {
        self.leader.session_mut().store_mut().0.flush().unwrap();
        self.platform.commit();
        let bytes = std::mem::take(self.leader.output());
        self.client.buffer().extend_from_slice(&bytes);
        self.client.process_input(NOON);
        !bytes.is_empty()
    }

    /// Bytes travel both ways until there are none.
    fn exchange(&mut self) {
        while self.deliver() | !self.client.output().is_empty() {
            let bytes = std::mem::take(self.client.output());
            self.leader.buffer().extend_from_slice(&bytes);
            self.leader.process_input(NOON);
        }
    }

    /// The connection has ended: the numbers of which nothing was sent behind them are kept.
    fn end(mut self) {
        self.leader.session_mut().store_mut().0.flush_all().unwrap();
        self.platform.commit();
    }

    /// Next numbers of what the leader sends: its own, and the client's.
    fn numbers(&self) -> (u64, u64) {
        (self.leader.session().store().next_outgoing(), self.client.session().store().next_incoming())
    }
}

/// A leader of a cluster stops in order, and the next one goes on with what the log has.
#[test]
fn a_report_behind_the_logout_of_a_stop_is_sent_again_by_the_next_leader() {
    let platform = StoreHarness::new();
    let mut client = engine(INITIATOR, MemoryStore::new(NOON));
    let mut old = ConnectedPair::log_on(&platform, &mut client);
    old.report("before");
    old.exchange();
    // The venue answers an order while the client is told to leave: the client hangs up at the Logout (3) and does not read on (4).
    old.leader.log_out(NOON, Some("the server stops"));
    old.report("behind");
    old.exchange();
    assert_eq!((old.numbers(), old.client.disconnect_reason().is_some()), ((5, 4), true));
    old.end();

    let next = platform.again();
    let mut new = ConnectedPair::log_on(&next, &mut client);
    new.report("after");
    new.exchange();
    assert_eq!(new.numbers(), (7, 7), "its Logon is 5, and nothing is missing");
    assert_eq!(new.client.application_mut().0, ["before", "behind again", "after"]);
}

#[test]
fn a_number_that_a_stop_did_not_make_durable_was_never_sent_and_is_given_again() {
    let platform = StoreHarness::new();
    let mut client = engine(INITIATOR, MemoryStore::new(NOON));
    let mut old = ConnectedPair::log_on(&platform, &mut client);
    old.leader.log_out(NOON, Some("the server stops"));
    old.deliver();
    // The engine has stopped meanwhile: this one has number 3, and nobody writes its record.
    old.report("unwritten");
    let next = platform.again();
    let mut new = ConnectedPair::log_on(&next, &mut client);
    new.report("after");
    new.exchange();
    // Logon (3), a request for the client's answer to the Logout (4), and the report.
    assert_eq!((new.numbers(), new.client.application_mut().0.clone()), ((6, 6), vec!["after".to_owned()]));
}
