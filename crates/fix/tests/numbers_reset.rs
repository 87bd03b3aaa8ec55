//! A peer that begins its sequence numbers anew without our asking: an initiator that follows it goes on with the peer's number, and its
//! application is told, at this Logon or at the next one.

#![allow(clippy::unwrap_used, reason = "a test that can't go on may say so")]

use fix::{
    Application, DisconnectReason, FixMessage, FixSession, FixSettings, LogonDecision, LogonPhase, LogonTicket,
    MemoryStore, MessageStore, SeqNum, SessionEngine, SessionSender, SessionSettings, Traffic, UtcTimestamp,
};
use std::sync::Arc;

const SETTINGS: &str = "
    [SESSION]
    ConnectionType=initiator
    SocketConnectHost=localhost
    SocketConnectPort=1
    HeartBtInt=30
    BeginString=FIX.4.4
    SenderCompID=DESK
    TargetCompID=VENUE
    NonStopSession=Y
    UseDataDictionary=N
";

/// Expected and received numbers of the resets that it was told of, and the ExecIDs (17) of the reports.
#[derive(Default)]
struct ResetLog(Vec<(SeqNum, SeqNum)>, Vec<String>);

impl Application for ResetLog {
    fn on_logon(&mut self, _: &FixMessage<'_>, _: LogonTicket) -> LogonDecision {
        LogonDecision::Accept
    }

    fn on_message(&mut self, report: &FixMessage<'_>, _: &mut dyn SessionSender) {
        self.1.extend(report.text(17).map(str::to_owned));
    }

    fn on_numbers_reset(&mut self, expected: SeqNum, received: SeqNum) {
        self.0.push((expected, received));
    }
}

type Initiator = SessionEngine<MemoryStore, ResetLog>;

fn noon() -> UtcTimestamp {
    UtcTimestamp::parse(b"20260105-12:00:00").unwrap()
}

/// It expects 40 and sends 50 next.
fn initiator(follows_reset: bool) -> Initiator {
    let mut settings = FixSettings::parse(SETTINGS).unwrap().sessions.remove(0);
    settings.follows_reset = follows_reset;
    started(settings)
}

/// The same one; what the venue sent before the Logon of a reset is requested.
fn initiator_that_requests() -> Initiator {
    let mut settings = FixSettings::parse(SETTINGS).unwrap().sessions.remove(0);
    (settings.follows_reset, settings.requests_after_reset) = (true, true);
    started(settings)
}

fn started(settings: SessionSettings) -> Initiator {
    let mut store = MemoryStore::new(noon());
    store.set_next_incoming(40, Traffic::Session).unwrap();
    store.set_next_outgoing(50).unwrap();
    SessionEngine::new(FixSession::new(Arc::new(settings), None, store), ResetLog::default())
}

/// The venue's answer to our Logon; what we sent from that on.
fn log_on(initiator: &mut Initiator, logon: &str) -> String {
    initiator.connect(noon());
    receive(initiator, &format!("35=A|{logon}"), "98=0|108=30")
}

/// What we sent since the last message.
fn receive(initiator: &mut Initiator, header: &str, fields: &str) -> String {
    let body = format!("{header}|49=VENUE|52=20260105-12:00:00|56=DESK|{fields}|").replace('|', "\x01");
    let mut frame = format!("8=FIX.4.4\x019={}\x01{body}", body.len()).into_bytes();
    let sum = frame.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
    frame.extend(format!("10={sum:03}\x01").bytes());
    initiator.buffer().extend(frame);
    initiator.process_input(noon());
    String::from_utf8_lossy(&std::mem::take(initiator.output())).replace('\x01', "|")
}

fn numbers(initiator: &Initiator) -> (SeqNum, SeqNum) {
    let store = initiator.session().store();
    (store.next_incoming(), store.next_outgoing())
}

