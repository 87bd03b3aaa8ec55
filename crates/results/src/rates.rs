//! Currency conversion at the run's own forex prices.

use std::collections::BTreeMap;

use domain::{Currency, Price, Security, SecurityKind};

#[derive(Debug, Clone)]
pub(crate) struct Rates {
    base: Currency,
    /// The newest price of each pair: one unit of the first in units of the second.
    pairs: BTreeMap<(Currency, Currency), f64>,
}

impl Rates {
    pub(crate) fn new(base: Currency) -> Self {
        Self { base, pairs: BTreeMap::new() }
    }

    pub(crate) fn update(&mut self, security: &Security, price: Price) {
        let SecurityKind::Forex { base, transaction } = security.kind else { return };
        let price = to_f64(price.0);
        if price > 0.0 {
            self.pairs.insert((base, transaction), price);
        }
    }

    /// In base currency, at the newest rate; absent where there was none so far.
    pub(crate) fn in_base(&self, amount: f64, currency: Currency) -> Option<f64> {
        let over_dollar = || Some(self.rate(currency, Currency::USD)? * self.rate(Currency::USD, self.base)?);
        self.rate(currency, self.base).or_else(over_dollar).map(|rate| amount * rate)
    }

    /// By the pair, else by its inverse.
    fn rate(&self, from: Currency, to: Currency) -> Option<f64> {
        if from == to {
            return Some(1.0);
        }
        let inverse = || self.pairs.get(&(to, from)).map(|price| 1.0 / price);
        self.pairs.get(&(from, to)).copied().or_else(inverse)
    }
}

/// A decimal as `f64`, for statistics.
pub(crate) fn to_f64(decimal: domain::Decimal) -> f64 {
    f64::try_from(decimal).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(base: &str, transaction: &str) -> Security {
        let [base, transaction] = [base, transaction].map(|text| text.parse().unwrap());
        Security { kind: SecurityKind::Forex { base, transaction }, ..samples::stock(1, "PAIR") }
    }

    #[test]
    fn an_amount_is_converted_by_the_pair_its_inverse_or_over_the_dollar_and_never_by_a_guess() {
        let mut rates = Rates::new("CHF".parse().unwrap());
        rates.update(&pair("EUR", "USD"), Price::from(2));
        rates.update(&pair("USD", "CHF"), "0.5".parse().unwrap());
        rates.update(&pair("CHF", "SEK"), Price::from(10));
        let shown = ["CHF", "SEK", "EUR", "JPY"].map(|text| rates.in_base(100.0, text.parse().unwrap()));
        assert_eq!(shown, [Some(100.0), Some(10.0), Some(100.0), None]);
    }
}
