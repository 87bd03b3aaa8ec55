//! Orders that a kill switch was pulled on and that have not ended. A cancel of such an order that did not reach the venue is
//! sent when the venue is back, and the order is never sent again. Part of the journalled state, so a restart changes nothing.

use std::sync::Arc;

use domain::order::{Order, OrderRequest};
use domain::{AdapterName, Caller, OrderId, RiskScope};

use super::{Risk, touches};
use crate::orders::ticket::order_request;
use crate::orders::transitions::{RequestKind, may_request};
use crate::outbox::{Moment, Outbox};
use crate::shared::shared_map::SharedMap;
use crate::trading::Trading;

impl Risk {
    pub(crate) fn is_killed(&self, order: OrderId) -> bool {
        self.killed.as_ref().is_some_and(|killed| killed.contains_key(&order))
    }

    fn killed_orders(&self) -> impl Iterator<Item = (OrderId, &OrderRequest)> {
        self.killed.iter().flat_map(SharedMap::iter).map(|(order, request)| (*order, request))
    }

    /// Absent rather than empty, so that a state without kills keeps its encoding.
    pub(super) fn forget_killed(&mut self, order: &Order) {
        let Some(killed) = &mut self.killed else { return };
        if !order.is_open() {
            killed.remove(&order.id);
        }
        if killed.is_empty() {
            self.killed = None;
        }
    }
}

impl Trading {
    /// Remembers which orders a kill meant; each one is forgotten when it ends.
    pub(super) fn remember_killed(&mut self, caller: &Caller, scope: RiskScope) {
        let request = order_request(caller, None);
        let in_scope = |order: &&Arc<Order>| touches(scope, order.account, order.strategy, order.security);
        let killed: Vec<_> = self.orders.open().filter(in_scope).map(|order| (order.id, request.clone())).collect();
        if !killed.is_empty() {
            self.risk.killed.get_or_insert_default().extend(killed);
        }
    }

    /// The venue is back: what a kill could not cancel is cancelled now. A cancel that is pending is not repeated here.
    /// That a venue takes none was told when the switch was pulled.
    pub(crate) fn resume_kills(&mut self, moment: Moment, adapter: &AdapterName, out: &mut Outbox) {
        let can_be = |order: &Order| order.state.is_working() && may_request(&order.pending, RequestKind::Cancel);
        let of_adapter = self.risk.killed_orders().filter_map(|(order, request)| {
            let order = self
                .orders
                .get(order)
                .filter(|order| order.adapter == *adapter && can_be(order) && self.can_cancel(order))?;
            Some((order.clone(), request.clone()))
        });
        for (order, request) in of_adapter.collect::<Vec<_>>() {
            self.send_cancel(moment, &order, request, out);
        }
    }
}
