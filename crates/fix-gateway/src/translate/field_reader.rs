//! Field readers. Errors name the tag, because the client's engineers search for it.

use std::str::FromStr;

use domain::{Date, Decimal, Timestamp};
use fix::tag::Tag;
use fix::{FixMessage, UtcTimestamp};

use super::field::tag_with_name;
use super::reject_codes::OTHER;
use crate::limits::REPEATED_CHARS_MAX;

/// Why a message cannot become a command; its codes are those of OrdRejReason and CxlRejReason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MessageReject {
    pub(crate) reason: u64,
    /// Stable, kebab-case.
    pub(crate) code: String,
    pub(crate) text: String,
}

impl MessageReject {
    pub(crate) fn new(reason: u64, code: &str, text: &str) -> Self {
        Self { reason, code: code.to_owned(), text: text.to_owned() }
    }

    /// As in Text (58).
    pub(crate) fn display_text(&self) -> String {
        format!("{}: {}", self.code, self.text)
    }

    pub(crate) fn other(code: &str, text: &str) -> Self {
        Self::new(OTHER, code, text)
    }

    pub(crate) fn missing(tag: Tag) -> Self {
        Self::other("missing-field", &format!("{} is needed", tag_with_name(tag)))
    }

    pub(crate) fn invalid(tag: Tag, value: &[u8], wanted: &str) -> Self {
        let is_cut = value.len() > REPEATED_CHARS_MAX;
        let shown = value[..value.len().min(REPEATED_CHARS_MAX)].escape_ascii();
        let shown = format!("{shown}{}", if is_cut { "…" } else { "" });
        Self::other("bad-field", &format!("{} {shown} is not {wanted}", tag_with_name(tag)))
    }

    pub(crate) fn unexpected(tag: Tag) -> Self {
        Self::other("not-needed", &format!("{} does not belong to this kind of order", tag_with_name(tag)))
    }
}

pub(crate) fn required<'a>(message: &FixMessage<'a>, tag: Tag) -> Result<&'a [u8], MessageReject> {
    message.get(tag).filter(|value| !value.is_empty()).ok_or_else(|| MessageReject::missing(tag))
}

/// Text of a client; bytes that are not UTF-8 are replaced.
pub(crate) fn text_field(message: &FixMessage<'_>, tag: Tag) -> Option<String> {
    let value = message.get(tag).filter(|value| !value.is_empty())?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// An optional field.
pub(crate) fn optional<T: FromStr>(
    message: &FixMessage<'_>,
    tag: Tag,
    wanted: &str,
) -> Result<Option<T>, MessageReject> {
    let Some(value) = message.get(tag).filter(|value| !value.is_empty()) else { return Ok(None) };
    let parsed = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
    parsed.map(Some).ok_or_else(|| MessageReject::invalid(tag, value, wanted))
}

pub(crate) fn decimal(message: &FixMessage<'_>, tag: Tag) -> Result<Option<Decimal>, MessageReject> {
    let Some(value) = message.get(tag).filter(|value| !value.is_empty()) else { return Ok(None) };
    let parsed = std::str::from_utf8(value).ok().and_then(parse_decimal);
    parsed.map(Some).ok_or_else(|| MessageReject::invalid(tag, value, "a decimal"))
}

/// A decimal in FIX format: digits, optional sign and point.
pub(crate) fn parse_decimal(text: &str) -> Option<Decimal> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || b"-.".contains(&byte));
    Decimal::from_str_exact(text).ok().filter(|_| is_plain)
}

pub(crate) fn time(message: &FixMessage<'_>, tag: Tag) -> Result<Option<Timestamp>, MessageReject> {
    let Some(value) = message.get(tag) else { return Ok(None) };
    let parsed = UtcTimestamp::parse(value).map(|time| Timestamp(time.nanos()));
    parsed.map(Some).ok_or_else(|| MessageReject::invalid(tag, value, "a UTC time such as 20260105-14:30:00"))
}

/// `YYYYMMDD`.
pub(crate) fn date(message: &FixMessage<'_>, tag: Tag) -> Result<Option<Date>, MessageReject> {
    let Some(value) = message.get(tag) else { return Ok(None) };
    let text = std::str::from_utf8(value).ok().filter(|text| text.len() == 8 && text.is_ascii());
    let parsed = text.and_then(|text| format!("{}-{}-{}", &text[..4], &text[4..6], &text[6..]).parse().ok());
    parsed.map(Some).ok_or_else(|| MessageReject::invalid(tag, value, "a date such as 20260105"))
}

pub(crate) fn flag(message: &FixMessage<'_>, tag: Tag) -> Result<bool, MessageReject> {
    match message.get(tag) {
        None | Some(b"N" | b"") => Ok(false),
        Some(b"Y") => Ok(true),
        Some(other) => Err(MessageReject::invalid(tag, other, "Y or N")),
    }
}
