//! Parameters of a request, and the two texts that are signed: percent-encoded in the order of sending over REST, plain
//! and sorted by name over the WebSocket API.

use std::fmt::Write;

use domain::Decimal;
use serde_json::{Map, Value};

use crate::protocol::wire_values::decimal_text;

/// A parameter's value. Both ways sign the same text; the WebSocket API also wants numbers as numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ParameterValue {
    Text(String),
    Integer(i64),
    Flag(bool),
}

/// Parameters in the order in which they were added.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Parameters(Vec<(&'static str, ParameterValue)>);

impl Parameters {
    pub fn text(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.0.push((name, ParameterValue::Text(value.into())));
        self
    }

    pub fn integer(mut self, name: &'static str, value: i64) -> Self {
        self.0.push((name, ParameterValue::Integer(value)));
        self
    }

    pub fn flag(mut self, name: &'static str, value: bool) -> Self {
        self.0.push((name, ParameterValue::Flag(value)));
        self
    }

    pub fn amount(self, name: &'static str, value: impl Into<Decimal>) -> Self {
        self.text(name, decimal_text(value.into()))
    }

    /// Added where there is a value.
    pub fn maybe<T>(self, value: Option<T>, add: impl FnOnce(Self, T) -> Self) -> Self {
        match value {
            Some(value) => add(self, value),
            None => self,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Query string and signature payload of REST: percent-encoded, so that what is signed is what is sent.
    pub fn encoded(&self) -> String {
        let mut query = String::new();
        for (name, value) in &self.0 {
            if !query.is_empty() {
                query.push('&');
            }
            query.push_str(name);
            query.push('=');
            percent_encode(&value.shown(), &mut query);
        }
        query
    }

    /// Signature payload of the WebSocket API: sorted by name, in UTF-8 and not encoded.
    pub fn sorted(&self) -> String {
        let mut pairs: Vec<_> = self.0.iter().map(|(name, value)| format!("{name}={}", value.shown())).collect();
        pairs.sort_by(|a, b| a.split('=').next().cmp(&b.split('=').next()));
        pairs.join("&")
    }

    pub fn json(&self) -> Map<String, Value> {
        self.0.iter().map(|(name, value)| ((*name).to_owned(), value.json())).collect()
    }
}

impl ParameterValue {
    fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Integer(number) => number.to_string(),
            Self::Flag(flag) => flag.to_string(),
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Text(text) => Value::from(text.as_str()),
            Self::Integer(number) => Value::from(*number),
            Self::Flag(flag) => Value::from(*flag),
        }
    }
}

/// All bytes but the unreserved ones of RFC 3986.
pub fn percent_encode(text: &str, encoded: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(char::from(byte)),
            // Writing to a string cannot fail.
            other => drop(write!(encoded, "%{other:02X}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_payloads_differ_in_order_and_encoding() {
        let parameters = Parameters::default()
            .text("symbol", "１２ +/=&")
            .amount("quantity", "1.500".parse::<Decimal>().unwrap())
            .integer("timestamp", 5)
            .flag("omitZeroBalances", true)
            .maybe(None::<i64>, |p, limit| p.integer("limit", limit));
        assert_eq!(
            parameters.encoded(),
            "symbol=%EF%BC%91%EF%BC%92%20%2B%2F%3D%26&quantity=1.5&timestamp=5&omitZeroBalances=true"
        );
        assert_eq!(parameters.sorted(), "omitZeroBalances=true&quantity=1.5&symbol=１２ +/=&&timestamp=5");
        assert_eq!(
            Value::Object(parameters.json()).to_string(),
            r#"{"omitZeroBalances":true,"quantity":"1.5","symbol":"１２ +/=&","timestamp":5}"#
        );
    }
}
