//! Rejects: Reject (3) for what cannot be read, with the venue's code and text.

use fix::tag::Tag;
use fix::{FixMessage, OutgoingMessage, tag};

use crate::binance::api::error::ApiError;

pub(super) const ERROR_CODE: Tag = 25_016;

/// SessionRejectReason (373).
const REQUIRED_TAG_MISSING: u64 = 1;
const VALUE_IS_INCORRECT: u64 = 5;
const SIGNATURE_PROBLEM: u64 = 8;
const SENDING_TIME: u64 = 10;
const OTHER: u64 = 99;

/// Parameters of the other interfaces and their fields here.
pub(super) const FIELDS: [(&str, Tag); 19] = [
    ("symbol", 55),
    ("side", 54),
    ("type", 40),
    ("timeInForce", 59),
    ("quantity", 38),
    ("quoteOrderQty", 152),
    ("price", 44),
    ("newClientOrderId", 11),
    ("strategyId", 7_940),
    ("strategyType", 847),
    ("stopPrice", 1_102),
    ("icebergQty", 111),
    ("selfTradePreventionMode", 25_001),
    ("newQty", 38),
    ("orderId", 37),
    ("origClientOrderId", 41),
    ("cancelOrderId", 37),
    ("cancelOrigClientOrderId", 41),
    ("cancelNewClientOrderId", 25_034),
];

/// Whether a message could not be read, or names what does not exist; otherwise it was understood and refused.
pub(super) fn is_unreadable(error: &ApiError) -> bool {
    (-1_199..=-1_100).contains(&error.code) || error.code == -1_020
}

pub(super) fn missing(tag: Tag) -> ApiError {
    ApiError::bad_request(-1_102, format!("Required tag '{tag}' missing."))
}

/// The same error in the words of this interface, and the field that caused it where it names one.
pub(super) fn in_fields(error: ApiError) -> (ApiError, Option<Tag>) {
    let named = error.text.split('\'').nth(1);
    let tag = named.and_then(|name| FIELDS.iter().find(|(known, _)| *known == name).map(|(_, tag)| *tag));
    match (error.code, tag) {
        (-1_102, Some(tag)) => (missing(tag), Some(tag)),
        (_, tag) => (error, tag),
    }
}

/// A Reject (3) of a message.
pub(super) fn reject(message: Option<&FixMessage<'_>>, error: ApiError) -> OutgoingMessage {
    let (error, field) = in_fields(error);
    let mut out = OutgoingMessage::new("3");
    if let Some(message) = message {
        if let Some(number) = message.number(tag::MSG_SEQ_NUM) {
            out.number(tag::REF_SEQ_NUM, number);
        }
        out.field(tag::REF_MSG_TYPE, message.msg_type());
    }
    if let Some(field) = field {
        out.display(tag::REF_TAG_ID, field);
    }
    let reason = match error.code {
        -1_102 => REQUIRED_TAG_MISSING,
        -1_021 => SENDING_TIME,
        -1_022 => SIGNATURE_PROBLEM,
        _ if is_unreadable(&error) => VALUE_IS_INCORRECT,
        _ => OTHER,
    };
    out.number(tag::SESSION_REJECT_REASON, reason).display(ERROR_CODE, error.code).field(tag::TEXT, error.text);
    out
}
