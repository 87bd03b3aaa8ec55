//! A dictionary as parsed: fields with their values, and the items of each message, components resolved.

use crate::codec::UtcTimestamp;
use crate::tag::Tag;

#[derive(Debug, Default)]
pub(super) struct DictionarySpec {
    /// Such as `FIX.4.4`.
    pub version: String,
    pub fields: Vec<FieldSpec>,
    pub header: Vec<Item>,
    pub trailer: Vec<Item>,
    pub messages: Vec<MessageSpec>,
}

#[derive(Debug)]
pub(super) struct FieldSpec {
    pub tag: Tag,
    pub kind: FieldType,
    /// The allowed values; empty means any.
    pub values: Vec<String>,
}

#[derive(Debug)]
pub(super) struct MessageSpec {
    pub msg_type: String,
    pub items: Vec<Item>,
}

#[derive(Debug)]
pub(super) struct Item {
    pub tag: Tag,
    pub required: bool,
    /// The items of an entry, where the item is the count of a repeating group.
    pub members: Option<Vec<Item>>,
}

/// Types as far as QuickFIX checks them: dates of local markets, months and currencies are free text to both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldType {
    Text,
    /// Several values separated by spaces, each of which must be allowed.
    MultipleValue,
    Char,
    Boolean,
    Int,
    Float,
    Timestamp,
    TimeOfDay,
    Date,
}

impl FieldType {
    /// By the name in QuickFIX's files; an unknown name means text.
    pub(super) fn from_name(name: &str) -> Self {
        match name.to_ascii_uppercase().as_str() {
            "CHAR" => Self::Char,
            "BOOLEAN" => Self::Boolean,
            "INT" | "LENGTH" | "NUMINGROUP" | "SEQNUM" | "TAGNUM" => Self::Int,
            "FLOAT" | "AMT" | "PRICE" | "PRICEOFFSET" | "QTY" | "PERCENTAGE" => Self::Float,
            "UTCTIMESTAMP" | "TIME" => Self::Timestamp,
            "UTCTIMEONLY" => Self::TimeOfDay,
            "UTCDATEONLY" | "UTCDATE" => Self::Date,
            "MULTIPLEVALUESTRING" | "MULTIPLECHARVALUE" | "MULTIPLESTRINGVALUE" => Self::MultipleValue,
            _ => Self::Text,
        }
    }

    pub(super) fn accepts(self, value: &[u8]) -> bool {
        match self {
            Self::Text | Self::MultipleValue => true,
            Self::Char => value.len() == 1,
            Self::Boolean => matches!(value, b"Y" | b"N"),
            Self::Int => is_number(value, 0),
            Self::Float => is_number(value, 1),
            Self::Timestamp => UtcTimestamp::parse(value).is_some(),
            Self::TimeOfDay => is_time_of_day(value),
            Self::Date => is_date(value),
        }
    }
}

/// An optional minus, digits, and at most `points_max` points among them; never a plus or an exponent.
fn is_number(value: &[u8], points_max: usize) -> bool {
    let figures = value.strip_prefix(b"-").unwrap_or(value);
    let digits = figures.iter().filter(|byte| byte.is_ascii_digit()).count();
    let points = figures.iter().filter(|byte| **byte == b'.').count();
    digits > 0 && points <= points_max && digits + points == figures.len()
}

fn is_time_of_day(value: &[u8]) -> bool {
    UtcTimestamp::parse(&[b"20000101-".as_slice(), value].concat()).is_some()
}

fn is_date(value: &[u8]) -> bool {
    value.len() == 8 && UtcTimestamp::parse(&[value, b"-00:00:00".as_slice()].concat()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_knows_its_own() {
        let table = [
            ("INT", "0 12 -3 007", "+1 1.0 - x"),
            ("QTY", "002000.00 -1 1. .5", ". - 1e5 +1 1,5 1..2"),
            ("CHAR", "A 1", "AB"),
            ("BOOLEAN", "Y N", "y X 1"),
            ("UTCTIMESTAMP", "20260105-12:00:00 20260105-12:00:00.123456", "20260105 12:00:00"),
            ("UTCTIMEONLY", "12:00:00 12:00:00.123", "12:00 25:00:00"),
            ("UTCDATEONLY", "20260105", "20261305 2026"),
            ("LOCALMKTDATE", "20260105 2026", ""),
            ("SOMETHING", "anything", ""),
        ];
        for (name, good, bad) in table {
            for value in good.split_whitespace() {
                assert!(FieldType::from_name(name).accepts(value.as_bytes()), "{name} {value}");
            }
            for value in bad.split_whitespace() {
                assert!(!FieldType::from_name(name).accepts(value.as_bytes()), "{name} {value}");
            }
        }
    }
}
