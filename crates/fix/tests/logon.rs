//! Logon: the application decides before anything changes, and may decide later.

#![allow(clippy::unwrap_used, reason = "a test that can't go on may say so")]

use fix::{
    Application, DisconnectReason, FixMessage, FixSession, FixSettings, LogonDecision, LogonTicket, MemoryStore,
    MessageStore, MessageVisitor, OutgoingMessage, SEQ_NUM_MAX, SendError, SeqNum, SessionEngine, SessionSender,
    StoreError, Traffic, UtcTimestamp, tag,
};
use std::sync::Arc;

const SETTINGS: &str = "
    [SESSION]
    ConnectionType=acceptor
    SocketAcceptPort=0
    BeginString=FIX.4.4
    SenderCompID=RIALTO
    TargetCompID=DESK
    NonStopSession=Y
    UseDataDictionary=N
";

/// Knows one password, and decides at once or later.
struct LogonPolicy {
    later: bool,
    tickets: Vec<LogonTicket>,
    orders: Vec<String>,
}

impl Application for LogonPolicy {
    fn on_logon(&mut self, logon: &FixMessage<'_>, ticket: LogonTicket) -> LogonDecision {
        self.tickets.push(ticket);
        match logon.text(tag::PASSWORD) {
            _ if self.later => LogonDecision::Pending,
            Some("open sesame") => LogonDecision::Accept,
            _ => LogonDecision::Reject("wrong password".to_owned()),
        }
    }

    fn on_message(&mut self, message: &FixMessage<'_>, _line: &mut dyn SessionSender) {
        self.orders.extend(message.text(tag::CL_ORD_ID).map(str::to_owned));
    }
}

fn noon() -> UtcTimestamp {
    UtcTimestamp::parse(b"20260105-12:00:00").unwrap()
}

fn conversation<S: MessageStore>(later: bool, store: S) -> SessionEngine<S, LogonPolicy> {
    let settings = FixSettings::parse(SETTINGS).unwrap().sessions.remove(0);
    let session = FixSession::new(Arc::new(settings), None, store);
    let mut conversation = SessionEngine::new(session, LogonPolicy { later, tickets: Vec::new(), orders: Vec::new() });
    conversation.connect(noon());
    conversation
}

fn say<S: MessageStore>(conversation: &mut SessionEngine<S, LogonPolicy>, body: &str) -> String {
    say_at(conversation, noon(), body)
}

/// At noon by the peer's clock.
fn say_at<S: MessageStore>(conversation: &mut SessionEngine<S, LogonPolicy>, now: UtcTimestamp, body: &str) -> String {
    let body = format!("{body}|49=DESK|52=20260105-12:00:00|56=RIALTO|").replace('|', "\x01");
    let mut frame = format!("8=FIX.4.4\x019={}\x01{body}", body.len()).into_bytes();
    let sum = frame.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
    frame.extend(format!("10={sum:03}\x01").bytes());
    conversation.buffer().extend(frame);
    conversation.process_input(now);
    heard(conversation)
}

fn heard<S: MessageStore>(conversation: &mut SessionEngine<S, LogonPolicy>) -> String {
    String::from_utf8_lossy(&std::mem::take(conversation.output())).replace('\x01', "|")
}

fn numbers<S: MessageStore>(conversation: &SessionEngine<S, LogonPolicy>) -> (SeqNum, SeqNum) {
    let store = conversation.session().store();
    (store.next_incoming(), store.next_outgoing())
}

#[test]
fn an_unauthenticated_peer_resets_nothing() {
    let mut store = MemoryStore::new(noon());
    store.set_next_incoming(40, Traffic::Session).unwrap();
    store.set_next_outgoing(50).unwrap();
    let mut conversation = conversation(false, store);
    let answer = say(&mut conversation, "35=A|34=1|98=0|108=30|141=Y|554=guess");
    assert!(
        answer.contains("|35=5|34=1|") && answer.contains("|58=the Logon was refused: wrong password|"),
        "{answer}"
    );
    assert_eq!(conversation.disconnect_reason(), Some(&DisconnectReason::LogonRefused("wrong password".to_owned())));
    assert_eq!(numbers(&conversation), (40, 50));
}

