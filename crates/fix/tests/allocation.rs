//! In steady state a message costs no memory of its own: buffers are kept and filled again.

#![allow(clippy::unwrap_used, reason = "a test that can't go on may say so")]

use fix::{
    Application, Dictionary, FixMessage, FixSession, FixSettings, LogonDecision, LogonTicket, MemoryStore,
    OutgoingMessage, SessionEngine, SessionSender, UtcTimestamp, tag,
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
";

const ORDERS: u64 = 10_000;

/// Answers each order with a report.
#[derive(Default)]
struct CountingApplication {
    report: OutgoingMessage,
}

impl Application for CountingApplication {
    fn on_logon(&mut self, _logon: &FixMessage<'_>, _ticket: LogonTicket) -> LogonDecision {
        LogonDecision::Accept
    }

    fn on_message(&mut self, order: &FixMessage<'_>, line: &mut dyn SessionSender) {
        let id = order.get(tag::CL_ORD_ID).unwrap_or_default();
        self.report.begin("8").field(tag::CL_ORD_ID, id).field(39, b"A").field(150, b"A").field(151, b"100");
        line.send(&self.report).expect("the session is logged on");
    }
}

fn frame(kind: &str, number: u64, body: &str) -> Vec<u8> {
    let body = format!("35={kind}|34={number}|49=DESK|52=20260105-12:00:00|56=RIALTO|{body}").replace('|', "\x01");
    let mut frame = format!("8=FIX.4.4\x019={}\x01{body}", body.len()).into_bytes();
    let sum = frame.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
    frame.extend(format!("10={sum:03}\x01").bytes());
    frame
}

#[test]
fn an_order_and_its_report_allocate_nothing() {
    let now = UtcTimestamp::parse(b"20260105-12:00:00").unwrap();
    let settings = Arc::new(FixSettings::parse(SETTINGS).unwrap().sessions.remove(0));
    let session = FixSession::new(settings, Some(Arc::new(Dictionary::fix44())), MemoryStore::new(now));
    let mut conversation = SessionEngine::new(session, CountingApplication::default());
    let order = "11=order-1|38=100|40=2|44=10.5|54=1|55=AAPL|60=20260105-12:00:00|";
    let frames: Vec<_> = (2..2 + ORDERS).map(|number| frame("D", number, order)).collect();
    let logon = frame("A", 1, "98=0|108=30|");
    let mut play_a_day = || {
        conversation.connect(now);
        for bytes in std::iter::once(&logon).chain(&frames) {
            conversation.buffer().extend_from_slice(bytes);
            conversation.process_input(now);
            assert!(!conversation.output().is_empty());
            conversation.output().clear();
        }
        conversation.reset(now).unwrap();
        conversation.output().clear();
    };
    // The first day finds out how large the buffers and the store must be.
    play_a_day();
    let counted = allocation_counter::measure(play_a_day);
    assert_eq!(counted.count_total, 0, "{counted:?}");
}
