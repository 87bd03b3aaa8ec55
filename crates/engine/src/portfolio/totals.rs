//! Running totals by platform, account, strategy and security, updated with every change because the risk gate reads
//! them on every order. Derived from the books and the marks, not encoded.

use std::collections::BTreeMap;

use domain::{AccountId, Amount, Currency, Quantity, RiskScope, SecurityId, StrategyId};

use super::books::{CashKey, PositionKey};
use super::table::Table;
use super::valuer::{PositionValuation, Valuer};
use crate::risk::fixed_point::FixedPoint;

/// Totals of a scope in one currency. Currencies are kept apart, so that a new rate changes no sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct CurrencySums {
    cash: FixedPoint,
    /// Paid in less paid out today: no result of trading.
    flow: FixedPoint,
    held: PositionSums,
}

/// What one position, or a whole scope, adds to the totals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct PositionSums {
    market_value: FixedPoint,
    realized_pl: FixedPoint,
    unrealized_pl: FixedPoint,
    commissions: FixedPoint,
    fees: FixedPoint,
    long: FixedPoint,
    short: FixedPoint,
    open: i64,
    /// Open positions without a price.
    unpriced: i64,
}

/// Market exposure in base currency: at the exit price, without one at cost. Both are positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PositionExposure {
    pub(crate) long: Amount,
    pub(crate) short: Amount,
}

type PerCurrency = Vec<(Currency, CurrencySums)>;

#[derive(Debug, Clone, Default)]
pub(super) struct PortfolioTotals {
    platform: PerCurrency,
    accounts: BTreeMap<AccountId, PerCurrency>,
    strategies: BTreeMap<StrategyId, PerCurrency>,
    securities: Table<SecurityId, SecurityTotals>,
    /// By row of the position: its value, and its part of the totals.
    valued: Vec<(PositionValuation, PositionSums)>,
}

/// All positions in one security.
#[derive(Debug, Clone, Default)]
struct SecurityTotals {
    sums: PerCurrency,
    positions: Vec<usize>,
    net: FixedPoint,
    // For these few a linear search is faster than a map.
    by_account: Vec<(AccountId, FixedPoint)>,
    by_strategy: Vec<(StrategyId, FixedPoint)>,
}

impl PortfolioTotals {
    pub(super) fn valued(&self, place: usize) -> PositionValuation {
        self.valued.get(place).map_or_else(PositionValuation::default, |(valued, _)| *valued)
    }

    /// Sets the value of a position; returns whether it changed.
    pub(super) fn set_position(
        &mut self,
        place: usize,
        key: PositionKey,
        currency: Currency,
        new: &PositionValuation,
    ) -> bool {
        if place == self.valued.len() {
            self.valued.push(Default::default());
            self.securities.entry(key.security).positions.push(place);
        }
        let (old, counted) = &mut self.valued[place];
        if *old == *new {
            return false;
        }
        let worth = PositionSums::from(new);
        let change = worth.minus(counted);
        let quantities = (old.quantity, new.quantity);
        (*old, *counted) = (*new, worth);
        let held = self.securities.entry(key.security);
        if quantities.0 != quantities.1 {
            held.set_quantity(key, quantities.0, quantities.1);
        }
        let accounts = self.accounts.entry(key.account).or_default();
        let strategies = self.strategies.entry(key.strategy).or_default();
        for sums in [&mut held.sums, &mut self.platform, accounts, strategies] {
            of_currency(sums, &currency).held.add(&change);
        }
        true
    }

    pub(super) fn set_cash(&mut self, key: CashKey, old: Amount, new: Amount) {
        let change = FixedPoint::from_decimal(new.0) - FixedPoint::from_decimal(old.0);
        self.holders_of(key).into_iter().for_each(|sums| sums.cash = sums.cash + change);
    }

    pub(super) fn add_flow(&mut self, key: CashKey, flow: Amount) {
        self.holders_of(key).into_iter().for_each(|sums| sums.flow = sums.flow + FixedPoint::from_decimal(flow.0));
    }

