//! The client's open orders by the names it may use, for answers that need no engine: a request that can't be read is still
//! about an order, and its answer says how that stands.

use std::collections::BTreeMap;

use domain::order::{OrderStatus, Status};
use domain::{IntId, Order, OrderId, Side, Text};

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
    pub(crate) side: Side,
    names: Vec<Text>,
}

impl Known {
    pub(crate) fn named(&self, name: &str) -> Option<&Standing> {
        self.orders.get(self.by_name.get(name)?)
    }

    /// An order as it stands when the client comes.
    pub(crate) fn learn(&mut self, order: &Order) {
        let (int_id, cl_ord_id) = (order.int_id.clone(), order.cl_ord_id.clone());
        let name = cl_ord_id.clone();
        let seen = Standing { int_id, cl_ord_id, status: order.status(), side: order.side, names: vec![] };
        self.put(order.id, seen, name);
    }

    /// What just happened to one; an order that is over is forgotten.
    pub(crate) fn follow(&mut self, status: &OrderStatus) {
        if matches!(status.status, Status::Executed | Status::Canceled | Status::Rejected) {
            return self.forget(status.order);
        }
        let Some(view) = &status.client else { return };
        let accepted = if status.step == domain::order::Step::Replaced { status.request.clone() } else { None };
        let cl_ord_id = accepted.or(view.cl_ord_id.clone());
        let int_id = status.int_id.clone();
        let seen = Standing { int_id, cl_ord_id, status: status.status, side: view.side, names: vec![] };
        self.put(status.order, seen, status.request.clone());
    }

    /// With the names it had before, and one more.
    fn put(&mut self, id: OrderId, seen: Standing, name: Option<Text>) {
        let before = self.orders.remove(&id).map(|order| order.names);
        let mut names = before.unwrap_or_else(|| vec![seen.int_id.as_str().into()]);
        names.extend(name.filter(|name| !names.contains(name)));
        self.by_name.extend(names.iter().map(|name| (name.clone(), id)));
        self.orders.insert(id, Standing { names, ..seen });
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
