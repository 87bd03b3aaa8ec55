//! Outbound message. The application gives type and fields in any order; the encoder adds header and trailer and writes
//! 8, 9, 35 and then ascending tags, header before body, each repeating group as a block. Engines that are strict about
//! order accept that.

use super::{SOH, UtcTimestamp, checksum};
use crate::tag::{self, Tag};

/// Size of an Execution Report; a longer message grows.
const USUAL_BYTES: usize = 384;
const USUAL_PIECES: usize = 32;

/// A message under construction; cleared and filled again, it needs no new memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutgoingMessage {
    msg_type: Vec<u8>,
    text: Vec<u8>,
    pieces: Vec<Piece>,
}

/// `tag=value` and its delimiter, or a whole group: the unit of reordering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    section: Section,
    tag: Tag,
    start: usize,
    end: usize,
}

impl Piece {
    /// A repeated tag keeps the order in which it was given.
    fn wire_order(&self) -> (Section, Tag, usize) {
        (self.section, self.tag, self.start)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Section {
    Header,
    Body,
    /// Its tag is higher than that of the signature, which stands behind it.
    SignatureLength,
    Trailer,
}

impl Section {
    fn of(tag: Tag) -> Self {
        match tag {
            _ if tag::is_header(tag) => Self::Header,
            tag::SIGNATURE_LENGTH => Self::SignatureLength,
            _ if tag::is_trailer(tag) => Self::Trailer,
            _ => Self::Body,
        }
    }
}

impl OutgoingMessage {
    pub fn new(msg_type: impl AsRef<[u8]>) -> Self {
        Self {
            msg_type: msg_type.as_ref().to_vec(),
            text: Vec::with_capacity(USUAL_BYTES),
            pieces: Vec::with_capacity(USUAL_PIECES),
        }
    }

    /// Clears all fields and starts a message of this type.
    pub fn begin(&mut self, msg_type: impl AsRef<[u8]>) -> &mut Self {
        self.text.clear();
        self.pieces.clear();
        self.msg_type.clear();
        self.msg_type.extend_from_slice(msg_type.as_ref());
        self
    }

    /// Becomes a copy, in its own memory.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.begin(&other.msg_type);
        self.text.extend_from_slice(&other.text);
        self.pieces.extend_from_slice(&other.pieces);
    }

    pub fn msg_type(&self) -> &[u8] {
        &self.msg_type
    }

    pub(crate) fn has(&self, tag: Tag) -> bool {
        self.pieces.iter().any(|piece| piece.tag == tag)
    }

    /// A field of the body; a tag of the header (such as PossResend) or of the trailer is moved there.
    pub fn field(&mut self, tag: Tag, value: impl AsRef<[u8]>) -> &mut Self {
        let start = self.text.len();
        write_field(tag, value.as_ref(), &mut self.text);
        self.pieces.push(Piece { section: Section::of(tag), tag, start, end: self.text.len() });
        self
    }

    pub fn number(&mut self, tag: Tag, value: u64) -> &mut Self {
        let mut digits = [0; 20];
        let start = format_number(value, &mut digits);
        self.field(tag, &digits[start..])
    }

    /// A field from the `Display` of the value, written in place. A value that may contain a control byte is for
    /// [`Self::field`].
    pub fn display(&mut self, tag: Tag, value: impl std::fmt::Display) -> &mut Self {
        use std::io::Write;
        let start = self.text.len();
        write_tag(tag, &mut self.text);
        write!(self.text, "{value}").expect("a vector takes every byte");
        self.close_field(tag, start)
    }

    pub fn time(&mut self, tag: Tag, value: UtcTimestamp, fraction_digits: u8) -> &mut Self {
        let start = self.text.len();
        write_tag(tag, &mut self.text);
        value.write(fraction_digits, &mut self.text);
        self.close_field(tag, start)
    }

    fn close_field(&mut self, tag: Tag, start: usize) -> &mut Self {
        self.text.push(SOH);
        self.pieces.push(Piece { section: Section::of(tag), tag, start, end: self.text.len() });
        self
    }

    /// Appends to the previous piece: the members of a group follow their count (given by [`Self::number`]) in order.
    pub fn member(&mut self, tag: Tag, value: impl AsRef<[u8]>) -> &mut Self {
        write_field(tag, value.as_ref(), &mut self.text);
        if let Some(group) = self.pieces.last_mut() {
            group.end = self.text.len();
        }
        self
    }

    /// Tags and values in wire order, without the session's header and trailer; a group is one entry with its count.
    pub fn fields_in_order(&self) -> Vec<(Tag, &[u8])> {
        let mut pieces = self.pieces.clone();
        pieces.sort_unstable_by_key(Piece::wire_order);
        let value = |piece: &Piece| {
            let field = &self.text[piece.start..piece.end];
            let start = field.iter().position(|byte| *byte == b'=').map_or(0, |at| at + 1);
            field[start..].strip_suffix(&[SOH]).unwrap_or_default()
        };
        pieces.iter().map(|piece| (piece.tag, value(piece))).collect()
    }

    /// Fields that are in order already, copied as they are, at the position of their first tag.
    pub(crate) fn append_raw_body(&mut self, first_tag: Tag, bytes: &[u8]) {
        let start = self.text.len();
        self.text.extend_from_slice(bytes);
        self.pieces.push(Piece { section: Section::Body, tag: first_tag, start, end: self.text.len() });
    }
}

/// The session's fields of a message.
pub(crate) struct HeaderFields<'a> {
    pub begin_string: &'a [u8],
    pub sender: &'a [u8],
    pub target: &'a [u8],
    pub number: u64,
    pub sending_time: UtcTimestamp,
    pub fraction_digits: u8,
    /// The first sending time, when the message is sent again.
    pub original_time: Option<&'a [u8]>,
}

