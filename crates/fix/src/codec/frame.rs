//! Framer: splits a byte stream into frames. It only finds where a message seems to begin and end; the decoder
//! validates it. The rules are QuickFIX's, so that a peer with a wrong BodyLength is treated the same by both: after
//! `BodyLength` bytes the frame extends to the next `10=…`. A length that is too short changes nothing, one that is too
//! long swallows the next message.

use super::{SOH, parse_unsigned};
use std::fmt;
use std::ops::Range;

/// A peer that announces or sends a longer message is disconnected before memory is allocated for it.
pub const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// Holds received bytes that are not consumed yet.
#[derive(Debug)]
pub struct Framer {
    buffer: Vec<u8>,
    consumed: usize,
    /// Whether a message must begin at `taken`; after garbage its beginning is searched.
    synchronized: bool,
    /// How far the message at `taken` was searched.
    search: Search,
}

/// Bytes that are kept after garbage: a delimiter and the start of a split `8=FIX`.
const TAIL_KEPT: usize = 5;

impl Default for Framer {
    fn default() -> Self {
        Self { buffer: Vec::new(), consumed: 0, synchronized: true, search: Search::for_length() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameError {
    /// A BodyLength over [`MESSAGE_BYTES_MAX`], or as many bytes without an end: nothing can follow.
    TooLong,
    /// A BodyLength that is not a number: everything up to the next beginning is lost.
    BadLength,
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "a message of more than {MESSAGE_BYTES_MAX} bytes"),
            Self::BadLength => write!(f, "BodyLength (9) is not a number"),
        }
    }
}

impl Framer {
    pub fn new() -> Self {
        Self::default()
    }

    /// Where a driver appends what it reads from its socket.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        if self.consumed > 0 {
            self.buffer.drain(..self.consumed);
            self.consumed = 0;
        }
        &mut self.buffer
    }

    /// Whether anything has arrived that was not taken.
    pub fn is_empty(&self) -> bool {
        self.consumed == self.buffer.len()
    }

    /// The next whole frame, if there is one. After [`FrameError::BadLength`] the call may be repeated.
    pub fn next_frame(&mut self) -> Result<Option<&[u8]>, FrameError> {
        if !self.find_start() {
            return Ok(None);
        }
        match frame_length(&self.buffer[self.consumed..], &mut self.search) {
            Ok(Some(length)) => Ok(Some(self.consume(length))),
            Ok(None) if self.buffer.len() - self.consumed > MESSAGE_BYTES_MAX => Err(FrameError::TooLong),
            Ok(None) => Ok(None),
            Err(BadHead::TooLong) => Err(FrameError::TooLong),
            Err(BadHead::NoNumber { skip }) => {
                self.consumed += skip;
                self.synchronized = false;
                self.search.begin(LENGTH, 0);
                Err(FrameError::BadLength)
            }
        }
    }

    pub fn clear(&mut self) {
        *self = Self { buffer: std::mem::take(&mut self.buffer), ..Self::default() };
        self.buffer.clear();
    }

    fn consume(&mut self, length: usize) -> &[u8] {
        let from = self.consumed;
        self.consumed += length;
        self.search.begin(LENGTH, 0);
        &self.buffer[from..self.consumed]
    }

    /// Moves to where a message begins: at `8=`, but after garbage not at the end of another tag such as `58=`.
    fn find_start(&mut self) -> bool {
        let bytes = &self.buffer[self.consumed..];
        if self.synchronized && (b"8=".starts_with(bytes) || bytes.starts_with(b"8=")) {
            return bytes.len() >= 2;
        }
        let start = (0..bytes.len()).find(|&at| {
            let after_a_field = at > 0 && bytes[at - 1] == SOH;
            bytes[at..].starts_with(b"8=FIX") || (after_a_field && bytes[at..].starts_with(b"8="))
        });
        self.synchronized = start.is_some();
        self.consumed += start.unwrap_or(bytes.len().saturating_sub(TAIL_KEPT));
        self.synchronized
    }
}

enum BadHead {
    TooLong,
    NoNumber { skip: usize },
}

/// How a length and a checksum begin; the byte before them ends another field.
const LENGTH: &[u8] = b"\x019=";
const CHECKSUM: &[u8] = b"\x0110=";

/// Searches the value of a field and keeps the position: a message without an end that arrives byte by byte is not
/// searched from its beginning for every byte.
#[derive(Debug)]
struct Search {
    opening: &'static [u8],
    /// Where the value begins, once the opening was found.
    value: Option<usize>,
    /// Everything before was searched.
    at: usize,
    /// All bytes that were ever searched, repeatedly or not.
    #[cfg(test)]
    work: usize,
}

impl Search {
    fn for_length() -> Self {
        Self {
            opening: LENGTH,
            value: None,
            at: 0,
            #[cfg(test)]
            work: 0,
        }
    }

    fn begin(&mut self, opening: &'static [u8], from: usize) {
        (self.opening, self.value, self.at) = (opening, None, from);
    }

    /// Where the value lies; `None` until its end has arrived.
    fn find_value(&mut self, bytes: &[u8]) -> Option<Range<usize>> {
        let start = match self.value {
            Some(start) => start,
            None => self.find_opening(bytes)?,
        };
        let rest = bytes.get(self.at..)?;
        self.count(rest.len());
        let end = rest.iter().position(|byte| *byte == SOH);
        self.at += end.unwrap_or(rest.len());
        end.map(|_| start..self.at)
    }

    fn find_opening(&mut self, bytes: &[u8]) -> Option<usize> {
        let rest = bytes.get(self.at..)?;
        self.count(rest.len());
        let found = rest.windows(self.opening.len()).position(|window| window == self.opening);
        // All but the last bytes of an opening may have arrived.
        let looked_at = found.map(|found| found + self.opening.len());
        self.at += looked_at.unwrap_or((rest.len() + 1).saturating_sub(self.opening.len()));
        self.value = found.map(|_| self.at);
        self.value
    }

