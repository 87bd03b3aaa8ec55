//! One account at the venue: what it holds, and how a trade changes that.

use std::collections::BTreeMap;

use domain::{AccountId, Amount, Currency, Decimal, Overflow, Quantity, SecurityId};
use minicbor::{Decode, Encode};

/// What an account begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct Deposit {
    #[n(0)]
    pub account: AccountId,
    #[n(1)]
    pub currency: Currency,
    #[n(2)]
    pub amount: Amount,
}

/// What a client gets and gives for its side of a trade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct TradeSettlement {
    #[n(0)]
    pub account: AccountId,
    /// Signed: bought +, sold -, as is the value.
    #[n(1)]
    pub quantity: Quantity,
    #[n(2)]
    pub currency: Currency,
    /// quantity × price × contract size.
    #[n(3)]
    pub value: Amount,
    /// Commissions and fees.
    #[n(4)]
    pub costs: Amount,
    #[n(5)]
    pub asset: SettledAsset,
}

/// What is exchanged for cash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub enum SettledAsset {
    /// The security against its value.
    #[n(0)]
    Security,
    /// Only profit and loss are paid.
    #[n(1)]
    Margined,
    /// A currency pair: an amount of its base.
    #[n(2)]
    Currency {
        #[n(0)]
        base: Currency,
        #[n(1)]
        amount: Amount,
    },
}

/// What the venue holds for an account.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct VenueAccount {
    #[n(0)]
    cash: BTreeMap<Currency, Amount>,
    #[n(1)]
    positions: BTreeMap<SecurityId, Holding>,
    /// A trade could not be settled: from then on nothing is known.
    #[n(2)]
    is_lost: bool,
}

/// A position, and what it cost where only profit and loss are paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
struct Holding {
    #[n(0)]
    quantity: Quantity,
    #[n(1)]
    cost: Amount,
}

impl VenueAccount {
    /// Whether all its trades could be settled.
    pub(crate) fn is_known(&self) -> bool {
        !self.is_lost
    }

    pub(crate) fn cash(&self) -> impl Iterator<Item = (Currency, Amount)> + '_ {
        self.cash.iter().map(|(currency, amount)| (*currency, *amount))
    }

    /// Without those that are closed.
    pub(crate) fn positions(&self) -> impl Iterator<Item = (SecurityId, Quantity)> + '_ {
        let open = self.positions.iter().filter(|(_, holding)| !holding.quantity.is_zero());
        open.map(|(security, holding)| (*security, holding.quantity))
    }

    pub(crate) fn settle(&mut self, security: SecurityId, settlement: &TradeSettlement) {
        let paid = match settlement.asset {
            SettledAsset::Security => self.change_position(security, settlement).map(|_| settlement.value.negated()),
            SettledAsset::Margined => self.change_position(security, settlement),
            SettledAsset::Currency { base, amount } => {
                self.change_cash(base, Ok(amount));
                Ok(settlement.value.negated())
            }
        };
        self.change_cash(settlement.currency, paid.and_then(|paid| paid.minus(settlement.costs)));
    }

    pub(crate) fn change_cash(&mut self, currency: Currency, change: Result<Amount, Overflow>) {
        let cash = self.cash.entry(currency).or_default();
        match change.and_then(|change| cash.plus(change)) {
            Ok(sum) => *cash = sum,
            Err(Overflow) => self.is_lost = true,
        }
    }

    /// Returns the profit that the change realises.
    fn change_position(&mut self, security: SecurityId, settled: &TradeSettlement) -> Result<Amount, Overflow> {
        let holding = self.positions.entry(security).or_default();
        let (after, realized) = holding.after(settled.quantity, settled.value)?;
        *holding = after;
        Ok(realized)
    }
}

impl Holding {
    /// The holding after a trade of a signed quantity and value, and the profit that it realises. A closing part takes its
    /// share of the cost along.
    fn after(self, quantity: Quantity, value: Amount) -> Result<(Self, Amount), Overflow> {
        let opens = self.quantity.is_zero() || self.quantity.is_negative() == quantity.is_negative();
        if opens {
            let after = Self { quantity: self.quantity.plus(quantity)?, cost: self.cost.plus(value)? };
            return Ok((after, Amount::ZERO));
        }
        let closing = if quantity.abs() <= self.quantity.abs() { quantity } else { self.quantity.negated() };
        let closed_value = part(value, closing.0, quantity.0)?;
        let closed_cost = part(self.cost, closing.0, self.quantity.negated().0)?;
        let realized = closed_value.plus(closed_cost)?.negated();
        let rest = Self {
            quantity: self.quantity.plus(closing)?.plus(quantity.minus(closing)?)?,
            cost: self.cost.minus(closed_cost)?.plus(value.minus(closed_value)?)?,
        };
        Ok((rest, realized))
    }
}

/// `amount × quantity / whole`; the whole is exact.
fn part(amount: Amount, quantity: Decimal, whole: Decimal) -> Result<Amount, Overflow> {
    if quantity == whole { Ok(amount) } else { amount.times(quantity)?.over(whole) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holding(quantity: i64, cost: i64) -> Holding {
        Holding { quantity: quantity.into(), cost: cost.into() }
    }

    fn traded(before: Holding, quantity: i64, price: i64) -> (Holding, Amount) {
        before.after(quantity.into(), (quantity * price).into()).unwrap()
    }

    #[test]
    fn a_closing_trade_realises_the_difference_to_its_share_of_the_cost() {
        assert_eq!(traded(holding(0, 0), 10, 100), (holding(10, 1_000), Amount::ZERO));
        assert_eq!(traded(holding(10, 1_000), 10, 110), (holding(20, 2_100), Amount::ZERO));
        assert_eq!(traded(holding(20, 2_100), -10, 120), (holding(10, 1_050), Amount::from(150)));
        assert_eq!(traded(holding(10, 1_050), -10, 100), (holding(0, 0), Amount::from(-50)));
    }

    #[test]
    fn a_trade_through_zero_closes_and_opens() {
        assert_eq!(traded(holding(10, 1_000), -15, 110), (holding(-5, -550), Amount::from(100)));
        assert_eq!(traded(holding(-5, -550), 8, 100), (holding(3, 300), Amount::from(50)));
    }
}
