//! Running totals by platform, account, strategy and security, updated with every change because the risk gate reads
//! them on every order. Derived from the books and the marks, not encoded.

use std::collections::BTreeMap;

use domain::{AccountId, Amount, Currency, Quantity, Scope, SecurityId, StrategyId};

use super::books::{CashKey, PositionKey};
use super::table::Table;
use super::valuer::{Valued, Valuer};
use crate::risk::exact::Exact;

/// Totals of a scope in one currency. Currencies are kept apart, so that a new rate changes no sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Sums {
    cash: Exact,
    /// Paid in less paid out today: no result of trading.
    flow: Exact,
    held: Worth,
}

/// What one position, or a whole scope, adds to the totals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Worth {
    market_value: Exact,
    realized_pl: Exact,
    unrealized_pl: Exact,
    commissions: Exact,
    fees: Exact,
    long: Exact,
    short: Exact,
    open: i64,
    /// Open positions without a price.
    unpriced: i64,
}

/// Market exposure in base currency: at the exit price, without one at cost. Both are positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exposure {
    pub(crate) long: Amount,
    pub(crate) short: Amount,
}

type PerCurrency = Vec<(Currency, Sums)>;

#[derive(Debug, Clone, Default)]
pub(super) struct Totals {
    platform: PerCurrency,
    accounts: BTreeMap<AccountId, PerCurrency>,
    strategies: BTreeMap<StrategyId, PerCurrency>,
    securities: Table<SecurityId, Held>,
    /// By row of the position: its value, and its part of the totals.
    valued: Vec<(Valued, Worth)>,
}

/// All positions in one security.
#[derive(Debug, Clone, Default)]
struct Held {
    sums: PerCurrency,
    places: Vec<usize>,
    net: Exact,
    // For these few a linear search is faster than a map.
    by_account: Vec<(AccountId, Exact)>,
    by_strategy: Vec<(StrategyId, Exact)>,
}

impl Totals {
    pub(super) fn valued(&self, place: usize) -> Valued {
        self.valued.get(place).map_or_else(Valued::default, |(valued, _)| *valued)
    }

    /// Sets the value of a position; returns whether it changed.
    pub(super) fn put_position(&mut self, place: usize, key: PositionKey, currency: Currency, new: &Valued) -> bool {
        if place == self.valued.len() {
            self.valued.push(Default::default());
            self.securities.entry(key.security).places.push(place);
        }
        let (old, counted) = &mut self.valued[place];
        if *old == *new {
            return false;
        }
        let worth = Worth::from(new);
        let change = worth.less(counted);
        let quantities = (old.quantity, new.quantity);
        (*old, *counted) = (*new, worth);
        let held = self.securities.entry(key.security);
        if quantities.0 != quantities.1 {
            held.put_quantity(key, quantities.0, quantities.1);
        }
        let accounts = self.accounts.entry(key.account).or_default();
        let strategies = self.strategies.entry(key.strategy).or_default();
        for sums in [&mut held.sums, &mut self.platform, accounts, strategies] {
            of_currency(sums, currency).held.add(&change);
        }
        true
    }

    pub(super) fn put_cash(&mut self, key: CashKey, old: Amount, new: Amount) {
        let change = Exact::of(new.0) - Exact::of(old.0);
        self.holders_of(key).into_iter().for_each(|sums| sums.cash = sums.cash + change);
    }

    pub(super) fn add_flow(&mut self, key: CashKey, flow: Amount) {
        self.holders_of(key).into_iter().for_each(|sums| sums.flow = sums.flow + Exact::of(flow.0));
    }

    fn holders_of(&mut self, key: CashKey) -> [&mut Sums; 3] {
        [
            of_currency(&mut self.platform, key.currency),
            of_currency(self.accounts.entry(key.account).or_default(), key.currency),
            of_currency(self.strategies.entry(key.strategy).or_default(), key.currency),
        ]
    }

    /// The rows of all positions in a security.
    pub(super) fn places(&self, security: SecurityId) -> &[usize] {
        self.securities.get(security).map_or(&[], |held| &held.places)
    }

    /// The net quantity of a security in a scope; of a security as scope it is the platform's.
    pub(super) fn net_quantity(&self, scope: Scope, security: SecurityId) -> Quantity {
        let Some(held) = self.securities.get(security) else { return Quantity::ZERO };
        let net = match scope {
            Scope::Platform | Scope::Security(_) => held.net,
            Scope::Account(account) => of(&held.by_account, account),
            Scope::Strategy(strategy) => of(&held.by_strategy, strategy),
        };
        Quantity(net.decimal().expect("each part is bounded, and it takes 10^10 of the largest to overflow"))
    }

    pub(super) fn cash(&self, scope: Scope, valuer: &Valuer<'_>) -> Option<Amount> {
        self.in_base(scope, valuer, |sums| sums.cash)
    }

    pub(super) fn flow(&self, scope: Scope, valuer: &Valuer<'_>) -> Option<Amount> {
        self.in_base(scope, valuer, |sums| sums.flow)
    }

    pub(super) fn realized_pl(&self, scope: Scope, valuer: &Valuer<'_>) -> Option<Amount> {
        self.in_base(scope, valuer, |sums| sums.held.realized_pl)
    }

