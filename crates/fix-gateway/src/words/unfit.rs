//! Messages that can't even be answered as what they are: what the answer has to repeat is missing, or FIX has no such value.
//! They are rejected on the level of the session (3), also where messages are not validated.

use fix::tag::Tag;
use fix::{Fault, Message, RejectReason};

use super::field::{CL_ORD_ID, MASS_CANCEL_REQUEST_TYPE, MASS_STATUS_REQ_ID, MASS_STATUS_REQ_TYPE, ORDER_ID};

/// What is wrong with it; none for a message that somebody can answer.
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

/// The platform's ids are text; what is none could not be repeated in a report.
fn unreadable(message: &Message<'_>, tag: Tag) -> Option<Fault> {
    let is_text = message.get(tag).is_none_or(|value| std::str::from_utf8(value).is_ok());
    (!is_text).then(|| Fault::at(RejectReason::IncorrectDataFormat, tag))
}

fn outside(message: &Message<'_>, tag: Tag, values: std::ops::RangeInclusive<u8>) -> Option<Fault> {
    let is_one = matches!(message.get(tag), Some([value]) if values.contains(value));
    (!is_one).then(|| Fault::at(RejectReason::ValueIncorrect, tag))
}
