//! Request fields: every error is collected with field and reason, so that a client receives all of them at once.
//! `null` means absent. Unknown keys are ignored in the bodies that the interface specification defines, and rejected
//! in all others.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use domain::{Decimal, IntId, Timestamp};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;

use crate::bodies::nearest::hint;
use crate::number::{BadNumber, decimal};

/// Ids are smaller than this: every JSON parser represents such an integer exactly.
pub const ID_LIMIT: u64 = 1 << 53;

/// The highest sequence number of a FIX session.
pub(crate) const FIX_NUMBER_MAX: u64 = (1 << 40) - 1;

/// The code of a field with the wrong type or form.
pub const MALFORMED_FIELD: &str = "malformed-field";
/// The code of a key that the body does not have.
pub const UNKNOWN_FIELD: &str = "unknown-field";

/// A body that is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadBody {
    /// Not JSON, or not the JSON type that is expected; with location and reason.
    NotJson(String),
    Fields(Vec<FieldError>),
}

/// An invalid field, with a stable code and the reason as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    pub field: Cow<'static, str>,
    pub code: &'static str,
    pub reason: String,
}

impl FieldError {
    pub fn malformed(field: &'static str, reason: impl Into<String>) -> Self {
        Self::new(field, MALFORMED_FIELD, reason)
    }

    pub fn missing(field: &'static str) -> Self {
        Self::new(field, "missing", "is needed")
    }

    pub fn unexpected(field: &'static str, reason: impl Into<String>) -> Self {
        Self::new(field, "not-needed", reason)
    }

    /// An unknown key; it may be a misspelt known one.
    fn unknown(key: String, known: &[&'static str]) -> Self {
        let reason = format!("is not known here{}", hint(&key, known.iter().copied()));
        Self { field: key.into(), code: UNKNOWN_FIELD, reason }
    }

    pub fn new(field: &'static str, code: &'static str, reason: impl Into<String>) -> Self {
        Self { field: field.into(), code, reason: reason.into() }
    }

    pub fn is_malformed(&self) -> bool {
        self.code == MALFORMED_FIELD
    }
}

/// A JSON object that is being read.
#[derive(Debug)]
pub struct Fields {
    values: BTreeMap<String, Value>,
    /// The keys that were read.
    known: Vec<&'static str>,
    errors: Vec<FieldError>,
}

impl Fields {
    pub fn parse(body: &[u8]) -> Result<Self, BadBody> {
        let Object(values) = parse(body)?;
        Ok(Self { values, known: vec![], errors: vec![] })
    }

    /// As `parse`, but an absent body counts as one without keys.
    pub fn parse_optional(body: &[u8]) -> Result<Self, BadBody> {
        Self::parse(if body.is_empty() { b"{}" } else { body })
    }

    /// Whether a key is present, also with `null`; to be called before the key is read.
    pub fn contains(&self, field: &str) -> bool {
        self.values.contains_key(field)
    }

    /// An exact decimal, given as number or text.
    pub fn decimal(&mut self, field: &'static str) -> Option<Decimal> {
        self.read(field, decimal_of)
    }

    pub fn id(&mut self, field: &'static str) -> Option<u64> {
        self.read(field, id_of)
    }

    pub fn count(&mut self, field: &'static str) -> Option<u32> {
        self.read(field, count_of)
    }

    /// A text of at most so many bytes.
    pub fn text(&mut self, field: &'static str, length_max: usize) -> Option<String> {
        self.read(field, |field, value| {
            let Value::String(text) = value else {
                return Err(FieldError::malformed(field, "must be a text"));
            };
            if text.len() > length_max {
                return Err(FieldError::malformed(field, format!("is longer than {length_max} bytes")));
            }
            Ok(text)
        })
    }

    pub fn flag(&mut self, field: &'static str) -> Option<bool> {
        self.read(field, |field, value| match value {
            Value::Bool(flag) => Ok(flag),
            _ => Err(FieldError::malformed(field, "must be true or false")),
        })
    }

    /// One of a few upper-case names.
    pub fn choice<T: Copy>(&mut self, field: &'static str, choices: &[(&str, T)]) -> Option<T> {
        self.read(field, |field, value| {
            let chosen = choices.iter().find(|(name, _)| value.as_str() == Some(name));
            chosen.map(|(_, choice)| *choice).ok_or_else(|| {
                let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
                FieldError::malformed(field, format!("must be one of {}", names.join(", ")))
            })
        })
    }

