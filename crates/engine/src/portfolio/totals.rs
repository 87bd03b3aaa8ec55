//! Sums over positions and cash by platform, account, strategy and security, kept up with every change because the risk
//! gate asks for them on every order. All of it follows from the books and the marks, so nothing here is encoded.

use std::collections::BTreeMap;

use domain::{AccountId, Amount, Currency, Index, Quantity, Scope, SecurityId, StrategyId};

use super::books::{CashKey, PositionKey};
use super::valuer::{Valued, Valuer, rounded};

/// What a scope holds of one currency. Currencies stay apart, so that a new rate changes no sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Sums {
    cash: Amount,
    /// Brought in less taken out today: no result of trading.
    flow: Amount,
    market_value: Amount,
    realized_pl: Amount,
    unrealized_pl: Amount,
    long: Amount,
    short: Amount,
    open: u64,
    /// Open positions without a price.
    unpriced: u64,
}

/// What moves with the market, in base currency: at the exit price, where there is none at cost. Both are positive.
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
    securities: BTreeMap<SecurityId, PerCurrency>,
    account_net: Index<(AccountId, SecurityId), Quantity>,
    strategy_net: Index<(StrategyId, SecurityId), Quantity>,
    platform_net: Index<SecurityId, Quantity>,
    valued: Index<PositionKey, Valued>,
}

impl Totals {
    pub(super) fn valued(&self, key: PositionKey) -> Valued {
        self.valued.get(&key).copied().unwrap_or_default()
    }

    /// Takes a new value of a position; tells the old one.
    pub(super) fn put_position(&mut self, key: PositionKey, currency: Currency, new: Valued) -> Valued {
        let old = self.valued.insert(key, new).unwrap_or_default();
        if old == new {
            return old;
        }
        self.put_quantity(key, old.quantity, new.quantity);
        let (old_sums, new_sums) = (Sums::from(&old), Sums::from(&new));
        for sums in self.scopes_of(key, currency) {
            sums.exchange(&old_sums, &new_sums);
        }
        old
    }

    pub(super) fn put_cash(&mut self, key: CashKey, old: Amount, new: Amount) {
        let change = rounded(new.0).minus(rounded(old.0)).expect("amounts are bounded");
        self.holders_of(key).into_iter().for_each(|sums| sums.cash = sum(sums.cash, change));
    }

    pub(super) fn add_flow(&mut self, key: CashKey, flow: Amount) {
        self.holders_of(key).into_iter().for_each(|sums| sums.flow = sum(sums.flow, rounded(flow.0)));
    }

    fn put_quantity(&mut self, key: PositionKey, old: Quantity, new: Quantity) {
        let change = new.minus(old).expect("amounts are bounded");
        if change.is_zero() {
            return;
        }
        add_net(&mut self.account_net, (key.account, key.security), change);
        add_net(&mut self.strategy_net, (key.strategy, key.security), change);
        add_net(&mut self.platform_net, key.security, change);
    }

    fn scopes_of(&mut self, key: PositionKey, currency: Currency) -> [&mut Sums; 4] {
        [
            of_currency(&mut self.platform, currency),
            of_currency(self.accounts.entry(key.account).or_default(), currency),
            of_currency(self.strategies.entry(key.strategy).or_default(), currency),
            of_currency(self.securities.entry(key.security).or_default(), currency),
        ]
    }

    fn holders_of(&mut self, key: CashKey) -> [&mut Sums; 3] {
        [
            of_currency(&mut self.platform, key.currency),
            of_currency(self.accounts.entry(key.account).or_default(), key.currency),
            of_currency(self.strategies.entry(key.strategy).or_default(), key.currency),
        ]
    }

    /// The net quantity of a security in a scope; of a security as scope it is the platform's.
    pub(super) fn net_quantity(&self, scope: Scope, security: SecurityId) -> Quantity {
        let net = match scope {
            Scope::Platform | Scope::Security(_) => self.platform_net.get(&security),
            Scope::Account(account) => self.account_net.get(&(account, security)),
            Scope::Strategy(strategy) => self.strategy_net.get(&(strategy, security)),
        };
        net.copied().unwrap_or(Quantity::ZERO)
    }

    pub(super) fn cash(&self, scope: Scope, valuer: &Valuer<'_>) -> Option<Amount> {
        self.in_base(scope, valuer, |sums| sums.cash)
    }

    pub(super) fn flow(&self, scope: Scope, valuer: &Valuer<'_>) -> Option<Amount> {
        self.in_base(scope, valuer, |sums| sums.flow)
    }

    pub(super) fn realized_pl(&self, scope: Scope, valuer: &Valuer<'_>) -> Option<Amount> {
        self.in_base(scope, valuer, |sums| sums.realized_pl)
    }

