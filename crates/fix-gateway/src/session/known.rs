//! The client's open orders by the names it may use, for answers that need no engine: a request that can't be read is still
//! about an order, and its answer says how that stands.

use std::collections::BTreeMap;

use domain::order::{OrderStatus, Status};
use domain::{IntId, Order, OrderId, Text};

#[derive(Debug, Default)]
pub(crate) struct Known {
    orders: BTreeMap<OrderId, Standing>,
    by_name: BTreeMap<Text, OrderId>,
}

/// What an answer tells of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) int_id: IntId,
    /// The last that was accepted.
    pub(crate) cl_ord_id: Option<Text>,
    pub(crate) status: Status,
    names: Vec<Text>,
}

impl Known {
    pub(crate) fn named(&self, name: &str) -> Option<&Standing> {
        self.orders.get(self.by_name.get(name)?)
    }

    /// An order as it stands when the client comes.
    pub(crate) fn learn(&mut self, order: &Order) {
        self.put(order.id, &order.int_id, order.cl_ord_id.clone(), order.status(), order.cl_ord_id.as_ref());
    }

    /// What just happened to one; an order that is over is forgotten.
    pub(crate) fn follow(&mut self, status: &OrderStatus) {
        if matches!(status.status, Status::Executed | Status::Canceled | Status::Rejected) {
            return self.forget(status.order);
        }
        let before = status.client.as_ref().and_then(|view| view.cl_ord_id.clone());
        let accepted = if status.step == domain::order::Step::Replaced { status.request.clone() } else { None };
        self.put(status.order, &status.int_id, accepted.or(before), status.status, status.request.as_ref());
    }

    fn put(&mut self, id: OrderId, int_id: &IntId, accepted: Option<Text>, status: Status, name: Option<&Text>) {
        let new = Standing { int_id: int_id.clone(), cl_ord_id: None, status, names: vec![int_id.as_str().into()] };
        let order = self.orders.entry(id).or_insert(new);
        (order.cl_ord_id, order.status) = (accepted, status);
        order.names.extend(name.filter(|name| !order.names.contains(name)).cloned());
        self.by_name.extend(order.names.iter().map(|name| (name.clone(), id)));
    }

    fn forget(&mut self, id: OrderId) {
        for name in self.orders.remove(&id).into_iter().flat_map(|order| order.names) {
            self.by_name.remove(&name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_found_by_its_names_until_it_is_over() {
        let mut known = Known::default();
        known.learn(&Order { cl_ord_id: Some("X".into()), ..samples::order(1) });
        let standing = known.named("X").unwrap();
        assert_eq!((standing.int_id.as_str(), standing.status), ("TEST-1", Status::Open));
        assert_eq!(known.named("TEST-1"), known.named("X"));
        assert_eq!(known.named("Y"), None);
        known.forget(OrderId(1));
        assert_eq!((known.named("X"), known.named("TEST-1")), (None, None));
    }
}
