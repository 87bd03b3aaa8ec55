//! Orders for all adapter tests.

use domain::order::OrderTerms;
use domain::{AdapterName, Order, OrderKind, SecurityId, TimeInForce};

pub(crate) fn adapter_name() -> AdapterName {
    AdapterName::new("SIM", Some("TEST"))
}

/// Buys 100 at the limit, good till canceled.
pub(crate) fn order(id: u64, limit: &str) -> Order {
    Order {
        terms: terms(100, limit),
        exchange_order: true,
        security: SecurityId(7),
        adapter: adapter_name(),
        ..samples::order(id)
    }
}

pub(crate) fn terms(quantity: i64, limit: &str) -> OrderTerms {
    let kind = OrderKind::Limit { limit: limit.parse().unwrap() };
    OrderTerms { quantity: quantity.into(), kind, tif: TimeInForce::Gtc }
}