    pub(super) fn commissions(&self, scope: Scope, valuer: &Valuer<'_>) -> Option<Amount> {
        self.in_base(scope, valuer, |sums| sums.held.commissions)
    }

    pub(super) fn fees(&self, scope: Scope, valuer: &Valuer<'_>) -> Option<Amount> {
        self.in_base(scope, valuer, |sums| sums.held.fees)
    }

    pub(super) fn market_value(&self, scope: Scope, valuer: &Valuer<'_>) -> Option<Amount> {
        self.is_priced(scope).then(|| self.in_base(scope, valuer, |sums| sums.held.market_value))?
    }

    pub(super) fn unrealized_pl(&self, scope: Scope, valuer: &Valuer<'_>) -> Option<Amount> {
        self.is_priced(scope).then(|| self.in_base(scope, valuer, |sums| sums.held.unrealized_pl))?
    }

    pub(super) fn exposure(&self, scope: Scope, valuer: &Valuer<'_>) -> Option<Exposure> {
        let long = self.in_base(scope, valuer, |sums| sums.held.long)?;
        let short = self.in_base(scope, valuer, |sums| sums.held.short)?;
        Some(Exposure { long, short })
    }

    pub(super) fn open_positions(&self, scope: Scope) -> u64 {
        let open: i64 = self.sums(scope).iter().map(|(_, sums)| sums.held.open).sum();
        u64::try_from(open).expect("as many are closed as were open")
    }

    fn is_priced(&self, scope: Scope) -> bool {
        self.sums(scope).iter().all(|(_, sums)| sums.held.unpriced == 0)
    }

    fn in_base(&self, scope: Scope, valuer: &Valuer<'_>, part: impl Fn(&Sums) -> Exact) -> Option<Amount> {
        self.sums(scope).iter().try_fold(Amount::ZERO, |total, (currency, sums)| {
            let amount = Amount(part(sums).decimal().ok()?);
            total.plus(valuer.in_base(amount, *currency)?).ok()
        })
    }

    fn sums(&self, scope: Scope) -> &[(Currency, Sums)] {
        let sums = match scope {
            Scope::Platform => Some(&self.platform),
            Scope::Account(account) => self.accounts.get(&account),
            Scope::Strategy(strategy) => self.strategies.get(&strategy),
            Scope::Security(security) => self.securities.get(security).map(|held| &held.sums),
        };
        sums.map_or(&[], Vec::as_slice)
    }

    pub(super) fn knows(&self, scope: Scope) -> bool {
        !self.sums(scope).is_empty()
    }

    /// Every scope that ever had a position or cash.
    pub(super) fn scopes(&self) -> impl Iterator<Item = Scope> + '_ {
        let accounts = self.accounts.keys().map(|account| Scope::Account(*account));
        let strategies = self.strategies.keys().map(|strategy| Scope::Strategy(*strategy));
        let securities = self.securities.rows().iter().map(|(security, _)| Scope::Security(*security));
        std::iter::once(Scope::Platform).chain(accounts).chain(strategies).chain(securities)
    }

    pub(super) fn currencies(&self) -> impl Iterator<Item = Currency> + '_ {
        self.platform.iter().map(|(currency, _)| *currency)
    }
}

impl Held {
    fn put_quantity(&mut self, key: PositionKey, old: Quantity, new: Quantity) {
        let change = Exact::of(new.0) - Exact::of(old.0);
        self.net = self.net + change;
        add(&mut self.by_account, key.account, change);
        add(&mut self.by_strategy, key.strategy, change);
    }
}

impl From<&Valued> for Worth {
    fn from(valued: &Valued) -> Self {
        let (market_value, unrealized_pl) = valued.worth.unwrap_or_default();
        let is_open = !valued.quantity.is_zero();
        let exposure = Exact::of(valued.exposure.0.abs());
        let (long, short) = match valued.quantity.is_negative() {
            false => (exposure, Exact::default()),
            true => (Exact::default(), exposure),
        };
        Self {
            market_value: Exact::of(market_value.0),
            realized_pl: Exact::of(valued.realized_pl.0),
            unrealized_pl: Exact::of(unrealized_pl.0),
            commissions: Exact::of(valued.commissions.0),
            fees: Exact::of(valued.fees.0),
            long,
            short,
            open: is_open.into(),
            unpriced: (is_open && valued.worth.is_none()).into(),
        }
    }
}

impl Worth {
    fn less(&self, other: &Self) -> Self {
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

fn of_currency(sums: &mut PerCurrency, currency: Currency) -> &mut Sums {
    let place = sums.iter().position(|(known, _)| *known == currency).unwrap_or_else(|| {
        sums.push((currency, Sums::default()));
        sums.len() - 1
    });
    &mut sums[place].1
}

fn of<K: PartialEq>(nets: &[(K, Exact)], key: K) -> Exact {
    nets.iter().find(|(known, _)| *known == key).map_or(Exact::default(), |(_, net)| *net)
}

fn add<K: PartialEq>(nets: &mut Vec<(K, Exact)>, key: K, change: Exact) {
    match nets.iter_mut().find(|(known, _)| *known == key) {
        Some((_, net)) => *net = *net + change,
        None => nets.push((key, change)),
    }
}
