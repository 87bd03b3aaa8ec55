//! Statements of venues beside our own balances. While a venue makes a statement, every value that our books had since it was
//! asked is kept: a statement whose value is one of them agrees with us, whatever was booked in the meantime.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::report::{VenueBalance, VenueStatement};
use domain::{
    AccountId, Amount, BalanceId, CashBalance, Currency, Event, Quantity, ReferenceData, SecurityId, SecurityKind,
    Timestamp,
};
use minicbor::{Decode, Encode};

use super::Portfolio;
use super::books::{BookingEffect, CashKey, id_at};
use crate::outbox::Outbox;

/// Values of one asset that are kept; an asset that changed more often is not compared with that statement.
const WINDOW_VALUES_MAX: usize = 1_000;

/// What a statement says something about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
pub(crate) enum StatedAsset {
    /// Cash, and the quantities of currency pairs whose base it is.
    #[n(0)]
    Cash(#[n(0)] Currency),
    #[n(1)]
    Position(#[n(0)] SecurityId),
}

impl StatedAsset {
    /// What is held where a position in the security is held.
    pub(crate) fn held_in(security: SecurityId, reference: &ReferenceData) -> Self {
        match reference.securities.get(&security).map(|known| &known.kind) {
            Some(SecurityKind::Forex { base, .. }) => Self::Cash(*base),
            _ => Self::Position(security),
        }
    }
}

/// The values of the assets of one account since an instant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct StatementWindow {
    #[n(0)]
    pub(crate) opened_at: Timestamp,
    /// Of each asset the oldest first.
    #[n(1)]
    values: BTreeMap<StatedAsset, Vec<Amount>>,
}

impl StatementWindow {
    pub(crate) fn assets(&self) -> impl Iterator<Item = StatedAsset> {
        self.values.keys().copied()
    }

    /// Newest first; none where there were too many. What was never held was zero.
    pub(crate) fn values(&self, asset: StatedAsset) -> Option<Vec<Amount>> {
        match self.values.get(&asset) {
            None => Some(vec![Amount::ZERO]),
            Some(values) if values.len() > WINDOW_VALUES_MAX => None,
            Some(values) => Some(values.iter().rev().copied().collect()),
        }
    }

    fn record(&mut self, asset: StatedAsset, value: Amount) {
        let values = self.values.entry(asset).or_insert_with(|| vec![Amount::ZERO]);
        if values.len() <= WINDOW_VALUES_MAX && values.last() != Some(&value) {
            values.push(value);
        }
    }
}

impl Portfolio {
    /// Begins to remember what the account holds.
    pub(crate) fn open_window(&mut self, account: AccountId, at: Timestamp, reference: &ReferenceData) {
        let values = self.assets_of(account, reference).into_iter();
        let values = values.filter_map(|asset| Some((asset, vec![self.total_of(account, asset, reference)?])));
        let window = StatementWindow { opened_at: at, values: values.collect() };
        self.windows.get_or_insert_default().insert(account, window);
    }

    /// Ends it with a statement that is not older; one that is answers an earlier question.
    pub(crate) fn close_window(&mut self, account: AccountId, as_of: Timestamp) -> Option<StatementWindow> {
        let is_meant = |window: &StatementWindow| window.opened_at <= as_of;
        let is_found = self.windows.as_ref()?.get(&account).is_some_and(is_meant);
        if is_found { self.drop_window(account) } else { None }
    }

    pub(crate) fn drop_window(&mut self, account: AccountId) -> Option<StatementWindow> {
        let windows = self.windows.as_mut()?;
        let window = windows.remove(&account);
        if windows.is_empty() {
            self.windows = None;
        }
        window
    }

    /// Something was booked.
    pub(super) fn update_window(&mut self, effect: &BookingEffect, reference: &ReferenceData) {
        let cash = effect.cash.iter().flatten().map(|row| (row.key.account, StatedAsset::Cash(row.key.currency)));
        let position = effect.position.map(|row| (row.key.account, StatedAsset::held_in(row.key.security, reference)));
        for (account, asset) in cash.chain(position) {
            let is_open = self.windows.as_ref().is_some_and(|windows| windows.contains_key(&account));
            let Some(total) = is_open.then(|| self.total_of(account, asset, reference)).flatten() else { continue };
            let window = self.windows.as_mut().and_then(|windows| windows.get_mut(&account));
            window.into_iter().for_each(|window| window.record(asset, total));
        }
    }

    /// What the last statement has of an asset, and what our books have now; none where one of them is not known.
    pub(crate) fn stated(
        &self,
        account: AccountId,
        asset: StatedAsset,
        reference: &ReferenceData,
    ) -> Option<(Amount, Amount)> {
        let theirs = stated_total(self.statements.get(&account)?, asset)?;
        Some((theirs, self.total_of(account, asset, reference)?))
    }

