//! Entries of venues: funding, interest, transfers and the like, each booked once.

use std::sync::Arc;

use domain::lookup_map::fingerprint;
use domain::report::VenueEntry;
use domain::{
    AdapterName, Amount, Decimal, Overflow, Price, Quantity, Refusal, Security, StrategyId, Transaction,
    TransactionKind,
};

use crate::outbox::{Moment, Outbox};
use crate::trading::Trading;

/// A transaction, and the security that it moves.
type EntryBooking = (Transaction, Option<Arc<Security>>);

impl Trading {
    pub(crate) fn on_entry(&mut self, moment: Moment, adapter: &AdapterName, entry: &VenueEntry, out: &mut Outbox) {
        let account = self.reference.account(entry.account);
        if !account.is_ok_and(|account| account.adapter() == *adapter) {
            let text = format!("{adapter} books on account {}, which does not trade there", entry.account);
            return out.error("foreign-entry", text);
        }
        let (key, content) = (entry_key(adapter, entry), content_key(entry));
        match self.entries.get(key) {
            Some(known) if known == content => {}
            Some(_) => {
                let text = format!(
                    "account {}: entry {} came before, and now it is {}",
                    entry.account,
                    entry.ext_id,
                    described(entry)
                );
                out.error("entry-differs", text);
            }
            None => match self.book_entry(moment, entry, out) {
                Ok(()) => self.entries.insert(key, content),
                Err(refusal) => {
                    let text = format!("account {}: entry {} is not booked: {refusal}", entry.account, entry.ext_id);
                    out.error("entry-not-booked", text);
                }
            },
        }
    }

    fn book_entry(&mut self, moment: Moment, entry: &VenueEntry, out: &mut Outbox) -> Result<(), Refusal> {
        let Some((transaction, security)) = self.entry_transaction(moment, entry)? else { return Ok(()) };
        self.book(moment, transaction, security.as_deref(), out).map(drop)
    }

    /// None where nothing moved.
    pub(crate) fn entry_transaction(
        &self,
        moment: Moment,
        entry: &VenueEntry,
    ) -> Result<Option<EntryBooking>, Refusal> {
        let security = entry.security.map(|id| self.reference.security(id).cloned()).transpose()?;
        let (kind, quantity, price) = match entry.quantity {
            Some(quantity) => {
                let security = security.as_deref().ok_or(Refusal::Missing { field: "security" })?;
                (TransactionKind::Transfer, quantity, self.price_of(entry, quantity, security)?)
            }
            None if entry.amount.is_zero() => return Ok(None),
            None => {
                let kind = entry.kind.transaction_kind(entry.amount);
                (kind, kind.cash_sign().unwrap_or_default(), Price(entry.amount.abs().0))
            }
        };
        let (id, uuid) = self.ids.next_booking(self.settings.instance);
        let transaction = Transaction {
            id,
            uuid,
            at: entry.at.unwrap_or(moment.at),
            settlement_date: None,
            ext_id: Some(entry.ext_id.clone()),
            int_order_id: None,
            ext_order_id: None,
            kind,
            quantity,
            price,
            execution_commission: Amount::ZERO,
            clearing_commission: Amount::ZERO,
            fee: Amount::ZERO,
            currency: currency_of(entry, security.as_deref()),
            account: entry.account,
            security: entry.security,
            strategy: self.holder(entry),
            description: None,
            charges: vec![],
            venue_kind: Some(entry.kind),
            liquidity: None,
        };
        Ok(Some((transaction, security)))
    }

    /// What the venue says that the quantity is worth, else its market price; without either it costs nothing.
    fn price_of(&self, entry: &VenueEntry, quantity: Quantity, security: &Security) -> Result<Price, Overflow> {
        let units = quantity.abs().times(security.contract_size)?;
        if !entry.amount.is_zero() && entry.currency == security.currency && !units.is_zero() {
            return entry.amount.abs().over(units.0).map(|amount| Price(amount.0));
        }
        let mark = self.marks.get(security.id);
        Ok(mark.and_then(|mark| mark.exit_price(quantity)).unwrap_or(Price(Decimal::ZERO)))
    }

    /// The only strategy with a position in the security, else the server.
    fn holder(&self, entry: &VenueEntry) -> StrategyId {
        let held = entry.security.map(|security| self.portfolio.open_in(security)).unwrap_or_default();
        let mut strategies = held.iter().filter(|position| position.account == entry.account);
        match (strategies.next(), strategies.next()) {
            (Some(only), None) => only.strategy,
            _ => StrategyId::SERVER,
        }
    }
}

/// A transfer is booked in the currency of what is transferred.
fn currency_of(entry: &VenueEntry, security: Option<&Security>) -> domain::Currency {
    security.filter(|_| entry.quantity.is_some()).map_or(entry.currency, |security| security.currency)
}

fn entry_key(adapter: &AdapterName, entry: &VenueEntry) -> u128 {
    fingerprint(&[adapter.0.as_bytes(), &entry.account.0.to_le_bytes(), entry.ext_id.as_bytes()])
}

/// The venue's time is no part of it: some venues tell it more exactly the second time.
fn content_key(entry: &VenueEntry) -> u128 {
    let number = |number: Option<Decimal>| number.map(|number| number.normalize().serialize()).unwrap_or_default();
    fingerprint(&[
        entry.kind.name().as_bytes(),
        entry.currency.as_str().as_bytes(),
        &number(Some(entry.amount.0)),
        &entry.security.map_or(0, |security| security.0).to_le_bytes(),
        &number(entry.quantity.map(|quantity| quantity.0)),
    ])
}

fn described(entry: &VenueEntry) -> String {
    let of = entry.security.map_or(String::new(), |security| format!(" of security {security}"));
    let quantity = entry.quantity.map_or(String::new(), |quantity| format!(", {quantity}"));
    format!("{} {} {}{of}{quantity}", entry.kind.name(), entry.amount, entry.currency)
}