    pub(super) fn market_value(&self, scope: Scope, valuer: &Valuer<'_>) -> Option<Amount> {
        self.is_priced(scope).then(|| self.in_base(scope, valuer, |sums| sums.market_value))?
    }

    pub(super) fn unrealized_pl(&self, scope: Scope, valuer: &Valuer<'_>) -> Option<Amount> {
        self.is_priced(scope).then(|| self.in_base(scope, valuer, |sums| sums.unrealized_pl))?
    }

    pub(super) fn exposure(&self, scope: Scope, valuer: &Valuer<'_>) -> Option<Exposure> {
        let long = self.in_base(scope, valuer, |sums| sums.long)?;
        let short = self.in_base(scope, valuer, |sums| sums.short)?;
        Some(Exposure { long, short })
    }

    pub(super) fn open_positions(&self, scope: Scope) -> u64 {
        self.sums(scope).iter().map(|(_, sums)| sums.open).sum()
    }

    fn is_priced(&self, scope: Scope) -> bool {
        self.sums(scope).iter().all(|(_, sums)| sums.unpriced == 0)
    }

    fn in_base(&self, scope: Scope, valuer: &Valuer<'_>, part: impl Fn(&Sums) -> Amount) -> Option<Amount> {
        self.sums(scope)
            .iter()
            .try_fold(Amount::ZERO, |total, (currency, sums)| total.plus(valuer.in_base(part(sums), *currency)?).ok())
    }

    fn sums(&self, scope: Scope) -> &[(Currency, Sums)] {
        let sums = match scope {
            Scope::Platform => Some(&self.platform),
            Scope::Account(account) => self.accounts.get(&account),
            Scope::Strategy(strategy) => self.strategies.get(&strategy),
            Scope::Security(security) => self.securities.get(&security),
        };
        sums.map_or(&[], Vec::as_slice)
    }

    pub(super) fn knows(&self, scope: Scope) -> bool {
        !self.sums(scope).is_empty()
    }

    /// Every scope that ever held something.
    pub(super) fn scopes(&self) -> impl Iterator<Item = Scope> + '_ {
        let accounts = self.accounts.keys().map(|account| Scope::Account(*account));
        let strategies = self.strategies.keys().map(|strategy| Scope::Strategy(*strategy));
        let securities = self.securities.keys().map(|security| Scope::Security(*security));
        std::iter::once(Scope::Platform).chain(accounts).chain(strategies).chain(securities)
    }

    pub(super) fn currencies(&self) -> impl Iterator<Item = Currency> + '_ {
        self.platform.iter().map(|(currency, _)| *currency)
    }
}

impl From<&Valued> for Sums {
    fn from(valued: &Valued) -> Self {
        let (market_value, unrealized_pl) = valued.worth.unwrap_or_default();
        let is_open = !valued.quantity.is_zero();
        let (long, short) = match valued.quantity.is_negative() {
            false => (valued.exposure, Amount::ZERO),
            true => (Amount::ZERO, valued.exposure.negated()),
        };
        Self {
            market_value,
            realized_pl: valued.realized_pl,
            unrealized_pl,
            long,
            short,
            open: is_open.into(),
            unpriced: (is_open && valued.worth.is_none()).into(),
            ..Self::default()
        }
    }
}

impl Sums {
    fn exchange(&mut self, old: &Self, new: &Self) {
        let exchanged = |total: Amount, old: Amount, new: Amount| {
            if old == new { total } else { sum(sum(total, old.negated()), new) }
        };
        self.market_value = exchanged(self.market_value, old.market_value, new.market_value);
        self.realized_pl = exchanged(self.realized_pl, old.realized_pl, new.realized_pl);
        self.unrealized_pl = exchanged(self.unrealized_pl, old.unrealized_pl, new.unrealized_pl);
        self.long = exchanged(self.long, old.long, new.long);
        self.short = exchanged(self.short, old.short, new.short);
        self.open = self.open + new.open - old.open;
        self.unpriced = self.unpriced + new.unpriced - old.unpriced;
    }
}

fn of_currency(sums: &mut PerCurrency, currency: Currency) -> &mut Sums {
    // A handful of currencies at most: a walk is quicker than a map.
    let place = sums.iter().position(|(known, _)| *known == currency).unwrap_or_else(|| {
        sums.push((currency, Sums::default()));
        sums.len() - 1
    });
    &mut sums[place].1
}

fn add_net<K: Eq + std::hash::Hash>(nets: &mut Index<K, Quantity>, key: K, change: Quantity) {
    match nets.get_mut(&key) {
        Some(net) => *net = net.plus(change).expect("amounts are bounded"),
        None => drop(nets.insert(key, change)),
    }
}

/// `AMOUNT_MAX` bounds every part, and it takes 10^10 of them to overflow.
fn sum(left: Amount, right: Amount) -> Amount {
    left.plus(right).expect("amounts are bounded")
}
