//! Orders by number. They rise, so a new order is always the last. They lie in chunks that a copy shares: the copy for a snapshot takes
//! one step for each chunk and not for each order, and a change of an order afterwards copies its chunk.

use std::sync::Arc;

use domain::OrderId;
use domain::order::Order;

/// A change after a snapshot copies so many references at the most.
const CHUNK_ORDERS: usize = 64;

/// Every chunk but the last is full.
#[derive(Debug, Clone, Default)]
pub(super) struct OrdersById(Vec<Arc<Vec<Arc<Order>>>>);

impl OrdersById {
    pub(super) fn push(&mut self, order: Arc<Order>) {
        debug_assert!(self.last().is_none_or(|last| last.id < order.id), "numbers rise");
        match self.0.last_mut().filter(|chunk| chunk.len() < CHUNK_ORDERS) {
            Some(chunk) => Arc::make_mut(chunk).push(order),
            None => {
                let mut chunk = Vec::with_capacity(CHUNK_ORDERS);
                chunk.push(order);
                self.0.push(Arc::new(chunk));
            }
        }
    }

    #[inline]
    pub(super) fn get(&self, id: OrderId) -> Option<&Arc<Order>> {
        match self.newest_chunk_index(id) {
            Some(place) => self.0.last()?.get(place),
            None => self.at(self.index_of(id)?),
        }
    }

    pub(super) fn get_mut(&mut self, id: OrderId) -> Option<&mut Arc<Order>> {
        if let Some(place) = self.newest_chunk_index(id) {
            return Arc::make_mut(self.0.last_mut()?).get_mut(place);
        }
        let place = self.index_of(id)?;
        let chunk = self.0.get_mut(place / CHUNK_ORDERS)?;
        Arc::make_mut(chunk).get_mut(place % CHUNK_ORDERS)
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<Order>> {
        (0..self.len()).map(|place| &self.0[place / CHUNK_ORDERS][place % CHUNK_ORDERS])
    }

    pub(super) fn len(&self) -> usize {
        let full = self.0.len().saturating_sub(1) * CHUNK_ORDERS;
        full + self.0.last().map_or(0, |chunk| chunk.len())
    }

    /// Removes orders that are no longer kept.
    pub(super) fn remove_where(&mut self, unwanted: impl Fn(&Order) -> bool) -> Vec<Arc<Order>> {
        let (removed, kept): (Vec<_>, Vec<_>) = self.iter().cloned().partition(|order| unwanted(order));
        if !removed.is_empty() {
            *self = kept.into_iter().collect();
        }
        removed
    }

    fn last(&self) -> Option<&Arc<Order>> {
        self.0.last()?.last()
    }

    fn at(&self, place: usize) -> Option<&Arc<Order>> {
        self.0.get(place / CHUNK_ORDERS)?.get(place % CHUNK_ORDERS)
    }

    /// Most questions are about the newest orders: in the last chunk the distance from the newest gives the index.
    #[inline]
    fn newest_chunk_index(&self, id: OrderId) -> Option<usize> {
        let chunk = self.0.last()?;
        let distance = usize::try_from(chunk.last()?.id.0.checked_sub(id.0)?).ok()?;
        let place = chunk.len().checked_sub(distance.checked_add(1)?)?;
        (chunk[place].id == id).then_some(place)
    }

    /// Today's ids have no gaps, so the distance from the newest gives the index; older ones are searched for.
    fn index_of(&self, id: OrderId) -> Option<usize> {
        let distance = usize::try_from(self.last()?.id.0.checked_sub(id.0)?).ok()?;
        let guess = self.len().checked_sub(distance + 1);
        guess.filter(|place| self.at(*place).is_some_and(|order| order.id == id)).or_else(|| self.search(id))
    }

    fn search(&self, id: OrderId) -> Option<usize> {
        let chunk = self.0.partition_point(|chunk| chunk.first().is_some_and(|first| first.id <= id)).checked_sub(1)?;
        let place = self.0[chunk].binary_search_by_key(&id, |order| order.id).ok()?;
        Some(chunk * CHUNK_ORDERS + place)
    }
}

impl FromIterator<Arc<Order>> for OrdersById {
    fn from_iter<I: IntoIterator<Item = Arc<Order>>>(orders: I) -> Self {
        let mut orders: Vec<_> = orders.into_iter().collect();
        orders.sort_by_key(|order| order.id);
        Self(orders.chunks(CHUNK_ORDERS).map(|chunk| Arc::new(chunk.to_vec())).collect())
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

    /// However many orders there are, a copy takes a step for each chunk, and a change copies one chunk.
    #[test]
    fn a_copy_shares_what_is_not_changed() {
        let mut orders: OrdersById = (1..=1_000).map(order).collect();
        let copy = orders.clone();
        assert_eq!(copy.0.len(), 1_000_usize.div_ceil(CHUNK_ORDERS));
        let slot = orders.get_mut(OrderId(500)).unwrap();
        *slot = changed(slot, 7);
        orders.push(order(1_001));
        let own = copy.0.iter().zip(&orders.0).filter(|(copied, live)| !Arc::ptr_eq(copied, live)).count();
        assert_eq!(own, 2, "the chunk of the order that changed, and the last one");
    }
}
