//! A received message, decoded in place: the decoder records where each field lies and keeps the bytes of every value,
//! so `002000.00` stays `002000.00`.

use super::{OutgoingMessage, SOH, UtcTimestamp, checksum, parse_unsigned};
use crate::tag::{self, Tag};
use std::fmt;

/// Where a field's value lies in its frame.
#[derive(Debug, Clone, Copy)]
struct Span {
    tag: Tag,
    start: u32,
    end: u32,
}

/// A field as the peer sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixField<'a> {
    pub tag: Tag,
    pub value: &'a [u8],
}

/// Why a frame is not a valid message. It is ignored and its sequence number is not consumed; the gap is requested
/// later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Garbled {
    /// The first three fields must be 8, 9 and 35.
    Order,
    /// Not `tag=value` with a delimiter.
    Field,
    BodyLength,
    CheckSum,
}

impl fmt::Display for Garbled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Order => "the first three fields are not 8, 9 and 35",
            Self::Field => "a field is not tag=value",
            Self::BodyLength => "BodyLength (9) is wrong",
            Self::CheckSum => "CheckSum (10) is wrong",
        })
    }
}

/// Decodes one message after the other with the same memory.
#[derive(Debug, Default)]
pub struct FixDecoder {
    spans: Vec<Span>,
}

impl FixDecoder {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn decode<'a>(&'a mut self, frame: &'a [u8]) -> Result<FixMessage<'a>, Garbled> {
        self.index(frame)?;
        let message = FixMessage { bytes: frame, spans: &self.spans };
        message.check_frame()?;
        Ok(message)
    }

    fn index(&mut self, frame: &[u8]) -> Result<(), Garbled> {
        self.spans.clear();
        let mut at = 0;
        let mut data: Option<(Tag, usize)> = None;
        while at < frame.len() {
            let (tag, start) = read_tag(frame, at).ok_or(Garbled::Field)?;
            let end = match data.take() {
                Some((data_tag, length)) if data_tag == tag => data_end(frame, start, length),
                _ => field_end(frame, start),
            };
            let end = end.ok_or(Garbled::Field)?;
            self.spans.push(Span { tag, start: offset(start)?, end: offset(end)? });
            data = tag::data_after(tag).and_then(|data_tag| Some((data_tag, length_of(&frame[start..end])?)));
            at = end + 1;
        }
        Ok(())
    }
}

fn length_of(value: &[u8]) -> Option<usize> {
    parse_unsigned(value).and_then(|length| usize::try_from(length).ok())
}

fn offset(at: usize) -> Result<u32, Garbled> {
    u32::try_from(at).map_err(|_| Garbled::BodyLength)
}

/// A tag with more digits is invalid.
const TAG_DIGITS_MAX: usize = 9;

/// The tag that begins here and where its value starts. Only a minus is allowed as sign: such a tag is not garbled but
/// invalid.
fn read_tag(frame: &[u8], from: usize) -> Option<(Tag, usize)> {
    let rest = &frame[from..];
    let (sign, digits) = rest.strip_prefix(b"-").map_or((1, rest), |digits| (-1, digits));
    let mut tag: Tag = 0;
    for (count, byte) in digits.iter().enumerate().take(TAG_DIGITS_MAX + 1) {
        match byte {
            b'0'..=b'9' if count < TAG_DIGITS_MAX => tag = tag * 10 + Tag::from(byte - b'0'),
            b'=' if count > 0 => return Some((sign * tag, frame.len() - digits.len() + count + 1)),
            _ => return None,
        }
    }
    None
}

fn field_end(frame: &[u8], start: usize) -> Option<usize> {
    frame[start..].iter().position(|byte| *byte == SOH).map(|length| start + length)
}

fn data_end(frame: &[u8], start: usize, length: usize) -> Option<usize> {
    let end = start.checked_add(length)?;
    (frame.get(end) == Some(&SOH)).then_some(end)
}

/// A valid message: its length and checksum are right, and it begins with 8, 9 and 35.
#[derive(Debug, Clone, Copy)]
pub struct FixMessage<'a> {
    bytes: &'a [u8],
    spans: &'a [Span],
}