#[test]
fn an_unauthenticated_peer_uses_up_no_sequence_number() {
    let mut store = MemoryStore::new(noon());
    store.set_next_incoming(40, Traffic::Session).unwrap();
    store.set_next_outgoing(50).unwrap();
    let mut conversation = conversation(false, store);
    assert_eq!(say(&mut conversation, "35=A|34=40|98=0|108=30|554=guess"), "");
    assert_eq!(conversation.disconnect_reason(), Some(&DisconnectReason::LogonRefused("wrong password".to_owned())));
    assert_eq!(numbers(&conversation), (40, 50));
    conversation.connect(noon());
    let answer = say(&mut conversation, "35=A|34=40|98=0|108=30|554=open sesame");
    assert!(answer.contains("|35=A|34=50|") && !answer.contains("|35=2|"), "{answer}");
    assert_eq!(numbers(&conversation), (41, 51));
}

#[test]
fn a_peer_with_the_password_is_accepted() {
    let mut conversation = conversation(false, MemoryStore::new(noon()));
    let answer = say(&mut conversation, "35=A|34=1|98=0|108=30|554=open sesame");
    assert!(answer.contains("|35=A|34=1|"), "{answer}");
    assert_eq!(numbers(&conversation), (2, 2));
}

#[test]
fn what_follows_a_logon_waits_until_the_application_has_decided() {
    let mut conversation = conversation(true, MemoryStore::new(noon()));
    assert_eq!(say(&mut conversation, "35=A|34=1|98=0|108=30"), "");
    assert_eq!(say(&mut conversation, "35=D|34=2|11=early"), "");
    assert!(conversation.is_logon_pending());
    assert_eq!(numbers(&conversation), (1, 1));
    let ticket = conversation.application_mut().tickets[0];
    conversation.decide_logon(noon(), ticket, &LogonDecision::Accept);
    assert!(heard(&mut conversation).contains("|35=A|34=1|"));
    assert_eq!(conversation.application_mut().orders, ["early"]);
    assert_eq!(numbers(&conversation), (3, 2));
}

#[test]
fn an_authenticated_connection_does_not_wait_for_the_application() {
    let mut conversation = conversation(true, MemoryStore::new(noon()));
    conversation.set_logon_decision(Box::new(|| LogonDecision::Accept));
    assert!(say(&mut conversation, "35=A|34=1|98=0|108=30").contains("|35=A|34=1|"));
    assert!(conversation.application_mut().tickets.is_empty());
    // A later Logon is decided by the application, and so is the next connection.
    assert_eq!(say(&mut conversation, "35=A|34=1|98=0|108=30|141=Y"), "");
    assert!(conversation.is_logon_pending());
    conversation.set_logon_decision(Box::new(|| LogonDecision::Accept));
    conversation.disconnect(noon(), DisconnectReason::PeerClosed);
    conversation.connect(noon());
    assert_eq!(say(&mut conversation, "35=A|34=2|98=0|108=30"), "");
    assert_eq!(conversation.application_mut().tickets.len(), 2);
}

#[test]
fn an_application_that_never_decides_costs_the_connection() {
    let mut conversation = conversation(true, MemoryStore::new(noon()));
    say(&mut conversation, "35=A|34=1|98=0|108=30");
    conversation.tick(noon().plus_seconds(10));
    assert_eq!(conversation.disconnect_reason(), Some(&DisconnectReason::LogonTimeout));
}

