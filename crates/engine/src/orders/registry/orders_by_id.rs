//! Orders by number. They rise, so a new order is always the last. A copy shares them.

use std::sync::Arc;

use domain::OrderId;
use domain::order::Order;

use crate::shared::shared_list::SharedList;

#[derive(Debug, Clone, Default)]
pub(super) struct OrdersById(SharedList<Arc<Order>>);

impl OrdersById {
    pub(super) fn push(&mut self, order: Arc<Order>) {
        debug_assert!(self.0.last().is_none_or(|last| last.id < order.id), "numbers rise");
        self.0.push(order);
    }

    #[inline]
    pub(super) fn get(&self, id: OrderId) -> Option<&Arc<Order>> {
        let near = self.near(id).and_then(|place| self.0.get(place)).filter(|order| order.id == id);
        near.or_else(|| self.0.get(self.search(id)?))
    }

    pub(super) fn get_mut(&mut self, id: OrderId) -> Option<&mut Arc<Order>> {
        let place = self.index_of(id)?;
        self.0.get_mut(place)
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<Order>> {
        self.0.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Removes orders that are no longer kept.
    pub(super) fn remove_where(&mut self, unwanted: impl Fn(&Order) -> bool) -> Vec<Arc<Order>> {
        let (removed, kept): (Vec<_>, Vec<_>) = self.iter().cloned().partition(|order| unwanted(order));
        if !removed.is_empty() {
            *self = kept.into_iter().collect();
        }
        removed
    }

    fn index_of(&self, id: OrderId) -> Option<usize> {
        let is_it = |place: &usize| self.0.get(*place).is_some_and(|order| order.id == id);
        self.near(id).filter(is_it).or_else(|| self.search(id))
    }

    /// Today's ids have no gaps, so the distance from the newest gives the place; older ones are searched for.
    #[inline]
    fn near(&self, id: OrderId) -> Option<usize> {
        let distance = usize::try_from(self.0.last()?.id.0.checked_sub(id.0)?).ok()?;
        self.len().checked_sub(distance.checked_add(1)?)
    }

    fn search(&self, id: OrderId) -> Option<usize> {
        self.0.search_by_key(&id, |order| order.id)
    }
}

impl FromIterator<Arc<Order>> for OrdersById {
    fn from_iter<I: IntoIterator<Item = Arc<Order>>>(orders: I) -> Self {
        let mut orders: Vec<_> = orders.into_iter().collect();
        orders.sort_by_key(|order| order.id);
        Self(orders.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use domain::{SeededRng, Timestamp};

    use super::*;

    fn order(id: u64) -> Arc<Order> {
        Arc::new(::samples::order(id))
    }

    fn changed(order: &Arc<Order>, at: i64) -> Arc<Order> {
        Arc::new(Order { changed_at: Timestamp(at), ..Order::clone(order) })
    }

    /// Against an ordered map, with gaps in the numbers, changes, removals and copies that stay as they were.
    #[test]
    fn it_is_a_map_and_a_copy_of_it_never_changes() {
        for seed in 0..20 {
            let mut random = SeededRng::from_seed(seed);
            let (mut orders, mut model) = (OrdersById::default(), BTreeMap::new());
            let (mut next, mut copies) = (1, Vec::new());
            for step in 0..1_000 {
                match random.below(10) {
                    0..5 => {
                        next += 1 + u64::from(random.one_in(20)) * random.below(100);
                        orders.push(order(next));
                        model.insert(OrderId(next), order(next));
                    }
                    5..9 => {
                        let id = OrderId(random.below(next + 2));
                        assert_eq!(orders.get(id), model.get(&id), "seed {seed}, step {step}");
                        if let Some(slot) = orders.get_mut(id) {
                            *slot = changed(slot, step);
                            model.insert(id, slot.clone());
                        }
                    }
                    _ if random.one_in(10) => {
                        let part = 2 + random.below(5);
                        let removed = orders.remove_where(|order| order.id.0.is_multiple_of(part));
                        assert!(removed.iter().all(|order| model.remove(&order.id).as_ref() == Some(order)));
                    }
                    _ => copies.push((orders.clone(), model.clone())),
                }
                assert_eq!(orders.len(), model.len());
            }
            copies.push((orders, model));
            for (copy, model) in copies {
                assert!(copy.iter().eq(model.values()), "seed {seed}");
                let again: OrdersById = model.values().rev().cloned().collect();
                assert!(again.iter().eq(model.values()), "seed {seed}");
            }
        }
    }
}
