//! The account in our words: balances as a statement, and movements that are no trades as entries.

use domain::report::{ReportKind, VenueBalance, VenueEntry, VenueStatement};
use domain::{AccountId, Amount, EntryKind, Timestamp};

use super::state::BinanceAdapter;
use crate::protocol::account_answers::{AssetBalance, BinanceAccount};
use crate::protocol::user_events::BalanceMovedEvent;
use crate::protocol::wire_values::decimal_text;

/// A spot venue tells assets, not positions. An asset whose name is no currency code is left out, and then the list is not
/// complete.
pub(super) fn statement_of(account: AccountId, as_of: Timestamp, told: &BinanceAccount) -> VenueStatement {
    let cash: Vec<VenueBalance> = told.balances.iter().filter_map(balance_of).collect();
    VenueStatement {
        as_of,
        account,
        cash_complete: cash.len() == told.balances.len(),
        cash,
        positions: Vec::new(),
        positions_complete: false,
    }
}

fn balance_of(told: &AssetBalance) -> Option<VenueBalance> {
    let total = Amount(told.free.0).plus(Amount(told.locked.0)).ok()?;
    Some(VenueBalance { currency: told.asset.parse().ok()?, total, locked: Amount(told.locked.0) })
}

impl BinanceAdapter {
    /// The event has no id, so the time of the movement, asset and amount are one. The time of the event is another on each
    /// connection.
    pub(super) fn on_balance_moved(&mut self, moved: &BalanceMovedEvent) {
        let (Some(account), Ok(currency)) = (self.only_account(), moved.asset.parse()) else {
            tracing::error!(adapter = %self.setup.adapter, asset = moved.asset, "a movement of a balance cannot be booked");
            return;
        };
        let ext_id = format!("{}:{}:{}", moved.at.0, moved.asset, decimal_text(moved.delta.0));
        self.outbox.report(ReportKind::Entry(VenueEntry {
            ext_id: ext_id.into(),
            kind: EntryKind::Transfer,
            account,
            currency,
            amount: Amount(moved.delta.0),
            security: None,
            quantity: None,
            at: moved.at.instant(),
        }));
    }

    /// One key is one account at the venue.
    pub(super) fn only_account(&self) -> Option<AccountId> {
        let reference = self.setup.catalogue.current();
        let mut own = reference.accounts.values().filter(|account| account.adapter() == self.setup.adapter);
        let first = own.next().map(|account| account.id);
        first.filter(|_| own.next().is_none())
    }
}
