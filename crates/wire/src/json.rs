//! JSON encoding: exact numbers, whole values, long lists in chunks.

use std::fmt;

use domain::{Amount, Date, Decimal, Price, Quantity, Timestamp};
use serde::{Serialize, Serializer};

/// A list is encoded in chunks of about this many bytes, so that a long one is never in memory as text.
pub const PIECE_BYTES: usize = 16 * 1024;

/// A whole value as text.
pub fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    let mut text = Vec::new();
    write(value, &mut text);
    text
}

/// A value appended to a text.
pub fn write<T: Serialize>(value: &T, text: &mut Vec<u8>) {
    serde_json::to_writer(text, value).expect("a value object has only text keys and is written to memory");
}

/// Why a text is not one JSON value, with the location.
pub fn check(text: &str) -> Result<(), String> {
    serde_json::from_str::<serde::de::IgnoredAny>(text).map(drop).map_err(|error| error.to_string())
}

/// A list in chunks: `write` appends one item.
pub fn list<I>(items: impl IntoIterator<Item = I>, write: impl Fn(&I, &mut Vec<u8>)) -> impl Iterator<Item = Vec<u8>> {
    let mut items = items.into_iter();
    let mut separator = b'[';
    let mut done = false;
    std::iter::from_fn(move || {
        let mut piece = Vec::new();
        while !done && piece.len() < PIECE_BYTES {
            let Some(item) = items.next() else {
                done = true;
                piece.extend_from_slice(if separator == b'[' { b"[]" } else { b"]" });
                break;
            };
            piece.push(separator);
            separator = b',';
            write(&item, &mut piece);
        }
        (!piece.is_empty()).then_some(piece)
    })
}

/// A decimal as a JSON number with its exact digits: normalised, no exponent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExactDecimal(pub Decimal);

impl Serialize for ExactDecimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let decimal = self.0.normalize();
        match i64::try_from(decimal.mantissa()) {
            Ok(whole) if decimal.scale() == 0 => serializer.serialize_i64(whole),
            _ => number(decimal).serialize(serializer),
        }
    }
}

fn number(decimal: Decimal) -> serde_json::Number {
    decimal.to_string().parse().expect("a decimal is written as JSON writes numbers")
}

impl From<Price> for ExactDecimal {
    fn from(price: Price) -> Self {
        Self(price.0)
    }
}

impl From<Quantity> for ExactDecimal {
    fn from(quantity: Quantity) -> Self {
        Self(quantity.0)
    }
}

impl From<Amount> for ExactDecimal {
    fn from(amount: Amount) -> Self {
        Self(amount.0)
    }
}

/// What is absent stays absent: `null`.
pub fn exact<A: Into<ExactDecimal>>(amount: Option<A>) -> Option<ExactDecimal> {
    amount.map(Into::into)
}

/// An instant as integer epoch milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Millis(i64);

impl From<Timestamp> for Millis {
    fn from(at: Timestamp) -> Self {
        Self(at.millis())
    }
}

/// A value that is text in JSON: a date, an hour, a currency, a uuid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AsText<T>(pub T);

impl<T: fmt::Display> Serialize for AsText<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// A date as `YYYY-MM-DD`.
pub type DateText = AsText<Date>;

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(digits: &str) -> String {
        String::from_utf8(encode(&ExactDecimal(digits.parse().unwrap()))).unwrap()
    }

    #[test]
    fn a_decimal_keeps_its_digits_and_loses_its_zeros() {
        let cases = [
            ("1.500", "1.5"),
            ("100", "100"),
            ("-0.0", "0"),
            ("0.000000000001", "0.000000000001"),
            ("1234567890123.000001", "1234567890123.000001"),
            ("79228162514264337593543950335", "79228162514264337593543950335"),
        ];
        for (digits, expected) in cases {
            assert_eq!(text_of(digits), expected);
        }
    }

    fn join(count: u64) -> (usize, String) {
        let pieces: Vec<_> = list(0..count, write).collect();
        (pieces.len(), String::from_utf8(pieces.concat()).unwrap())
    }

    #[test]
    fn a_short_list_is_one_piece() {
        assert_eq!(join(0), (1, "[]".into()));
        assert_eq!(join(3), (1, "[0,1,2]".into()));
    }

    #[test]
    fn a_long_list_comes_in_pieces_that_join_to_the_whole() {
        let (pieces, text) = join(20_000);
        let numbers: Vec<u64> = serde_json::from_str(&text).unwrap();
        assert!(pieces > 1);
        assert_eq!(numbers, (0..20_000).collect::<Vec<_>>());
    }
}