#[test]
fn a_verdict_that_comes_too_late_does_not_let_in_the_next_caller() {
    let mut conversation = conversation(true, MemoryStore::new(noon()));
    say(&mut conversation, "35=A|34=1|98=0|108=30|554=open sesame");
    conversation.disconnect(noon(), DisconnectReason::PeerClosed);
    conversation.connect(noon());
    say(&mut conversation, "35=A|34=1|98=0|108=30|554=guess");
    let [late, due] = conversation.application_mut().tickets[..] else { panic!("two callers") };
    conversation.decide_logon(noon(), late, &LogonDecision::Accept);
    assert!(conversation.is_logon_pending());
    conversation.decide_logon(noon(), due, &LogonDecision::Reject("wrong password".to_owned()));
    assert_eq!(conversation.disconnect_reason(), Some(&DisconnectReason::LogonRefused("wrong password".to_owned())));
}

/// A store whose disk is full.
struct FullDisk(MemoryStore);

impl MessageStore for FullDisk {
    fn created(&self) -> UtcTimestamp {
        self.0.created()
    }
    fn next_outgoing(&self) -> SeqNum {
        self.0.next_outgoing()
    }
    fn next_incoming(&self) -> SeqNum {
        self.0.next_incoming()
    }
    fn append(&mut self, _: SeqNum, _: Traffic, _: &[u8]) -> Result<(), StoreError> {
        Err(StoreError("no space left".to_owned()))
    }
    fn set_next_incoming(&mut self, next: SeqNum, traffic: Traffic) -> Result<(), StoreError> {
        self.0.set_next_incoming(next, traffic)
    }
    fn set_next_outgoing(&mut self, next: SeqNum) -> Result<(), StoreError> {
        self.0.set_next_outgoing(next)
    }
    fn read(&mut self, from: SeqNum, to: SeqNum, visit: &mut MessageVisitor<'_>) -> Result<(), StoreError> {
        self.0.read(from, to, visit)
    }
    fn reset(&mut self, now: UtcTimestamp) -> Result<(), StoreError> {
        self.0.reset(now)
    }
    fn refresh(&mut self) -> Result<(), StoreError> {
        self.0.refresh()
    }
}

#[test]
fn what_can_not_be_remembered_is_not_said() {
    let mut conversation = conversation(false, FullDisk(MemoryStore::new(noon())));
    assert_eq!(say(&mut conversation, "35=A|34=1|98=0|108=30|554=open sesame"), "");
    assert_eq!(conversation.disconnect_reason(), Some(&DisconnectReason::StoreFailed("no space left".to_owned())));
}

/// The Logout after the last sequence number: its Text has the reason, and its number is after the highest and never
/// stored.
fn is_the_last_word(message: &str) -> bool {
    message.contains(&format!("|35=5|34={}|", SEQ_NUM_MAX + 1))
        && message.contains("|58=sequence numbers are exhausted: reset the session|")
}

#[test]
fn a_session_ends_with_our_highest_number_and_says_so() {
    for (left, messages) in [(1, &[][..]), (2, &["35=1|34=2|112=a"][..]), (3, &["35=1|34=2|112=a", "35=1|34=3|112=b"])]
    {
        let mut store = MemoryStore::new(noon());
        store.set_next_outgoing(SEQ_NUM_MAX + 1 - left).unwrap();
        let mut conversation = conversation(false, store);
        let mut answer = say(&mut conversation, "35=A|34=1|98=0|108=30|554=open sesame");
        for message in messages {
            assert!(!answer.contains("|35=5|"), "{answer}");
            answer = say(&mut conversation, message);
        }
        assert!(is_the_last_word(&answer), "{answer}");
        assert_eq!(conversation.disconnect_reason(), Some(&DisconnectReason::SequenceExhausted));
        assert_eq!(numbers(&conversation).1, SEQ_NUM_MAX + 1);
        // A new connection receives the same, until the session is reset.
        conversation.connect(noon());
        assert!(is_the_last_word(&say(&mut conversation, "35=A|34=9|98=0|108=30|554=open sesame")));
        conversation.connect(noon());
        let answer = say(&mut conversation, "35=A|34=1|98=0|108=30|141=Y|554=open sesame");
        assert!(answer.contains("|35=A|34=1|"), "{answer}");
    }
}

