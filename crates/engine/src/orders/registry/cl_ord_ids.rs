//! ClOrdIDs: which orders an id names, and which ids were used by requests; orders of several clients or days may share an id.

use std::collections::BTreeSet;

use domain::{OrderId, Text, Timestamp};
use minicbor::{Decode, Encode};

use crate::shared::shared_map::SharedMap;

#[derive(Debug, Clone, Default)]
pub(super) struct ClOrdIdIndex {
    /// Ids of new orders, and of replaces that are accepted or pending: a request may use any of them.
    pub(super) active: SharedMap<Text, Vec<OrderId>>,
    /// Ids of cancels and rejected replaces: they name no order, but are used up.
    pub(super) used: SharedMap<Text, Vec<OrderId>>,
    /// When and with what outcome a request used an id.
    pub(super) requests: SharedMap<Text, Vec<RequestRecord>>,
}

/// A request that was made under an id.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(super) struct RequestRecord {
    #[n(0)]
    pub(super) order: OrderId,
    #[n(1)]
    pub(super) at: Timestamp,
    /// The reason, where it was refused.
    #[n(2)]
    pub(super) reject_reason: Option<Text>,
}

impl ClOrdIdIndex {
    pub(super) fn assign(&mut self, name: &Text, order: OrderId) {
        add(&mut self.active, name, order);
    }

    pub(super) fn mark_used(&mut self, name: &Text, order: OrderId) {
        add(&mut self.used, name, order);
    }

    /// The id no longer names the order, but stays used.
    pub(super) fn revoke(&mut self, name: &Text, order: OrderId) {
        if let Some(orders) = self.active.get_mut(name) {
            orders.retain(|bearer| *bearer != order);
            if orders.is_empty() {
                self.active.remove(name);
            }
        }
        self.mark_used(name, order);
    }

    pub(super) fn record_request(&mut self, name: &Text, order: OrderId, at: Timestamp) {
        self.requests.or_default(name.clone()).push(RequestRecord { order, at, reject_reason: None });
    }

    pub(super) fn record_rejection(&mut self, name: &Text, order: OrderId, reason: &Text) {
        let asked = self.requests.get_mut(name).into_iter().flatten().find(|asked| asked.order == order);
        if let Some(asked) = asked {
            asked.reject_reason = Some(reason.clone());
        }
    }

    /// The request on an order that had this id.
    pub(super) fn request(&self, name: &str, order: OrderId) -> Option<&RequestRecord> {
        self.requests.get(name)?.iter().find(|asked| asked.order == order)
    }

    pub(super) fn orders_with(&self, name: &str) -> impl Iterator<Item = OrderId> {
        self.active.get(name).into_iter().flatten().copied()
    }

    pub(super) fn orders_using(&self, name: &str) -> impl Iterator<Item = OrderId> {
        self.orders_with(name).chain(self.used.get(name).into_iter().flatten().copied())
    }

    /// Drops orders that are no longer kept; returns their ids.
    pub(super) fn retire(&mut self, retired: &BTreeSet<OrderId>) -> Vec<(Text, OrderId)> {
        let theirs = |(name, orders): (&Text, &Vec<OrderId>)| {
            let gone = orders.iter().filter(|order| retired.contains(order));
            gone.map(|order| (name.clone(), *order)).collect::<Vec<_>>()
        };
        let gone = self.active.iter().flat_map(theirs).collect();
        self.requests.retain(|_, asked| {
            asked.retain(|asked| !retired.contains(&asked.order));
            !asked.is_empty()
        });
        for names in [&mut self.active, &mut self.used] {
            names.retain(|_, orders| {
                orders.retain(|order| !retired.contains(order));
                !orders.is_empty()
            });
        }
        gone
    }
}

fn add(names: &mut SharedMap<Text, Vec<OrderId>>, name: &Text, order: OrderId) {
    let orders = names.or_default(name.clone());
    if !orders.contains(&order) {
        orders.push(order);
    }
}
