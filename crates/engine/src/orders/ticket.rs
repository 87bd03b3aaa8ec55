//! Plain data about one order on its way through the engine: its route, a report on it, a reduction, a request.

use std::sync::Arc;

use domain::order::OrderRequest;
use domain::{AccountId, AdapterName, Caller, ExchangeId, OrderId, Quantity, Security, StrategyId, Text, Timestamp};

use super::waiting_orders::wait_queue::Displaced;
use crate::outbox::Moment;

/// Adapter, account and strategy of an order.
#[derive(Debug, Clone)]
pub(crate) struct OrderRoute {
    pub(crate) security: Arc<Security>,
    pub(crate) account: AccountId,
    pub(crate) strategy: StrategyId,
    pub(crate) exchange: ExchangeId,
    pub(crate) adapter: AdapterName,
}

/// A venue report on one order, with the venue's time.
#[derive(Clone, Copy)]
pub(crate) struct OrderReport {
    pub(crate) moment: Moment,
    pub(crate) order: OrderId,
    pub(crate) ext_at: Option<Timestamp>,
}

/// What a reducing order needs besides its terms.
#[derive(Debug, Default)]
pub(crate) struct Reduction {
    pub(crate) displaced: Vec<Displaced>,
    /// By how much less these can then close.
    pub(crate) freed: Quantity,
}

pub(crate) fn order_request(caller: &Caller, cl_ord_id: Option<Text>) -> OrderRequest {
    OrderRequest { cl_ord_id, source: caller.source.clone(), requested_by: caller.user.clone(), reason: None }
}
