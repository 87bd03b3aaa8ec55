//! ClOrdIDs: which orders they name, and which were used up by requests. Orders of several clients or days may share one.

use std::collections::{BTreeMap, BTreeSet};

use domain::{OrderId, Text};

#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    /// Of new orders, and of replaces that were accepted or wait for it: a request may go by any of them.
    pub(super) given: BTreeMap<Text, Vec<OrderId>>,
    /// Of cancels and refused replaces: they name no order, but were used.
    pub(super) spent: BTreeMap<Text, Vec<OrderId>>,
}

impl Names {
    pub(super) fn give(&mut self, name: &Text, order: OrderId) {
        note(&mut self.given, name, order);
    }

    pub(super) fn spend(&mut self, name: &Text, order: OrderId) {
        note(&mut self.spent, name, order);
    }

    /// A name that was given is only spent.
    pub(super) fn take_back(&mut self, name: &Text, order: OrderId) {
        if let Some(orders) = self.given.get_mut(name) {
            orders.retain(|bearer| *bearer != order);
            if orders.is_empty() {
                self.given.remove(name);
            }
        }
        self.spend(name, order);
    }

    pub(super) fn bearers(&self, name: &str) -> impl Iterator<Item = OrderId> {
        self.given.get(name).into_iter().flatten().copied()
    }

    pub(super) fn users(&self, name: &str) -> impl Iterator<Item = OrderId> {
        self.bearers(name).chain(self.spent.get(name).into_iter().flatten().copied())
    }

    /// Forgets orders that are no longer kept.
    pub(super) fn retire(&mut self, retired: &BTreeSet<OrderId>) {
        for names in [&mut self.given, &mut self.spent] {
            names.retain(|_, orders| {
                orders.retain(|order| !retired.contains(order));
                !orders.is_empty()
            });
        }
    }
}

fn note(names: &mut BTreeMap<Text, Vec<OrderId>>, name: &Text, order: OrderId) {
    let orders = names.entry(name.clone()).or_default();
    if !orders.contains(&order) {
        orders.push(order);
    }
}
