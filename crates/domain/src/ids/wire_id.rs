//! Wire ids: the client id under which a request goes to a venue. It follows from instance, order and request number
//! alone, so that it is found again after a crash without being stored, and read back from whatever a venue shows.

use std::fmt;
use std::str::FromStr;

use crate::ids::OrderId;
use crate::order::Order;

/// Letters of every id; no digit, since some venues take no leading one.
const PREFIX: char = 'R';
const SEPARATOR: char = '-';
const RADIX: u32 = 36;

/// Names one request on one order: `R<instance>-<order>-<request>`, the numbers in base 36. Only capital letters, digits
/// and dashes, so that a venue that folds cases keeps them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WireId {
    /// The number of the data folder: several installations may trade on one account.
    pub instance: u64,
    /// The number of the order.
    pub order: OrderId,
    /// The submit has 0.
    pub request: u32,
}

impl WireId {
    /// No id is longer, whatever the numbers; Binance and many FIX venues take 36 characters.
    pub const LENGTH_MAX: usize = 36;

    /// Of the newest request on the order.
    pub fn newest(instance: u64, order: &Order) -> Self {
        Self { instance, order: order.id, request: order.request }
    }

    /// This id and those of all earlier requests on the order, newest first: a venue knows the order by one of them.
    pub fn with_earlier(self) -> impl Iterator<Item = Self> {
        (0..=self.request).rev().map(move |request| Self { request, ..self })
    }
}

impl fmt::Display for WireId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(Self::LENGTH_MAX);
        text.push(PREFIX);
        push_base36(self.instance, &mut text);
        for number in [self.order.0, self.request.into()] {
            text.push(SEPARATOR);
            push_base36(number, &mut text);
        }
        f.pad(&text)
    }
}

fn push_base36(number: u64, text: &mut String) {
    let place = text.len();
    let mut rest = number;
    loop {
        let digit = u32::try_from(rest % u64::from(RADIX)).unwrap_or_default();
        text.insert(place, char::from_digit(digit, RADIX).unwrap_or_default().to_ascii_uppercase());
        rest /= u64::from(RADIX);
        if rest == 0 {
            return;
        }
    }
}

/// The text is no wire id, so the request is not ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoWireId;

impl fmt::Display for NoWireId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no id of a request")
    }
}

impl std::error::Error for NoWireId {}

impl FromStr for WireId {
    type Err = NoWireId;

    fn from_str(text: &str) -> Result<Self, NoWireId> {
        let numbers = text.strip_prefix(PREFIX).ok_or(NoWireId)?;
        let parts: Vec<&str> = numbers.split(SEPARATOR).collect();
        let [instance, order, request] = parts[..] else { return Err(NoWireId) };
        let number = |part: &str| u64::from_str_radix(part, RADIX).map_err(|_| NoWireId);
        let request = u32::try_from(number(request)?).map_err(|_| NoWireId)?;
        let id = Self { instance: number(instance)?, order: OrderId(number(order)?), request };
        // Leading zeros, small letters and signs are read as numbers too, but no id is written with them.
        if id.to_string() == text { Ok(id) } else { Err(NoWireId) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id(instance: u64, order: u64, request: u32) -> WireId {
        WireId { instance, order: OrderId(order), request }
    }

    #[test]
    fn an_id_is_readable_and_the_longest_has_36_characters() {
        assert_eq!(id(1, 71, 0).to_string(), "R1-1Z-0");
        let longest = id(u64::MAX, u64::MAX, u32::MAX).to_string();
        assert_eq!((longest.as_str(), longest.len()), ("R3W5E11264SGSF-3W5E11264SGSF-1Z141Z3", WireId::LENGTH_MAX));
    }

    #[test]
    fn the_ids_of_another_client_are_not_taken_for_ours() {
        let strangers = [
            "",
            "R",
            "R1-1",
            "R1-1-1-1",
            "r1-1-1",
            "R1-1-01",
            "R1-1-a",
            "R+1-1-1",
            "R1-1-",
            "R1-1-1Z141Z4",
            "web_1",
            "ü",
            "R3W5E11264SGSG-1-1",
            " R1-1-1",
        ];
        for stranger in strangers {
            assert_eq!(stranger.parse::<WireId>(), Err(NoWireId), "{stranger}");
        }
    }

    #[test]
    fn a_venue_that_knows_an_order_knows_it_by_one_of_its_requests() {
        let told: Vec<String> = id(7, 5, 2).with_earlier().map(|id| id.to_string()).collect();
        assert_eq!(told, ["R7-5-2", "R7-5-1", "R7-5-0"]);
    }

    proptest! {
        #[test]
        fn every_id_is_short_of_the_narrow_alphabet_and_read_back(instance: u64, order: u64, request: u32) {
            let written = id(instance, order, request);
            let text = written.to_string();
            let is_plain = text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'-');
            prop_assert!(is_plain && text.len() <= WireId::LENGTH_MAX, "{}", text);
            prop_assert_eq!(text.parse(), Ok(written));
        }

        #[test]
        fn two_requests_never_share_an_id(one: (u64, u64, u32), other: (u64, u64, u32)) {
            let (one, other) = (id(one.0, one.1, one.2), id(other.0, other.1, other.2));
            prop_assert_eq!(one == other, one.to_string() == other.to_string());
        }

        #[test]
        fn whatever_is_read_is_written_the_same(text in "[R]?[0-9A-Za-z_+-]{0,36}") {
            if let Ok(id) = text.parse::<WireId>() {
                prop_assert_eq!(id.to_string(), text);
            }
        }
    }
}
