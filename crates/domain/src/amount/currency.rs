//! Currency codes.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use minicbor::{Decode, Decoder, Encode, Encoder};

use crate::characters::{is_code_character, mixes_alphabets};

/// A currency code: upper-case letters, letters of scripts without case, and digits (`USD`, `1000CHEEMS`, `币安人生`).
/// Sixteen characters of any living script fit.
///
/// The text is inline and filled with zeros, so that a code is copied and compared without a look-up; the order is that
/// of the texts. A code that ends within its first word, as most do, is compared and hashed by that word alone. Decision
/// 0029 has the measurements.
#[derive(Clone, Copy, Eq, PartialOrd, Ord)]
pub struct Currency([u8; Self::BYTES_MAX]);

/// A text that is not a currency code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidCurrency;

impl Currency {
    /// Of UTF-8: sixteen characters of three bytes.
    pub const BYTES_MAX: usize = 48;

    /// The US dollar, the base currency where the configuration names none.
    pub const USD: Self = Self::from_ascii(b"USD");

    /// The stable coin that is pegged to the dollar by default.
    pub const USDT: Self = Self::from_ascii(b"USDT");

    const fn from_ascii(code: &[u8]) -> Self {
        let mut bytes = [0; Self::BYTES_MAX];
        let mut place = 0;
        while place < code.len() {
            bytes[place] = code[place];
            place += 1;
        }
        Self(bytes)
    }

    /// The code without the zeros that fill its place.
    pub fn as_str(&self) -> &str {
        let length = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        std::str::from_utf8(&self.0[..length]).expect("only whole texts get in")
    }

    #[inline]
    fn first_word(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }

    /// Whether all behind the first word are zeros.
    #[inline]
    fn ends_in_first_word(&self) -> bool {
        self.0[7] == 0
    }
}

impl PartialEq for Currency {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.first_word() == other.first_word() && (self.ends_in_first_word() || self.0[8..] == other.0[8..])
    }
}

impl Hash for Currency {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.first_word());
        if !self.ends_in_first_word() {
            state.write(&self.0[8..]);
        }
    }
}

impl FromStr for Currency {
    type Err = InvalidCurrency;

    fn from_str(text: &str) -> Result<Self, InvalidCurrency> {
        let fits = !text.is_empty() && text.len() <= Self::BYTES_MAX;
        if !fits || !text.chars().all(is_code_character) || mixes_alphabets(text) {
            return Err(InvalidCurrency);
        }
        Ok(Self::from_ascii(text.as_bytes()))
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<C> Encode<C> for Currency {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        _: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        e.str(self.as_str())?.ok()
    }
}

impl<'b, C> Decode<'b, C> for Currency {
    fn decode(d: &mut Decoder<'b>, _: &mut C) -> Result<Self, minicbor::decode::Error> {
        d.str()?.parse().map_err(|InvalidCurrency| minicbor::decode::Error::message("not a currency"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_currency_is_a_code_in_any_script() {
        let longest = "龙".repeat(16);
        for code in ["USD", "USDT", "1000CHEEMS", "ABCDEFGHIJKLMNOP", "币安人生", "ドージ", "РУБЛЬ", "ÖRE", &longest]
        {
            assert_eq!(code.parse::<Currency>().unwrap().to_string(), code);
        }
    }

    #[test]
    fn what_looks_like_another_code_or_hides_something_is_none() {
        let longer = "龙".repeat(17);
        let bad = [
            "",
            "usd",
            "Usd",
            "U SD",
            "U.SD",
            "USD ",
            "US\u{0}D",
            "USD\u{200B}",
            "\u{202E}USD",
            "E\u{301}UR",
            "ＵＳＤ",
            "USD\u{422}",
            "\u{212A}RW",
            "٣",
            "\u{115F}",
            "𝐔𝐒𝐃",
            "€",
            &longer,
        ];
        for code in bad {
            assert_eq!(code.parse::<Currency>(), Err(InvalidCurrency), "{code:?}");
        }
    }

    #[test]
    fn codes_are_read_from_the_disk_as_they_were_written_and_as_earlier_builds_wrote_them() {
        for code in ["USD", "1000CHEEMS", "币安人生"] {
            let currency: Currency = code.parse().unwrap();
            let bytes = minicbor::to_vec(currency).unwrap();
            assert_eq!(bytes, minicbor::to_vec(code).unwrap());
            assert_eq!(minicbor::decode::<Currency>(&bytes).unwrap(), currency);
        }
        assert!(minicbor::decode::<Currency>(&minicbor::to_vec("usd").unwrap()).is_err());
    }

    #[test]
    fn codes_are_equal_where_their_texts_are() {
        let texts = ["USD", "USDT", "1000SAT", "1000SATS", "1000SATSX", "1000SATSY", "币安", "币安人", "币安人生"];
        let codes = texts.map(|code| code.parse::<Currency>().unwrap());
        for (place, code) in codes.iter().enumerate() {
            let same: Vec<_> = codes.iter().map(|other| code == other).collect();
            let expected: Vec<_> = (0..codes.len()).map(|other| other == place).collect();
            assert_eq!(same, expected, "{code}");
        }
    }

    #[test]
    fn codes_are_ordered_as_their_texts() {
        let mut codes = ["USDT", "USD", "币安", "1INCH", "EUR"].map(|code| code.parse::<Currency>().unwrap());
        codes.sort_unstable();
        assert_eq!(codes.map(|code| code.to_string()), ["1INCH", "EUR", "USD", "USDT", "币安"]);
    }
}
