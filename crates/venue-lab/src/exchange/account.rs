//! Accounts: balances, free and locked, and commission rates.

use std::collections::BTreeMap;

use super::units::Units;

/// What an account pays, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AccountRules {
    pub(crate) name: String,
    pub(crate) maker_rate: Units,
    pub(crate) taker_rate: Units,
    /// Commissions are paid in BNB where the account has enough of it, with the discount.
    pub(crate) pays_in_bnb: bool,
    pub(crate) deposits: BTreeMap<String, Units>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SpotBalance {
    pub(crate) free: Units,
    pub(crate) locked: Units,
}

#[derive(Debug)]
pub(crate) struct SpotAccount {
    pub(crate) rules: AccountRules,
    pub(crate) balances: BTreeMap<String, SpotBalance>,
    pub(crate) update_micros: i64,
}

impl SpotAccount {
    pub(crate) fn open(rules: AccountRules, at: i64) -> Self {
        let balance =
            |(asset, free): (&String, &Units)| (asset.clone(), SpotBalance { free: *free, locked: Units::ZERO });
        let balances = rules.deposits.iter().map(balance).collect();
        Self { rules, balances, update_micros: at }
    }

    pub(crate) fn free(&self, asset: &str) -> Units {
        self.balances.get(asset).map_or(Units::ZERO, |balance| balance.free)
    }

    /// Moves an amount from free to locked; a negative amount moves back. The caller has checked that it is there.
    pub(crate) fn lock(&mut self, asset: &str, amount: Units) {
        let balance = self.balances.entry(asset.to_owned()).or_default();
        balance.free.0 -= amount.0;
        balance.locked.0 += amount.0;
    }

    pub(crate) fn unlock(&mut self, asset: &str, amount: Units) {
        self.lock(asset, Units(-amount.0));
    }

    /// Takes an amount out of what is locked.
    pub(crate) fn spend_locked(&mut self, asset: &str, amount: Units) {
        self.balances.entry(asset.to_owned()).or_default().locked.0 -= amount.0;
    }

    /// Adds to what is free; a negative amount is a charge.
    pub(crate) fn credit(&mut self, asset: &str, amount: Units) {
        let balance = self.balances.entry(asset.to_owned()).or_default();
        balance.free.0 = balance.free.0.saturating_add(amount.0);
    }
}
