//! Frame: command, headers, body, and its encoding.

use crate::escape::{Escapes, is_plain};
use crate::headers::Headers;
use crate::version::StompVersion;

/// Commands of frames. They are case-sensitive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StompCommand {
    // sent by clients
    Connect,
    Stomp,
    Send,
    Subscribe,
    Unsubscribe,
    Ack,
    Nack,
    Begin,
    Commit,
    Abort,
    Disconnect,
    // sent by servers
    Connected,
    Message,
    Receipt,
    Error,
}

impl StompCommand {
    pub const ALL: [Self; 15] = [
        Self::Connect,
        Self::Stomp,
        Self::Send,
        Self::Subscribe,
        Self::Unsubscribe,
        Self::Ack,
        Self::Nack,
        Self::Begin,
        Self::Commit,
        Self::Abort,
        Self::Disconnect,
        Self::Connected,
        Self::Message,
        Self::Receipt,
        Self::Error,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Connect => "CONNECT",
            Self::Stomp => "STOMP",
            Self::Send => "SEND",
            Self::Subscribe => "SUBSCRIBE",
            Self::Unsubscribe => "UNSUBSCRIBE",
            Self::Ack => "ACK",
            Self::Nack => "NACK",
            Self::Begin => "BEGIN",
            Self::Commit => "COMMIT",
            Self::Abort => "ABORT",
            Self::Disconnect => "DISCONNECT",
            Self::Connected => "CONNECTED",
            Self::Message => "MESSAGE",
            Self::Receipt => "RECEIPT",
            Self::Error => "ERROR",
        }
    }

    pub fn from_name(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.name().as_bytes() == name)
    }

    /// Only these may have a body; a body elsewhere is read and ignored.
    pub fn may_have_body(self) -> bool {
        matches!(self, Self::Send | Self::Message | Self::Error)
    }

    /// CONNECT and CONNECTED are never escaped, because no version is negotiated before them.
    pub(crate) fn escapes(self, version: StompVersion) -> Escapes {
        match self {
            Self::Connect | Self::Stomp | Self::Connected => Escapes::None,
            _ => Escapes::for_version(version),
        }
    }
}

/// One frame. `content-length` is not among the headers: it belongs to the framing; the decoder consumes it and the
/// encoder writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StompFrame {
    pub command: StompCommand,
    pub headers: Headers,
    pub body: Vec<u8>,
}

impl StompFrame {
    pub fn new(command: StompCommand) -> Self {
        Self { command, headers: Headers::default(), body: Vec::new() }
    }

    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push(name, value);
        self
    }

    #[must_use]
    pub fn with_body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Encodes the frame for that version. A header that the version cannot escape is left out.
    pub fn encode(&self, version: StompVersion, out: &mut Vec<u8>) {
        out.extend_from_slice(self.command.name().as_bytes());
        out.push(b'\n');
        encode_headers(self.headers.iter(), self.command.escapes(version), out);
        if self.command.may_have_body() {
            encode_body(&self.body, out);
        } else {
            out.extend_from_slice(b"\n\0\n");
        }
    }

    pub fn to_bytes(&self, version: StompVersion) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.encode(version, &mut bytes);
        bytes
    }
}

pub(crate) fn encode_headers<'a>(
    headers: impl Iterator<Item = (&'a str, &'a str)>,
    escapes: Escapes,
    out: &mut Vec<u8>,
) {
    let is_written = |name: &str, value: &str| (is_plain(name) && is_plain(value)) || escapes.can_encode(name, value);
    for (name, value) in headers.filter(|(name, value)| !name.is_empty() && is_written(name, value)) {
        escapes.encode(name, out);
        out.push(b':');
        escapes.encode(value, out);
        out.push(b'\n');
    }
}

/// The end of a frame: `content-length`, the blank line, the body, NUL. The line end after it is for clients that read
/// lines; both reference brokers send it.
pub(crate) fn encode_body(body: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"content-length:");
    encode_number(body.len() as u64, out);
    out.extend_from_slice(b"\n\n");
    out.extend_from_slice(body);
    out.extend_from_slice(b"\0\n");
}

/// Digits without a string of their own: this runs for every message.
pub(crate) fn encode_number(mut number: u64, out: &mut Vec<u8>) {
    let mut digits = [b'0'; 20];
    let mut begin = digits.len() - 1;
    while number > 9 {
        digits[begin] += u8::try_from(number % 10).expect("a digit");
        number /= 10;
        begin -= 1;
    }
    digits[begin] += u8::try_from(number).expect("a digit");
    out.extend_from_slice(&digits[begin..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_written_as_its_version_has_it() {
        let frame = StompFrame::new(StompCommand::Send).with("destination", "/queue/a:b").with_body("hi\0there");
        let text = |version| String::from_utf8(frame.to_bytes(version)).unwrap();
        assert_eq!(text(StompVersion::V10), "SEND\ndestination:/queue/a:b\ncontent-length:8\n\nhi\0there\0\n");
        assert_eq!(text(StompVersion::V12), "SEND\ndestination:/queue/a\\cb\ncontent-length:8\n\nhi\0there\0\n");
    }

    #[test]
    fn numbers_are_written_in_full() {
        for number in [0, 9, 10, 1_203, u64::MAX] {
            let mut out = Vec::new();
            encode_number(number, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
        }
    }

    #[test]
    fn connected_is_never_escaped() {
        let frame = StompFrame::new(StompCommand::Connected).with("server", "Rialto\\0:1");
        assert_eq!(frame.to_bytes(StompVersion::V12), b"CONNECTED\nserver:Rialto\\0:1\n\n\0\n");
    }

    #[test]
    fn a_value_cannot_forge_a_header() {
        let frame = StompFrame::new(StompCommand::Message).with("note", "x\nack:1").with("kept", "y");
        let written = String::from_utf8(frame.to_bytes(StompVersion::V10)).unwrap();
        assert_eq!(written, "MESSAGE\nkept:y\ncontent-length:0\n\n\0\n");
    }
}
