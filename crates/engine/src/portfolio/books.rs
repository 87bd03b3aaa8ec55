//! Positions and cash as a fold over transactions.

use std::sync::Arc;

use domain::{
    AccountId, Amount, Currency, Decimal, Overflow, PlantedBug, SecurityId, StrategyId, Timestamp, Transaction,
    TransactionKind,
};
use minicbor::{Decode, Encode};

use super::position_state::{Contract, PositionState};
use super::table::Table;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode)]
pub(super) struct PositionKey {
    #[n(0)]
    pub(super) strategy: StrategyId,
    #[n(1)]
    pub(super) account: AccountId,
    #[n(2)]
    pub(super) security: SecurityId,
}

impl PositionKey {
    fn from_transaction(transaction: &Transaction, security: SecurityId) -> Self {
        Self { strategy: transaction.strategy, account: transaction.account, security }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub(super) struct CashKey {
    #[n(0)]
    pub(super) strategy: StrategyId,
    #[n(1)]
    pub(super) account: AccountId,
    #[n(2)]
    pub(super) currency: Currency,
}

/// A recorded transaction with the terms by which it was booked.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(super) struct BookedTransaction {
    #[cbor(n(0), with = "shared")]
    pub(super) transaction: Arc<Transaction>,
    /// Absent where only cash moves.
    #[n(1)]
    pub(super) contract: Option<Contract>,
    #[n(2)]
    pub(super) booked_at: Timestamp,
}

/// The result of an entry: new values, not differences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BookingEffect {
    pub(super) position: Option<TableRow<PositionKey, PositionState>>,
    /// The principal and the charges may be in two currencies.
    pub(super) cash: [Option<TableRow<CashKey, Amount>>; 2],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TableRow<K, V> {
    pub(super) index: usize,
    pub(super) key: K,
    pub(super) value: V,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub(super) struct PortfolioBooks {
    /// A closed position stays: its realised P/L still counts.
    #[n(0)]
    pub(super) positions: Table<PositionKey, PositionState>,
    #[n(1)]
    pub(super) cash: Table<CashKey, Amount>,
}

impl PortfolioBooks {
    /// What is written to disk.
    pub(super) fn copy_for_disk(&self) -> Self {
        Self { positions: self.positions.copy_for_disk(), cash: self.cash.copy_for_disk() }
    }

    pub(super) fn effect(&self, entry: &BookedTransaction) -> Result<BookingEffect, Overflow> {
        let Some(contract) = entry.contract else {
            let amount = entry.transaction.quantity.value_at(entry.transaction.price, Decimal::ONE)?;
            let cash = self.cash_effect(&entry.transaction, (entry.transaction.currency, amount))?;
            return Ok(BookingEffect { position: None, cash });
        };
        let key = PositionKey::from_transaction(&entry.transaction, contract.security);
        let place = self.positions.place(key).unwrap_or(self.positions.rows().len());
        let before = self.positions.row(place).map_or(PositionState::empty(contract.currency), |row| row.1);
        let after = before.after(entry.transaction.quantity, entry.transaction.price, contract.size)?;
        let value = PositionState { changed_at: entry.booked_at, ..after.with_charges(&entry.transaction)? };
        for amount in [value.quantity.0, value.cost.0, value.realized_pl.0, value.commissions.0, value.fees.0] {
            check_bound(amount)?;
        }
        let principal = principal(&entry.transaction, contract, after.realized_pl.minus(before.realized_pl)?)?;
        let cash = self.cash_effect(&entry.transaction, (contract.currency, principal))?;
        Ok(BookingEffect { position: Some(TableRow { index: place, key, value }), cash })
    }

    pub(super) fn apply(&mut self, effect: &BookingEffect) {
        if let Some(row) = effect.position {
            self.positions.set(row.index, row.key, row.value);
        }
        for row in effect.cash.iter().flatten() {
            self.cash.set(row.index, row.key, row.value);
        }
    }

    fn cash_effect(
        &self,
        transaction: &Transaction,
        (currency, principal): (Currency, Amount),
    ) -> Result<[Option<TableRow<CashKey, Amount>>; 2], Overflow> {
        let charges = charges(transaction)?.negated();
        let next = self.cash.rows().len();
        if currency == transaction.currency {
            return Ok([self.balance_after(transaction, currency, principal.plus(charges)?, next)?, None]);
        }
        let paid = self.balance_after(transaction, currency, principal, next)?;
        // Two new balances need two rows.
        let next = if paid.is_some_and(|row| row.index == next) { next + 1 } else { next };
        Ok([paid, self.balance_after(transaction, transaction.currency, charges, next)?])
    }

    /// The balance after a change, at row `next` where it is new; nothing where nothing moves.
    fn balance_after(
        &self,
        transaction: &Transaction,
        currency: Currency,
        change: Amount,
        next: usize,
    ) -> Result<Option<TableRow<CashKey, Amount>>, Overflow> {
        if change.is_zero() {
            return Ok(None);
        }
        let key = CashKey { strategy: transaction.strategy, account: transaction.account, currency };
        let place = self.cash.place(key).unwrap_or(next);
        let before = self.cash.row(place).map_or(Amount::ZERO, |row| row.1);
        let value = before.plus(change)?;
        check_bound(value.0)?;
        Ok(Some(TableRow { index: place, key, value }))
    }
}

/// Rows count from zero, ids from one.
pub(super) fn id_at(place: usize) -> u64 {
    place as u64 + 1
}

/// The cash that a change of position moves, charges aside.
///
/// An expiration settles like a trade at its price, which is zero for what expires worthless. A transfer pays nothing:
/// the position that leaves realises the difference to its cost, the one that arrives costs the same price, so both
/// ends add up at any price. The value of a future is its unsettled P/L, which cannot be transferred, so it is settled
/// here as well.
fn principal(transaction: &Transaction, contract: Contract, realized: Amount) -> Result<Amount, Overflow> {
    if contract.margined {
        return Ok(realized);
    }
    if transaction.kind == TransactionKind::Transfer {
        return Ok(Amount::ZERO);
    }
    Ok(transaction.quantity.value_at(transaction.price, contract.size)?.negated())
}

fn charges(transaction: &Transaction) -> Result<Amount, Overflow> {
    if PlantedBug::ForgetCommission.is_planted() {
        return Ok(Amount::ZERO);
    }
    transaction.execution_commission.plus(transaction.clearing_commission)?.plus(transaction.fee)
}

fn check_bound(amount: Decimal) -> Result<(), Overflow> {
    if super::position_state::is_within_bound(amount) { Ok(()) } else { Err(Overflow) }
}

/// A shared value is encoded as the value.
mod shared {
    use std::sync::Arc;

    use minicbor::{Decode, Decoder, Encode, Encoder};

    pub(super) fn encode<T: Encode<C>, C, W: minicbor::encode::Write>(
        value: &Arc<T>,
        e: &mut Encoder<W>,
        ctx: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        value.as_ref().encode(e, ctx)
    }

    pub(super) fn decode<'b, T: Decode<'b, C>, C>(
        d: &mut Decoder<'b>,
        ctx: &mut C,
    ) -> Result<Arc<T>, minicbor::decode::Error> {
        T::decode(d, ctx).map(Arc::new)
    }
}
