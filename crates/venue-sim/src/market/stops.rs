//! Untriggered stop orders of one security.

use std::collections::BTreeMap;

use domain::{LookupMap, OrderId, Side};

/// Triggered by the last trade, or by the quote where nothing has traded since the venue started: a buy at or above its
/// stop price, a sell at or below.
#[derive(Debug, Default)]
pub(crate) struct StopOrders {
    /// By stop price and age, the lowest first.
    buys: BTreeMap<StopRank, OrderId>,
    /// By the complement of the stop price and by age, so that the highest is first.
    sells: BTreeMap<StopRank, OrderId>,
    index: LookupMap<OrderId, (Side, StopRank)>,
}

/// Trigger order: the lower one first.
type StopRank = (i64, u64);

impl StopOrders {
    pub(crate) fn insert(&mut self, side: Side, stop: i64, place: u64, order: OrderId) {
        let rank = match side {
            Side::Buy => (stop, place),
            Side::Sell => (!stop, place),
        };
        self.queue(side).insert(rank, order);
        self.index.insert(order, (side, rank));
    }

    pub(crate) fn remove(&mut self, order: OrderId) {
        if let Some((side, rank)) = self.index.remove(&order) {
            self.queue(side).remove(&rank);
        }
    }

    /// Removes the next triggered one: `up` is the price for buys, `down` the price for sells.
    pub(crate) fn pop_triggered(&mut self, up: Option<i64>, down: Option<i64>) -> Option<OrderId> {
        let order = first_reached(&self.buys, up).or_else(|| first_reached(&self.sells, down.map(|price| !price)))?;
        self.remove(order);
        Some(order)
    }

    /// The stop prices that would be reached first, of the buys and of the sells.
    pub(crate) fn nearest(&self) -> (Option<i64>, Option<i64>) {
        let first = |queue: &BTreeMap<StopRank, OrderId>| queue.first_key_value().map(|((stop, _), _)| *stop);
        (first(&self.buys), first(&self.sells).map(|stop| !stop))
    }

    fn queue(&mut self, side: Side) -> &mut BTreeMap<StopRank, OrderId> {
        match side {
            Side::Buy => &mut self.buys,
            Side::Sell => &mut self.sells,
        }
    }
}

fn first_reached(queue: &BTreeMap<StopRank, OrderId>, price: Option<i64>) -> Option<OrderId> {
    let ((stop, _), order) = queue.first_key_value()?;
    price.filter(|price| stop <= price).map(|_| *order)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stops() -> StopOrders {
        let mut stops = StopOrders::default();
        stops.insert(Side::Buy, 105, 1, OrderId(1));
        stops.insert(Side::Buy, 103, 2, OrderId(2));
        stops.insert(Side::Buy, 103, 3, OrderId(3));
        stops.insert(Side::Sell, 95, 4, OrderId(4));
        stops.insert(Side::Sell, 97, 5, OrderId(5));
        stops
    }

    fn all_triggered(stops: &mut StopOrders, price: i64) -> Vec<u64> {
        std::iter::from_fn(|| stops.pop_triggered(Some(price), Some(price))).map(|order| order.0).collect()
    }

    #[test]
    fn the_nearest_stop_goes_first_then_the_oldest() {
        assert_eq!(all_triggered(&mut stops(), 105), [2, 3, 1]);
        assert_eq!(all_triggered(&mut stops(), 95), [5, 4]);
        assert_eq!(all_triggered(&mut stops(), 100), [0_u64; 0]);
    }

    #[test]
    fn a_stop_that_was_withdrawn_is_not_triggered() {
        let mut stops = stops();
        stops.remove(OrderId(2));
        assert_eq!(all_triggered(&mut stops, 104), [3]);
    }
}
