//! Valuation of positions at the marks, and positions as clients see them.

use domain::amount::DIVISION_DECIMALS;
use domain::{Amount, Currency, Decimal, Position, PositionId, Price, Quantity, ReferenceData, SecurityId, Timestamp};

use super::books::{PositionKey, id_at};
use super::position_state::{Contract, PositionState};
use crate::marks::Marks;

/// Everything that a value depends on besides the books.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Valuer<'a> {
    pub(crate) marks: &'a Marks,
    pub(crate) reference: &'a ReferenceData,
    pub(crate) base: Currency,
    pub(crate) at: Timestamp,
}

/// The value of a position in its own currency. Rounded like a division, so that running totals equal a fresh sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct PositionValuation {
    pub(super) quantity: Quantity,
    pub(super) realized_pl: Amount,
    pub(super) commissions: Amount,
    pub(super) fees: Amount,
    pub(super) price: Option<Price>,
    pub(super) contract_size: Option<Decimal>,
    /// Market value and unrealised P/L; absent where an open position has no price.
    pub(super) worth: Option<(Amount, Amount)>,
    /// Market exposure: at the price, else at cost. Signed as the quantity is.
    pub(super) exposure: Amount,
}

impl Valuer<'_> {
    pub(super) fn contract(&self, security: SecurityId) -> Option<Contract> {
        self.reference.securities.get(&security).map(|security| Contract::from(&**security))
    }

    pub(super) fn value(
        &self,
        security: SecurityId,
        contract: Option<Contract>,
        holding: &PositionState,
    ) -> PositionValuation {
        let price = self.marks.get(security).and_then(|mark| mark.exit_price(holding.quantity));
        let market = price.zip(contract).and_then(|(price, contract)| market_value(holding, price, contract));
        let at_cost = rounded(holding.cost.0);
        PositionValuation {
            quantity: holding.quantity,
            realized_pl: rounded(holding.realized_pl.0),
            commissions: rounded(holding.commissions.0),
            fees: rounded(holding.fees.0),
            price,
            contract_size: contract.map(|contract| contract.size),
            worth: worth(holding, market, contract),
            exposure: market.unwrap_or(at_cost),
        }
    }

    pub(super) fn in_base(&self, amount: Amount, currency: Currency) -> Option<Amount> {
        self.marks.convert(amount, currency, self.base)
    }
}

fn worth(holding: &PositionState, market: Option<Amount>, contract: Option<Contract>) -> Option<(Amount, Amount)> {
    if holding.quantity.is_zero() {
        return Some((Amount::ZERO, Amount::ZERO));
    }
    let (market, contract) = market.zip(contract)?;
    let unrealized = rounded(market.minus(holding.cost).ok()?.0);
    Some((if contract.margined { unrealized } else { market }, unrealized))
}

fn market_value(holding: &PositionState, price: Price, contract: Contract) -> Option<Amount> {
    let value = holding.quantity.value_at(price, contract.size).ok()?;
    super::position_state::is_within_bound(value.0).then(|| rounded(value.0))
}

pub(super) fn rounded(amount: Decimal) -> Amount {
    Amount(if amount.scale() <= DIVISION_DECIMALS { amount } else { amount.round_dp(DIVISION_DECIMALS) })
}

pub(super) fn position(
    place: usize,
    key: PositionKey,
    holding: &PositionState,
    valued: &PositionValuation,
) -> Position {
    Position {
        id: PositionId(id_at(place)),
        strategy: key.strategy,
        security: key.security,
        account: key.account,
        quantity: holding.quantity,
        cost: holding.cost,
        avg_price: valued.contract_size.and_then(|size| holding.avg_price(size)),
        realized_pl: holding.realized_pl,
        unrealized_pl: valued.worth.map(|(_, unrealized)| unrealized),
        market_price: valued.price,
        market_value: valued.worth.map(|(market, _)| market),
        currency: holding.currency,
        changed_at: holding.changed_at,
        commissions: holding.commissions,
        fees: holding.fees,
    }
}
