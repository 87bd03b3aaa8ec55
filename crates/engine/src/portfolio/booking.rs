//! Booking plan: everything is checked and computed before anything changes.

use std::sync::Arc;

use domain::{
    Amount, Decimal, Overflow, Quantity, Refusal, RiskScope, Security, SecurityKind, Timestamp, Transaction,
    TransactionKind,
};

use super::Portfolio;
use super::books::{BookedTransaction, BookingEffect, CashKey, PortfolioBooks};
use super::position_state::Contract;

/// A transaction with all its changes; only the newest plan can be committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BookingPlan {
    pub(super) entry: BookedTransaction,
    pub(super) effect: BookingEffect,
    /// Cash that it pays in or out.
    pub(super) flow: Option<(CashKey, Amount)>,
}

impl BookingPlan {
    pub(crate) fn transaction(&self) -> &Arc<Transaction> {
        &self.entry.transaction
    }
}

impl Portfolio {
    /// The changes of a transaction, or why it cannot be booked.
    pub(crate) fn plan(&self, transaction: Transaction, security: Option<&Security>) -> Result<BookingPlan, Refusal> {
        if self.used_uuids.contains(transaction.uuid, transaction.id) {
            return Err(Refusal::DuplicateTransaction(transaction.uuid));
        }
        check_sign(transaction.kind, transaction.quantity)?;
        let contract = match transaction.kind.cash_sign() {
            None => Some(contract(security)?),
            Some(_) => check_cash(&transaction)?,
        };
        // The time of booking is known only at the commit.
        let entry = BookedTransaction { transaction: Arc::new(transaction), contract, booked_at: Timestamp::default() };
        let flow = flow(&entry)?;
        if let Some((key, amount)) = flow {
            self.day.flows.get(&key).copied().unwrap_or_default().plus(amount)?;
        }
        Ok(BookingPlan { effect: self.live.effect(&entry)?, flow, entry })
    }
}

fn contract(security: Option<&Security>) -> Result<Contract, Refusal> {
    let security = security.ok_or(Refusal::Missing { field: "securityId" })?;
    if security.kind == SecurityKind::Index {
        return Err(Refusal::NotTradeable(security.id));
    }
    Ok(Contract::from(security))
}

fn check_cash(transaction: &Transaction) -> Result<Option<Contract>, Refusal> {
    if !transaction.price.is_positive() {
        return Err(Refusal::NotPositive { field: "price", value: transaction.price.0 });
    }
    Ok(None)
}

fn check_sign(kind: TransactionKind, quantity: Quantity) -> Result<(), Refusal> {
    let is_right = match kind {
        TransactionKind::Buy => quantity.is_positive(),
        TransactionKind::Sell => quantity.is_negative(),
        TransactionKind::Expiration | TransactionKind::Transfer => !quantity.is_zero(),
        _ => kind.cash_sign() == Some(quantity),
    };
    if is_right { Ok(()) } else { Err(Refusal::WrongSign { field: "quantity", value: quantity.0 }) }
}

/// Cash paid in or out and transferred positions are not results of trading.
fn flow(entry: &BookedTransaction) -> Result<Option<(CashKey, Amount)>, Overflow> {
    let booked = &entry.transaction;
    let (currency, size) = match (booked.kind, entry.contract) {
        (TransactionKind::Credit | TransactionKind::Debit, _) => (booked.currency, Decimal::ONE),
        (TransactionKind::Transfer, Some(contract)) if !contract.margined => (contract.currency, contract.size),
        _ => return Ok(None),
    };
    let amount = booked.quantity.value_at(booked.price, size)?;
    Ok(Some((CashKey { strategy: booked.strategy, account: booked.account, currency }, amount)))
}

impl BookingEffect {
    /// The scopes of a position or balance that did not exist before.
    pub(super) fn opened_scopes(&self, before: &PortfolioBooks) -> Vec<RiskScope> {
        let mut scopes = Vec::new();
        if let Some(row) = self.position.filter(|row| row.index == before.positions.rows().len()) {
            let key = row.key;
            scopes.extend([RiskScope::Platform, RiskScope::Strategy(key.strategy)]);
            scopes.extend([RiskScope::Account(key.account), RiskScope::Security(key.security)]);
        }
        for row in self.cash.iter().flatten().filter(|row| row.index >= before.cash.rows().len()) {
            scopes.extend([
                RiskScope::Platform,
                RiskScope::Strategy(row.key.strategy),
                RiskScope::Account(row.key.account),
            ]);
        }
        scopes
    }
}
