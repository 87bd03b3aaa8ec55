//! Minimal FIX client: it counts, fills gaps, answers resend requests, and records what it sent and received. Tests
//! assert what this client saw on the wire.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use scenarios::wait::DEADLINE;

use crate::test_platform::seconds_to_noon;

const SOH: char = '\u{1}';

pub(crate) struct FixClient {
    comp_id: String,
    target_comp_id: String,
    connection: Option<ClientConnection>,
    /// Of the next message in each direction; they outlive a connection.
    pub(crate) next_out: u64,
    pub(crate) next_in: u64,
    /// Every application message that was sent, to be sent again where it is asked for.
    sent: BTreeMap<u64, String>,
    /// Every application message that was heard, in order, each once.
    pub(crate) received: Vec<Message>,
    /// The last message that it wrote, as it went over the wire.
    pub(crate) written: String,
    /// How far its clock is ahead of the wall's: as far as that of a desk.
    pub(crate) seconds_ahead: i64,
}

struct ClientConnection {
    stream: TcpStream,
    buffer: Vec<u8>,
    asked_for: Option<u64>,
}

/// A message with its fields in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message(pub(crate) Vec<(u32, String)>);

impl Message {
    pub(crate) fn get(&self, tag: u32) -> Option<&str> {
        self.0.iter().find(|(known, _)| *known == tag).map(|(_, value)| value.as_str())
    }

    pub(crate) fn kind(&self) -> &str {
        self.get(35).unwrap_or_default()
    }

    fn number(&self, tag: u32) -> u64 {
        self.get(tag).and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    /// `8 X I/4`, and for other messages their type and text.
    pub(crate) fn summary(&self) -> String {
        let get = |tag| self.get(tag).unwrap_or("-");
        match self.kind() {
            "8" => format!("8 {} {}/{} {}/{}", get(11), get(150), get(39), get(14), get(38)),
            "9" => format!("9 {} of {} 39={} 102={}", get(11), get(41), get(39), get(102)),
            kind => format!("{kind} {}", get(58)),
        }
    }
}

impl FixClient {
    pub(crate) fn new(comp_id: &str) -> Self {
        Self {
            comp_id: comp_id.into(),
            target_comp_id: "RIALTO".into(),
            connection: None,
            next_out: 1,
            next_in: 1,
            sent: BTreeMap::new(),
            received: vec![],
            written: String::new(),
            seconds_ahead: seconds_to_noon(),
        }
    }

    /// A client of the venue lab, whose clock is the wall's.
    pub(crate) fn of_lab(account: &str) -> Self {
        Self { target_comp_id: "LAB".into(), seconds_ahead: 0, ..Self::new(account) }
    }

    pub(crate) fn connect(&mut self, address: SocketAddr) {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream.set_nodelay(true).unwrap();
        self.connection = Some(ClientConnection { stream, buffer: vec![], asked_for: None });
    }

    /// Connects and logs on with the numbers it has; hears the server's Logon.
    pub(crate) fn log_on(&mut self, address: SocketAddr) -> Message {
        self.log_on_with(address, "98=0|108=30")
    }

    pub(crate) fn log_on_with(&mut self, address: SocketAddr, logon: &str) -> Message {
        self.connect(address);
        self.send_admin("A", logon);
        self.expect("A")
    }

    /// As [`Self::log_on`] where both sides count from 1 at every Logon.
    pub(crate) fn log_on_anew(&mut self, address: SocketAddr) -> Message {
        (self.next_in, self.next_out) = (1, 1);
        self.sent.clear();
        self.log_on(address)
    }

    pub(crate) fn log_out(&mut self) {
        self.send_admin("5", "");
        self.expect("5");
        self.disconnect();
    }

    /// Connects and logs on anew, and hangs up before it has read anything.
    pub(crate) fn connect_and_drop(&mut self, address: SocketAddr) {
        (self.next_in, self.next_out) = (1, 1);
        self.sent.clear();
        self.connect(address);
        self.send_admin("A", "98=0|108=30");
    }

    /// Closes the socket without a Logout.
    pub(crate) fn disconnect(&mut self) {
        self.connection = None;
    }

    pub(crate) fn send_admin(&mut self, kind: &str, body: &str) {
        let number = self.next_out;
        self.next_out += 1;
        self.write(number, kind, body, "");
    }

    /// `35=D|11=X|…`, without header; the time is added.
    pub(crate) fn send(&mut self, message: &str) {
        self.send_as_is(format!("{message}|60={}", self.now()));
    }

    /// As [`Self::send`], of a message that has its times itself.
    pub(crate) fn send_as_is(&mut self, message: String) {
        let number = self.next_out;
        self.next_out += 1;
        self.write_application(number, &message, "");
        self.sent.insert(number, message);
    }

    fn write_application(&mut self, number: u64, message: &str, header: &str) {
        let (kind, body) = message.strip_prefix("35=").and_then(|rest| rest.split_once('|')).unwrap();
        self.write(number, kind, body, header);
    }

    fn write(&mut self, number: u64, kind: &str, body: &str, header: &str) {
        let now = self.now();
        let Self { comp_id, target_comp_id, .. } = &*self;
        let head = format!("35={kind}|34={number}|49={comp_id}|52={now}|56={target_comp_id}|{header}");
        let body = (head + body + if body.is_empty() { "" } else { "|" }).replace('|', &SOH.to_string());
        let mut message = format!("8=FIX.4.4{SOH}9={}{SOH}{body}", body.len());
        let sum = message.bytes().fold(0_u8, u8::wrapping_add);
        message += &format!("10={sum:03}{SOH}");
        self.written.clone_from(&message);
        let line = self.connection.as_mut().unwrap();
        // A server that was killed takes nothing; the story goes on after its restart.
        let _ = line.stream.write_all(message.as_bytes());
    }