/// Encodes messages with memory that it keeps.
#[derive(Debug, Default)]
pub(crate) struct FixEncoder {
    frame: OutgoingMessage,
    body: Vec<u8>,
}

impl FixEncoder {
    /// Appends the whole message.
    pub(crate) fn encode(&mut self, head: &HeaderFields<'_>, message: &OutgoingMessage, out: &mut Vec<u8>) {
        self.collect_fields(head, message);
        self.body.clear();
        write_field(tag::MSG_TYPE, &message.msg_type, &mut self.body);
        for piece in &self.frame.pieces {
            self.body.extend_from_slice(&self.frame.text[piece.start..piece.end]);
        }
        let start = out.len();
        write_field(tag::BEGIN_STRING, head.begin_string, out);
        write_number(tag::BODY_LENGTH, self.body.len() as u64, out);
        out.extend_from_slice(&self.body);
        let sum = checksum(&out[start..]);
        let digits = [b'0' + sum / 100, b'0' + sum / 10 % 10, b'0' + sum % 10];
        write_field(tag::CHECK_SUM, &digits, out);
    }

    /// Header and body together, in wire order.
    fn collect_fields(&mut self, head: &HeaderFields<'_>, message: &OutgoingMessage) {
        let frame = &mut self.frame;
        frame.copy_from(message);
        frame.number(tag::MSG_SEQ_NUM, head.number);
        frame.field(tag::SENDER_COMP_ID, head.sender);
        frame.field(tag::TARGET_COMP_ID, head.target);
        let start = frame.text.len();
        frame.text.extend_from_slice(b"52=");
        head.sending_time.write(head.fraction_digits, &mut frame.text);
        frame.text.push(SOH);
        frame.pieces.push(Piece { section: Section::Header, tag: tag::SENDING_TIME, start, end: frame.text.len() });
        if let Some(original) = head.original_time {
            frame.field(tag::POSS_DUP_FLAG, b"Y").field(tag::ORIG_SENDING_TIME, original);
        }
        frame.pieces.sort_unstable_by_key(Piece::wire_order);
    }
}

fn write_field(tag: Tag, value: &[u8], out: &mut Vec<u8>) {
    write_tag(tag, out);
    out.extend_from_slice(value);
    out.push(SOH);
}

