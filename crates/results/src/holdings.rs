//! What is held: worth, and profit or loss by whether it is realised.

use std::collections::BTreeMap;

use domain::{Currency, Position, PositionId, Price, Quantity, ReferenceData, SecurityId, StrategyId};

use crate::outcome::{OpenPosition, ProfitLoss};
use crate::rates::{Rates, float};
use crate::record::{strategy_name, symbol};

#[derive(Debug, Default)]
pub(crate) struct Holdings {
    held: BTreeMap<PositionId, Holding>,
}

/// A position, amounts in its own currency.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Holding {
    pub(crate) strategy: StrategyId,
    pub(crate) security: SecurityId,
    currency: Currency,
    quantity: Quantity,
    average_price: Option<Price>,
    market_price: Option<Price>,
    market_value: f64,
    /// Before costs.
    realized: f64,
    unrealized: Option<f64>,
}

impl Holdings {
    pub(crate) fn take(&mut self, position: &Position) {
        let holding = Holding {
            strategy: position.strategy,
            security: position.security,
            currency: position.currency,
            quantity: position.quantity,
            average_price: position.avg_price,
            market_price: position.market_price,
            market_value: position.market_value.map_or(0.0, |amount| float(amount.0)),
            realized: float(position.realized_pl.0),
            unrealized: position.unrealized_pl.map(|amount| float(amount.0)),
        };
        self.held.insert(position.id, holding);
    }

    /// Long and short added, not netted, in base currency.
    pub(crate) fn gross_value(&self, rates: &Rates) -> f64 {
        self.held.values().filter_map(|held| rates.in_base(held.market_value.abs(), held.currency)).sum()
    }

    /// Of those that are meant, in base currency and before costs.
    pub(crate) fn profit_loss(&self, rates: &Rates, is_meant: impl Fn(&Holding) -> bool) -> ProfitLoss {
        let mut sum = ProfitLoss::default();
        for held in self.held.values().filter(|held| is_meant(held)) {
            let Some(rate) = rates.in_base(1.0, held.currency) else { continue };
            sum.realized += held.realized * rate;
            sum.unrealized += held.unrealized.unwrap_or(0.0) * rate;
        }
        sum
    }

    /// Those that are not flat.
    pub(crate) fn open(&self, rates: &Rates, reference: &ReferenceData) -> Vec<OpenPosition> {
        let open = self.held.values().filter(|held| !held.quantity.is_zero());
        let told = open.map(|held| OpenPosition {
            strategy: strategy_name(reference, held.strategy),
            security: symbol(reference, held.security),
            quantity: held.quantity,
            average_price: held.average_price,
            price: held.market_price,
            unrealized: held.unrealized.and_then(|amount| rates.in_base(amount, held.currency)),
        });
        let mut all: Vec<OpenPosition> = told.collect();
        all.sort_by(|one, other| (&one.security, &one.strategy).cmp(&(&other.security, &other.strategy)));
        all
    }
}
