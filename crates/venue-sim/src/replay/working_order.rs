//! Working orders of a replay venue, and what a price or a trade of the market gives to one of them.

use domain::order::OrderTerms;
use domain::{
    Activation, BookLevel, Order, OrderId, OrderProperties, Price, Quantity, SecurityId, Side, TimeInForce,
    WorkingPrice,
};

#[derive(Debug, Clone)]
pub(super) struct WorkingOrder {
    pub(super) id: OrderId,
    pub(super) security: SecurityId,
    pub(super) side: Side,
    pub(super) terms: OrderTerms,
    pub(super) properties: OrderProperties,
    pub(super) filled: Quantity,
    /// A stop whose price was reached.
    pub(super) is_triggered: bool,
    /// What is left of the part that an iceberg shows.
    pub(super) shown: Option<Quantity>,
    /// Quantity ahead of it at its price; absent while that is unknown.
    pub(super) ahead: Option<Quantity>,
    /// The market's day on which it saw its first price.
    pub(super) day: Option<u64>,
}

impl From<&Order> for WorkingOrder {
    fn from(order: &Order) -> Self {
        Self {
            id: order.id,
            security: order.security,
            side: order.side,
            terms: order.terms,
            properties: order.properties,
            filled: order.filled,
            is_triggered: false,
            shown: order.properties.display_quantity,
            ahead: None,
            day: None,
        }
    }
}

impl WorkingOrder {
    pub(super) fn remaining(&self) -> Quantity {
        self.terms.quantity.minus(self.filled).unwrap_or_default().max(Quantity::ZERO)
    }

    /// What it shows of its open quantity.
    pub(super) fn shown(&self) -> Quantity {
        self.shown.map_or(self.remaining(), |shown| shown.min(self.remaining()))
    }

    /// A part of what an iceberg shows has traded; whether all of it has, so that the next part is shown.
    pub(super) fn deduct_shown(&mut self, traded: Quantity) -> bool {
        let Some(shown) = self.shown else { return false };
        let is_used_up = shown <= traded;
        self.shown = if is_used_up { self.properties.display_quantity } else { shown.minus(traded).ok() };
        is_used_up
    }

    /// What must trade at once, or nothing does.
    pub(super) fn least(&self) -> Quantity {
        match self.terms.tif {
            TimeInForce::Fok => self.remaining(),
            _ => self.properties.min_quantity.unwrap_or_default(),
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.remaining().is_zero()
    }

    /// A stop that waits for its price.
    pub(super) fn untriggered_stop(&self) -> Option<Price> {
        match self.terms.kind.activation() {
            Activation::AtStop(stop) => (!self.is_triggered).then_some(stop),
            Activation::AtOnce => None,
        }
    }

    /// Whether a price of the market triggers it.
    pub(super) fn is_reached(&self, price: Price) -> bool {
        self.terms.kind.activation().is_reached(self.side, price)
    }

    /// The limit that binds, where there is one.
    pub(super) fn limit(&self) -> Option<Price> {
        self.terms.kind.limit()
    }

    /// Takes any price.
    pub(super) fn is_market(&self) -> bool {
        self.terms.kind.working_price() == WorkingPrice::Any
    }

    pub(super) fn is_immediate(&self) -> bool {
        matches!(self.terms.tif, TimeInForce::Ioc | TimeInForce::Fok)
    }

    pub(super) fn is_day_order(&self) -> bool {
        self.terms.tif == TimeInForce::Day
    }
}

pub(super) fn in_full(order: &WorkingOrder, price: Price) -> Vec<BookLevel> {
    vec![BookLevel { price, quantity: order.remaining() }]
}

/// The part of a trade that fills so much of our order.
pub(super) fn consume_trade(open: Quantity, limit: Price, left: &mut Quantity) -> Vec<BookLevel> {
    let quantity = open.min(*left);
    if quantity.is_zero() {
        return Vec::new();
    }
    *left = left.minus(quantity).unwrap_or_default();
    vec![BookLevel { price: limit, quantity }]
}

/// A trade first fills the quantity ahead of us.
pub(super) fn consume_queue_ahead(order: &mut WorkingOrder, left: &mut Quantity) {
    let ahead = order.ahead.unwrap_or_default();
    let passed = ahead.min(*left);
    order.ahead = Some(ahead.minus(passed).unwrap_or_default());
    *left = left.minus(passed).unwrap_or_default();
}
