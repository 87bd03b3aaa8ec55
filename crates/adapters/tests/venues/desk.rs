//! Orders for all stories.

use domain::order::{BaseState, Pending, Terms};
use domain::{
    AccountId, AdapterName, Amount, ExchangeId, Order, OrderId, OrderKind, Quantity, SecurityId, Side, Source,
    StrategyId, TimeInForce, Timestamp,
};

pub(crate) fn adapter_name() -> AdapterName {
    AdapterName::new("SIM", Some("TEST"))
}

/// Buys 100 at the limit, good till canceled.
pub(crate) fn order(id: u64, limit: &str) -> Order {
    Order {
        id: OrderId(id),
        int_id: format!("TEST-{id}").parse().unwrap(),
        ext_id: None,
        cl_ord_id: None,
        at: Timestamp(0),
        side: Side::Buy,
        terms: terms(100, limit),
        exchange_order: true,
        exchange: ExchangeId(1),
        security: SecurityId(7),
        account: AccountId(1),
        strategy: StrategyId::SERVER,
        adapter: adapter_name(),
        reduce_only: false,
        state: BaseState::PendingNew,
        pending: Pending::Nothing,
        filled: Quantity::ZERO,
        turnover: Amount::ZERO,
        revision: 0,
        reason: None,
        in_doubt: false,
        reference: None,
        source: Source::Rest,
        submitted_by: None,
        changed_at: Timestamp(0),
    }
}

pub(crate) fn terms(quantity: i64, limit: &str) -> Terms {
    let kind = OrderKind::Limit { limit: limit.parse().unwrap() };
    Terms { quantity: quantity.into(), kind, tif: TimeInForce::Gtc }
}