impl<'a> FixMessage<'a> {
    /// The whole message as received.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub fn msg_type(&self) -> &'a [u8] {
        self.field(2).value
    }

    pub fn begin_string(&self) -> &'a [u8] {
        self.field(0).value
    }

    /// The value of the first field with this tag.
    pub fn get(&self, tag: Tag) -> Option<&'a [u8]> {
        self.spans.iter().position(|span| span.tag == tag).map(|at| self.field(at).value)
    }

    /// The same as text; a value that is not UTF-8 counts as absent.
    pub fn text(&self, tag: Tag) -> Option<&'a str> {
        self.get(tag).and_then(|value| std::str::from_utf8(value).ok())
    }

    pub fn number(&self, tag: Tag) -> Option<u64> {
        self.get(tag).and_then(parse_unsigned)
    }

    pub fn time(&self, tag: Tag) -> Option<UtcTimestamp> {
        self.get(tag).and_then(UtcTimestamp::parse)
    }

    /// A flag that is absent is off.
    pub fn flag(&self, tag: Tag) -> bool {
        self.get(tag) == Some(b"Y")
    }

    pub fn fields(&self) -> impl ExactSizeIterator<Item = FixField<'a>> + use<'a> {
        let (bytes, spans) = (self.bytes, self.spans);
        spans.iter().map(move |span| FixField { tag: span.tag, value: value(bytes, span) })
    }

    pub fn field_count(&self) -> usize {
        self.spans.len()
    }

    pub(crate) fn tag_at(&self, at: usize) -> Tag {
        self.spans[at].tag
    }

    pub fn field(&self, at: usize) -> FixField<'a> {
        let span = &self.spans[at];
        FixField { tag: span.tag, value: value(self.bytes, span) }
    }

    /// Everything from a field up to the checksum; `None` where that is empty.
    pub(crate) fn bytes_from(&self, at: usize) -> Option<&'a [u8]> {
        let start = self.spans[at.checked_sub(1)?].end as usize + 1;
        let end = self.spans.last()?.start as usize - "10=".len();
        self.bytes.get(start..end).filter(|bytes| !bytes.is_empty())
    }

    /// Copies the body without a dictionary: groups cannot be distinguished from other fields, so nothing is reordered.
    pub fn copy_body_verbatim(&self, out: &mut OutgoingMessage) {
        let body = self.fields().position(|field| !tag::is_header(field.tag)).unwrap_or(self.spans.len());
        if let Some(bytes) = self.bytes_from(body) {
            out.append_raw_body(self.tag_at(body), bytes);
        }
    }

    fn check_frame(&self) -> Result<(), Garbled> {
        let [begin, length, kind, .., last] = self.spans else { return Err(Garbled::Order) };
        if [begin.tag, length.tag, kind.tag] != [tag::BEGIN_STRING, tag::BODY_LENGTH, tag::MSG_TYPE] {
            return Err(Garbled::Order);
        }
        if last.tag != tag::CHECK_SUM {
            return Err(Garbled::CheckSum);
        }
        let body = length.end as usize + 1..last.start as usize - "10=".len();
        if parse_unsigned(value(self.bytes, length)) != u64::try_from(body.len()).ok() {
            return Err(Garbled::BodyLength);
        }
        let sum = parse_unsigned(value(self.bytes, last)).ok_or(Garbled::CheckSum)?;
        (sum == u64::from(checksum(&self.bytes[..body.end]))).then_some(()).ok_or(Garbled::CheckSum)
    }
}

fn value<'a>(bytes: &'a [u8], span: &Span) -> &'a [u8] {
    &bytes[span.start as usize..span.end as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sealed(text: &str) -> Vec<u8> {
        let mut bytes = text.replace('|', "\x01").into_bytes();
        let sum = checksum(&bytes);
        bytes.extend(format!("10={sum:03}\x01").bytes());
        bytes
    }

    fn verdict(text: &str) -> String {
        match FixDecoder::new().decode(&sealed(text)) {
            Ok(message) => message
                .fields()
                .take(message.field_count() - 1)
                .map(|f| format!("{}={}|", f.tag, f.value.escape_ascii()))
                .collect(),
            Err(garbled) => garbled.to_string(),
        }
    }

    #[test]
    fn values_stay_as_they_came() {
        assert_eq!(verdict("8=FIX.4.4|9=18|35=D|38=002000.00|"), "8=FIX.4.4|9=18|35=D|38=002000.00|");
        assert_eq!(verdict("8=FIX.4.4|9=15|35=D|-1=|0=x=y|"), "8=FIX.4.4|9=15|35=D|-1=|0=x=y|");
    }

    #[test]
    fn a_data_field_may_hold_the_delimiter() {
        assert_eq!(verdict("8=FIX.4.4|9=17|35=A|95=3|96=a|b|"), "8=FIX.4.4|9=17|35=A|95=3|96=a\\x01b|");
        assert_eq!(verdict("8=FIX.4.4|9=17|35=A|95=9|96=a|b|"), "a field is not tag=value");
    }

    #[test]
    fn what_is_garbled_says_why() {
        assert_eq!(verdict("8=FIX.4.4|35=A|9=5|"), "the first three fields are not 8, 9 and 35");
        assert_eq!(verdict("8=FIX.4.4|9=6|35=A|"), "BodyLength (9) is wrong");
        assert_eq!(verdict("8=FIX.4.4|9=9|35=A|x=1|"), "a field is not tag=value");
        assert_eq!(verdict("8=FIX.4.4|9=10|35=A|+1=1|"), "a field is not tag=value");
        assert_eq!(verdict("8=FIX.4.4|9=19|35=A|99999999999=1|"), "a field is not tag=value");
        assert_eq!(
            FixDecoder::new().decode(b"8=FIX.4.4\x019=5\x0135=A\x0110=000\x01").unwrap_err().to_string(),
            "CheckSum (10) is wrong"
        );
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = FixDecoder::new().decode(&bytes);
        }

        #[test]
        fn near_messages_never_panic(bytes in "(8=FIX\x01|9=[0-9]{0,3}\x01|35=A?\x01|9[56]=[0-9]?\x01|10=[0-9]{0,3}\x01|=|\x01){0,9}") {
            let _ = FixDecoder::new().decode(bytes.as_bytes());
        }
    }
}
