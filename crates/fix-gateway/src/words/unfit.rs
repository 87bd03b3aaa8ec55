//! Validation: messages that cannot be answered because a required field is missing or malformed get a session-level
//! Reject (3), also where messages are not validated.

use fix::tag::Tag;
use fix::{Fault, Message, RejectReason};

use super::field::{CL_ORD_ID, MASS_CANCEL_REQUEST_TYPE, MASS_STATUS_REQ_ID, MASS_STATUS_REQ_TYPE, ORDER_ID};

/// The error; `None` for a message that can be answered.
pub(crate) fn unfit(message: &Message<'_>) -> Option<Fault> {
    match message.msg_type() {
        b"D" | b"G" | b"F" => unreadable(message, CL_ORD_ID),
        b"H" if message.get(CL_ORD_ID).is_none() => missing(message, ORDER_ID).map(|_| absent(CL_ORD_ID)),
        b"H" => unreadable(message, CL_ORD_ID),
        b"AF" => missing(message, MASS_STATUS_REQ_ID)
            .or_else(|| unreadable(message, MASS_STATUS_REQ_ID))
            .or_else(|| missing(message, MASS_STATUS_REQ_TYPE))
            .or_else(|| outside(message, MASS_STATUS_REQ_TYPE, b'1'..=b'8')),
        b"q" => missing(message, CL_ORD_ID)
            .or_else(|| unreadable(message, CL_ORD_ID))
            .or_else(|| missing(message, MASS_CANCEL_REQUEST_TYPE))
            .or_else(|| outside(message, MASS_CANCEL_REQUEST_TYPE, b'1'..=b'7')),
        _ => None,
    }
}

fn missing(message: &Message<'_>, tag: Tag) -> Option<Fault> {
    message.get(tag).is_none_or(<[u8]>::is_empty).then(|| absent(tag))
}

fn absent(tag: Tag) -> Fault {
    Fault::at(RejectReason::RequiredTagMissing, tag)
}

/// The platform's ids are text; other bytes could not be repeated in a report.
fn unreadable(message: &Message<'_>, tag: Tag) -> Option<Fault> {
    let is_text = message.get(tag).is_none_or(|value| std::str::from_utf8(value).is_ok());
    (!is_text).then(|| Fault::at(RejectReason::IncorrectDataFormat, tag))
}

fn outside(message: &Message<'_>, tag: Tag, values: std::ops::RangeInclusive<u8>) -> Option<Fault> {
    let is_one = matches!(message.get(tag), Some([value]) if values.contains(value));
    (!is_one).then(|| Fault::at(RejectReason::ValueIncorrect, tag))
}
