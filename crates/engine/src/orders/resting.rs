//! Orders that could trade with one that comes from the other side: per account, security and side, by how eager they are.

use std::collections::BTreeSet;

use domain::order::{Order, Side};
use domain::{AccountId, Index, OrderId, Price, SecurityId};

#[derive(Debug, Clone, Default)]
pub(super) struct Resting(Index<(AccountId, SecurityId), Sides>);

#[derive(Debug, Clone, Default)]
struct Sides {
    buys: BTreeSet<(Eagerness, OrderId)>,
    sells: BTreeSet<(Eagerness, OrderId)>,
}

/// How much an order gives to trade: a buy is the more eager the higher its limit, a sell the lower, a market order
/// takes any price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Eagerness {
    /// The limit, of a sell with its sign turned: the larger, the more eager.
    Limited(Price),
    AnyPrice,
}

impl Eagerness {
    /// Absent where the order cannot trade: it is over, or it is a stop, which does not rest in the book.
    pub(super) fn of(order: &Order) -> Option<Self> {
        if !order.state.is_working() || order.terms.kind.stop().is_some() {
            return None;
        }
        Some(match (order.side, order.terms.kind.limit()) {
            (_, None) => Self::AnyPrice,
            (Side::Buy, Some(limit)) => Self::Limited(limit),
            (Side::Sell, Some(limit)) => Self::Limited(limit.negated()),
        })
    }
}

impl Resting {
    /// The order that would be the first to trade.
    pub(super) fn most_eager(&self, account: AccountId, security: SecurityId, side: Side) -> Option<OrderId> {
        let sides = self.0.get(&(account, security))?;
        let orders = match side {
            Side::Buy => &sides.buys,
            Side::Sell => &sides.sells,
        };
        orders.last().map(|(_, order)| *order)
    }

    /// Follows a change of an order.
    pub(super) fn put(&mut self, order: &Order, before: Option<Eagerness>, after: Option<Eagerness>) {
        if before == after {
            return;
        }
        let orders = self.side_of(order);
        if let Some(before) = before {
            orders.remove(&(before, order.id));
        }
        if let Some(after) = after {
            orders.insert((after, order.id));
        }
    }

    fn side_of(&mut self, order: &Order) -> &mut BTreeSet<(Eagerness, OrderId)> {
        let sides = self.0.or_default((order.account, order.security));
        match order.side {
            Side::Buy => &mut sides.buys,
            Side::Sell => &mut sides.sells,
        }
    }
}
