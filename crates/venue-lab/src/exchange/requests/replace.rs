//! Replacement of price and quantity of an open order under its own id. Only a smaller quantity keeps the queue position.

use crate::exchange::event::ExecutionType;
use crate::exchange::order::{NewSpotOrder, SpotOrder};
use crate::exchange::reject::{SpotReject, UNKNOWN_ORDER};
use crate::exchange::{Applied, ReplaceRequest, SpotExchange};

impl SpotExchange {
    pub(crate) fn replace(&mut self, request: &ReplaceRequest, at: i64) -> Result<Applied, SpotReject> {
        let found = self.find_open(&request.order)?;
        let order = found.ok_or_else(|| SpotReject::cancel(UNKNOWN_ORDER))?.clone();
        let index = self.index(&request.order.symbol)?;
        let terms = new_terms(&order, request);
        let lock = self.check_replaced(index, &order, &terms, at)?;
        let keeps_stop = order.working_micros.is_some() || terms.stop_price == order.stop_price;
        let keeps_terms = keeps_stop && terms.price.unwrap_or_default() == order.price;
        let is_reduced = keeps_terms && request.quantity < order.quantity;
        let id = order.id;
        if is_reduced {
            self.reduce(index, &order, request.quantity);
        } else {
            self.withdraw(index, &order);
        }
        let execution_id = self.markets[index].next_execution;
        self.change_terms(index, &order, request, at);
        if !is_reduced {
            self.lock(index, id, lock);
        }
        self.report(index, id, ExecutionType::Replaced, None, Some(order.client_id.clone()), at);
        if !is_reduced {
            self.work_again(index, &order, at);
        }
        let order = Box::new(self.markets[index].orders[&id].clone());
        Ok(Applied::Amended { order, execution_id })
    }

    /// A stop waits again; any other order trades or rests under its new terms.
    fn work_again(&mut self, index: usize, order: &SpotOrder, at: i64) {
        let id = order.id;
        if order.kind.is_triggered() && order.working_micros.is_none() {
            let waiting = self.markets[index].orders[&id].clone();
            self.markets[index].set_stop(&waiting, true);
        } else {
            self.execute(index, id, at);
            self.run_stops(index, at);
        }
    }

    /// It leaves book and stops, and what it reserved is free.
    fn withdraw(&mut self, index: usize, order: &SpotOrder) {
        let market = &mut self.markets[index];
        if let Ok(resting) = market.book.cancel(order.id) {
            market.touch(&resting);
        }
        market.set_stop(order, false);
        self.release_rest(index, order.id);
    }

    fn change_terms(&mut self, index: usize, before: &SpotOrder, request: &ReplaceRequest, at: i64) {
        self.note_amendment(index, before, request.quantity, request.new_client_id.clone(), at);
        if let Some(order) = self.markets[index].orders.get_mut(&before.id) {
            order.quantity = request.quantity;
            order.price = request.price.unwrap_or(before.price);
            order.stop_price = request.stop_price.or(before.stop_price);
        }
    }
}

/// The order as a new one with the new terms, for the checks.
fn new_terms(order: &SpotOrder, request: &ReplaceRequest) -> NewSpotOrder {
    let price = if order.kind.has_limit() { request.price.or(Some(order.price)) } else { None };
    // One that was triggered is not triggered again.
    let stop_price = if order.working_micros.is_some() { None } else { request.stop_price.or(order.stop_price) };
    NewSpotOrder {
        account: order.account,
        symbol: order.symbol.clone(),
        side: order.side,
        kind: order.kind,
        time_in_force: order.time_in_force,
        quantity: Some(request.quantity),
        quote_quantity: None,
        price,
        stop_price,
        client_id: Some(request.new_client_id.clone()),
        prevention: order.prevention,
        strategy_id: order.strategy_id,
        strategy_type: order.strategy_type,
        has_unique_id: true,
    }
}
