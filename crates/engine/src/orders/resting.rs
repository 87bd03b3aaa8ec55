//! Working orders per account, security and side: those that could trade with one that comes from the other side, by how
//! eager they are, and beside them those that could not.

use std::collections::BTreeSet;

use domain::order::{Order, Side};
use domain::{AccountId, Index, OrderId, Price, SecurityId, TimeInForce};

#[derive(Debug, Clone, Default)]
pub(super) struct Resting(Index<(AccountId, SecurityId), Sides>);

#[derive(Debug, Clone, Default)]
struct Sides {
    buys: Working,
    sells: Working,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Working {
    /// Limit orders, and market orders for an auction.
    resting: BTreeSet<(Eagerness, OrderId)>,
    /// Market orders that trade as soon as the market does: they rest only while orders are collected for an auction.
    market: BTreeSet<OrderId>,
    /// What never rests: stops, whose trigger nobody tells us, and orders that end at once.
    aside: BTreeSet<OrderId>,
}

/// Where a working order is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Resting(Eagerness),
    Market,
    Aside,
}

/// How much an order gives to trade: a buy is the more eager the higher its limit, a sell the lower, a market order
/// takes any price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Eagerness {
    /// The limit, of a sell with its sign turned: the larger, the more eager.
    Limited(Price),
    AnyPrice,
}

impl Place {
    /// Absent where the order is over.
    pub(super) fn of(order: &Order) -> Option<Self> {
        if !order.state.is_working() {
            return None;
        }
        let terms = &order.terms;
        Some(match (terms.tif, terms.kind.limit(), order.side) {
            (TimeInForce::Ioc | TimeInForce::Fok, ..) => Self::Aside,
            _ if terms.kind.stop().is_some() => Self::Aside,
            (_, Some(limit), Side::Buy) => Self::Resting(Eagerness::Limited(limit)),
            (_, Some(limit), Side::Sell) => Self::Resting(Eagerness::Limited(limit.negated())),
            (TimeInForce::Ato | TimeInForce::Atc, None, _) => Self::Resting(Eagerness::AnyPrice),
            (_, None, _) => Self::Market,
        })
    }
}

impl Working {
    /// Those that could trade with one that comes, the most eager first. Market orders only while an auction is called.
    pub(super) fn most_eager_first(&self, with_market: bool) -> impl Iterator<Item = OrderId> {
        let market = with_market.then_some(&self.market).into_iter().flatten().rev();
        market.chain(self.resting.iter().rev().map(|(_, order)| order)).copied()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = OrderId> {
        self.resting.iter().map(|(_, order)| order).chain(&self.market).chain(&self.aside).copied()
    }

    fn insert(&mut self, place: Place, order: OrderId) {
        match place {
            Place::Resting(eagerness) => self.resting.insert((eagerness, order)),
            Place::Market => self.market.insert(order),
            Place::Aside => self.aside.insert(order),
        };
    }

    fn remove(&mut self, place: Place, order: OrderId) {
        match place {
            Place::Resting(eagerness) => self.resting.remove(&(eagerness, order)),
            Place::Market => self.market.remove(&order),
            Place::Aside => self.aside.remove(&order),
        };
    }
}

impl Resting {
    pub(super) fn of(&self, account: AccountId, security: SecurityId, side: Side) -> Option<&Working> {
        let sides = self.0.get(&(account, security))?;
        Some(match side {
            Side::Buy => &sides.buys,
            Side::Sell => &sides.sells,
        })
    }

    /// Follows a change of an order.
    pub(super) fn put(&mut self, order: &Order, before: Option<Place>, after: Option<Place>) {
        if before == after {
            return;
        }
        let orders = self.side_of(order);
        if let Some(before) = before {
            orders.remove(before, order.id);
        }
        if let Some(after) = after {
            orders.insert(after, order.id);
        }
    }

    fn side_of(&mut self, order: &Order) -> &mut Working {
        let sides = self.0.or_default((order.account, order.security));
        match order.side {
            Side::Buy => &mut sides.buys,
            Side::Sell => &mut sides.sells,
        }
    }
}
