//! Frame decoder: bytes to frames, in chunks of any size. Limits are checked while bytes arrive, so a hostile peer
//! cannot make us buffer more than they allow.

use crate::frame::{StompCommand, StompFrame};
use crate::limits::{FrameLimits, FramingError};
use crate::version::StompVersion;

/// Decoder of one direction of a connection.
#[derive(Debug)]
pub struct FrameDecoder {
    limits: FrameLimits,
    /// `None` until the version is negotiated.
    version: Option<StompVersion>,
    state: DecoderState,
    /// The beginning of a line whose end has not arrived.
    partial: Vec<u8>,
    header_bytes: usize,
    content_length: Option<usize>,
    frame: StompFrame,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DecoderState {
    Command,
    Headers,
    /// Remaining octets of the body.
    Body(usize),
    /// The octet after a body of known length.
    Nul,
    /// A body that ends at the first NUL.
    OpenBody,
}

impl FrameDecoder {
    pub fn new(limits: FrameLimits) -> Self {
        Self {
            limits,
            version: None,
            state: DecoderState::Command,
            partial: Vec::new(),
            header_bytes: 0,
            content_length: None,
            frame: StompFrame::new(StompCommand::Connect),
        }
    }

    /// Sets the version by which headers are read, from the next frame on.
    pub fn set_version(&mut self, version: StompVersion) {
        self.version = Some(version);
    }

    /// Sets the limits, from the next frame on.
    pub(crate) fn set_limits(&mut self, limits: FrameLimits) {
        self.limits = limits;
    }

    /// Whether bytes of an unfinished frame are kept.
    pub fn is_inside_frame(&self) -> bool {
        self.state != DecoderState::Command || !self.partial.is_empty()
    }

    /// Consumes bytes from `input` up to the end of the next frame. `None`: all bytes are consumed and more are needed.
    /// After an error the stream has no meaning any more and the connection must end.
    pub fn decode(&mut self, input: &mut &[u8]) -> Result<Option<StompFrame>, FramingError> {
        while !input.is_empty() {
            let done = match self.state {
                DecoderState::Command | DecoderState::Headers => self.read_line(input)?,
                DecoderState::Body(missing) => self.read_body(missing, input),
                DecoderState::Nul => self.read_nul(input)?,
                DecoderState::OpenBody => self.read_open_body(input)?,
            };
            if done {
                self.state = DecoderState::Command;
                return Ok(Some(std::mem::replace(&mut self.frame, StompFrame::new(StompCommand::Connect))));
            }
        }
        Ok(None)
    }

    fn read_line(&mut self, input: &mut &[u8]) -> Result<bool, FramingError> {
        let stop = input.iter().position(|&byte| byte == b'\n' || byte == 0);
        let piece = &input[..stop.unwrap_or(input.len())];
        self.check_line_length(self.partial.len() + piece.len())?;
        let Some(stop) = stop else {
            self.partial.extend_from_slice(piece);
            *input = &[];
            return Ok(false);
        };
        if input[stop] == 0 {
            return Err(FramingError::NulInHeader);
        }
        *input = &input[stop + 1..];
        if self.partial.is_empty() {
            return self.on_line(piece);
        }
        let mut line = std::mem::take(&mut self.partial);
        line.extend_from_slice(piece);
        self.on_line(&line)
    }

    /// The carriage return of a line end does not count.
    fn check_line_length(&self, length: usize) -> Result<(), FramingError> {
        let (limit, fault) = match self.state {
            DecoderState::Command => {
                (self.limits.command_bytes, FramingError::CommandTooLong { limit: self.limits.command_bytes })
            }
            _ => (self.limits.header_line_bytes, FramingError::HeaderTooLong { limit: self.limits.header_line_bytes }),
        };
        if length > limit + 1 { Err(fault) } else { Ok(()) }
    }

    /// CR LF ends a line in every version: 1.2 requires it, and for the others both reference brokers accept it.
    fn on_line(&mut self, line: &[u8]) -> Result<bool, FramingError> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match (self.state, line.is_empty()) {
            // A heart-beat, or the line end after the previous frame.
            (DecoderState::Command, true) => Ok(false),
            (DecoderState::Command, false) => self.on_command_line(line),
            (_, true) => {
                self.begin_body();
                Ok(false)
            }
            (_, false) => self.on_header_line(line),
        }
    }

    fn on_command_line(&mut self, line: &[u8]) -> Result<bool, FramingError> {
        self.check_line_length(line.len() + 1)?;
        self.frame.command = StompCommand::from_name(line).ok_or(FramingError::UnknownCommand)?;
        self.header_bytes = 0;
        self.content_length = None;
        self.state = DecoderState::Headers;
        Ok(false)
    }