#[test]
fn an_application_that_sends_with_our_highest_number_has_sent_its_last_message() {
    let mut store = MemoryStore::new(noon());
    store.set_next_outgoing(SEQ_NUM_MAX - 1).unwrap();
    let mut conversation = conversation(false, store);
    say(&mut conversation, "35=A|34=1|98=0|108=30|554=open sesame");
    assert_eq!(conversation.send(noon(), &OutgoingMessage::new("8")), Ok(SEQ_NUM_MAX));
    let sent = heard(&mut conversation);
    assert!(sent.contains(&format!("|35=8|34={SEQ_NUM_MAX}|")) && is_the_last_word(&sent), "{sent}");
    assert_eq!(conversation.send(noon(), &OutgoingMessage::new("8")), Err(SendError::NotLoggedOn));
}

/// The peer was told by 789 what is missing; then it is not read for a while, because there is no room for more.
#[test]
fn what_was_promised_is_not_asked_for_while_the_peer_is_not_read() {
    let mut conversation = conversation(false, MemoryStore::new(noon()));
    let answer = say(&mut conversation, "35=A|34=5|98=0|108=30|789=1|554=open sesame");
    assert!(answer.contains("|789=1|") && !answer.contains("|35=2|"), "{answer}");
    conversation.tick(noon().plus_seconds(9));
    conversation.is_heard(noon().plus_seconds(9));
    conversation.tick(noon().plus_seconds(18));
    assert_eq!(heard(&mut conversation), "");
    conversation.tick(noon().plus_seconds(19));
    let asked = heard(&mut conversation);
    assert!(asked.contains("|35=2|") && asked.contains("|7=1|16=0|"), "a peer that is silent is asked: {asked}");
}

/// The driver's clock is held an hour ahead of the wall, after a start with a clock that was wrong.
#[test]
fn sending_time_is_the_wall_s_and_heart_beats_are_the_driver_s() {
    let mut conversation = conversation(false, MemoryStore::new(noon()));
    let logged_on = noon().plus_seconds(3_600);
    conversation.set_wall(logged_on, noon());
    conversation.connect(logged_on);
    let answer = say_at(&mut conversation, logged_on, "35=A|34=1|98=0|108=30|554=open sesame");
    assert!(answer.contains("|35=A|34=1|") && answer.contains("|52=20260105-12:00:00.000|"), "{answer}");
    conversation.tick(logged_on.plus_seconds(29));
    assert_eq!(heard(&mut conversation), "");
    conversation.tick(logged_on.plus_seconds(30));
    let beat = heard(&mut conversation);
    assert!(beat.contains("|35=0|34=2|") && beat.contains("|52=20260105-12:00:30.000|"), "{beat}");
}

/// What was sent under a clock that was ahead is sent again under the right one.
#[test]
fn nothing_is_sent_again_with_a_time_before_it_was_first_sent() {
    let mut conversation = conversation(false, MemoryStore::new(noon()));
    say(&mut conversation, "35=A|34=1|98=0|108=30|554=open sesame");
    conversation.set_wall(noon(), noon().plus_seconds(3_600));
    conversation.send(noon(), &OutgoingMessage::new("8")).unwrap();
    assert!(heard(&mut conversation).contains("|52=20260105-13:00:00.000|"));
    conversation.set_wall(noon(), noon());
    let again = say(&mut conversation, "35=2|34=2|7=2|16=2");
    assert!(
        again.contains("|35=8|34=2|43=Y|")
            && again.contains("|52=20260105-12:00:00.000|")
            && again.contains("|122=20260105-12:00:00.000|"),
        "{again}"
    );
}
