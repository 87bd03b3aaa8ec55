//! The peer of transcripts and properties: sends bytes and time, and records what it receives.

#![allow(dead_code, reason = "transcripts and properties use different parts of it")]

use fix::{
    Dictionary, DisconnectReason, EchoApplication, FixDecoder, FixSession, FixSettings, MemoryStore, MessageStore,
    OutgoingMessage, SessionEngine, UtcTimestamp,
};
use std::sync::{Arc, OnceLock};

pub(crate) const EPOCH: &str = "20260105-12:00:00";

/// The session of the echo application, as far as a test does not change it.
const SETTINGS: &str = "
    [DEFAULT]
    ConnectionType=acceptor
    SocketAcceptPort=0
    SocketConnectHost=localhost
    SocketConnectPort=1
    HeartBtInt=30
    BeginString=FIX.4.4
    SenderCompID=ISLD
    TargetCompID=TW44
    NonStopSession=Y
    StartTime=00:00:00
    EndTime=00:00:00
    [SESSION]
";

pub(crate) struct TestPeer {
    now: UtcTimestamp,
    engine: SessionEngine<MemoryStore, EchoApplication>,
    connected: bool,
    received: String,
}

impl TestPeer {
    pub(crate) fn new(settings: &str) -> Self {
        static DICTIONARY: OnceLock<Arc<Dictionary>> = OnceLock::new();
        let text = SETTINGS.to_owned() + &settings.replace(' ', "\n");
        let settings = FixSettings::parse(&text).unwrap().sessions.remove(0);
        let dictionary = DICTIONARY.get_or_init(|| Arc::new(Dictionary::fix44())).clone();
        let now = UtcTimestamp::parse(EPOCH.as_bytes()).unwrap();
        let echo = EchoApplication::for_settings(&settings);
        let session = FixSession::new(Arc::new(settings), Some(dictionary), MemoryStore::new(now));
        Self { now, engine: SessionEngine::new(session, echo), connected: false, received: String::new() }
    }

    pub(crate) fn now(&self) -> UtcTimestamp {
        self.now
    }

    pub(crate) fn next_incoming(&self) -> u64 {
        self.engine.session().store().next_incoming()
    }

    pub(crate) fn is_logged_on(&self) -> bool {
        self.engine.session().phase() == fix::LogonPhase::LoggedOn
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.connected
    }

    pub(crate) fn connect(&mut self) {
        if self.connected {
            self.hang_up();
        }
        self.connected = true;
        self.engine.connect(self.now);
        self.collect_output();
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.engine.buffer().extend_from_slice(bytes);
        self.engine.process_input(self.now);
        self.collect_output();
    }

    pub(crate) fn hang_up(&mut self) {
        self.connected = false;
        self.engine.disconnect(self.now, DisconnectReason::PeerClosed);
    }

    /// Time passes, from one deadline to the next.
    pub(crate) fn wait(&mut self, seconds: i64) {
        let start = self.now;
        let end = start.plus_seconds(seconds);
        while self.engine.session().deadline() <= end {
            self.now = self.engine.session().deadline().max(self.now);
            self.engine.tick(self.now);
            let before = self.received.len();
            self.collect_output();
            if self.received.len() > before {
                let elapsed = (self.now.nanos() - start.nanos()) / 100_000_000;
                self.received.insert_str(before, &format!("@ {}.{}\n", elapsed / 10, elapsed % 10));
            }
        }
        self.now = end;
    }

    pub(crate) fn application_sends(&mut self, fields: &str) {
        let mut message = OutgoingMessage::default();
        for (tag, value) in fields.split('|').map(|field| field.split_once('=').unwrap()) {
            match tag {
                "35" => message.begin(value),
                _ => message.field(tag.parse().unwrap(), value),
            };
        }
        if let Err(error) = self.engine.send(self.now, &message) {
            self.received += &format!("= {error}\n");
        }
        self.collect_output();
    }

    pub(crate) fn operator_logs_out(&mut self, text: &str) {
        self.engine.log_out(self.now, Some(text).filter(|text| !text.is_empty()));
        self.collect_output();
    }

    pub(crate) fn operator_resets(&mut self) {
        self.engine.reset(self.now).unwrap();
        self.collect_output();
    }

