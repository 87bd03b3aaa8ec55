//! Positions as clients see them.

use domain::{Position, PositionId};

use super::books::{PositionKey, id_at};
use super::position_state::PositionState;
use super::valuer::PositionValuation;

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
