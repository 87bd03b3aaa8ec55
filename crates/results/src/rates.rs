//! Amounts of many currencies in one: rates as the run's own forex prices tell them.

use std::collections::BTreeMap;

use domain::{Currency, Price, Security, SecurityKind};

#[derive(Debug, Clone)]
pub(crate) struct Rates {
    base: Currency,
    /// What one unit is worth in base currency.
    known: BTreeMap<Currency, f64>,
}

impl Rates {
    pub(crate) fn new(base: Currency) -> Self {
        Self { base, known: BTreeMap::from([(base, 1.0)]) }
    }

    /// A price of a pair with the base currency in it is a rate.
    pub(crate) fn see(&mut self, security: &Security, price: Price) {
        let SecurityKind::Forex { base, transaction } = security.kind else { return };
        let price = float(price.0);
        if price > 0.0 && transaction == self.base {
            self.known.insert(base, price);
        } else if price > 0.0 && base == self.base {
            self.known.insert(transaction, 1.0 / price);
        }
    }

    /// In base currency; as it is where no rate was ever seen.
    pub(crate) fn in_base(&self, amount: f64, currency: Currency) -> f64 {
        amount * self.known.get(&currency).copied().unwrap_or(1.0)
    }
}

/// A decimal as a number for statistics.
pub(crate) fn float(decimal: domain::Decimal) -> f64 {
    f64::try_from(decimal).unwrap_or(f64::NAN)
}
