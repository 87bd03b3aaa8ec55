//! Statements of venues beside our own balances.

use std::sync::Arc;

use domain::report::{VenueBalance, VenueStatement};
use domain::{AccountId, Amount, BalanceId, CashBalance, Currency, Event};

use super::Portfolio;
use super::books::{CashKey, id_at};
use crate::outbox::Outbox;

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