    #[cfg(test)]
    fn count(&mut self, bytes: usize) {
        self.work += bytes;
    }

    #[cfg(not(test))]
    fn count(&mut self, _: usize) {}
}

fn frame_length(bytes: &[u8], search: &mut Search) -> Result<Option<usize>, BadHead> {
    if search.opening == LENGTH {
        let Some(length) = search.find_value(bytes) else { return Ok(None) };
        let Some(body) = parse_unsigned(&bytes[length.clone()]).and_then(|length| usize::try_from(length).ok()) else {
            return Err(BadHead::NoNumber { skip: length.end });
        };
        if body > MESSAGE_BYTES_MAX {
            return Err(BadHead::TooLong);
        }
        // The byte before the trailer is the delimiter that ends the body.
        search.begin(CHECKSUM, length.end + body);
    }
    Ok(search.find_value(bytes).map(|checksum| checksum.end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LOGON: &str = "8=FIX.4.4|9=5|35=A|10=178|";
    const BEAT: &str = "8=FIX.4.4|9=5|35=0|10=161|";

    fn wire(text: &str) -> Vec<u8> {
        text.replace('|', "\x01").into_bytes()
    }

    /// All results of the framer for a stream that arrives in these chunks.
    fn cut<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> String {
        let mut framer = Framer::new();
        let mut said = String::new();
        for piece in pieces {
            framer.buffer().extend_from_slice(piece);
            loop {
                match framer.next_frame() {
                    Ok(None) => break,
                    Ok(Some(frame)) => said += &(String::from_utf8_lossy(frame).replace('\x01', "|") + "\n"),
                    Err(error) => {
                        said += &format!("{error}\n");
                        if error == FrameError::TooLong {
                            return said;
                        }
                    }
                }
            }
        }
        said
    }

    fn whole(text: &str) -> String {
        cut([wire(text).as_slice()])
    }

    #[test]
    fn rubbish_in_front_is_dropped() {
        assert_eq!(whole(&format!("58=hello|{LOGON}GET / HTTP/1.1{BEAT}")), format!("{LOGON}\n{BEAT}\n"));
    }

    #[test]
    fn a_length_that_is_too_short_does_not_move_the_end() {
        assert_eq!(
            whole(&format!("8=FIX.4.4|9=2|35=A|10=178|{BEAT}")),
            format!("8=FIX.4.4|9=2|35=A|10=178|\n{BEAT}\n")
        );
    }

    #[test]
    fn a_length_that_is_too_long_swallows_the_next_message() {
        let long = "8=FIX.4.4|9=20|35=A|10=178|";
        assert_eq!(whole(&format!("{long}{BEAT}{LOGON}")), format!("{long}{BEAT}\n{LOGON}\n"));
    }

    #[test]
    fn a_length_that_is_no_number_loses_that_message_only() {
        assert_eq!(
            whole(&format!("8=FIX.4.4|9=x|35=A|10=178|{BEAT}")),
            format!("BodyLength (9) is not a number\n{BEAT}\n")
        );
    }

    #[test]
    fn a_message_over_the_limit_is_refused_by_its_announcement() {
        assert_eq!(whole("8=FIX.4.4|9=99999999|35=A|"), "a message of more than 1048576 bytes\n");
        let endless = vec![b'1'; MESSAGE_BYTES_MAX];
        assert_eq!(cut([b"8=FIX.4.4\x019=".as_slice(), &endless]), "a message of more than 1048576 bytes\n");
    }

    /// How many bytes were searched while a message arrived byte by byte.
    fn work(message: &[u8]) -> usize {
        let mut framer = Framer::new();
        for byte in message {
            framer.buffer().push(*byte);
            assert_eq!(framer.next_frame(), Ok(None));
        }
        framer.search.work
    }

    #[test]
    fn a_message_without_an_end_is_looked_through_once_but_for_the_bytes_of_an_opening() {
        let rest = vec![b'1'; 100_000];
        for opening in ["8=FIX.4.4|", "8=FIX.4.4|9=", "8=FIX.4.4|9=5|35=D|", "8=FIX.4.4|9=5|35=D|10="] {
            let message = [wire(opening), rest.clone()].concat();
            assert!(
                work(&message) <= CHECKSUM.len() * message.len(),
                "{opening}: {} of {}",
                work(&message),
                message.len()
            );
        }
    }

    #[test]
    fn a_length_that_leads_far_ahead_is_waited_for() {
        let head = wire("8=FIX.4.4|9=200000|");
        assert_eq!(work(&[head.clone(), vec![b'1'; 1000]].concat()), work(&head));
    }

    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let pieces = prop_oneof![
            Just(wire(LOGON)),
            Just(wire(BEAT)),
            Just(wire("8=FIX.4.4|9=20|35=A|10=178|")),
            Just(wire("8=FIX.4.4|9=|35=A|10=178|")),
            Just(wire("58=8=9=10=|")),
            proptest::collection::vec(any::<u8>(), 0..8),
        ];
        proptest::collection::vec(pieces, 0..8).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_frames(bytes in stream(), cuts in proptest::collection::vec(1_usize..9, 1..64)) {
            let mut pieces = Vec::new();
            let mut rest = bytes.as_slice();
            for length in cuts.iter().cycle().take(bytes.len()) {
                let (piece, later) = rest.split_at((*length).min(rest.len()));
                pieces.push(piece);
                rest = later;
            }
            prop_assert_eq!(cut(pieces), cut([bytes.as_slice()]));
        }
    }
}
