//! Bookings that no order causes: manual transactions, portfolio resets, entries of venues, expiration.

mod entries;
mod expiration;

use std::sync::Arc;

use domain::command::RecordTransaction;
use domain::query::{Answer, EngineResult};
use domain::{AccountId, Currency, PlantedBug, Quantity, Refusal, Security, StrategyId, Transaction, TransactionKind};

use crate::outbox::{Moment, Outbox};
use crate::trading::{Trading, valuer};

impl Trading {
    pub(crate) fn record(&mut self, moment: Moment, ask: &RecordTransaction, out: &mut Outbox) -> EngineResult {
        let (transaction, security) = self.check_record(moment, ask)?;
        self.check_held(&transaction)?;
        if PlantedBug::CreditTwice.is_planted() {
            self.book(moment, transaction.clone(), security.as_deref(), out)?;
            let (id, uuid) = self.ids.next_booking(self.settings.instance);
            let again = Transaction { id, uuid, ..transaction };
            return Ok(Answer::Transaction(self.book(moment, again, security.as_deref(), out)?));
        }
        Ok(Answer::Transaction(self.book(moment, transaction, security.as_deref(), out)?))
    }

    /// Books a transaction under the next ids.
    pub(crate) fn book(
        &mut self,
        moment: Moment,
        transaction: Transaction,
        security: Option<&Security>,
        out: &mut Outbox,
    ) -> Result<Arc<Transaction>, Refusal> {
        let booking = self.portfolio.plan(transaction, security)?;
        let transaction = booking.transaction().clone();
        self.ids.consume_booking_id();
        self.portfolio.commit(booking, &valuer(&self.marks, &self.reference, &self.settings, moment.at), out);
        Ok(transaction)
    }

    /// An EXPIRATION only closes: it neither opens a position nor turns it round.
    fn check_held(&self, booked: &Transaction) -> Result<(), Refusal> {
        let Some(security) = booked.security.filter(|_| booked.kind == TransactionKind::Expiration) else {
            return Ok(());
        };
        let (held, change) = (self.portfolio.quantity(booked.strategy, booked.account, security), booked.quantity);
        let is_lower = change.is_negative() != held.is_negative() && change.abs() <= held.abs();
        if is_lower || change.is_zero() { Ok(()) } else { Err(Refusal::NotHeld { held, change }) }
    }

    fn check_record(
        &self,
        moment: Moment,
        ask: &RecordTransaction,
    ) -> Result<(Transaction, Option<Arc<Security>>), Refusal> {
        let security = ask.security.map(|id| self.reference.security(id).cloned()).transpose()?;
        let strategy = ask.strategy.unwrap_or(StrategyId::SERVER);
        self.reference.strategy(strategy)?;
        if ask.price.is_negative() {
            return Err(Refusal::NotPositive { field: "price", value: ask.price.0 });
        }
        let (id, uuid) = self.ids.next_booking(self.settings.instance);
        let transaction = Transaction {
            id,
            uuid: ask.uuid.unwrap_or(uuid),
            at: ask.at.unwrap_or(moment.at),
            settlement_date: ask.settlement_date,
            ext_id: ask.ext_id.clone(),
            int_order_id: ask.int_order_id.clone(),
            ext_order_id: ask.ext_order_id.clone(),
            kind: ask.kind,
            quantity: quantity(ask)?,
            price: ask.price,
            execution_commission: ask.execution_commission.unwrap_or_default(),
            clearing_commission: ask.clearing_commission.unwrap_or_default(),
            fee: ask.fee.unwrap_or_default(),
            currency: currency(ask, security.as_deref())?,
            account: self.booking_account(ask.account)?,
            security: ask.security,
            strategy,
            description: ask.description.clone(),
            charges: vec![],
            venue_kind: None,
            liquidity: None,
        };
        Ok((transaction, security))
    }

    fn booking_account(&self, asked: Option<AccountId>) -> Result<AccountId, Refusal> {
        if let Some(account) = asked {
            return self.reference.account(account).map(|account| account.id);
        }
        let active = self.reference.data().accounts.values().filter(|account| account.active);
        let ids: Vec<_> = active.map(|account| account.id).collect();
        match ids[..] {
            [] => Err(Refusal::Missing { field: "accountId" }),
            [only] => Ok(only),
            _ => Err(Refusal::BookingAccountAmbiguous(ids)),
        }
    }

    pub(crate) fn reset_positions(&mut self, moment: Moment, out: &mut Outbox) -> EngineResult {
        self.portfolio.reset_positions(&valuer(&self.marks, &self.reference, &self.settings, moment.at), out);
        Ok(Answer::Done)
    }

    pub(crate) fn reset_cash(&mut self, moment: Moment, out: &mut Outbox) -> EngineResult {
        self.portfolio.reset_cash(&valuer(&self.marks, &self.reference, &self.settings, moment.at), out);
        Ok(Answer::Done)
    }
}

/// Optional for the kinds that move only cash.
fn quantity(ask: &RecordTransaction) -> Result<Quantity, Refusal> {
    ask.quantity.or(ask.kind.cash_sign()).ok_or(Refusal::Missing { field: "quantity" })
}

/// A booking of a security is in its currency; a booking of cash needs a currency, or a security that has one.
fn currency(ask: &RecordTransaction, security: Option<&Security>) -> Result<Currency, Refusal> {
    match (ask.kind.cash_sign(), security) {
        (None, None) => Err(Refusal::Missing { field: "securityId" }),
        (None, Some(security)) => match ask.currency {
            Some(currency) if currency != security.currency => {
                Err(Refusal::BookingCurrency { security: security.id, currency: security.currency })
            }
            _ => Ok(security.currency),
        },
        (Some(_), security) => {
            let currency = ask.currency.or(security.map(|security| security.currency));
            currency.ok_or(Refusal::Missing { field: "currency" })
        }
    }
}
