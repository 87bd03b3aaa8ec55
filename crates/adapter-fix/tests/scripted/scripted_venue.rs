//! A FIX 4.4 venue on a loopback socket. It answers a Logon by itself, and does nothing else unless it is told to.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use fix::UtcTimestamp;

use crate::test_adapter::{VenueAddress, now};

/// A wait that takes longer than this has failed, on any machine.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// How every message ends: `10=000` and a delimiter.
const TRAILER_BYTES: usize = 7;

pub(crate) struct ScriptedVenue {
    port: u16,
    accepted: Receiver<TcpStream>,
    line: Option<VenueLine>,
    /// The number of its next message.
    pub(crate) next: u64,
}

/// One connection.
struct VenueLine {
    stream: TcpStream,
    received: Vec<u8>,
}

pub(crate) type Fields = BTreeMap<u32, String>;

impl ScriptedVenue {
    pub(crate) fn start() -> Self {
        Self::listening(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    pub(crate) fn listening(listener: TcpListener) -> Self {
        let port = listener.local_addr().unwrap().port();
        let (sender, accepted) = channel();
        // It ends with the test.
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if sender.send(stream).is_err() {
                    break;
                }
            }
        });
        Self { port, accepted, line: None, next: 1 }
    }

    pub(crate) fn address(&self) -> VenueAddress {
        VenueAddress { port: self.port, sender: "RIALTO", target: "VENUE" }
    }

    /// Takes the next connection and answers its Logon, whose fields are returned.
    pub(crate) fn log_on(&mut self) -> Fields {
        self.log_on_with("98=0|108=30")
    }

    pub(crate) fn log_on_with(&mut self, answer: &str) -> Fields {
        let stream = self.accepted.recv_timeout(WAIT_MAX).unwrap();
        stream.set_read_timeout(Some(WAIT_MAX)).unwrap();
        self.line = Some(VenueLine { stream, received: Vec::new() });
        let logon = self.expect("A");
        self.send("A", answer);
        logon
    }

    /// The next message of that type; others are passed over.
    pub(crate) fn expect(&mut self, msg_type: &str) -> Fields {
        loop {
            let fields = self.line.as_mut().unwrap().read();
            if fields[&35] == msg_type {
                return fields;
            }
        }
    }

    /// Under the next number.
    pub(crate) fn send(&mut self, msg_type: &str, fields: &str) {
        self.send_as(self.next, msg_type, fields);
        self.next += 1;
    }

    pub(crate) fn send_as(&mut self, number: u64, msg_type: &str, fields: &str) {
        let frame = frame(number, msg_type, fields);
        self.line.as_mut().unwrap().stream.write_all(&frame).unwrap();
    }

    /// A message that was sent before under that number.
    pub(crate) fn send_again(&mut self, number: u64, msg_type: &str, fields: &str) {
        self.send_as(number, msg_type, &format!("43=Y|122={}|{fields}", sending_time()));
    }

    pub(crate) fn hang_up(&mut self) {
        let line = self.line.take().unwrap();
        line.stream.shutdown(Shutdown::Both).unwrap();
    }
}

impl VenueLine {
    fn read(&mut self) -> Fields {
        loop {
            if let Some(message) = self.take_message() {
                let fields = message.split('\x01').filter_map(|field| field.split_once('='));
                return fields.map(|(tag, value)| (tag.parse().unwrap(), value.to_owned())).collect();
            }
            let mut bytes = [0; 4_096];
            let count = self.stream.read(&mut bytes).unwrap();
            assert!(count > 0, "the adapter has hung up");
            self.received.extend_from_slice(&bytes[..count]);
        }
    }

    fn take_message(&mut self) -> Option<String> {
        let trailer = self.received.windows(4).position(|bytes| bytes == b"\x0110=")?;
        let end = trailer + 1 + TRAILER_BYTES;
        (self.received.len() >= end).then(|| String::from_utf8(self.received.drain(..end).collect()).unwrap())
    }
}

fn sending_time() -> String {
    let mut text = Vec::new();
    UtcTimestamp::from_nanos(now().0).write(3, &mut text);
    String::from_utf8(text).unwrap()
}

fn frame(number: u64, msg_type: &str, fields: &str) -> Vec<u8> {
    let body = format!("35={msg_type}|34={number}|49=VENUE|52={}|56=RIALTO|{fields}|", sending_time());
    let body = body.replace('|', "\x01");
    let mut frame = format!("8=FIX.4.4\x019={}\x01{body}", body.len()).into_bytes();
    let sum = frame.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
    frame.extend(format!("10={sum:03}\x01").bytes());
    frame
}
