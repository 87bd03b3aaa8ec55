//! Portfolio queries, for clients and for the risk gate.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use domain::query::Filter;
use domain::{
    AccountId, Amount, CashBalance, Decimal, PortfolioValue, Position, PositionId, Quantity, RiskScope, Security,
    SecurityId, SecurityKind, StrategyId, Timestamp, Transaction, TransactionId,
};

use super::books::{CashKey, PositionKey, id_at};
use super::position_state::PositionState;
use super::totals::PositionExposure;
use super::valuer::position;
use super::{Portfolio, Valuer};

/// A debt of more than this part of a position is not taken for charges (a hundredth).
const CHARGED_PART: Decimal = Decimal::ONE_HUNDRED;

impl Portfolio {
    /// Open positions and those closed today.
    pub(crate) fn positions(&self, filter: Filter) -> Vec<Position> {
        let is_listed = |key: &PositionKey, holding: &PositionState| {
            filter.matches(key.strategy, key.account, Some(key.security))
                && (!holding.quantity.is_zero() || holding.changed_at >= self.day.began_at)
        };
        let rows = self.live.positions.rows().iter().enumerate();
        rows.filter(|(_, (key, holding))| is_listed(key, holding))
            .map(|(place, (key, holding))| position(place, *key, holding, &self.totals.valued(place)))
            .collect()
    }

    /// Any position, also a closed one.
    pub(crate) fn position(&self, id: PositionId) -> Option<Position> {
        let place = usize::try_from(id.0.checked_sub(1)?).ok()?;
        let (key, holding) = self.live.positions.row(place)?;
        Some(position(place, *key, holding, &self.totals.valued(place)))
    }

    pub(crate) fn balances(&self, filter: Filter) -> Vec<CashBalance> {
        let rows = self.live.cash.rows().iter().enumerate();
        rows.filter(|(_, (key, _))| filter.matches(key.strategy, key.account, None))
            .map(|(place, (key, amount))| self.balance(place, *key, *amount))
            .collect()
    }

    /// Transactions dated on this day, newest first: those booked today, and earlier ones that were dated ahead.
    pub(crate) fn dated_in(&self, day: &Range<Timestamp>, filter: Filter) -> Vec<Arc<Transaction>> {
        let booked = self.today.iter().map(|entry| &entry.transaction).chain(&self.dated_ahead);
        let is_wanted = |booked: &&Arc<Transaction>| {
            day.contains(&booked.at) && filter.matches(booked.strategy, booked.account, booked.security)
        };
        let mut dated: Vec<_> = booked.filter(is_wanted).cloned().collect();
        dated.sort_by_key(|booked| Reverse((booked.at, booked.id)));
        dated
    }

    /// All open positions in a security.
    pub(crate) fn open_in(&self, security: SecurityId) -> Vec<Position> {
        let positions =
            self.totals.places(security).iter().filter_map(|place| self.position(PositionId(id_at(*place))));
        positions.filter(|position| !position.quantity.is_zero()).collect()
    }

    /// A transaction of today.
    pub(crate) fn transaction(&self, id: TransactionId) -> Option<Arc<Transaction>> {
        self.today.iter().rev().map(|entry| &entry.transaction).find(|booked| booked.id == id).cloned()
    }

    /// Value of one strategy, or of each, in base currency.
    pub(crate) fn values(&self, valuer: &Valuer<'_>, strategy: Option<StrategyId>) -> Vec<PortfolioValue> {
        let strategies = valuer.reference.strategies.keys();
        let wanted = strategies.filter(|id| strategy.is_none_or(|wanted| wanted == **id));
        wanted.map(|id| self.portfolio_value(*id, valuer)).collect()
    }

    fn portfolio_value(&self, strategy: StrategyId, valuer: &Valuer<'_>) -> PortfolioValue {
        let scope = RiskScope::Strategy(strategy);
        let cash_balance = self.totals.cash(scope, valuer);
        let market_value = self.totals.market_value(scope, valuer);
        PortfolioValue {
            strategy,
            at: valuer.at,
            net_liq_value: sum(cash_balance, market_value),
            market_value,
            cash_balance,
            realized_pl: self.totals.realized_pl(scope, valuer),
            unrealized_pl: self.totals.unrealized_pl(scope, valuer),
            open_positions: self.totals.open_positions(scope),
            currency: valuer.base,
            commissions: self.totals.commissions(scope, valuer),
            fees: self.totals.fees(scope, valuer),
        }
    }