    pub(crate) fn ask_numbers(&mut self) {
        let store = self.engine.session().store();
        self.received += &format!("= next in {}, next out {}\n", store.next_incoming(), store.next_outgoing());
    }

    /// What was received since the last call.
    pub(crate) fn take_received(&mut self) -> String {
        std::mem::take(&mut self.received)
    }

    fn collect_output(&mut self) {
        while self.engine.session().is_resending() {
            self.engine.continue_resend(self.now);
        }
        let bytes = std::mem::take(self.engine.output());
        self.received += &shown(&bytes, self.now);
        if let Some(reason) = self.engine.disconnect_reason().filter(|_| self.connected) {
            self.received += &format!("X {reason}\n");
            self.connected = false;
        }
    }
}

/// A stream of our messages, a line each; length and checksum must be right and are left out.
fn shown(bytes: &[u8], now: UtcTimestamp) -> String {
    let mut framer = fix::Framer::new();
    framer.buffer().extend_from_slice(bytes);
    let mut decoder = FixDecoder::new();
    let mut lines = String::new();
    while let Some(frame) = framer.next_frame().unwrap() {
        let message = decoder.decode(frame).expect("our own messages are sound");
        let fields = message.fields().filter(|field| ![8, 9, 10].contains(&field.tag));
        let fields: Vec<_> = fields.map(|field| shown_field(field.tag, field.value, now)).collect();
        lines += &format!("E {}\n", fields.join("|"));
    }
    assert_eq!(framer.buffer().len(), 0, "we send whole messages only");
    lines
}

fn shown_field(tag: i32, value: &[u8], now: UtcTimestamp) -> String {
    match UtcTimestamp::parse(value).filter(|_| matches!(tag, 52 | 122)) {
        Some(time) if time == now => format!("{tag}=<now>"),
        Some(time) => format!("{tag}=<now{:+}>", (time.nanos() - now.nanos()) / 1_000_000_000),
        None => format!("{tag}={}", String::from_utf8_lossy(value)),
    }
}

/// The bytes of an `I` line.
pub(crate) fn wire_of(line: &str, now: UtcTimestamp) -> Vec<u8> {
    let whole = line.starts_with("8=") || line.starts_with("9=");
    let text = if whole { line.to_owned() } else { completed(line) };
    sealed(&with_times(&text, now))
}

/// A message of which only 35, 34 and what matters is given.
fn completed(line: &str) -> String {
    let mut fields: Vec<&str> = line.split('|').collect();
    let given = |tag: &str| line.split('|').any(|field| field.starts_with(tag));
    let header = ["49=TW44", "52=<now>", "56=ISLD"].into_iter().filter(|field| !given(&field[..3]));
    fields.splice(2..2, header);
    let body: String = fields.iter().filter(|field| !field.ends_with("=<none>")).map(|f| format!("{f}|")).collect();
    format!("8=FIX.4.4|9=<ok>|{body}10=<ok>")
}

/// `<now>` and `<now-30>` become times.
fn with_times(text: &str, now: UtcTimestamp) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<now") {
        let (shift, later) = after.split_once('>').expect("<now is closed by >");
        let seconds: i64 = if shift.is_empty() { 0 } else { shift.parse().expect("seconds after <now") };
        let mut time = Vec::new();
        now.plus_seconds(seconds).write(3, &mut time);
        out += &format!("{before}{}", String::from_utf8(time).unwrap());
        rest = later;
    }
    out + rest
}

/// `9=<ok>` and `10=<ok>` are computed; other values stay as wrong as the test wants them.
fn sealed(text: &str) -> Vec<u8> {
    let mut text = text.replace('|', "\x01");
    if !text.ends_with('\x01') {
        text.push('\x01');
    }
    if let Some(at) = text.find("9=<ok>\x01") {
        let body = at + "9=<ok>\x01".len()..text.rfind("10=").unwrap();
        text.replace_range(at..body.start, &format!("9={}\x01", body.len()));
    }
    if let Some(at) = text.rfind("10=<ok>") {
        let sum = text.as_bytes()[..at].iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
        text.replace_range(at.., &format!("10={sum:03}\x01"));
    }
    text.into_bytes()
}
