//! Amendment that keeps the queue position: the quantity of an open order is reduced.

use crate::exchange::event::ExecutionType;
use crate::exchange::order::{Amendment, SpotOrder, SpotSide, SpotStatus};
use crate::exchange::reject::{DUPLICATE_ORDER, SpotReject, UNKNOWN_ORDER};
use crate::exchange::units::Units;
use crate::exchange::{Applied, OrderReference, SpotExchange};

/// Makes generated ids of amendments differ from those of orders and cancels.
const AMEND_SALT: u64 = 1 << 61;

impl SpotExchange {
    pub(crate) fn amend(
        &mut self,
        reference: &OrderReference,
        quantity: Units,
        new_client_id: Option<&str>,
        at: i64,
    ) -> Result<Applied, SpotReject> {
        let found = self.find_open(reference)?;
        let order = found.ok_or_else(|| SpotReject::amend(UNKNOWN_ORDER))?.clone();
        let index = self.index(&reference.symbol)?;
        self.check_amend(index, &order, quantity, new_client_id)?;
        let salt = order.id | AMEND_SALT | (order.amendments.len() as u64) << 40;
        let client_id = new_client_id.map_or_else(|| self.generated_id(index, salt), ToOwned::to_owned);
        self.reduce(index, &order, quantity);
        self.note_amendment(index, &order, quantity, client_id, at);
        let execution_id = self.markets[index].next_execution;
        self.report(index, order.id, ExecutionType::Replaced, None, Some(order.client_id), at);
        // What was executed before is all that is left of the quantity.
        if self.markets[index].orders[&order.id].open_quantity().is_zero() {
            self.end_order(index, order.id, SpotStatus::Expired, None, at);
        }
        let order = Box::new(self.markets[index].orders[&order.id].clone());
        Ok(Applied::Amended { order, execution_id })
    }

    fn check_amend(
        &self,
        index: usize,
        order: &SpotOrder,
        quantity: Units,
        new_client_id: Option<&str>,
    ) -> Result<(), SpotReject> {
        let market = &self.markets[index];
        let rules = &market.rules;
        if quantity == order.quantity {
            return Err(SpotReject::amend("The requested action would change no state; rejecting."));
        }
        if quantity > order.quantity {
            return Err(SpotReject::amend("Order amend (quantity increase) is not supported."));
        }
        if quantity < rules.quantity_min || rules.lots(quantity).is_none() {
            return Err(SpotReject::filter("LOT_SIZE"));
        }
        let notional = if order.kind.has_limit() { order.price.times(quantity) } else { market.last.times(quantity) };
        if notional.is_none_or(|notional| notional < rules.notional_min) {
            return Err(SpotReject::filter("NOTIONAL"));
        }
        if order.amendments.len() >= rules.amends_max {
            return Err(SpotReject::amend("Filter failure: MAX_NUM_ORDER_AMENDS"));
        }
        let holder = new_client_id.and_then(|id| market.find_order(order.account, None, Some(id)));
        match holder {
            Some(holder) if holder.id != order.id && holder.status.is_open() => Err(SpotReject::amend(DUPLICATE_ORDER)),
            _ => Ok(()),
        }
    }

    /// Fewer lots in the book and less reserved. Not below what is executed or prevented.
    pub(crate) fn reduce(&mut self, index: usize, order: &SpotOrder, quantity: Units) {
        let done = order.executed.0 + order.prevented.0;
        let kept = Units(quantity.0.max(done));
        let by = Units(order.quantity.0 - kept.0);
        let released = match order.side {
            SpotSide::Sell => by,
            SpotSide::Buy => order.price.times(by).unwrap_or_default(),
        };
        let market = &mut self.markets[index];
        if let Some(resting) = market.book.get(order.id) {
            market.touch(&resting);
            let left = market.rules.lots(Units(kept.0 - done)).unwrap_or(0);
            // Nothing left means that the order ends; it leaves the book then.
            if left > 0 {
                let _ = market.book.requeue(order.id, resting.limit, left);
            }
        }
        if let Some(order) = market.orders.get_mut(&order.id) {
            order.quantity = kept;
        }
        let released = Units(released.0.min(order.locked.0));
        self.lock(index, order.id, Units(-released.0));
    }

    pub(crate) fn note_amendment(
        &mut self,
        index: usize,
        before: &SpotOrder,
        quantity: Units,
        client_id: String,
        at: i64,
    ) {
        let market = &mut self.markets[index];
        let execution_id = market.next_execution;
        let Some(order) = market.orders.get_mut(&before.id) else { return };
        order.amendments.push(Amendment {
            execution_id,
            old_client_id: before.client_id.clone(),
            new_client_id: client_id.clone(),
            old_quantity: before.quantity,
            new_quantity: quantity,
            time_micros: at,
        });
        order.client_id.clone_from(&client_id);
        order.update_micros = at;
        market.client_ids.insert((before.account, client_id), before.id);
    }
}