    pub(crate) fn quantity(&self, strategy: StrategyId, account: AccountId, security: SecurityId) -> Quantity {
        let held = self.live.positions.get(PositionKey { strategy, account, security });
        held.map_or(Quantity::ZERO, |holding| holding.quantity)
    }

    /// How much of a position can be sold. Of a currency pair the venue holds the base, less what was charged in it, in whole
    /// lots. Charges are a small part of a position: a larger debt in the base was borrowed, and must not stop a close.
    pub(crate) fn deliverable(&self, strategy: StrategyId, account: AccountId, security: &Security) -> Quantity {
        let held = self.quantity(strategy, account, security.id);
        let SecurityKind::Forex { base, .. } = security.kind else { return held };
        let cash = self.live.cash.get(CashKey { strategy, account, currency: base }).copied().unwrap_or_default();
        if !held.is_positive() || !cash.is_negative() {
            return held;
        }
        let left = cash.over(security.contract_size).and_then(|owed| held.plus(Quantity(owed.0))).unwrap_or(held);
        if left.0 < held.0 - held.0 / CHARGED_PART {
            return held;
        }
        let lot = security.qty_incr;
        let rest = if lot.is_zero() { Decimal::ZERO } else { left.0.checked_rem(lot).unwrap_or_default() };
        Quantity(left.0 - rest).max(Quantity::ZERO)
    }

    /// Whether there is an open position in a security.
    pub(crate) fn holds(&self, security: SecurityId) -> bool {
        self.totals.places(security).iter().any(|place| !self.totals.valued(*place).quantity.is_zero())
    }

    /// Whether any transaction names a security.
    pub(crate) fn is_used(&self, security: SecurityId) -> bool {
        !self.totals.places(security).is_empty() || self.named.contains(&security)
    }

    /// The sum of a security's positions within a scope.
    pub(crate) fn net_quantity(&self, scope: RiskScope, security: SecurityId) -> Quantity {
        self.totals.net_quantity(scope, security)
    }

    /// Long and short value of all positions in a scope; absent where a rate is missing.
    pub(crate) fn exposure(&self, scope: RiskScope, valuer: &Valuer<'_>) -> Option<PositionExposure> {
        self.totals.exposure(scope, valuer)
    }

    /// Cash of a scope in base currency; absent where a rate is missing. A security as scope has none.
    pub(crate) fn cash(&self, scope: RiskScope, valuer: &Valuer<'_>) -> Option<Amount> {
        self.totals.cash(scope, valuer)
    }

    /// What a scope gained today, realised and unrealised, less charges; a loss is negative. Money paid in or out and
    /// transfers do not count. Of a security it is its P/L less its own charges. Absent where a price or a rate is missing.
    pub(crate) fn day_result(&self, scope: RiskScope, valuer: &Valuer<'_>) -> Option<Amount> {
        if !self.totals.contains(scope) {
            return Some(Amount::ZERO);
        }
        self.day.result(scope, self.worth(scope, valuer)?)
    }

    /// How far a scope is below its best of the day, sampled whenever values are published.
    pub(crate) fn drawdown(&self, scope: RiskScope, valuer: &Valuer<'_>) -> Option<Amount> {
        if !self.totals.contains(scope) {
            return Some(Amount::ZERO);
        }
        self.day.drawdown(scope, self.worth(scope, valuer)?)
    }

    /// The value that the day's result and drawdown are computed from.
    pub(super) fn worth(&self, scope: RiskScope, valuer: &Valuer<'_>) -> Option<Amount> {
        let totals = &self.totals;
        match scope {
            // Cash does not belong to a security.
            RiskScope::Security(_) => {
                let gained = sum(totals.realized_pl(scope, valuer), totals.unrealized_pl(scope, valuer))?;
                let charged = sum(totals.commissions(scope, valuer), totals.fees(scope, valuer))?;
                gained.minus(charged).ok()
            }
            RiskScope::Platform | RiskScope::Account(_) | RiskScope::Strategy(_) => {
                let value = sum(totals.cash(scope, valuer), totals.market_value(scope, valuer))?;
                value.minus(totals.flow(scope, valuer)?).ok()
            }
        }
    }
}

pub(super) fn sum(left: Option<Amount>, right: Option<Amount>) -> Option<Amount> {
    left?.plus(right?).ok()
}