fn resets(initiator: &mut Initiator) -> Vec<(SeqNum, SeqNum)> {
    std::mem::take(&mut initiator.application_mut().0)
}

#[test]
fn a_peer_with_a_number_that_is_too_low_is_followed_where_the_settings_say_so() {
    let mut follower = initiator(true);
    log_on(&mut follower, "34=1");
    assert_eq!(follower.session().phase(), LogonPhase::LoggedOn);
    assert_eq!((resets(&mut follower), numbers(&follower)), (vec![(40, 1)], (2, 51)));

    let mut other = initiator(false);
    log_on(&mut other, "34=1");
    let reason = DisconnectReason::MsgSeqNumTooLow { expected: 40, received: 1 };
    assert_eq!(other.disconnect_reason(), Some(&reason));
    assert_eq!((resets(&mut other), numbers(&other).0), (vec![], 40));
}

#[test]
fn a_peer_that_asks_for_numbers_from_1_is_answered_and_its_reset_is_told() {
    let mut follower = initiator(true);
    let sent = log_on(&mut follower, "34=1|141=Y");
    assert!(sent.contains("|35=A|34=1|") && sent.contains("|141=Y|"), "{sent}");
    assert_eq!((resets(&mut follower), numbers(&follower)), (vec![(40, 1)], (2, 2)));
}

/// The number is stored after all checks: at the next Logon it would be the one that is expected.
#[test]
fn a_reset_in_a_logon_that_is_refused_is_told_at_the_next_one() {
    let too_high = |expected| DisconnectReason::NextExpectedTooHigh { expected, received: 60 };
    for (logon, expected) in [("34=1|789=60", 51), ("34=1|141=Y|789=60", 1)] {
        let mut follower = initiator(true);
        log_on(&mut follower, logon);
        assert_eq!(follower.disconnect_reason(), Some(&too_high(expected)), "{logon}");
        assert_eq!((resets(&mut follower), numbers(&follower)), (vec![], (40, 52)), "{logon}");
        log_on(&mut follower, "34=2");
        assert_eq!((resets(&mut follower), numbers(&follower)), (vec![(40, 2)], (3, 53)), "{logon}");
    }
}

#[test]
fn what_a_peer_sent_before_the_logon_of_its_reset_is_requested_where_the_settings_say_so() {
    let mut other = initiator(true);
    assert!(!log_on(&mut other, "34=3").contains("|35=2|"));
    assert_eq!(numbers(&other), (4, 51));

    let mut follower = initiator_that_requests();
    let sent = log_on(&mut follower, "34=3");
    assert!(sent.contains("|35=2|34=51|") && sent.contains("|7=1|16=0|"), "{sent}");
    assert_eq!((resets(&mut follower), numbers(&follower)), (vec![(40, 3)], (1, 52)));
    receive(&mut follower, "35=8|34=4", "17=E4");
    assert_eq!(follower.application_mut().1, Vec::<String>::new(), "it waits for those before it");
    receive(&mut follower, "35=8|34=1|43=Y|122=20260105-11:00:00", "17=E1");
    receive(&mut follower, "35=8|34=2|43=Y|122=20260105-11:00:01", "17=E2");
    assert_eq!((follower.application_mut().1.join(" ").as_str(), numbers(&follower)), ("E1 E2 E4", (5, 52)));

    let mut first = initiator_that_requests();
    assert!(!log_on(&mut first, "34=1").contains("|35=2|"), "there is nothing before it");
    assert_eq!((resets(&mut first), numbers(&first)), (vec![(40, 1)], (2, 51)));
}

#[test]
fn a_peer_with_the_expected_number_or_a_higher_one_has_not_begun_anew() {
    for number in [40, 45] {
        let mut follower = initiator(true);
        log_on(&mut follower, &format!("34={number}"));
        assert_eq!(follower.session().phase(), LogonPhase::LoggedOn);
        assert_eq!(resets(&mut follower), []);
    }
}
