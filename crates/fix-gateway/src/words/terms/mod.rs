//! Order fields: honoured, compared, refused (they could change an execution and are not supported) or ignored. No
//! order is traded on other terms than the client sent.

mod table;
mod compared;
#[cfg(test)]
mod page;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use domain::Security;
use fix::tag::{self, Tag};
use fix::{GatewaySettings, Message};

use super::field::{EXPIRE_DATE, EXPIRE_TIME, TIME_IN_FORCE};
use super::reading::Complaint;
use super::reasons::{TERM_NOT_OFFERED, UNSUPPORTED};

pub(crate) use table::{Messages, TABLE, Treatment};

/// Fields that share a treatment and its reason.
pub(crate) struct Term {
    pub(crate) fields: &'static [(Tag, &'static str)],
    pub(crate) messages: Messages,
    pub(crate) treatment: Treatment,
    /// For the documentation.
    #[cfg_attr(not(test), expect(dead_code, reason = "the test that holds the page against the table prints it"))]
    pub(crate) why: &'static str,
}

/// The name that FIX gives a field of the table.
pub(crate) fn name_of(tag: Tag) -> Option<&'static str> {
    known(tag).map(|known| known.name)
}

/// Rejects the first term that is not supported.
pub(crate) fn check(
    message: &Message<'_>,
    security: Option<&Security>,
    rules: &GatewaySettings,
) -> Result<(), Complaint> {
    let written = |field: &fix::Field<'_>| !field.value.is_empty() && !is_of_the_session(field.tag);
    for field in message.fields().filter(written) {
        judge(message.msg_type(), field.tag, field.value, security, rules)?;
    }
    expires_as_said(message)
}

fn judge(
    msg_type: &[u8],
    tag: Tag,
    value: &[u8],
    security: Option<&Security>,
    rules: &GatewaySettings,
) -> Result<(), Complaint> {
    let Some(known) = known(tag).filter(|known| known.term.messages.include(msg_type)) else {
        return unknown(tag, rules);
    };
    let passes = match known.term.treatment {
        Treatment::Honoured | Treatment::Ignored => true,
        Treatment::Refused { passing } => is_passing(tag, value, passing),
        Treatment::Compared => match security {
            Some(security) => compared::fits(tag, value, security),
            None => return Err(not_offered(tag, " without SecurityID (48) or Symbol (55) to compare it with")),
        },
    };
    match passes {
        true => Ok(()),
        false => Err(refused(tag, value, known.term.treatment)),
    }
}

/// ExecInst is a list, and all of it must be allowed; a quantity or a count of zero has many forms.
fn is_passing(tag: Tag, value: &[u8], passing: &[&str]) -> bool {
    let one = |value: &[u8]| passing.iter().any(|known| known.as_bytes() == value);
    match tag {
        table::EXEC_INST => value.split(|byte| *byte == b' ').all(one),
        _ => one(value),
    }
}

/// User-defined tags are ignored only where the operator has set so; any other could be a term.
fn unknown(tag: Tag, rules: &GatewaySettings) -> Result<(), Complaint> {
    match tag >= tag::USER_DEFINED_MIN && rules.ignore_user_defined_fields {
        true => Ok(()),
        false => Err(not_offered(tag, " on this message, and could be a term of the order")),
    }
}

/// Order fields of the session layer; of them only an order on behalf of another firm is checked.
fn is_of_the_session(tag: Tag) -> bool {
    (tag::is_header(tag) && tag != tag::DELIVER_TO_COMP_ID) || tag::is_trailer(tag)
}

/// An expiry that the time in force does not have.
fn expires_as_said(message: &Message<'_>) -> Result<(), Complaint> {
    let is_told = |tag: &Tag| message.get(*tag).is_some_and(|value| !value.is_empty());
    match [EXPIRE_TIME, EXPIRE_DATE].into_iter().find(is_told) {
        Some(tag) if message.get(TIME_IN_FORCE) != Some(b"6") => {
            Err(not_offered(tag, " without TimeInForce (59) 6 (good till date)"))
        }
        _ => Ok(()),
    }
}

fn refused(tag: Tag, value: &[u8], treatment: Treatment) -> Complaint {
    let shown = value.escape_ascii();
    match treatment {
        Treatment::Compared => {
            let text = format!("{} {shown} is not that of the security", super::field::named(tag));
            Complaint::new(UNSUPPORTED, TERM_NOT_OFFERED, &text)
        }
        _ => not_offered(tag, &format!(": {shown}")),
    }
}

fn not_offered(tag: Tag, rest: &str) -> Complaint {
    let text = format!("{} is not offered{rest}", super::field::named(tag));
    Complaint::new(UNSUPPORTED, TERM_NOT_OFFERED, &text)
}

#[derive(Clone, Copy)]
struct Known {
    name: &'static str,
    term: &'static Term,
}

fn known(tag: Tag) -> Option<Known> {
    static BY_TAG: OnceLock<BTreeMap<Tag, Known>> = OnceLock::new();
    let by_tag = BY_TAG.get_or_init(|| {
        let of = |term: &'static Term| term.fields.iter().map(move |(tag, name)| (*tag, Known { name, term }));
        TABLE.iter().flat_map(of).collect()
    });
    by_tag.get(&tag).copied()
}
