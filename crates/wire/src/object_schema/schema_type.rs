//! Schema types of fields.

use serde_json::{Value, json};

use crate::bodies::fields::{FIX_NUMBER_MAX, ID_LIMIT};

/// Limit of an instant in milliseconds before or after 1970: the range of nanoseconds in 64 bits.
const MILLIS_MAX: i64 = 9_223_372_036_854;

/// Longest life of a token, and longest name and password, as in `access`.
const TOKEN_DAYS_MAX: u32 = 3_650;
const NAME_LENGTH_MAX: usize = 64;
const PASSWORD_LENGTH_MIN: usize = 8;
const PASSWORD_BYTES_MAX: usize = 1_024;

/// Upper-case ASCII letters and digits, with Chinese or Korean letters up to 16 of them: each such code is taken. The rule
/// itself, which goes by the category of a letter, is in `domain::currency`, and a pattern cannot say it.
pub const CURRENCY_PATTERN: &str = r"^(?:[A-Z0-9]{1,48}|[A-Z0-9\u4E00-\u9FA5\uAC00-\uD7A3]{1,16})$";

pub(crate) enum SchemaType {
    /// An id given by the server.
    Id,
    Text,
    /// Texts by names that the data give.
    TextsByKey,
    Flag,
    /// A flag that may be absent, but not false.
    True,
    /// An exact decimal.
    Number,
    /// A number from 0.
    Whole,
    /// Epoch milliseconds.
    Millis,
    Date,
    /// An hour of the day in an exchange's zone.
    Hour,
    Currency,
    Uuid,
    /// The id of an order.
    IntId,
    /// The scope of a limit or a trading state.
    Scope,
    OneOf(&'static [&'static str]),
    Shape(&'static str),
    AnyOf(&'static [&'static str]),
    List(&'static SchemaType),
    /// Or null.
    Maybe(&'static SchemaType),
    /// Types that only clients send: ids, numbers and times may be texts too.
    Sent(RequestType),
}

pub(crate) enum RequestType {
    Id,
    /// Sequence number of a FIX session.
    FixNumber,
    Number,
    /// A number above 0.
    Positive,
    Count,
    /// A whole number from 1.
    AtLeastOne,
    /// Life of a token.
    Days,
    Millis,
    /// An instant, or a day that ends at its close.
    Until,
    Text(usize),
    /// Name of a user or a token.
    Name,
    Password,
    /// An absolute path of a folder.
    Path,
}

impl SchemaType {
    pub(crate) fn schema(&self) -> Value {
        match self {
            Self::Id => json!({ "type": "integer", "minimum": 1, "maximum": ID_LIMIT - 1 }),
            Self::Text => json!({ "type": "string" }),
            Self::TextsByKey => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
            Self::Flag => json!({ "type": "boolean" }),
            Self::True => json!({ "type": "boolean", "const": true }),
            Self::Number => json!({ "type": "number", "description": "exact, to its last digit" }),
            Self::Whole => json!({ "type": "integer", "minimum": 0 }),
            Self::Millis => json!({ "type": "integer", "description": "epoch milliseconds" }),
            Self::Date => json!({ "type": "string", "format": "date" }),
            Self::Hour => json!({ "type": "string", "pattern": "^[0-2][0-9]:[0-5][0-9]$" }),
            Self::Currency => json!({ "type": "string", "pattern": CURRENCY_PATTERN }),
            Self::Uuid => json!({ "type": "string", "format": "uuid" }),
            Self::IntId => json!({ "type": "string", "pattern": INT_ID }),
            Self::Scope => json!({ "type": "string", "pattern": SCOPE_PATTERN }),
            Self::OneOf(names) => json!({ "type": "string", "enum": names }),
            Self::Shape(name) => reference(name),
            Self::AnyOf(names) => json!({ "anyOf": names.iter().map(|name| reference(name)).collect::<Vec<_>>() }),
            Self::List(kind) => json!({ "type": "array", "items": kind.schema() }),
            Self::Maybe(kind) => or_null(kind.schema()),
            Self::Sent(sent) => sent.schema(),
        }
    }
}

/// Printable, and neither `.` nor `..`, which are removed from every path.
const INT_ID: &str = "^([!-\\-/-~][!-~]{0,63}|\\.[!-\\-/-~][!-~]{0,62}|\\.\\.[!-~]{1,62})$";
/// How a scope of risk is written.
pub const SCOPE_PATTERN: &str = "^(PLATFORM|(ACCOUNT|STRATEGY|SECURITY)-[1-9][0-9]{0,14})$";

/// A JSON number in a text.
const NUMBER: &str = "^-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?$";
/// The same above 0, without an exponent.
const POSITIVE: &str = "^([0-9]*[1-9][0-9]*(\\.[0-9]+)?|[0-9]+\\.[0-9]*[1-9][0-9]*)$";
/// A whole number in a text.
const WHOLE: &str = "^[0-9]{1,9}$";

impl RequestType {
    fn schema(&self) -> Value {
        match self {
            Self::Id => json!({ "anyOf": [SchemaType::Id.schema(), text_like("^[1-9][0-9]{0,14}$")] }),
            Self::FixNumber => {
                json!({ "anyOf": [whole(1, FIX_NUMBER_MAX), text_like("^[1-9][0-9]{0,11}$")] })
            }
            Self::Number => json!({ "anyOf": [{ "type": "number" }, text_like(NUMBER)] }),
            Self::Positive => json!({ "anyOf": [{ "type": "number", "exclusiveMinimum": 0 }, text_like(POSITIVE)] }),
            Self::Count => json!({ "anyOf": [whole(0, u32::MAX.into()), text_like(WHOLE)] }),
            Self::AtLeastOne => json!({ "anyOf": [whole(1, u32::MAX.into()), text_like("^[1-9][0-9]{0,8}$")] }),
            Self::Days => json!({ "anyOf": [whole(1, TOKEN_DAYS_MAX.into()), text_like("^[1-9][0-9]{0,2}$")] }),
            Self::Millis => json!({ "anyOf": [millis(), text_like(WHOLE)] }),
            Self::Until => json!({ "anyOf": [millis(), text_like(WHOLE), SchemaType::Date.schema()] }),
            Self::Text(bytes_max) => {
                json!({ "type": "string", "maxLength": bytes_max, "description": "the limit counts bytes of UTF-8" })
            }
            Self::Name => text_like(&format!("^[A-Za-z0-9._@-]{{1,{NAME_LENGTH_MAX}}}$")),
            Self::Password => password(),
            Self::Path => json!({ "type": "string", "pattern": "^/", "maxLength": 4096 }),
        }
    }
}

fn whole(minimum: u64, maximum: u64) -> Value {
    json!({ "type": "integer", "minimum": minimum, "maximum": maximum })
}

fn millis() -> Value {
    json!({ "type": "integer", "minimum": -MILLIS_MAX, "maximum": MILLIS_MAX, "description": "epoch milliseconds" })
}

fn password() -> Value {
    let (shortest, longest) = (PASSWORD_LENGTH_MIN, PASSWORD_BYTES_MAX);
    json!({ "type": "string", "format": "password", "minLength": shortest, "maxLength": longest })
}

fn text_like(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": pattern })
}

/// The reference to the schema with this name in the API document.
pub fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// An enumeration is put beside null and not merged with it: client generators then create one type for it.
fn or_null(mut schema: Value) -> Value {
    let is_named = schema.get("enum").or(schema.get("const")).is_some();
    match schema.get_mut("type") {
        Some(kind) if !is_named => *kind = json!([kind, "null"]),
        _ => schema = beside_null(schema),
    }
    schema
}

fn beside_null(mut schema: Value) -> Value {
    if let Some(Value::Array(kinds)) = schema.get_mut("anyOf") {
        kinds.push(json!({ "type": "null" }));
        return schema;
    }
    json!({ "anyOf": [schema, { "type": "null" }] })
}
