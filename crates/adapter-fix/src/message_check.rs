//! Check of a request against the dictionary of its FIX version, before it leaves. Tags that the version does not have on a
//! message pass where the dialect adds them on purpose, and those that it leaves out need not be there.

use std::fmt;
use std::sync::LazyLock;

use fix::{CheckRules, Dictionary, DictionaryChecker, FixDecoder, Garbled, MessageFault, OutgoingMessage, SOH};

use crate::dialect::{Dialect, ExtraField, FixVersion, OrderNaming, SessionRole};
use crate::requests::RequestRefusal;
use crate::sessions::logon_fields::sample_logon;

/// What stands for the header that the session adds.
const HEADER: [(fix::tag::Tag, &str); 4] = [(34, "1"), (49, "S"), (52, "20260101-00:00:00"), (56, "T")];

/// OrigClOrdID.
const ORIG_CL_ORD_ID: fix::tag::Tag = 41;

/// What stands for fields that the dialect leaves out on purpose.
const LEFT_OUT: [(fix::tag::Tag, &str); 3] = [(38, "1"), (54, "1"), (60, "20260101-00:00:00")];

/// Checks one message after the other, with memory that it keeps.
pub struct MessageCheck {
    dictionary: &'static Dictionary,
    checker: DictionaryChecker,
    begin_string: &'static str,
    /// Tags of the dialect itself.
    added: Vec<fix::tag::Tag>,
    /// Of each type that was seen, those of them that the version does not have.
    unknown: Vec<(Vec<u8>, Vec<fix::tag::Tag>)>,
    dialect: Dialect,
    decoder: FixDecoder,
    body: Vec<u8>,
    frame: Vec<u8>,
}

/// Why a message may not leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CheckFault {
    Garbled(Garbled),
    Dictionary(MessageFault),
}

impl fmt::Display for CheckFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Garbled(garbled) => garbled.fmt(f),
            Self::Dictionary(MessageFault { reason, tag: None }) => f.write_str(reason.text()),
            Self::Dictionary(MessageFault { reason, tag: Some(tag) }) => write!(f, "{} (tag {tag})", reason.text()),
        }
    }
}

/// The dictionary of a version, made once for all adapters: to read its XML takes longer than all else that opens one.
fn dictionary_of(version: FixVersion) -> &'static Dictionary {
    static FIX42: LazyLock<Dictionary> = LazyLock::new(Dictionary::fix42);
    static FIX44: LazyLock<Dictionary> = LazyLock::new(Dictionary::fix44);
    static FIX50SP2: LazyLock<Dictionary> = LazyLock::new(Dictionary::fix50sp2);
    match version {
        FixVersion::Fix42 => &FIX42,
        FixVersion::Fix44 => &FIX44,
        FixVersion::Fix50Sp2 => &FIX50SP2,
    }
}

impl MessageCheck {
    pub fn new(dialect: &Dialect) -> Self {
        let asked = [dialect.recovery.ended_orders_tag, dialect.recovery.fills_limit_tag].into_iter().flatten();
        let added = dialect.added().flat_map(ExtraField::tags).chain(asked).chain(dialect.orders.properties.tags());
        let added = added.chain(dialect.logon.tags());
        Self {
            dictionary: dictionary_of(dialect.version),
            checker: DictionaryChecker::default(),
            begin_string: dialect.version.begin_string(),
            added: added.chain(dialect.orders.pass_through.iter().copied()).collect(),
            unknown: Vec::new(),
            dialect: dialect.clone(),
            decoder: FixDecoder::new(),
            body: Vec::new(),
            frame: Vec::new(),
        }
    }

    pub fn check(&mut self, message: &OutgoingMessage) -> Result<(), RequestRefusal> {
        self.find_fault(message).map_err(|fault| {
            let msg_type = String::from_utf8_lossy(message.msg_type()).into_owned();
            RequestRefusal::new("venue-message", format!("message {msg_type} breaks the dictionary: {fault}"))
        })
    }