    /// A field with its own parser.
    pub fn read<T>(
        &mut self,
        field: &'static str,
        convert: impl FnOnce(&'static str, Value) -> Result<T, FieldError>,
    ) -> Option<T> {
        self.known.push(field);
        let value = self.values.remove(field).filter(|value| !value.is_null())?;
        convert(field, value).map_err(|error| self.errors.push(error)).ok()
    }

    /// Reports a required field that is absent.
    pub fn require<T>(&mut self, field: &'static str, value: Option<T>) -> Option<T> {
        if value.is_none() && !self.errors.iter().any(|error| error.field == field) {
            self.errors.push(FieldError::missing(field));
        }
        value
    }

    /// As `finish`, for a body that must not have other keys. Unknown keys come first, because a misspelt key explains
    /// a missing one.
    pub fn finish_strict<T>(mut self, request: Option<T>) -> Result<T, BadBody> {
        let unknown = std::mem::take(&mut self.values).into_keys().map(|key| FieldError::unknown(key, &self.known));
        self.errors = unknown.chain(std::mem::take(&mut self.errors)).collect();
        self.finish(request)
    }

    /// The request, if every field could be read; `None` means that a required field is absent.
    pub fn finish<T>(self, request: Option<T>) -> Result<T, BadBody> {
        request.filter(|_| self.errors.is_empty()).ok_or(BadBody::Fields(self.errors))
    }
}

/// A body that is a bare id.
pub fn bare_id(field: &'static str, body: &[u8]) -> Result<u64, BadBody> {
    id_of(field, parse(body)?).map_err(|error| BadBody::Fields(vec![error]))
}

/// A body that is a bare number.
pub fn bare_decimal(field: &'static str, body: &[u8]) -> Result<Decimal, BadBody> {
    decimal_of(field, parse(body)?).map_err(|error| BadBody::Fields(vec![error]))
}

pub(crate) fn decimal_of(field: &'static str, value: Value) -> Result<Decimal, FieldError> {
    let number = match &value {
        Value::Number(number) => decimal(number.as_str()),
        Value::String(text) => decimal(text),
        _ => Err(BadNumber::NotANumber),
    };
    number.map_err(|bad| match bad {
        BadNumber::NotANumber => FieldError::malformed(field, "must be a number"),
        BadNumber::TooLong => FieldError::new(field, "amount-too-large", "has more digits than can be kept exactly"),
    })
}

pub(crate) fn count_of(field: &'static str, value: Value) -> Result<u32, FieldError> {
    let number = decimal_of(field, value)?;
    u32::try_from(number)
        .ok()
        .filter(|_| number.fract().is_zero())
        .ok_or_else(|| FieldError::malformed(field, "must be a whole number from 0"))
}

pub(crate) fn int_id_of(field: &'static str, value: Value) -> Result<IntId, FieldError> {
    let id = value.as_str().and_then(|text| text.parse().ok());
    id.ok_or_else(|| {
        FieldError::malformed(field, "must be a text of 1 to 64 printable ASCII characters, other than . and ..")
    })
}

pub(crate) fn instant_of(field: &'static str, value: Value) -> Result<Timestamp, FieldError> {
    let at = match &value {
        Value::Number(number) => instant(number.as_str()),
        Value::String(text) => instant(text),
        _ => None,
    };
    at.ok_or_else(|| FieldError::malformed(field, "must be epoch milliseconds"))
}

/// Epoch milliseconds.
pub(crate) fn instant(text: &str) -> Option<Timestamp> {
    let millis = decimal(text).ok().filter(|number| number.fract().is_zero())?;
    Timestamp::from_millis(i64::try_from(millis).ok()?)
}

pub(crate) fn id_of(field: &'static str, value: Value) -> Result<u64, FieldError> {
    let id = decimal_of(field, value).ok().filter(|number| number.fract().is_zero());
    id.and_then(|number| u64::try_from(number).ok())
        .filter(|id| (1..ID_LIMIT).contains(id))
        .ok_or_else(|| FieldError::malformed(field, "must be an id: an integer from 1 below 2^53"))
}

/// A list of ids, at most so many of them.
pub(crate) fn ids_of(field: &'static str, value: Value, length_max: usize) -> Result<Vec<u64>, FieldError> {
    let Value::Array(items) = value else { return Err(FieldError::malformed(field, "must be a list of ids")) };
    if items.len() > length_max {
        return Err(FieldError::malformed(field, format!("has more than {length_max} ids")));
    }
    items.into_iter().map(|item| id_of(field, item)).collect()
}

fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, BadBody> {
    serde_json::from_slice(body).map_err(|error| BadBody::NotJson(error.to_string()))
}

/// The keys of an object, each at most once: two quantities would be ambiguous.
struct Object(BTreeMap<String, Value>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Object, M::Error> {
        let mut values = BTreeMap::new();
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            if values.contains_key(&key) {
                return Err(Error::custom(format!("the key {key:?} stands twice")));
            }
            values.insert(key, value);
        }
        Ok(Object(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(body: &str) -> Fields {
        Fields::parse(body.as_bytes()).unwrap()
    }

    #[test]
    fn a_number_may_be_text_and_keeps_its_digits() {
        let mut fields = fields(r#"{"a": 10.10, "b": "10.10", "c": 1e-7, "d": 12345678901234567890.123456789}"#);
        let read = ["a", "b", "c", "d"].map(|field| fields.decimal(field).unwrap().normalize().to_string());
        assert_eq!(read, ["10.1", "10.1", "0.0000001", "12345678901234567890.123456789"]);
    }

    #[test]
    fn every_fault_is_named() {
        let body =
            r#"{"amount": "ten", "id": 0, "text": 5, "flag": "yes", "side": "buy", "long": "four", "count": 1.5}"#;
        let mut fields = fields(body);
        assert_eq!(fields.decimal("amount"), None);
        assert_eq!(fields.id("id"), None);
        assert_eq!(fields.text("text", 10), None);
        assert_eq!(fields.flag("flag"), None);
        assert_eq!(fields.choice("side", &[("BUY", 1), ("SELL", 2)]), None);
        assert_eq!(fields.text("long", 3), None);
        assert_eq!(fields.count("count"), None);
        let Err(BadBody::Fields(errors)) = fields.finish(Some(())) else { panic!("faults were found") };
        let told: Vec<_> = errors.iter().map(|error| format!("{} {}", error.field, error.reason)).collect();
        let expected = [
            "amount must be a number",
            "id must be an id: an integer from 1 below 2^53",
            "text must be a text",
            "flag must be true or false",
            "side must be one of BUY, SELL",
            "long is longer than 3 bytes",
            "count must be a whole number from 0",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn null_and_absent_are_the_same() {
        let mut fields = fields(r#"{"a": null}"#);
        let given = (fields.decimal("a"), fields.decimal("b"));
        assert_eq!(fields.finish(Some(given)), Ok((None, None)));
    }

    #[test]
    fn what_must_be_there_is_asked_for_once() {
        let mut fields = fields(r#"{"b": "x"}"#);
        let a = fields.decimal("a");
        fields.require("a", a);
        let b = fields.decimal("b");
        fields.require("b", b);
        let errors = vec![FieldError::missing("a"), FieldError::malformed("b", "must be a number")];
        let Err(BadBody::Fields(mut found)) = fields.finish(Some(())) else { panic!("faults were found") };
        found.sort_by_key(|error| error.field.clone());
        assert_eq!(found, errors);
    }

    #[test]
    fn a_key_that_the_body_does_not_have_is_named_with_the_nearest_that_it_has() {
        let mut fields = fields(r#"{"scop": "PLATFORM", "colour": null, "reason": "lunch"}"#);
        let (scope, reason) = (fields.text("scope", 9), fields.text("reason", 9));
        let scope = fields.require("scope", scope);
        let Err(BadBody::Fields(errors)) = fields.finish_strict(scope.zip(reason)) else { panic!("faults were found") };
        let told: Vec<_> =
            errors.iter().map(|error| format!("{}: {} {}", error.code, error.field, error.reason)).collect();
        let expected = [
            "unknown-field: colour is not known here",
            "unknown-field: scop is not known here; did you mean 'scope'?",
            "missing: scope is needed",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn an_id_is_a_whole_number_below_two_to_the_53() {
        for (body, id) in
            [("7", Some(7)), ("\"7\"", Some(7)), ("7.0", Some(7)), ("9007199254740991", Some(ID_LIMIT - 1))]
        {
            assert_eq!(bare_id("accountId", body.as_bytes()).ok(), id, "{body}");
        }
        for body in ["0", "-1", "1.5", "9007199254740992", "1e40", "true", "[]", "null"] {
            assert!(matches!(bare_id("accountId", body.as_bytes()), Err(BadBody::Fields(_))), "{body}");
        }
    }

    #[test]
    fn what_is_no_object_says_where() {
        let cases = [
            ("", "EOF while parsing a value at line 1 column 0"),
            ("[1]", "invalid type: sequence, expected a JSON object at line 1 column 0"),
            ("{\"a\": 1,}", "trailing comma at line 1 column 9"),
            ("{\"a\": 1} x", "trailing characters at line 1 column 10"),
            ("{\"a\": 1, \"a\": 2}", "the key \"a\" stands twice at line 1 column 16"),
        ];
        for (body, reason) in cases {
            assert_eq!(Fields::parse(body.as_bytes()).unwrap_err(), BadBody::NotJson(reason.into()), "{body}");
        }
    }

    #[test]
    fn nesting_without_end_is_refused() {
        let deep = format!("{{\"a\": {}", "[".repeat(100_000));
        assert!(matches!(Fields::parse(deep.as_bytes()), Err(BadBody::NotJson(_))));
    }
}
