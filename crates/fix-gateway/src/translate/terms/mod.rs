//! Order fields: honoured, compared, refused (they could change an execution and are not supported) or ignored. No
//! order is traded on other terms than the client sent.

pub(super) mod table;
mod security_description;
#[cfg(test)]
mod tests;

use domain::Security;
use fix::tag::{self, Tag};
use fix::{FixMessage, GatewaySettings};

use super::field::tag_with_name;
use super::field::{EXPIRE_DATE, EXPIRE_TIME, TIME_IN_FORCE};
use super::field_reader::MessageReject;
use super::reject_codes::{TERM_NOT_OFFERED, UNSUPPORTED};
use crate::limits::PASSED_BYTES_MAX;

pub(super) use security_description::{expiry_digits, matches_security};
use table::{Treatment, known_field};

/// Rejects the first term that is not supported.
pub(crate) fn check(
    message: &FixMessage<'_>,
    security: Option<&Security>,
    rules: &GatewaySettings,
) -> Result<(), MessageReject> {
    let written = |field: &fix::FixField<'_>| !field.value.is_empty() && !is_session_tag(field.tag);
    for field in message.fields().filter(written) {
        check_field(message.msg_type(), field.tag, field.value, security, rules)?;
    }
    check_expiry(message)
}

fn check_field(
    msg_type: &[u8],
    tag: Tag,
    value: &[u8],
    security: Option<&Security>,
    rules: &GatewaySettings,
) -> Result<(), MessageReject> {
    if rules.pass_through.contains(&tag) {
        return check_passed_value(tag, value);
    }
    let Some(known) = known_field(tag).filter(|known| known.term.messages.includes(msg_type)) else {
        return check_unknown_tag(tag, rules);
    };
    let passes = match known.term.treatment {
        Treatment::Honoured | Treatment::Ignored => true,
        Treatment::Refused { passing } => is_accepted_value(tag, value, passing),
        Treatment::Compared => match security {
            Some(security) => matches_security(tag, value, security),
            None => return Err(term_not_offered(tag, " without SecurityID (48) or Symbol (55) to compare it with")),
        },
    };
    match passes {
        true => Ok(()),
        false => Err(unsupported_value(tag, value, known.term.treatment)),
    }
}

/// What goes on to a venue must be readable there.
fn check_passed_value(tag: Tag, value: &[u8]) -> Result<(), MessageReject> {
    let is_text = std::str::from_utf8(value).is_ok_and(|text| !text.chars().any(char::is_control));
    match is_text && value.len() <= PASSED_BYTES_MAX {
        true => Ok(()),
        false => Err(MessageReject::invalid(tag, value, "printable text of at most 255 bytes")),
    }
}

/// Why a field cannot go on to a venue as it is: it is a term of the order, or one of several fields that belong together.
pub(crate) fn not_passable(tag: Tag) -> Option<&'static str> {
    match known_field(tag).map(|known| known.term.treatment) {
        _ if tag::is_header(tag) || tag::is_trailer(tag) => Some("is of the session"),
        _ if NOT_ALONE.contains(&tag) => Some("belongs to a repeating group or to a length"),
        Some(Treatment::Honoured | Treatment::Compared | Treatment::Refused { .. }) => Some("is a term of the order"),
        Some(Treatment::Ignored) | None => None,
    }
}

/// Ignored fields that mean nothing without others.
const NOT_ALONE: [Tag; 16] = [348, 349, 350, 351, 354, 355, 447, 448, 452, 453, 454, 455, 456, 523, 802, 803];

/// ExecInst is a list, and all of it must be allowed; a quantity or a count of zero has many forms.
fn is_accepted_value(tag: Tag, value: &[u8], passing: &[&str]) -> bool {
    let one = |value: &[u8]| passing.iter().any(|known| known.as_bytes() == value);
    match tag {
        table::EXEC_INST => value.split(|byte| *byte == b' ').all(one),
        _ => one(value),
    }
}

/// User-defined tags are ignored only where the operator has set so; any other could be a term.
fn check_unknown_tag(tag: Tag, rules: &GatewaySettings) -> Result<(), MessageReject> {
    match tag >= tag::USER_DEFINED_MIN && rules.ignore_user_defined_fields {
        true => Ok(()),
        false => Err(term_not_offered(tag, " on this message, and could be a term of the order")),
    }
}

/// Order fields of the session layer; of them only an order on behalf of another firm is checked.
fn is_session_tag(tag: Tag) -> bool {
    (tag::is_header(tag) && tag != tag::DELIVER_TO_COMP_ID) || tag::is_trailer(tag)
}

/// An expiry that the time in force does not have.
fn check_expiry(message: &FixMessage<'_>) -> Result<(), MessageReject> {
    let is_told = |tag: &Tag| message.get(*tag).is_some_and(|value| !value.is_empty());
    match [EXPIRE_TIME, EXPIRE_DATE].into_iter().find(is_told) {
        Some(tag) if message.get(TIME_IN_FORCE) != Some(b"6") => {
            Err(term_not_offered(tag, " without TimeInForce (59) 6 (good till date)"))
        }
        _ => Ok(()),
    }
}

fn unsupported_value(tag: Tag, value: &[u8], treatment: Treatment) -> MessageReject {
    let shown = value.escape_ascii();
    match treatment {
        Treatment::Compared => {
            let text = format!("{} {shown} is not that of the security", tag_with_name(tag));
            MessageReject::new(UNSUPPORTED, TERM_NOT_OFFERED, &text)
        }
        _ => term_not_offered(tag, &format!(": {shown}")),
    }
}

fn term_not_offered(tag: Tag, rest: &str) -> MessageReject {
    let text = format!("{} is not offered{rest}", tag_with_name(tag));
    MessageReject::new(UNSUPPORTED, TERM_NOT_OFFERED, &text)
}