    pub(crate) fn find_fault(&mut self, message: &OutgoingMessage) -> Result<(), CheckFault> {
        let unknown = self.unknown_in(message.msg_type());
        self.write_body(message, unknown);
        self.seal();
        let decoded = self.decoder.decode(&self.frame).map_err(CheckFault::Garbled)?;
        let checked = self.checker.check(self.dictionary, CheckRules::default(), &decoded);
        checked.map_err(CheckFault::Dictionary)
    }

    /// Where the tags of a type stand that are not checked. All fields of a type are looked through for it, so once is enough.
    fn unknown_in(&mut self, msg_type: &[u8]) -> usize {
        if let Some(place) = self.unknown.iter().position(|(known, _)| known == msg_type) {
            return place;
        }
        let known = self.dictionary.fields_of(msg_type);
        let is_unknown = |tag: &fix::tag::Tag| !fix::tag::is_header(*tag) && !known.contains(tag);
        let unknown = self.added.iter().copied().filter(is_unknown).collect();
        self.unknown.push((msg_type.to_vec(), unknown));
        self.unknown.len() - 1
    }

    fn write_body(&mut self, message: &OutgoingMessage, unknown: usize) {
        let (body, unknown) = (&mut self.body, &self.unknown[unknown].1);
        body.clear();
        write(body, 35, message.msg_type());
        HEADER.iter().for_each(|(tag, value)| write(body, *tag, value.as_bytes()));
        let fields = message.fields_in_order();
        for (tag, value) in fields.iter().filter(|(tag, _)| !unknown.contains(tag)) {
            write_group(body, (*tag, value), unknown);
        }
        // The venue has not told its id yet, and knows the order by ours.
        let is_named = fields.iter().any(|(tag, _)| *tag == ORIG_CL_ORD_ID);
        let names_by_venue = self.dialect.ids.naming == OrderNaming::Venue;
        if names_by_venue && !is_named && matches!(message.msg_type(), b"F" | b"G") {
            write(body, ORIG_CL_ORD_ID, b"1");
        }
        let msg_type = String::from_utf8_lossy(message.msg_type());
        for (tag, value) in LEFT_OUT.iter().filter(|(tag, _)| self.dialect.omits(&msg_type, *tag)) {
            write(body, *tag, value.as_bytes());
        }
    }

    /// The body as a whole message, with its length and checksum.
    fn seal(&mut self) {
        let (body, frame) = (&self.body, &mut self.frame);
        frame.clear();
        write(frame, 8, self.begin_string.as_bytes());
        frame.extend_from_slice(b"9=");
        write_digits(frame, body.len() as u64);
        frame.push(SOH);
        frame.extend_from_slice(body);
        let sum = frame.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
        write(frame, 10, &[b'0' + sum / 100, b'0' + sum / 10 % 10, b'0' + sum % 10]);
    }
}

/// A field, or a group without the members that are not checked.
fn write_group(out: &mut Vec<u8>, (tag, value): (fix::tag::Tag, &[u8]), unknown: &[fix::tag::Tag]) {
    let mut parts = value.split(|byte| *byte == SOH);
    write(out, tag, parts.next().unwrap_or_default());
    let is_checked = |member: &&[u8]| {
        let digits = member.split(|byte| *byte == b'=').next().unwrap_or_default();
        let tag = str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
        tag.is_none_or(|tag| !unknown.contains(&tag))
    };
    for member in parts.filter(is_checked) {
        out.extend_from_slice(member);
        out.push(SOH);
    }
}

/// Whether the Logon of every session of a dialect keeps to the dictionary. What differs from one Logon to the next is a text in any case,
/// so this is known before the first one is sent.
pub fn check_logons(dialect: &Dialect) -> Result<(), RequestRefusal> {
    let mut check = MessageCheck::new(dialect);
    SessionRole::ALL.into_iter().try_for_each(|role| check.check(&sample_logon(dialect, role)))
}

fn write(out: &mut Vec<u8>, tag: fix::tag::Tag, value: &[u8]) {
    write_digits(out, tag.unsigned_abs().into());
    out.push(b'=');
    out.extend_from_slice(value);
    out.push(SOH);
}

fn write_digits(out: &mut Vec<u8>, number: u64) {
    if number >= 10 {
        write_digits(out, number / 10);
    }
    out.push(b"0123456789"[(number % 10) as usize]);
}
