//! What a price or a trade of the market gives to one of our orders.

use domain::{BookLevel, Price, Quantity};

use super::working_order::WorkingOrder;

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
