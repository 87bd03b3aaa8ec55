//! Position tracker: value and P/L of positions during a run.

use std::collections::BTreeMap;

use domain::{Currency, Position, PositionId, Price, Quantity, ReferenceData, SecurityId, StrategyId};

use crate::rates::{Rates, to_f64};
use crate::run_results::{OpenPosition, ProfitLoss, strategy_name, symbol};

#[derive(Debug, Default)]
pub(crate) struct PositionTracker {
    held: BTreeMap<PositionId, TrackedPosition>,
}

/// A position, amounts in its own currency.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrackedPosition {
    pub(crate) strategy: StrategyId,
    pub(crate) security: SecurityId,
    currency: Currency,
    quantity: Quantity,
    average_price: Option<Price>,
    market_price: Option<Price>,
    contract_size: f64,
    /// Before costs.
    realized: f64,
    /// The same in base currency, each part at the rate when it was realised; a part without a rate is missing.
    realized_in_base: f64,
    unrealized: Option<f64>,
}

impl PositionTracker {
    /// Applies a position after its change.
    pub(crate) fn update(&mut self, position: &Position, contract_size: f64, rates: &Rates) {
        let (realized, before) = (to_f64(position.realized_pl.0), self.held.get(&position.id));
        let (realized_before, in_base_before) =
            before.map_or((0.0, 0.0), |before| (before.realized, before.realized_in_base));
        let gained = rates.in_base(realized - realized_before, position.currency).unwrap_or(0.0);
        let holding = TrackedPosition {
            strategy: position.strategy,
            security: position.security,
            currency: position.currency,
            quantity: position.quantity,
            average_price: position.avg_price,
            market_price: position.market_price,
            contract_size,
            realized,
            realized_in_base: in_base_before + gained,
            unrealized: position.unrealized_pl.map(|amount| to_f64(amount.0)),
        };
        self.held.insert(position.id, holding);
    }

    /// Market exposure in base currency: long and short added, not netted. For margined securities it is the contract
    /// value, not the P/L.
    pub(crate) fn gross_value(&self, rates: &Rates) -> f64 {
        self.held.values().filter_map(|held| rates.in_base(held.notional(), held.currency)).sum()
    }

    /// Of the selected positions, in base currency and before costs; open ones at the newest rates.
    pub(crate) fn profit_loss(&self, rates: &Rates, is_meant: impl Fn(&TrackedPosition) -> bool) -> ProfitLoss {
        let mut sum = ProfitLoss::default();
        for held in self.held.values().filter(|held| is_meant(held)) {
            sum.realized += held.realized_in_base;
            sum.unrealized += held.unrealized.and_then(|amount| rates.in_base(amount, held.currency)).unwrap_or(0.0);
        }
        sum
    }

    /// Open positions.
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

impl TrackedPosition {
    fn notional(&self) -> f64 {
        self.market_price
            .map_or(0.0, |price| to_f64(self.quantity.0.abs()) * to_f64(price.0).abs() * self.contract_size)
    }
}
