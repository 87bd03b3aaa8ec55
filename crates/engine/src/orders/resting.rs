//! Working orders per account, security and side, best priced first, for the self-trade check. Orders that cannot trade
//! with an incoming order are kept beside them.

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
    /// Market orders that trade as soon as the market is open: they rest only during an auction call.
    market: BTreeSet<OrderId>,
    /// Orders that never rest: stops, whose trigger the venue does not report, and orders that end at once.
    aside: BTreeSet<OrderId>,
}

/// Group of a working order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Resting(Eagerness),
    Market,
    Aside,
}

/// Rank by price: a buy is better the higher its limit, a sell the lower; a market order is best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Eagerness {
    /// The limit, negated for a sell: the larger, the better.
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
    /// Orders that could trade with an incoming one, best priced first. Market orders only during an auction call.
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

    /// Moves an order between groups after a change.
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
