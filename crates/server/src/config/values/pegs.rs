//! Currencies that are worth as much as another.

use domain::Currency;

use super::setting::{Literal, Setting};

/// One unit of a currency is worth one of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peg {
    pub currency: Currency,
    pub worth: Currency,
}

impl Setting for Peg {
    const LITERAL: Literal = Literal::Quoted;

    fn shape() -> String {
        "two currency codes, such as USDT=USD; in the file also { USDT = \"USD\" }".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let pair = text.split_once('=').map(|(currency, worth)| (currency.trim().parse(), worth.trim().parse()));
        match pair {
            Some((Ok(currency), Ok(worth))) if currency != worth => Ok(Self { currency, worth }),
            _ => Err(format!("'{text}' is not {}", Self::shape())),
        }
    }

    fn show(&self) -> String {
        format!("{}={}", self.currency, self.worth)
    }
}