    fn holders_of(&mut self, key: CashKey) -> [&mut CurrencySums; 3] {
        [
            of_currency(&mut self.platform, &key.currency),
            of_currency(self.accounts.entry(key.account).or_default(), &key.currency),
            of_currency(self.strategies.entry(key.strategy).or_default(), &key.currency),
        ]
    }

    /// The rows of all positions in a security.
    pub(super) fn places(&self, security: SecurityId) -> &[usize] {
        self.securities.get(security).map_or(&[], |held| &held.positions)
    }

    /// The net quantity of a security in a scope; of a security as scope it is the platform's.
    pub(super) fn net_quantity(&self, scope: RiskScope, security: SecurityId) -> Quantity {
        let Some(held) = self.securities.get(security) else { return Quantity::ZERO };
        let net = match scope {
            RiskScope::Platform | RiskScope::Security(_) => held.net,
            RiskScope::Account(account) => net_of(&held.by_account, account),
            RiskScope::Strategy(strategy) => net_of(&held.by_strategy, strategy),
        };
        Quantity(net.to_decimal().expect("each part is bounded, and it takes 10^10 of the largest to overflow"))
    }

    pub(super) fn cash(&self, scope: RiskScope, valuer: &Valuer<'_>) -> Option<Amount> {
        self.in_base(scope, valuer, |sums| sums.cash)
    }

    pub(super) fn flow(&self, scope: RiskScope, valuer: &Valuer<'_>) -> Option<Amount> {
        self.in_base(scope, valuer, |sums| sums.flow)
    }

    pub(super) fn realized_pl(&self, scope: RiskScope, valuer: &Valuer<'_>) -> Option<Amount> {
        self.in_base(scope, valuer, |sums| sums.held.realized_pl)
    }

    pub(super) fn commissions(&self, scope: RiskScope, valuer: &Valuer<'_>) -> Option<Amount> {
        self.in_base(scope, valuer, |sums| sums.held.commissions)
    }

    pub(super) fn fees(&self, scope: RiskScope, valuer: &Valuer<'_>) -> Option<Amount> {
        self.in_base(scope, valuer, |sums| sums.held.fees)
    }

    pub(super) fn market_value(&self, scope: RiskScope, valuer: &Valuer<'_>) -> Option<Amount> {
        self.is_priced(scope).then(|| self.in_base(scope, valuer, |sums| sums.held.market_value))?
    }

    pub(super) fn unrealized_pl(&self, scope: RiskScope, valuer: &Valuer<'_>) -> Option<Amount> {
        self.is_priced(scope).then(|| self.in_base(scope, valuer, |sums| sums.held.unrealized_pl))?
    }

    pub(super) fn exposure(&self, scope: RiskScope, valuer: &Valuer<'_>) -> Option<PositionExposure> {
        let long = self.in_base(scope, valuer, |sums| sums.held.long)?;
        let short = self.in_base(scope, valuer, |sums| sums.held.short)?;
        Some(PositionExposure { long, short })
    }

    pub(super) fn open_positions(&self, scope: RiskScope) -> u64 {
        let open: i64 = self.sums(scope).iter().map(|(_, sums)| sums.held.open).sum();
        u64::try_from(open).expect("as many are closed as were open")
    }

    fn is_priced(&self, scope: RiskScope) -> bool {
        self.sums(scope).iter().all(|(_, sums)| sums.held.unpriced == 0)
    }

    fn in_base(
        &self,
        scope: RiskScope,
        valuer: &Valuer<'_>,
        part: impl Fn(&CurrencySums) -> FixedPoint,
    ) -> Option<Amount> {
        self.sums(scope).iter().try_fold(Amount::ZERO, |total, (currency, sums)| {
            let amount = Amount(part(sums).to_decimal().ok()?);
            total.plus(valuer.in_base(amount, *currency)?).ok()
        })
    }

    fn sums(&self, scope: RiskScope) -> &[(Currency, CurrencySums)] {
        let sums = match scope {
            RiskScope::Platform => Some(&self.platform),
            RiskScope::Account(account) => self.accounts.get(&account),
            RiskScope::Strategy(strategy) => self.strategies.get(&strategy),
            RiskScope::Security(security) => self.securities.get(security).map(|held| &held.sums),
        };
        sums.map_or(&[], Vec::as_slice)
    }

