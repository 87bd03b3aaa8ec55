//! Reading of fields; what is wrong with one is named with its tag.

use std::fmt;

use fix::FixMessage;
use fix::tag::Tag;

use crate::exchange::{Units, UnitsError};

/// The longest id of a client.
pub(crate) const CLIENT_ID_BYTES_MAX: usize = 64;

/// Why a message cannot be executed; a code of its own kind where it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FieldError {
    pub(crate) text: String,
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

pub(crate) fn wrong(name: &str, tag: Tag, reason: impl fmt::Display) -> FieldError {
    FieldError { text: format!("{name} ({tag}): {reason}") }
}

pub(crate) fn text<'a>(message: &FixMessage<'a>, name: &str, tag: Tag) -> Result<&'a str, FieldError> {
    message.text(tag).filter(|text| !text.is_empty()).ok_or_else(|| wrong(name, tag, "missing"))
}

pub(crate) fn client_id(message: &FixMessage<'_>, name: &str, tag: Tag) -> Result<String, FieldError> {
    let id = text(message, name, tag)?;
    if id.len() > CLIENT_ID_BYTES_MAX {
        return Err(wrong(name, tag, format!("longer than {CLIENT_ID_BYTES_MAX} bytes")));
    }
    Ok(id.to_owned())
}

/// A positive amount; none where the field is absent.
pub(crate) fn amount(message: &FixMessage<'_>, name: &str, tag: Tag) -> Result<Option<Units>, FieldError> {
    let Some(bytes) = message.get(tag) else { return Ok(None) };
    let amount = std::str::from_utf8(bytes).map_err(|_| UnitsError::Malformed).and_then(Units::parse);
    match amount {
        Ok(amount) if amount.is_positive() => Ok(Some(amount)),
        Ok(_) => Err(wrong(name, tag, "must be positive")),
        Err(UnitsError::Malformed) => Err(wrong(name, tag, "not a decimal number")),
        Err(UnitsError::TooPrecise) => Err(wrong(name, tag, "more than 8 decimals")),
        Err(UnitsError::Overflow) => Err(wrong(name, tag, "too large")),
    }
}

/// An amount that is needed, or one that must not be there.
pub(crate) fn amount_if(
    message: &FixMessage<'_>,
    name: &str,
    tag: Tag,
    is_needed: bool,
) -> Result<Option<Units>, FieldError> {
    match (amount(message, name, tag)?, is_needed) {
        (None, true) => Err(wrong(name, tag, "missing")),
        (Some(_), false) => Err(wrong(name, tag, "not for an order of this type")),
        (amount, _) => Ok(amount),
    }
}
