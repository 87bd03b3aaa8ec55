//! Check of a request against the dictionary of its FIX version, before it leaves. Tags that the version does not have on a
//! message pass where the dialect adds them on purpose, and those that it leaves out need not be there.

use fix::{CheckRules, Dictionary, DictionaryChecker, FixDecoder, OutgoingMessage, SOH};

use crate::dialect::{Dialect, FixVersion};
use crate::requests::RequestRefusal;

/// What stands for the header that the session adds.
const HEADER: [(u32, &str); 4] = [(34, "1"), (49, "S"), (52, "20260101-00:00:00"), (56, "T")];

/// What stands for fields that the dialect leaves out on purpose.
const LEFT_OUT: [(fix::tag::Tag, &str); 3] = [(38, "1"), (54, "1"), (60, "20260101-00:00:00")];

/// Checks one message after the other.
pub struct MessageCheck {
    dictionary: Dictionary,
    checker: DictionaryChecker,
    begin_string: &'static str,
    /// Tags of the dialect itself.
    added: Vec<fix::tag::Tag>,
    dialect: Dialect,
}

impl MessageCheck {
    pub fn new(dialect: &Dialect) -> Self {
        let dictionary = match dialect.version {
            FixVersion::Fix42 => Dictionary::fix42(),
            FixVersion::Fix44 => Dictionary::fix44(),
            FixVersion::Fix50Sp2 => Dictionary::fix50sp2(),
        };
        let added = dialect.fields.iter().map(|field| field.tag);
        let added = added.chain(dialect.orders.pass_through.iter().copied()).collect();
        let begin_string = dialect.version.begin_string();
        let dialect = dialect.clone();
        Self { dictionary, checker: DictionaryChecker::default(), begin_string, added, dialect }
    }

    pub fn check(&mut self, message: &OutgoingMessage) -> Result<(), RequestRefusal> {
        let frame = self.frame(message);
        let mut decoder = FixDecoder::new();
        let decoded = decoder.decode(&frame).map_err(|garbled| refusal(message, &garbled.to_string()))?;
        let checked = self.checker.check(&self.dictionary, CheckRules::default(), &decoded);
        checked.map_err(|fault| {
            let place = fault.tag.map_or_else(String::new, |tag| format!(" (tag {tag})"));
            refusal(message, &format!("{}{place}", fault.reason.text()))
        })
    }

    fn frame(&self, message: &OutgoingMessage) -> Vec<u8> {
        let known = self.dictionary.fields_of(message.msg_type());
        let is_checked = |tag: &fix::tag::Tag| known.contains(tag) || !self.added.contains(tag);
        let mut body = Vec::new();
        write(&mut body, "35", message.msg_type());
        HEADER.iter().for_each(|(tag, value)| write(&mut body, &tag.to_string(), value.as_bytes()));
        for (tag, value) in message.fields_in_order().into_iter().filter(|(tag, _)| is_checked(tag)) {
            write(&mut body, &tag.to_string(), value);
        }
        let msg_type = String::from_utf8_lossy(message.msg_type());
        for (tag, value) in LEFT_OUT.iter().filter(|(tag, _)| self.dialect.omits(&msg_type, *tag)) {
            write(&mut body, &tag.to_string(), value.as_bytes());
        }
        let mut frame = Vec::new();
        write(&mut frame, "8", self.begin_string.as_bytes());
        write(&mut frame, "9", body.len().to_string().as_bytes());
        frame.extend(body);
        let sum = frame.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
        write(&mut frame, "10", format!("{sum:03}").as_bytes());
        frame
    }
}

fn write(out: &mut Vec<u8>, tag: &str, value: &[u8]) {
    out.extend_from_slice(tag.as_bytes());
    out.push(b'=');
    out.extend_from_slice(value);
    out.push(SOH);
}

fn refusal(message: &OutgoingMessage, reason: &str) -> RequestRefusal {
    let msg_type = String::from_utf8_lossy(message.msg_type()).into_owned();
    RequestRefusal::new("venue-message", format!("message {msg_type} breaks the dictionary: {reason}"))
}
