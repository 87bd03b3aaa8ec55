//! Positions and cash as a fold over transactions, and nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::{
    AccountId, Amount, BalanceId, Currency, Decimal, Overflow, PositionId, SecurityId, StrategyId, Timestamp,
    Transaction, TransactionKind,
};
use minicbor::{Decode, Encode};

use super::holding::{Contract, Holding};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub(super) struct PositionKey {
    #[n(0)]
    pub(super) strategy: StrategyId,
    #[n(1)]
    pub(super) account: AccountId,
    #[n(2)]
    pub(super) security: SecurityId,
}

impl PositionKey {
    fn of(transaction: &Transaction, security: SecurityId) -> Self {
        Self { strategy: transaction.strategy, account: transaction.account, security }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
pub(super) struct CashKey {
    #[n(0)]
    pub(super) strategy: StrategyId,
    #[n(1)]
    pub(super) account: AccountId,
    #[n(2)]
    pub(super) currency: Currency,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(super) struct Balance {
    #[n(0)]
    pub(super) id: BalanceId,
    #[n(1)]
    pub(super) amount: Amount,
}

/// A recorded transaction with the terms by which it was booked.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(super) struct Entry {
    #[cbor(n(0), with = "shared")]
    pub(super) transaction: Arc<Transaction>,
    /// Absent where only cash moves.
    #[n(1)]
    pub(super) contract: Option<Contract>,
    #[n(2)]
    pub(super) booked_at: Timestamp,
}

/// What an entry makes of the books: new values, not differences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Effect {
    pub(super) position: Option<(PositionKey, Holding)>,
    /// The principal and the charges may be in two currencies.
    pub(super) cash: [Option<(CashKey, Balance)>; 2],
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub(super) struct Books {
    #[n(0)]
    pub(super) positions: BTreeMap<PositionKey, Holding>,
    #[n(1)]
    pub(super) cash: BTreeMap<CashKey, Balance>,
    /// The newest ids given.
    #[n(2)]
    pub(super) last_position: u64,
    #[n(3)]
    pub(super) last_balance: u64,
}

impl Books {
    pub(super) fn effect(&self, entry: &Entry) -> Result<Effect, Overflow> {
        let Some(contract) = entry.contract else {
            let amount = entry.transaction.quantity.value_at(entry.transaction.price, Decimal::ONE)?;
            let cash = self.cash_effect(&entry.transaction, (entry.transaction.currency, amount))?;
            return Ok(Effect { position: None, cash });
        };
        let key = PositionKey::of(&entry.transaction, contract.security);
        let before = self.holding(key, contract.currency);
        let after = before.after(entry.transaction.quantity, entry.transaction.price, contract.size)?;
        let after = Holding { changed_at: entry.booked_at, ..after };
        for amount in [after.quantity.0, after.cost.0, after.realized_pl.0] {
            check_bound(amount)?;
        }
        let principal = principal(&entry.transaction, contract, after.realized_pl.minus(before.realized_pl)?)?;
        let cash = self.cash_effect(&entry.transaction, (contract.currency, principal))?;
        Ok(Effect { position: Some((key, after)), cash })
    }

    pub(super) fn apply(&mut self, effect: &Effect) {
        if let Some((key, holding)) = effect.position {
            self.last_position = self.last_position.max(holding.id.0);
            self.positions.insert(key, holding);
        }
        for (key, balance) in effect.cash.iter().flatten() {
            self.last_balance = self.last_balance.max(balance.id.0);
            self.cash.insert(*key, *balance);
        }
    }

    fn holding(&self, key: PositionKey, currency: Currency) -> Holding {
        let unused = PositionId(self.last_position + 1);
        self.positions.get(&key).copied().unwrap_or_else(|| Holding::empty(unused, currency))
    }

    fn cash_effect(
        &self,
        transaction: &Transaction,
        (currency, principal): (Currency, Amount),
    ) -> Result<[Option<(CashKey, Balance)>; 2], Overflow> {
        let charges = charges(transaction)?.negated();
        if currency == transaction.currency {
            return Ok([self.balance_after(transaction, currency, principal.plus(charges)?, 1)?, None]);
        }
        let paid = self.balance_after(transaction, currency, principal, 1)?;
        // Where both balances are new they need two ids.
        let opened = paid.is_some_and(|(_, balance)| balance.id.0 > self.last_balance);
        let unused = if opened { 2 } else { 1 };
        Ok([paid, self.balance_after(transaction, transaction.currency, charges, unused)?])
    }

    /// The balance after a change, with the `unused`-th free id where it is new; nothing where nothing moves.
    fn balance_after(
        &self,
        transaction: &Transaction,
        currency: Currency,
        change: Amount,
        unused: u64,
    ) -> Result<Option<(CashKey, Balance)>, Overflow> {
        if change.is_zero() {
            return Ok(None);
        }
        let key = CashKey { strategy: transaction.strategy, account: transaction.account, currency };
        let empty = Balance { id: BalanceId(self.last_balance + unused), amount: Amount::ZERO };
        let before = self.cash.get(&key).copied().unwrap_or(empty);
        let amount = before.amount.plus(change)?;
        check_bound(amount.0)?;
        Ok(Some((key, Balance { amount, ..before })))
    }
}

/// The cash that a change of position moves, charges aside.
///
/// An expiration settles like a trade at its price, which is zero for what expires worthless. A transfer pays nothing:
/// what leaves realises the difference to its cost, what arrives costs the same price, so both ends add up at any price.
/// The value of a future is its unsettled P/L, which cannot move along, so it is settled here as well.
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
    transaction.execution_commission.plus(transaction.clearing_commission)?.plus(transaction.fee)
}

fn check_bound(amount: Decimal) -> Result<(), Overflow> {
    if amount.abs() > super::AMOUNT_MAX { Err(Overflow) } else { Ok(()) }
}

/// A shared value on disk is the value.
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
