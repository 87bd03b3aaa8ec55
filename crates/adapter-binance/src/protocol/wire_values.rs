//! Numbers and instants of the venue. Amounts are documented as text and ids as numbers; either is read from both.

use std::fmt;

use domain::{Decimal, Timestamp};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

const NANOS_PER_MILLI: i64 = 1_000_000;

/// An amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WireDecimal(pub Decimal);

/// An id, a count, or milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct WireInteger(pub i64);

impl WireInteger {
    /// As milliseconds since 1970; `None` where our clock cannot show them.
    pub fn instant(self) -> Option<Timestamp> {
        self.0.checked_mul(NANOS_PER_MILLI).map(Timestamp)
    }
}

/// Milliseconds since 1970, as the venue wants them.
pub fn millis_of(at: Timestamp) -> i64 {
    at.0.div_euclid(NANOS_PER_MILLI)
}

/// As the venue writes amounts: plain digits, no exponent.
pub fn decimal_text(amount: Decimal) -> String {
    amount.normalize().to_string()
}

pub(crate) fn decimal_of(text: &str) -> Option<Decimal> {
    Decimal::from_str_exact(text).or_else(|_| Decimal::from_scientific(text)).ok()
}

impl<'de> Deserialize<'de> for WireDecimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor { expected: "an amount", of_text: decimal_of }).map(Self)
    }
}

impl<'de> Deserialize<'de> for WireInteger {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let of_text = |text: &str| text.parse().ok();
        deserializer.deserialize_any(NumberVisitor { expected: "a whole number", of_text }).map(Self)
    }
}

/// Reads text and numbers alike, by the digits that stand there.
struct NumberVisitor<T> {
    expected: &'static str,
    of_text: fn(&str) -> Option<T>,
}

impl<T> NumberVisitor<T> {
    fn read<E: Error>(&self, text: &str) -> Result<T, E> {
        (self.of_text)(text).ok_or_else(|| E::custom(format_args!("{text:?} is not {}", self.expected)))
    }
}

impl<'de, T> Visitor<'de> for NumberVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        self.read(text)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        self.read(&number.to_string())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        self.read(&number.to_string())
    }

    /// Only numbers that keep every digit come as floating point.
    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        self.read(&number.to_string())
    }

    /// The exact digits of a number, as serde_json hands them over.
    fn visit_map<A: MapAccess<'de>>(self, digits: A) -> Result<T, A::Error> {
        let number = serde_json::Number::deserialize(MapAccessDeserializer::new(digits))?;
        self.read(number.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_from_text_and_numbers_with_every_digit() {
        let read = |text: &str| serde_json::from_str::<WireDecimal>(text).map(|read| read.0.to_string()).ok();
        assert_eq!(read("\"0.10264410\"").as_deref(), Some("0.10264410"));
        assert_eq!(read("0.123456789012345678").as_deref(), Some("0.123456789012345678"));
        assert_eq!(read("12").as_deref(), Some("12"));
        assert_eq!(read("\"1e-7\"").as_deref(), Some("0.0000001"));
        assert_eq!(
            [read("\"\""), read("\"NaN\""), read("null"), read("{}"), read("true")],
            [None, None, None, None, None]
        );
    }

    #[test]
    fn ids_are_read_from_text_and_numbers() {
        let read = |text: &str| serde_json::from_str::<WireInteger>(text).map(|read| read.0).ok();
        assert_eq!(
            [read("12510053279"), read("\"12510053279\""), read("-1")],
            [Some(12_510_053_279), Some(12_510_053_279), Some(-1)]
        );
        assert_eq!([read("1.5"), read("99999999999999999999"), read("\"x\"")], [None, None, None]);
        let of_value = serde_json::from_str::<serde_json::Value>("7").unwrap();
        assert_eq!(WireInteger::deserialize(&of_value).unwrap(), WireInteger(7));
    }

    #[test]
    fn instants_are_milliseconds_in_both_directions() {
        let at: Timestamp = "2026-11-16T05:00:00.123Z".parse().unwrap();
        assert_eq!(WireInteger(millis_of(at)).instant(), Some(at));
        assert_eq!(WireInteger(i64::MAX).instant(), None);
    }
}