fn write_tag(tag: Tag, out: &mut Vec<u8>) {
    if tag < 0 {
        out.push(b'-');
    }
    let mut digits = [0; 20];
    let start = format_number(u64::from(tag.unsigned_abs()), &mut digits);
    out.extend_from_slice(&digits[start..]);
    out.push(b'=');
}

fn write_number(tag: Tag, value: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let start = format_number(value, &mut digits);
    write_field(tag, &digits[start..], out);
}

/// Writes the digits at the end of the array and returns where they begin.
fn format_number(mut value: u64, digits: &mut [u8; 20]) -> usize {
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b"0123456789"[(value % 10) as usize];
        value /= 10;
        if value == 0 {
            return at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::FixDecoder;
    use super::*;
    use proptest::prelude::*;

    fn head<'a>(original_time: Option<&'a [u8]>) -> HeaderFields<'a> {
        HeaderFields {
            begin_string: b"FIX.4.4",
            sender: b"ISLD",
            target: b"TW44",
            number: 12,
            sending_time: UtcTimestamp::parse(b"20260105-12:00:00.007").unwrap(),
            fraction_digits: 3,
            original_time,
        }
    }

    fn encoded(message: &OutgoingMessage, original_time: Option<&[u8]>) -> String {
        let mut out = Vec::new();
        FixEncoder::default().encode(&head(original_time), message, &mut out);
        FixDecoder::new().decode(&out).expect("our own messages are sound");
        String::from_utf8_lossy(&out).replace('\x01', "|")
    }

    #[test]
    fn tags_ascend_in_header_and_body_and_groups_stay_whole() {
        let mut order = OutgoingMessage::new("D");
        order.field(55, "INTC").field(97, "Y").number(78, 2);
        order.member(79, "b").member(80, "1").member(79, "a").member(80, "2");
        order.field(11, "id").field(38, "002000.00").field(115, "JCD");
        assert_eq!(
            encoded(&order, None),
            "8=FIX.4.4|9=117|35=D|34=12|49=ISLD|52=20260105-12:00:00.007|56=TW44|97=Y|115=JCD|11=id|38=002000.00|55=INTC|\
             78=2|79=b|80=1|79=a|80=2|10=106|"
        );
    }

    #[test]
    fn the_length_of_a_signature_stands_before_it() {
        let mut logon = OutgoingMessage::new("A");
        logon.field(98, "0").field(89, "a\x01b").field(93, "3");
        assert_eq!(logon.fields_in_order().iter().map(|(tag, _)| *tag).collect::<Vec<_>>(), [98, 93, 89]);
        assert_eq!(
            encoded(&logon, None),
            "8=FIX.4.4|9=69|35=A|34=12|49=ISLD|52=20260105-12:00:00.007|56=TW44|98=0|93=3|89=a|b|10=118|"
        );
    }

    #[test]
    fn a_message_sent_again_says_so() {
        assert_eq!(
            encoded(OutgoingMessage::new("8").field(17, "e"), Some(b"20260105-11:00:00")),
            "8=FIX.4.4|9=84|35=8|34=12|43=Y|49=ISLD|52=20260105-12:00:00.007|56=TW44|122=20260105-11:00:00|17=e|10=106|"
        );
    }

    proptest! {
        #[test]
        fn what_is_written_can_be_read(fields in proptest::collection::btree_map(100_i32..9999, "[a-z0-9.]{1,9}", 0..40)) {
            let fields: Vec<_> = fields.into_iter().filter(|(tag, _)| !tag::is_header(*tag) && tag::data_after(*tag).is_none()).collect();
            let mut message = OutgoingMessage::new("U1");
            for (tag, value) in fields.iter().rev() {
                message.field(*tag, value);
            }
            let mut out = Vec::new();
            FixEncoder::default().encode(&head(None), &message, &mut out);
            let mut decoder = FixDecoder::new();
            let read = decoder.decode(&out).unwrap();
            let body: Vec<_> = read.fields().skip(7).map(|f| (f.tag, String::from_utf8_lossy(f.value).into_owned())).collect();
            prop_assert_eq!(&body[..body.len() - 1], &fields[..]);
        }
    }
}
