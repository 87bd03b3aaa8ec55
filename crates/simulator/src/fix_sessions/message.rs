//! Messages of the simulated FIX clients: their own encoder, which shares nothing with the platform's.

use domain::Decimal;
use fix::{FixMessage, UtcTimestamp};

const SOH: char = '\u{1}';
const SERVER: &str = "RIALTO";

/// Tags that differ from one sending of a message to the next.
const PER_TRANSMISSION: [i32; 6] = [8, 9, 10, 43, 52, 122];

/// Of the header, unlike all others that a client gives.
pub(crate) const POSS_RESEND: i32 = 97;
pub(crate) const MSG_SEQ_NUM: i32 = 34;
pub(crate) const CL_ORD_ID: i32 = 11;
pub(crate) const ORIG_CL_ORD_ID: i32 = 41;
pub(crate) const ACCOUNT: i32 = 1;
pub(crate) const CUM_QTY: i32 = 14;
pub(crate) const LAST_PX: i32 = 31;
pub(crate) const LAST_QTY: i32 = 32;
pub(crate) const ORDER_QTY: i32 = 38;
pub(crate) const PRICE: i32 = 44;
pub(crate) const SIDE: i32 = 54;
pub(crate) const SYMBOL: i32 = 55;
pub(crate) const TEXT: i32 = 58;
pub(crate) const TIME_IN_FORCE: i32 = 59;
pub(crate) const EXEC_ID: i32 = 17;
pub(crate) const ORDER_ID: i32 = 37;
pub(crate) const ORD_STATUS: i32 = 39;
pub(crate) const EXEC_TYPE: i32 = 150;
pub(crate) const REF_SEQ_NUM: i32 = 45;
pub(crate) const BEGIN_SEQ_NO: i32 = 7;
pub(crate) const END_SEQ_NO: i32 = 16;
pub(crate) const NEW_SEQ_NO: i32 = 36;

/// OrderID (37) of an order that does not exist.
pub(crate) const NO_ORDER: &str = "NONE";

/// Type and fields of a message, without the session's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientMessage {
    pub(crate) msg_type: &'static str,
    pub(crate) fields: Vec<(i32, String)>,
}

impl ClientMessage {
    pub(crate) fn new(msg_type: &'static str) -> Self {
        Self { msg_type, fields: vec![] }
    }

    pub(crate) fn with(mut self, tag: i32, value: impl ToString) -> Self {
        self.fields.push((tag, value.to_string()));
        self
    }

    /// Whether it is for the application: such a message is sent again where the platform asks for it.
    pub(crate) fn is_application(&self) -> bool {
        matches!(self.msg_type, "D" | "F" | "G")
    }

    pub(crate) fn get(&self, tag: i32) -> Option<&str> {
        self.fields.iter().find(|(known, _)| *known == tag).map(|(_, value)| value.as_str())
    }

    pub(crate) fn decimal(&self, tag: i32) -> Option<Decimal> {
        self.get(tag)?.parse().ok()
    }
}

/// What a sending adds.
pub(crate) struct Sending<'a> {
    pub(crate) comp_id: &'a str,
    pub(crate) number: u64,
    /// The wall clock.
    pub(crate) wall: i64,
    /// When it was sent first, where it is sent again.
    pub(crate) first_sent: Option<i64>,
}

/// The bytes of a message.
pub(crate) fn encode(message: &ClientMessage, sending: &Sending<'_>) -> Vec<u8> {
    let Sending { comp_id, number, wall, first_sent } = sending;
    let mut body = format!("35={}{SOH}34={number}{SOH}", message.msg_type);
    if first_sent.is_some() {
        body += &format!("43=Y{SOH}");
    }
    body += &format!("49={comp_id}{SOH}52={}{SOH}56={SERVER}{SOH}", utc(*wall));
    if message.get(POSS_RESEND).is_some() {
        body += &format!("{POSS_RESEND}=Y{SOH}");
    }
    if let Some(first) = first_sent {
        // A wall that was set back: nothing was sent after it is sent again.
        body += &format!("122={}{SOH}", utc(*first.min(wall)));
    }
    let of_body = message.fields.iter().filter(|(tag, _)| *tag != POSS_RESEND);
    of_body.for_each(|(tag, value)| body += &format!("{tag}={value}{SOH}"));
    let text = format!("8=FIX.4.4{SOH}9={}{SOH}{body}", body.len());
    let sum = text.bytes().fold(0, u8::wrapping_add);
    format!("{text}10={sum:03}{SOH}").into_bytes()
}

pub(crate) fn utc(nanos: i64) -> String {
    let mut text = Vec::new();
    UtcTimestamp::from_nanos(nanos).write(3, &mut text);
    String::from_utf8(text).expect("digits and colons")
}

/// A message of the platform, as the client keeps it: what is the same in every sending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlatformMessage {
    pub(crate) msg_type: String,
    pub(super) fields: Vec<(i32, String)>,
}

impl PlatformMessage {
    pub(crate) fn of(message: &FixMessage<'_>) -> Self {
        let fields = message.fields().filter(|field| !PER_TRANSMISSION.contains(&field.tag));
        let fields = fields.map(|field| (field.tag, String::from_utf8_lossy(field.value).into_owned())).collect();
        Self { msg_type: String::from_utf8_lossy(message.msg_type()).into_owned(), fields }
    }

    pub(crate) fn get(&self, tag: i32) -> Option<&str> {
        self.fields.iter().find(|(known, _)| *known == tag).map(|(_, value)| value.as_str())
    }

    pub(crate) fn decimal(&self, tag: i32) -> Option<Decimal> {
        self.get(tag)?.parse().ok()
    }

    /// Whether it is sent again on request, under its number.
    pub(crate) fn is_application(&self) -> bool {
        !matches!(self.msg_type.as_str(), "0" | "1" | "2" | "3" | "4" | "5" | "A")
    }
}