    fn on_header_line(&mut self, line: &[u8]) -> Result<bool, FramingError> {
        self.check_line_length(line.len() + 1)?;
        self.header_bytes += line.len();
        if self.header_bytes > self.limits.header_bytes {
            return Err(FramingError::HeadersTooLong { limit: self.limits.header_bytes });
        }
        if self.frame.headers.len() == self.limits.headers {
            return Err(FramingError::TooManyHeaders { limit: self.limits.headers });
        }
        let line = std::str::from_utf8(line).map_err(|_| FramingError::NotUtf8)?;
        self.add_header(line)?;
        Ok(false)
    }

    fn add_header(&mut self, line: &str) -> Result<(), FramingError> {
        let (name, value) = line.split_once(':').ok_or(FramingError::HeaderWithoutColon)?;
        let version = self.version.unwrap_or(StompVersion::V10);
        let escapes = self.frame.command.escapes(version);
        if version == StompVersion::V12 && line.contains('\r') {
            return Err(FramingError::StrayCarriageReturn);
        }
        let (name, value) = (escapes.decode(name)?, escapes.decode(value)?);
        let (name, value) = match self.version {
            Some(StompVersion::V10) => (name.trim(), value.trim()),
            _ => (&*name, &*value),
        };
        match name {
            "" => return Err(FramingError::HeaderWithoutName),
            "content-length" => self.set_content_length(value)?,
            _ => self.frame.headers.push(name, value),
        }
        Ok(())
    }

    /// The first one counts, as with every header, but a later one must be a number too.
    fn set_content_length(&mut self, value: &str) -> Result<(), FramingError> {
        let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
        if !digits {
            return Err(FramingError::ContentLengthNotANumber);
        }
        let limit = self.limits.body_bytes;
        let length = value.parse().ok().filter(|&length: &usize| length <= limit);
        let length = length.ok_or(FramingError::BodyTooLong { limit })?;
        self.content_length.get_or_insert(length);
        Ok(())
    }

    fn begin_body(&mut self) {
        self.state = match self.content_length {
            Some(0) => DecoderState::Nul,
            Some(length) => DecoderState::Body(length),
            None => DecoderState::OpenBody,
        };
    }

    fn read_body(&mut self, missing: usize, input: &mut &[u8]) -> bool {
        let (piece, rest) = input.split_at(missing.min(input.len()));
        self.frame.body.extend_from_slice(piece);
        *input = rest;
        let missing = missing - piece.len();
        self.state = if missing == 0 { DecoderState::Nul } else { DecoderState::Body(missing) };
        false
    }

    fn read_nul(&mut self, input: &mut &[u8]) -> Result<bool, FramingError> {
        if input[0] != 0 {
            return Err(FramingError::ContentLengthMissesTheEnd);
        }
        *input = &input[1..];
        Ok(true)
    }

