//! Position state: cost and realised P/L after a transaction. Cost is an exact sum; a closing trade takes cost in
//! proportion. No amount exceeds a bound.

use domain::amount::{decimal, divide};
use domain::{
    Amount, Currency, Decimal, Overflow, Price, Quantity, Security, SecurityId, SecurityKind, Timestamp, Transaction,
};
use minicbor::{Decode, Encode};

/// The contract terms by which a security is booked. Kept with the transaction, so that a later change of reference
/// data does not change past bookings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(super) struct Contract {
    #[n(0)]
    pub(super) security: SecurityId,
    #[cbor(n(1), with = "decimal")]
    pub(super) size: Decimal,
    #[n(2)]
    pub(super) currency: Currency,
    /// Only P/L is settled, never the notional.
    #[n(3)]
    pub(super) margined: bool,
}

impl From<&Security> for Contract {
    fn from(security: &Security) -> Self {
        let currency = match security.kind {
            SecurityKind::Forex { transaction, .. } => transaction,
            _ => security.currency,
        };
        Self { security: security.id, size: security.contract_size, currency, margined: security.is_margined() }
    }
}

/// A position in the books.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(super) struct PositionState {
    #[n(0)]
    pub(super) quantity: Quantity,
    /// Signed as the quantity is.
    #[n(1)]
    pub(super) cost: Amount,
    #[n(2)]
    pub(super) realized_pl: Amount,
    #[n(3)]
    pub(super) currency: Currency,
    #[n(4)]
    pub(super) changed_at: Timestamp,
    #[n(5)]
    #[cbor(default)]
    pub(super) commissions: Amount,
    #[n(6)]
    #[cbor(default)]
    pub(super) fees: Amount,
}

impl PositionState {
    pub(super) fn empty(currency: Currency) -> Self {
        Self {
            quantity: Quantity::ZERO,
            cost: Amount::ZERO,
            realized_pl: Amount::ZERO,
            currency,
            changed_at: Timestamp::default(),
            commissions: Amount::ZERO,
            fees: Amount::ZERO,
        }
    }

    /// This position after its quantity changed at a price.
    pub(super) fn after(self, change: Quantity, price: Price, size: Decimal) -> Result<Self, Overflow> {
        let opens = self.quantity.is_zero() || self.quantity.is_negative() == change.is_negative();
        if opens {
            return self.extended(change, price, size);
        }
        if change.abs() <= self.quantity.abs() {
            return self.reduced(change, price, size);
        }
        let closing = self.quantity.negated();
        self.reduced(closing, price, size)?.extended(change.minus(closing)?, price, size)
    }

    /// This position after charges; charges in another currency are not part of it.
    pub(super) fn with_charges(self, booked: &Transaction) -> Result<Self, Overflow> {
        if booked.currency != self.currency {
            return Ok(self);
        }
        let commissions = booked.execution_commission.plus(booked.clearing_commission)?;
        let (commissions, fees) = (self.commissions.plus(commissions)?, self.fees.plus(booked.fee)?);
        Ok(Self { commissions, fees, ..self })
    }

    fn extended(self, change: Quantity, price: Price, size: Decimal) -> Result<Self, Overflow> {
        let cost = self.cost.plus(change.value_at(price, size)?)?;
        Ok(Self { quantity: self.quantity.plus(change)?, cost, ..self })
    }

    fn reduced(self, change: Quantity, price: Price, size: Decimal) -> Result<Self, Overflow> {
        let taken = self.cost_of(change)?;
        let received = change.value_at(price, size)?.negated();
        Ok(Self {
            quantity: self.quantity.plus(change)?,
            cost: self.cost.minus(taken)?,
            realized_pl: self.realized_pl.plus(received.minus(taken)?)?,
            ..self
        })
    }

    /// The part of the cost that a closing change takes along; the last one takes all, so that no remainder stays.
    fn cost_of(&self, change: Quantity) -> Result<Amount, Overflow> {
        if change.abs() == self.quantity.abs() {
            return Ok(self.cost);
        }
        self.cost.times(change.abs().0)?.over(self.quantity.abs().0)
    }

    /// Average cost of one unit of the underlying.
    pub(super) fn avg_price(&self, size: Decimal) -> Option<Price> {
        if self.quantity.is_zero() {
            return None;
        }
        let units = self.quantity.0.checked_mul(size)?;
        divide(self.cost.0, units).ok().map(Price)
    }
}

/// 10^18. No quantity, cost, P/L, balance or value exceeds it, so all sums fit.
pub(super) const AMOUNT_MAX: Decimal = Decimal::from_parts(0xa764_0000, 0x0de0_b6b3, 0, false, 0);

/// Whether an amount is at most [`AMOUNT_MAX`]. One with no more digits is within, wherever its point is.
pub(super) fn is_within_bound(amount: Decimal) -> bool {
    amount.mantissa().unsigned_abs() <= AMOUNT_MAX.mantissa().unsigned_abs() || amount.abs() <= AMOUNT_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_from_before_costs_were_kept_is_read_without_any() {
        let (quantity, cost, gained) = (Quantity::from(3), Amount::from(30), Amount::from(-2));
        let old = minicbor::to_vec((quantity, cost, gained, Currency::USD, Timestamp(7))).unwrap();
        let read: PositionState = minicbor::decode(&old).unwrap();
        let empty = PositionState::empty(Currency::USD);
        assert_eq!(read, PositionState { quantity, cost, realized_pl: gained, changed_at: Timestamp(7), ..empty });
    }
}
