//! Ids of orders that the venue no longer keeps, so that none is accepted twice.

use std::collections::BTreeSet;

use domain::OrderId;

/// How many are kept one by one; all below them count as known. It is far more orders than a client sends while one of its
/// requests is on its way.
pub(crate) const RETIRED_ORDERS_KEPT: usize = 100_000;

#[derive(Debug, Default)]
pub(crate) struct RetiredOrders {
    ids: BTreeSet<OrderId>,
    known_below: u64,
}

impl RetiredOrders {
    pub(crate) fn insert(&mut self, order: OrderId) {
        self.ids.insert(order);
        if self.ids.len() > RETIRED_ORDERS_KEPT
            && let Some(oldest) = self.ids.pop_first()
        {
            self.known_below = oldest.0.saturating_add(1);
        }
    }

    pub(crate) fn contains(&self, order: OrderId) -> bool {
        order.0 < self.known_below || self.ids.contains(&order)
    }

    pub(crate) fn known_below(&self) -> u64 {
        self.known_below
    }

    /// The ids as runs: the first, and how many.
    pub(crate) fn runs(&self) -> Vec<(u64, u64)> {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for id in &self.ids {
            match runs.last_mut() {
                Some((first, count)) if *first + *count == id.0 => *count += 1,
                _ => runs.push((id.0, 1)),
            }
        }
        runs
    }

    pub(crate) fn from_runs(known_below: u64, runs: &[(u64, u64)]) -> Self {
        let ids = runs.iter().flat_map(|(first, count)| (*first..first.saturating_add(*count)).map(OrderId)).collect();
        Self { ids, known_below }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_known_for_ever_and_only_the_newest_take_room() {
        let mut retired = RetiredOrders::default();
        let kept = RETIRED_ORDERS_KEPT as u64;
        // Every second id belongs to another venue.
        (0..kept + 1_000).for_each(|number| retired.insert(OrderId(10 + 2 * number)));
        assert_eq!((retired.ids.len(), retired.known_below()), (RETIRED_ORDERS_KEPT, 10 + 2 * 999 + 1));
        let known = [10, 11, 2_008, 2_009, 2_010, 2_011, 10 + 2 * (kept + 999)].map(|id| retired.contains(OrderId(id)));
        assert_eq!(known, [true, true, true, false, true, false, true]);
    }

    #[test]
    fn runs_give_the_same_ids() {
        let mut retired = RetiredOrders::default();
        [3, 4, 5, 9, 11, 12].into_iter().for_each(|id| retired.insert(OrderId(id)));
        assert_eq!(retired.runs(), [(3, 3), (9, 1), (11, 2)]);
        let again = RetiredOrders::from_runs(retired.known_below(), &retired.runs());
        assert_eq!((again.ids, again.known_below), (retired.ids, retired.known_below));
    }
}