    fn read_open_body(&mut self, input: &mut &[u8]) -> Result<bool, FramingError> {
        let end = input.iter().position(|&byte| byte == 0);
        let piece = &input[..end.unwrap_or(input.len())];
        let limit = self.limits.body_bytes;
        if self.frame.body.len() + piece.len() > limit {
            return Err(FramingError::BodyTooLong { limit });
        }
        self.frame.body.extend_from_slice(piece);
        *input = end.map_or(&[], |end| &input[end + 1..]);
        Ok(end.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoder(version: Option<StompVersion>) -> FrameDecoder {
        let limits =
            FrameLimits { command_bytes: 12, header_line_bytes: 20, headers: 3, header_bytes: 40, body_bytes: 10 };
        let mut decoder = FrameDecoder::new(limits);
        version.into_iter().for_each(|version| decoder.set_version(version));
        decoder
    }

    /// All frames of a text, one line each, or the fault that ended it.
    fn read(version: StompVersion, mut input: &[u8]) -> String {
        let mut decoder = decoder(Some(version));
        let mut lines = Vec::new();
        loop {
            match decoder.decode(&mut input) {
                Ok(Some(frame)) => lines.push(format!(
                    "{} {:?} {:?}",
                    frame.command.name(),
                    frame.headers,
                    String::from_utf8_lossy(&frame.body)
                )),
                Ok(None) => return lines.join("; "),
                Err(fault) => {
                    lines.push(fault.to_string());
                    return lines.join("; ");
                }
            }
        }
    }

    #[test]
    fn line_ends_between_frames_are_heart_beats() {
        let read = read(StompVersion::V12, b"\n\r\n\nSEND\na:1\n\nx\0\n\r\nACK\nid:1\n\n\0\n");
        assert_eq!(read, r#"SEND {"a": "1"} "x"; ACK {"id": "1"} """#);
    }

    #[test]
    fn crlf_ends_a_line_in_every_version() {
        for version in StompVersion::ALL {
            assert_eq!(read(version, b"SEND\r\na:1\r\n\r\n\0"), r#"SEND {"a": "1"} """#);
        }
    }

    #[test]
    fn a_carriage_return_inside_a_line_is_data_before_1_2() {
        assert_eq!(read(StompVersion::V11, b"SEND\na:1\r2\n\n\0"), r#"SEND {"a": "1\r2"} """#);
        assert_eq!(read(StompVersion::V12, b"SEND\na:1\r2\n\n\0"), "a carriage return stands inside a header line");
    }

    #[test]
    fn content_length_counts_octets_nuls_included() {
        assert_eq!(read(StompVersion::V11, b"SEND\ncontent-length:3\n\na\0b\0"), r#"SEND {} "a\0b""#);
        assert_eq!(read(StompVersion::V11, b"SEND\ncontent-length:0\n\n\0"), r#"SEND {} """#);
        let first = b"SEND\ncontent-length:1\ncontent-length:2\n\na\0";
        assert_eq!(read(StompVersion::V11, first), r#"SEND {} "a""#);
        let misses = "no NUL stands where content-length says the body ends";
        assert_eq!(read(StompVersion::V11, b"SEND\ncontent-length:1\n\nab\0"), misses);
        for bad in ["", "x", "-1", "+1", " 1", "1.0"] {
            let text = format!("SEND\ncontent-length:{bad}\n\n\0");
            assert_eq!(read(StompVersion::V11, text.as_bytes()), "content-length is not a number", "{bad:?}");
        }
    }

    #[test]
    fn only_1_0_trims_headers() {
        assert_eq!(read(StompVersion::V10, b"SEND\n a : 1 \n\n\0"), r#"SEND {"a": "1"} """#);
        assert_eq!(read(StompVersion::V11, b"SEND\n a : 1 \n\n\0"), r#"SEND {" a ": " 1 "} """#);
    }

    #[test]
    fn opening_frames_are_not_unescaped() {
        assert_eq!(read(StompVersion::V12, b"CONNECT\nlogin:a\\tb\n\n\0"), r#"CONNECT {"login": "a\\tb"} """#);
        let undefined = "a header has an escape that this version does not define";
        assert_eq!(read(StompVersion::V12, b"SEND\nlogin:a\\tb\n\n\0"), undefined);
    }

    #[test]
    fn broken_frames_are_faults_that_say_why() {
        let cases: [(&[u8], &str); 7] = [
            (b"send\n\n\0", "unknown command"),
            (b"\rSEND\n\n\0", "unknown command"),
            (b"SEND\nno colon\n\n\0", "a header line has no colon"),
            (b"SEND\n:x\n\n\0", "a header line has no name"),
            (b"SEND\na:\xff\n\n\0", "a command or header is not UTF-8"),
            (b"SEND\na:1\0", "the frame ends before the blank line behind its headers"),
            (b"\0", "the frame ends before the blank line behind its headers"),
        ];
        for (text, why) in cases {
            assert_eq!(read(StompVersion::V12, text), why, "{:?}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn every_limit_is_named_when_it_is_passed() {
        let cases = [
            ("X".repeat(13) + "\n", "the command line is longer than 12 octets"),
            (format!("SEND\na:{}\n", "x".repeat(19)), "a header line is longer than 20 octets"),
            ("SEND\na:1\na:2\na:3\na:4\n".to_owned(), "the frame has more than 3 headers"),
            (
                format!("SEND\n{0}\n{0}\n{0}\n", format!("a:{}", "x".repeat(13))),
                "the headers are longer than 40 octets",
            ),
            ("SEND\ncontent-length:11\n".to_owned(), "the body is longer than 10 octets"),
            ("SEND\ncontent-length:99999999999999999999999\n".to_owned(), "a header line is longer than 20 octets"),
            (format!("SEND\n\n{}", "x".repeat(11)), "the body is longer than 10 octets"),
        ];
        for (text, why) in cases {
            assert_eq!(read(StompVersion::V12, text.as_bytes()), why, "{text:?}");
        }
    }

    #[test]
    fn a_frame_at_every_limit_is_read() {
        let text = format!("SUBSCRIBE\na:{}\r\nb:{}\nc:\n\n{}\0", "x".repeat(18), "y".repeat(14), "z".repeat(10));
        assert!(read(StompVersion::V12, text.as_bytes()).starts_with("SUBSCRIBE {"));
        assert_eq!(read(StompVersion::V12, b"UNSUBSCRIBE\r\n\n\0"), r#"UNSUBSCRIBE {} """#);
    }

    #[test]
    fn an_endless_line_is_cut_off_before_its_end() {
        let mut decoder = decoder(None);
        assert_eq!(decoder.decode(&mut &[b'X'; 13][..]), Ok(None));
        assert_eq!(decoder.decode(&mut &b"X"[..]), Err(FramingError::CommandTooLong { limit: 12 }));
    }
}