    pub(super) fn contains(&self, scope: RiskScope) -> bool {
        !self.sums(scope).is_empty()
    }

    /// Every scope that ever had a position or cash.
    pub(super) fn scopes(&self) -> impl Iterator<Item = RiskScope> + '_ {
        let accounts = self.accounts.keys().map(|account| RiskScope::Account(*account));
        let strategies = self.strategies.keys().map(|strategy| RiskScope::Strategy(*strategy));
        let securities = self.securities.rows().iter().map(|(security, _)| RiskScope::Security(*security));
        std::iter::once(RiskScope::Platform).chain(accounts).chain(strategies).chain(securities)
    }

    pub(super) fn currencies(&self) -> impl Iterator<Item = Currency> + '_ {
        self.platform.iter().map(|(currency, _)| *currency)
    }
}

impl SecurityTotals {
    fn set_quantity(&mut self, key: PositionKey, old: Quantity, new: Quantity) {
        let change = FixedPoint::from_decimal(new.0) - FixedPoint::from_decimal(old.0);
        self.net = self.net + change;
        add(&mut self.by_account, key.account, change);
        add(&mut self.by_strategy, key.strategy, change);
    }
}

impl From<&PositionValuation> for PositionSums {
    fn from(valued: &PositionValuation) -> Self {
        let (market_value, unrealized_pl) = valued.worth.unwrap_or_default();
        let is_open = !valued.quantity.is_zero();
        let exposure = FixedPoint::from_decimal(valued.exposure.0.abs());
        let (long, short) = match valued.quantity.is_negative() {
            false => (exposure, FixedPoint::default()),
            true => (FixedPoint::default(), exposure),
        };
        Self {
            market_value: FixedPoint::from_decimal(market_value.0),
            realized_pl: FixedPoint::from_decimal(valued.realized_pl.0),
            unrealized_pl: FixedPoint::from_decimal(unrealized_pl.0),
            commissions: FixedPoint::from_decimal(valued.commissions.0),
            fees: FixedPoint::from_decimal(valued.fees.0),
            long,
            short,
            open: is_open.into(),
            unpriced: (is_open && valued.worth.is_none()).into(),
        }
    }
}

impl PositionSums {
    fn minus(&self, other: &Self) -> Self {
        Self {
            market_value: self.market_value - other.market_value,
            realized_pl: self.realized_pl - other.realized_pl,
            unrealized_pl: self.unrealized_pl - other.unrealized_pl,
            commissions: self.commissions - other.commissions,
            fees: self.fees - other.fees,
            long: self.long - other.long,
            short: self.short - other.short,
            open: self.open - other.open,
            unpriced: self.unpriced - other.unpriced,
        }
    }

    fn add(&mut self, change: &Self) {
        self.market_value = self.market_value + change.market_value;
        self.realized_pl = self.realized_pl + change.realized_pl;
        self.unrealized_pl = self.unrealized_pl + change.unrealized_pl;
        self.commissions = self.commissions + change.commissions;
        self.fees = self.fees + change.fees;
        self.long = self.long + change.long;
        self.short = self.short + change.short;
        self.open += change.open;
        self.unpriced += change.unpriced;
    }
}

#[inline]
fn of_currency<'a>(sums: &'a mut PerCurrency, currency: &Currency) -> &'a mut CurrencySums {
    let place = sums.iter().position(|(known, _)| known == currency).unwrap_or_else(|| {
        sums.push((*currency, CurrencySums::default()));
        sums.len() - 1
    });
    &mut sums[place].1
}

fn net_of<K: PartialEq>(nets: &[(K, FixedPoint)], key: K) -> FixedPoint {
    nets.iter().find(|(known, _)| *known == key).map_or(FixedPoint::default(), |(_, net)| *net)
}

fn add<K: PartialEq>(nets: &mut Vec<(K, FixedPoint)>, key: K, change: FixedPoint) {
    match nets.iter_mut().find(|(known, _)| *known == key) {
        Some((_, net)) => *net = *net + change,
        None => nets.push((key, change)),
    }
}
