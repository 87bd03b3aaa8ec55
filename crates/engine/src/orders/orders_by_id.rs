//! Orders by id. Ids rise, so a new order is always the last.

use std::sync::Arc;

use domain::OrderId;
use domain::order::Order;

#[derive(Debug, Clone, Default)]
pub(super) struct OrdersById(Vec<Arc<Order>>);

impl OrdersById {
    pub(super) fn push(&mut self, order: Arc<Order>) {
        debug_assert!(self.0.last().is_none_or(|last| last.id < order.id), "numbers rise");
        self.0.push(order);
    }

    pub(super) fn get(&self, id: OrderId) -> Option<&Arc<Order>> {
        self.index_of(id).map(|place| &self.0[place])
    }

    pub(super) fn get_mut(&mut self, id: OrderId) -> Option<&mut Arc<Order>> {
        self.index_of(id).map(|place| &mut self.0[place])
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<Order>> {
        self.0.iter()
    }

    /// Removes orders that are no longer kept.
    pub(super) fn remove_where(&mut self, unwanted: impl Fn(&Order) -> bool) -> Vec<Arc<Order>> {
        self.0.extract_if(.., |order| unwanted(order)).collect()
    }

    /// Today's ids have no gaps, so the distance from the newest gives the index; older ones are searched for.
    fn index_of(&self, id: OrderId) -> Option<usize> {
        let distance = usize::try_from(self.0.last()?.id.0.checked_sub(id.0)?).ok()?;
        let guess = self.0.len().checked_sub(distance + 1);
        guess
            .filter(|place| self.0[*place].id == id)
            .or_else(|| self.0.binary_search_by_key(&id, |order| order.id).ok())
    }
}

impl FromIterator<Arc<Order>> for OrdersById {
    fn from_iter<I: IntoIterator<Item = Arc<Order>>>(orders: I) -> Self {
        let mut numbered = Self(orders.into_iter().collect());
        numbered.0.sort_by_key(|order| order.id);
        numbered
    }
}