    /// The next message of that type; what else comes before it is heard too.
    pub(crate) fn expect(&mut self, kind: &str) -> Message {
        loop {
            let message = self
                .receive()
                .unwrap_or_else(|| panic!("the line ended before a {kind}: {:?}", self.received_summaries()));
            if message.kind() == kind {
                return message;
            }
        }
    }

    /// The next message of that type, whatever its number: of a peer that does not let us in.
    pub(crate) fn next_any(&mut self, kind: &str) -> Message {
        loop {
            let message = self.next_frame().unwrap_or_else(|| panic!("the line ended before a {kind}"));
            if message.kind() == kind {
                self.next_in = message.number(34) + 1;
                return message;
            }
        }
    }

    /// Reads until so many application messages were received in all.
    pub(crate) fn wait_for_messages(&mut self, count: usize) -> Vec<String> {
        self.receive_until(&format!("{count} messages"), |client| client.received.len() >= count);
        self.received_summaries()
    }

    /// Listens until something has been heard.
    pub(crate) fn receive_until(&mut self, what: &str, is_heard: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !is_heard(self) {
            assert!(begun.elapsed() < DEADLINE, "waited too long for {what}: {:?}", self.received_summaries());
            assert!(self.receive().is_some(), "the line ended before {what}: {:?}", self.received_summaries());
        }
    }

    /// Listens until so many orders are confirmed by the venue.
    pub(crate) fn wait_for_accepted(&mut self, orders: usize) {
        let confirmed = |message: &&Message| message.kind() == "8" && message.get(150) == Some("0");
        self.receive_until(&format!("{orders} confirmed orders"), |client| {
            client.received.iter().filter(confirmed).count() >= orders
        });
    }

    pub(crate) fn received_summaries(&self) -> Vec<String> {
        self.received.iter().map(Message::summary).collect()
    }

    /// Listens until the line ends.
    pub(crate) fn wait_for_disconnect(&mut self) {
        while self.receive().is_some() {}
    }

    /// The next message in its turn; none when the line has ended.
    pub(crate) fn receive(&mut self) -> Option<Message> {
        loop {
            let message = self.next_frame()?;
            let number = message.number(34);
            if message.kind() == "2" {
                self.resend(message.number(7));
            }
            if message.kind() == "4" && number <= self.next_in {
                self.next_in = self.next_in.max(message.number(36));
                continue;
            }
            if number > self.next_in {
                self.request_resend();
                // A Logon counts whatever its number; all else comes again in its turn.
                match message.kind() {
                    "A" => return Some(message),
                    _ => continue,
                }
            }
            if number < self.next_in {
                assert_eq!(message.get(43), Some("Y"), "number {number} comes again, {} is due", self.next_in);
                continue;
            }
            self.next_in += 1;
            self.on_message(&message);
            return Some(message);
        }
    }

    fn on_message(&mut self, message: &Message) {
        match message.kind() {
            "1" => self.send_admin("0", &format!("112={}", message.get(112).unwrap_or_default())),
            "8" | "9" | "j" | "r" | "3" | "AE" | "AQ" | "AO" | "AP" | "W" | "X" | "Y" | "y" | "f" => {
                self.received.push(message.clone());
            }
            _ => {}
        }
    }

    fn request_resend(&mut self) {
        let next = self.next_in;
        let line = self.connection.as_mut().unwrap();
        if line.asked_for != Some(next) {
            line.asked_for = Some(next);
            self.send_admin("2", &format!("7={next}|16=0"));
        }
    }

    /// Application messages again, a gap fill for everything between.
    fn resend(&mut self, from: u64) {
        let (mut next, until) = (from, self.next_out);
        let again: Vec<_> = self.sent.range(from..).map(|(number, message)| (*number, message.clone())).collect();
        for (number, message) in again {
            self.fill_gap(next, number);
            self.write_application(number, &message, &format!("43=Y|122={}|", self.now()));
            next = number + 1;
        }
        self.fill_gap(next, until);
    }

    fn fill_gap(&mut self, from: u64, next: u64) {
        if from < next {
            self.write(from, "4", &format!("36={next}|123=Y"), &format!("43=Y|122={}|", self.now()));
        }
    }

    /// Its clock as FIX writes it.
    pub(crate) fn now(&self) -> String {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let seconds = i64::try_from(since.as_secs()).unwrap() + self.seconds_ahead;
        let at = domain::Timestamp(seconds * 1_000_000_000).to_jiff().to_string();
        at.replace('-', "").replace('T', "-").replace('Z', "")
    }

    /// The next message as it comes, in its turn or not.
    pub(crate) fn next_frame(&mut self) -> Option<Message> {
        let line = self.connection.as_mut()?;
        loop {
            if let Some(message) = take_frame(&mut line.buffer) {
                return Some(message);
            }
            let mut bytes = [0; 65_536];
            match line.stream.read(&mut bytes) {
                Ok(0) => return None,
                Ok(length) => line.buffer.extend_from_slice(&bytes[..length]),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("nothing was heard: {error}; so far {:?}", self.received_summaries()),
            }
        }
    }
}

fn take_frame(buffer: &mut Vec<u8>) -> Option<Message> {
    let trailer = buffer.windows(4).position(|bytes| bytes == b"\x0110=")?;
    let end = trailer + 1 + buffer[trailer + 1..].iter().position(|byte| *byte == 1)?;
    let frame: Vec<u8> = buffer.drain(..=end).collect();
    let text = String::from_utf8(frame).unwrap();
    let field = |field: &str| field.split_once('=').map(|(tag, value)| (tag.parse().unwrap(), value.to_owned()));
    Some(Message(text.split(SOH).filter_map(field).collect()))
}