    fn assets_of(&self, account: AccountId, reference: &ReferenceData) -> BTreeSet<StatedAsset> {
        let cash = self.live.cash.rows().iter().filter(|(key, _)| key.account == account);
        let held = self.live.positions.rows().iter();
        let held = held.filter(|(key, holding)| key.account == account && !holding.quantity.is_zero());
        let cash = cash.map(|(key, _)| StatedAsset::Cash(key.currency));
        cash.chain(held.map(|(key, _)| StatedAsset::held_in(key.security, reference))).collect()
    }

    /// Of all strategies together; none where the sum does not fit.
    fn total_of(&self, account: AccountId, asset: StatedAsset, reference: &ReferenceData) -> Option<Amount> {
        match asset {
            StatedAsset::Position(security) => {
                let places = self.totals.places(security).iter();
                let rows = places.filter_map(|place| self.live.positions.row(*place));
                let of_account = rows.filter(|(key, _)| key.account == account).map(|(_, holding)| holding.quantity);
                of_account.into_iter().try_fold(Quantity::ZERO, Quantity::plus).ok().map(|sum| Amount(sum.0))
            }
            StatedAsset::Cash(currency) => {
                let rows = self.live.cash.rows().iter();
                let mut cash = rows.filter(|(key, _)| key.account == account && key.currency == currency);
                let sum = cash.try_fold(Amount::ZERO, |sum, (_, amount)| sum.plus(*amount)).ok()?;
                sum.plus(self.held_as_base(account, currency, reference)?).ok()
            }
        }
    }

    /// What positions in currency pairs hold of their base.
    fn held_as_base(&self, account: AccountId, currency: Currency, reference: &ReferenceData) -> Option<Amount> {
        let mut sum = Amount::ZERO;
        for (key, holding) in self.live.positions.rows().iter().filter(|(key, _)| key.account == account) {
            let Some(security) = reference.securities.get(&key.security) else { continue };
            if matches!(security.kind, SecurityKind::Forex { base, .. } if base == currency) {
                let units = holding.quantity.times(security.contract_size).ok()?;
                sum = sum.plus(Amount(units.0)).ok()?;
            }
        }
        Some(sum)
    }
}

impl Portfolio {
    /// Keeps a statement, unless it is older than the one that is kept; balances whose venue side changed are published.
    pub(crate) fn keep_statement(&mut self, statement: &VenueStatement, out: &mut Outbox) -> bool {
        let account = statement.account;
        if self.statements.get(&account).is_some_and(|kept| kept.as_of > statement.as_of) {
            return false;
        }
        let before = self.statements.insert(account, statement.clone());
        for (place, (key, amount)) in self.live.cash.rows().iter().enumerate() {
            let is_changed = before.as_ref().and_then(|before| venue_balance(before, key.currency))
                != venue_balance(statement, key.currency);
            if key.account == account && is_changed {
                out.publish(Event::Cash(Arc::new(self.balance(place, *key, *amount))));
            }
        }
        true
    }

    pub(super) fn balance(&self, place: usize, key: CashKey, amount: Amount) -> CashBalance {
        let venue = self.venue_balance(key.account, key.currency);
        CashBalance {
            id: BalanceId(id_at(place)),
            strategy: key.strategy,
            account: key.account,
            currency: key.currency,
            amount,
            venue_total: venue.map(|balance| balance.total),
            venue_locked: venue.map(|balance| balance.locked),
        }
    }

    fn venue_balance(&self, account: AccountId, currency: Currency) -> Option<VenueBalance> {
        venue_balance(self.statements.get(&account)?, currency)
    }
}

/// A currency that a complete statement does not have is not held.
fn venue_balance(statement: &VenueStatement, currency: Currency) -> Option<VenueBalance> {
    let nothing = VenueBalance { currency, total: Amount::ZERO, locked: Amount::ZERO };
    statement.balance(currency).copied().or(statement.cash_complete.then_some(nothing))
}

/// What a statement has of an asset; none where it does not tell. What a complete list lacks is nothing.
pub(crate) fn stated_total(statement: &VenueStatement, asset: StatedAsset) -> Option<Amount> {
    match asset {
        StatedAsset::Cash(currency) => venue_balance(statement, currency).map(|balance| balance.total),
        StatedAsset::Position(security) => {
            let listed = statement.positions.iter().find(|position| position.security == security);
            let quantity = listed.map(|position| Amount(position.quantity.0));
            quantity.or(statement.positions_complete.then_some(Amount::ZERO))
        }
    }
}
