//! Working orders per account, security and side, best priced first, for the self-trade check. Orders that cannot trade
//! with an incoming order are kept beside them.

use std::collections::BTreeSet;

use domain::order::{Order, Side};
use domain::{AccountId, Activation, LookupMap, OrderId, Price, SecurityId, TimeInForce, WorkingPrice};

#[derive(Debug, Clone, Default)]
pub(super) struct RestingOrders(LookupMap<(AccountId, SecurityId), WorkingSides>);

#[derive(Debug, Clone, Default)]
struct WorkingSides {
    buys: WorkingOrders,
    sells: WorkingOrders,
}

#[derive(Debug, Clone, Default)]
pub(super) struct WorkingOrders {
    /// Limit orders, and market orders for an auction.
    resting: BTreeSet<(PriceRank, OrderId)>,
    /// Market orders that trade as soon as the market is open: they rest only during an auction call.
    market: BTreeSet<OrderId>,
    /// Orders that never rest: stops, whose trigger the venue does not report, and orders that end at once.
    non_resting: BTreeSet<OrderId>,
}

/// Group of a working order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorkingClass {
    Resting(PriceRank),
    Market,
    NonResting,
}

/// Rank by price: a buy is better the higher its limit, a sell the lower; a market order is best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PriceRank {
    /// The limit, negated for a sell: the larger, the better.
    Limit(Price),
    Market,
}

impl WorkingClass {
    /// Absent where the order is over.
    pub(super) fn from_order(order: &Order) -> Option<Self> {
        if !order.state.is_working() {
            return None;
        }
        let terms = &order.terms;
        let (activation, _) = terms.kind.work();
        Some(match (terms.tif, activation, best_working_price(order), order.side) {
            (TimeInForce::Ioc | TimeInForce::Fok, ..) | (_, Activation::AtStop(_), ..) => Self::NonResting,
            (_, Activation::AtOnce, WorkingPrice::Limit(limit), Side::Buy) => Self::Resting(PriceRank::Limit(limit)),
            (_, Activation::AtOnce, WorkingPrice::Limit(limit), Side::Sell) => {
                Self::Resting(PriceRank::Limit(limit.negated()))
            }
            (TimeInForce::Ato | TimeInForce::Atc, Activation::AtOnce, WorkingPrice::Any, _) => {
                Self::Resting(PriceRank::Market)
            }
            (_, Activation::AtOnce, WorkingPrice::Any, _) => Self::Market,
        })
    }
}

/// The better one for others of the price that an order works at and of the one that it is about to get: while a replace is on
/// its way, either may be in the market.
pub(crate) fn best_working_price(order: &Order) -> WorkingPrice {
    use WorkingPrice::Limit;
    let now = order.terms.kind.working_price();
    match (now, order.pending.replace().map(|(_, terms)| terms.kind.working_price()), order.side) {
        (Limit(now), Some(Limit(asked)), Side::Buy) => Limit(now.max(asked)),
        (Limit(now), Some(Limit(asked)), Side::Sell) => Limit(now.min(asked)),
        (now, ..) => now,
    }
}

impl WorkingOrders {
    /// Orders that could trade with an incoming one, best priced first. Market orders only during an auction call.
    pub(super) fn best_priced_first(&self, with_market: bool) -> impl Iterator<Item = OrderId> {
        let market = with_market.then_some(&self.market).into_iter().flatten().rev();
        market.chain(self.resting.iter().rev().map(|(_, order)| order)).copied()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = OrderId> {
        self.resting.iter().map(|(_, order)| order).chain(&self.market).chain(&self.non_resting).copied()
    }

    fn insert(&mut self, place: WorkingClass, order: OrderId) {
        match place {
            WorkingClass::Resting(eagerness) => self.resting.insert((eagerness, order)),
            WorkingClass::Market => self.market.insert(order),
            WorkingClass::NonResting => self.non_resting.insert(order),
        };
    }

    fn remove(&mut self, place: WorkingClass, order: OrderId) {
        match place {
            WorkingClass::Resting(eagerness) => self.resting.remove(&(eagerness, order)),
            WorkingClass::Market => self.market.remove(&order),
            WorkingClass::NonResting => self.non_resting.remove(&order),
        };
    }
}

impl RestingOrders {
    pub(super) fn get(&self, account: AccountId, security: SecurityId, side: Side) -> Option<&WorkingOrders> {
        let sides = self.0.get(&(account, security))?;
        Some(match side {
            Side::Buy => &sides.buys,
            Side::Sell => &sides.sells,
        })
    }

    /// Moves an order between groups after a change.
    pub(super) fn update(&mut self, order: &Order, before: Option<WorkingClass>, after: Option<WorkingClass>) {
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

    fn side_of(&mut self, order: &Order) -> &mut WorkingOrders {
        let sides = self.0.or_default((order.account, order.security));
        match order.side {
            Side::Buy => &mut sides.buys,
            Side::Sell => &mut sides.sells,
        }
    }
}
