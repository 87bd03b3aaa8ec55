//! ClOrdID index: which orders an id names, and which ids were used by requests. Orders of several clients or days may
//! share an id.

use std::collections::{BTreeMap, BTreeSet};

use domain::{OrderId, Text, Timestamp};
use minicbor::{Decode, Encode};

#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    /// Ids of new orders, and of replaces that are accepted or pending: a request may use any of them.
    pub(super) given: BTreeMap<Text, Vec<OrderId>>,
    /// Ids of cancels and rejected replaces: they name no order, but are used up.
    pub(super) spent: BTreeMap<Text, Vec<OrderId>>,
    /// When and with what outcome a request used an id.
    pub(super) asked: BTreeMap<Text, Vec<Asked>>,
}

/// A request that was made under an id.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(super) struct Asked {
    #[n(0)]
    pub(super) order: OrderId,
    #[n(1)]
    pub(super) at: Timestamp,
    /// The reason, where it was refused.
    #[n(2)]
    pub(super) refused: Option<Text>,
}

impl Names {
    pub(super) fn give(&mut self, name: &Text, order: OrderId) {
        note(&mut self.given, name, order);
    }

    pub(super) fn spend(&mut self, name: &Text, order: OrderId) {
        note(&mut self.spent, name, order);
    }

    /// The id no longer names the order, but stays used.
    pub(super) fn take_back(&mut self, name: &Text, order: OrderId) {
        if let Some(orders) = self.given.get_mut(name) {
            orders.retain(|bearer| *bearer != order);
            if orders.is_empty() {
                self.given.remove(name);
            }
        }
        self.spend(name, order);
    }

    pub(super) fn note_asked(&mut self, name: &Text, order: OrderId, at: Timestamp) {
        self.asked.entry(name.clone()).or_default().push(Asked { order, at, refused: None });
    }

    pub(super) fn note_refused(&mut self, name: &Text, order: OrderId, reason: &Text) {
        let asked = self.asked.get_mut(name).into_iter().flatten().find(|asked| asked.order == order);
        if let Some(asked) = asked {
            asked.refused = Some(reason.clone());
        }
    }

    /// The request on an order that had this id.
    pub(super) fn asked(&self, name: &str, order: OrderId) -> Option<&Asked> {
        self.asked.get(name)?.iter().find(|asked| asked.order == order)
    }

    pub(super) fn bearers(&self, name: &str) -> impl Iterator<Item = OrderId> {
        self.given.get(name).into_iter().flatten().copied()
    }

    pub(super) fn users(&self, name: &str) -> impl Iterator<Item = OrderId> {
        self.bearers(name).chain(self.spent.get(name).into_iter().flatten().copied())
    }

    /// Drops orders that are no longer kept; returns their ids.
    pub(super) fn retire(&mut self, retired: &BTreeSet<OrderId>) -> Vec<(Text, OrderId)> {
        let theirs = |(name, orders): (&Text, &Vec<OrderId>)| {
            let gone = orders.iter().filter(|order| retired.contains(order));
            gone.map(|order| (name.clone(), *order)).collect::<Vec<_>>()
        };
        let gone = self.given.iter().flat_map(theirs).collect();
        self.asked.retain(|_, asked| {
            asked.retain(|asked| !retired.contains(&asked.order));
            !asked.is_empty()
        });
        for names in [&mut self.given, &mut self.spent] {
            names.retain(|_, orders| {
                orders.retain(|order| !retired.contains(order));
                !orders.is_empty()
            });
        }
        gone
    }
}

fn note(names: &mut BTreeMap<Text, Vec<OrderId>>, name: &Text, order: OrderId) {
    let orders = names.entry(name.clone()).or_default();
    if !orders.contains(&order) {
        orders.push(order);
    }
}
