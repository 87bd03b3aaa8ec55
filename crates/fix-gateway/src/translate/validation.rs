//! Validation: messages that cannot be answered because a required field is missing or malformed get a session-level
//! Reject (3), also where messages are not validated.

use fix::tag::Tag;
use fix::{FixMessage, MessageFault, SessionRejectReason};

use super::field::{CL_ORD_ID, MASS_CANCEL_REQUEST_TYPE, MASS_STATUS_REQ_ID, MASS_STATUS_REQ_TYPE, ORDER_ID};

/// The error; `None` for a message that can be answered.
pub(crate) fn validate(message: &FixMessage<'_>) -> Option<MessageFault> {
    match message.msg_type() {
        b"D" | b"G" | b"F" => not_utf8(message, CL_ORD_ID),
        b"H" if message.get(CL_ORD_ID).is_none() => {
            missing_field(message, ORDER_ID).map(|_| required_tag_missing(CL_ORD_ID))
        }
        b"H" => not_utf8(message, CL_ORD_ID),
        b"AF" => missing_field(message, MASS_STATUS_REQ_ID)
            .or_else(|| not_utf8(message, MASS_STATUS_REQ_ID))
            .or_else(|| missing_field(message, MASS_STATUS_REQ_TYPE))
            .or_else(|| value_out_of_range(message, MASS_STATUS_REQ_TYPE, b'1'..=b'8')),
        b"q" => missing_field(message, CL_ORD_ID)
            .or_else(|| not_utf8(message, CL_ORD_ID))
            .or_else(|| missing_field(message, MASS_CANCEL_REQUEST_TYPE))
            .or_else(|| value_out_of_range(message, MASS_CANCEL_REQUEST_TYPE, b'1'..=b'7')),
        _ => None,
    }
}

fn missing_field(message: &FixMessage<'_>, tag: Tag) -> Option<MessageFault> {
    message.get(tag).is_none_or(<[u8]>::is_empty).then(|| required_tag_missing(tag))
}

fn required_tag_missing(tag: Tag) -> MessageFault {
    MessageFault::at(SessionRejectReason::RequiredTagMissing, tag)
}

/// The platform's ids are text; other bytes could not be repeated in a report.
fn not_utf8(message: &FixMessage<'_>, tag: Tag) -> Option<MessageFault> {
    let is_text = message.get(tag).is_none_or(|value| std::str::from_utf8(value).is_ok());
    (!is_text).then(|| MessageFault::at(SessionRejectReason::IncorrectDataFormat, tag))
}

fn value_out_of_range(
    message: &FixMessage<'_>,
    tag: Tag,
    values: std::ops::RangeInclusive<u8>,
) -> Option<MessageFault> {
    let is_one = matches!(message.get(tag), Some([value]) if values.contains(value));
    (!is_one).then(|| MessageFault::at(SessionRejectReason::ValueIncorrect, tag))
}
