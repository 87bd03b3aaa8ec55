//! Checks of a new order: filters, client's id, balance. They change nothing.

use crate::exchange::SpotExchange;
use crate::exchange::market::SpotMarket;
use crate::exchange::order::{NewSpotOrder, SpotOrder, SpotOrderType, SpotSide};
use crate::exchange::reject::{DUPLICATE_ORDER, SpotReject};
use crate::exchange::units::Units;

/// What a new order needs once it has passed every check.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OrderPlan {
    pub(crate) market: usize,
    pub(crate) quantity: Units,
    /// What is reserved for it.
    pub(crate) lock: Units,
}

impl SpotExchange {
    pub(crate) fn check_new(&self, new: &NewSpotOrder, at: i64) -> Result<OrderPlan, SpotReject> {
        let index = self.index(&new.symbol)?;
        let market = &self.markets[index];
        check_prices(market, new, at)?;
        let quantity = quantity_of(market, new)?;
        check_quantity(market, new, quantity)?;
        check_notional(market, new, quantity, at)?;
        check_open_orders(market, new)?;
        check_client_id(market, new)?;
        check_execution(market, new)?;
        let lock = lock_of(market, new, quantity).ok_or_else(SpotReject::insufficient_balance)?;
        let account = &self.accounts[new.account as usize];
        let asset = if new.side == SpotSide::Buy { &market.rules.quote } else { &market.rules.base };
        if account.free(asset) < lock {
            return Err(SpotReject::insufficient_balance());
        }
        Ok(OrderPlan { market: index, quantity, lock })
    }

    /// Checks an open order under its new terms; returns what is to be reserved for what is not executed.
    pub(crate) fn check_replaced(
        &self,
        index: usize,
        order: &SpotOrder,
        new: &NewSpotOrder,
        at: i64,
    ) -> Result<Units, SpotReject> {
        let market = &self.markets[index];
        let quantity = new.quantity.unwrap_or(order.quantity);
        check_prices(market, new, at)?;
        check_quantity(market, new, quantity)?;
        check_notional(market, new, quantity, at)?;
        check_client_id(market, new)?;
        check_execution(market, new)?;
        let left = quantity.minus(order.executed).filter(|left| left.is_positive());
        let left = left.ok_or_else(|| SpotReject::amend("The new quantity is not more than what is executed."))?;
        let lock = lock_of(market, new, left).ok_or_else(SpotReject::insufficient_balance)?;
        let asset = if order.side == SpotSide::Buy { &market.rules.quote } else { &market.rules.base };
        let available = self.accounts[order.account as usize].free(asset).plus(order.locked);
        match available {
            Some(available) if available >= lock => Ok(lock),
            _ => Err(SpotReject::insufficient_balance()),
        }
    }
}

fn check_prices(market: &SpotMarket, new: &NewSpotOrder, at: i64) -> Result<(), SpotReject> {
    let rules = &market.rules;
    for price in [new.price, new.stop_price].into_iter().flatten() {
        let in_range = (rules.price_min..=rules.price_max).contains(&price);
        if !in_range || price.steps(rules.order_tick).is_none() {
            return Err(SpotReject::filter("PRICE_FILTER"));
        }
    }
    let Some(price) = new.price else { return Ok(()) };
    let average = market.average_price(at);
    let bounds = (average.times(rules.percent_down), average.times(rules.percent_up));
    match bounds {
        (Some(low), Some(high)) if (low..=high).contains(&price) => Ok(()),
        _ => Err(SpotReject::filter("PERCENT_PRICE_BY_SIDE")),
    }
}

/// The quantity in the base asset; for an amount of the quote asset what the book gives for it.
fn quantity_of(market: &SpotMarket, new: &NewSpotOrder) -> Result<Units, SpotReject> {
    if let Some(quantity) = new.quantity {
        return Ok(quantity);
    }
    let quote = new.quote_quantity.unwrap_or_default();
    if market.book.best(new.side.book().opposite()).is_none() {
        return Err(SpotReject::order("Order book liquidity is less than symbol minimum quantity."));
    }
    let lots = market.lots_for(new.side, quote).ok_or_else(|| SpotReject::filter("LOT_SIZE"))?;
    Ok(market.rules.quantity(lots))
}

fn check_quantity(market: &SpotMarket, new: &NewSpotOrder, quantity: Units) -> Result<(), SpotReject> {
    let rules = &market.rules;
    let fits = (rules.quantity_min..=rules.quantity_max).contains(&quantity) && is_on_step(market, new, quantity);
    match (fits, new.kind) {
        (true, _) => Ok(()),
        (false, SpotOrderType::Market) if rules.quantity_max < quantity => Err(SpotReject::filter("MARKET_LOT_SIZE")),
        (false, _) => Err(SpotReject::filter("LOT_SIZE")),
    }
}

/// An amount of the quote asset gives a quantity of the book's steps, whatever orders must keep to.
fn is_on_step(market: &SpotMarket, new: &NewSpotOrder, quantity: Units) -> bool {
    let rules = &market.rules;
    let step = if new.quantity.is_some() { rules.order_step } else { rules.step };
    quantity.steps(step).is_some()
}

fn check_notional(market: &SpotMarket, new: &NewSpotOrder, quantity: Units, at: i64) -> Result<(), SpotReject> {
    let price = new.price.unwrap_or_else(|| market.average_price(at));
    let notional = new.quote_quantity.or_else(|| price.times(quantity));
    let rules = &market.rules;
    let has_maximum = new.kind.has_limit();
    match notional {
        Some(notional) if notional < rules.notional_min => Err(SpotReject::filter("NOTIONAL")),
        Some(notional) if has_maximum && notional > rules.notional_max => Err(SpotReject::filter("NOTIONAL")),
        Some(_) => Ok(()),
        None => Err(SpotReject::filter("NOTIONAL")),
    }
}

fn check_open_orders(market: &SpotMarket, new: &NewSpotOrder) -> Result<(), SpotReject> {
    if market.open_orders(new.account).count() >= market.rules.orders_max {
        return Err(SpotReject::filter("MAX_NUM_ORDERS"));
    }
    let stops = market.open_orders(new.account).filter(|order| order.kind.is_triggered()).count();
    if new.kind.is_triggered() && stops >= market.rules.stops_max {
        return Err(SpotReject::filter("MAX_NUM_ALGO_ORDERS"));
    }
    Ok(())
}

/// An id is free again once its order has ended, unless the request says otherwise.
fn check_client_id(market: &SpotMarket, new: &NewSpotOrder) -> Result<(), SpotReject> {
    let Some(id) = &new.client_id else { return Ok(()) };
    if new.has_unique_id && market.client_ids.contains_key(&(new.account, id.clone())) {
        return Err(SpotReject::order(DUPLICATE_ORDER));
    }
    match market.find_order(new.account, None, Some(id)) {
        Some(order) if order.status.is_open() => Err(SpotReject::order(DUPLICATE_ORDER)),
        _ => Ok(()),
    }
}

fn check_execution(market: &SpotMarket, new: &NewSpotOrder) -> Result<(), SpotReject> {
    if let Some(stop) = new.stop_price
        && market.would_trigger(new.kind, new.side, stop)
    {
        return Err(SpotReject::order("Order would trigger immediately."));
    }
    if new.kind == SpotOrderType::LimitMaker && would_take(market, new) {
        return Err(SpotReject::order("Order would immediately match and take."));
    }
    Ok(())
}

fn would_take(market: &SpotMarket, new: &NewSpotOrder) -> bool {
    let limit = new.price.and_then(|price| market.rules.ticks(price));
    let best = market.book.best(new.side.book().opposite());
    match (limit, best, new.side) {
        (Some(limit), Some(best), SpotSide::Buy) => best <= limit,
        (Some(limit), Some(best), SpotSide::Sell) => best >= limit,
        _ => false,
    }
}

/// A stop that becomes a market buy reserves nothing: its cost is known when it is triggered.
fn lock_of(market: &SpotMarket, new: &NewSpotOrder, quantity: Units) -> Option<Units> {
    match (new.side, new.price) {
        (SpotSide::Sell, _) => Some(quantity),
        (SpotSide::Buy, Some(price)) => price.times(quantity),
        (SpotSide::Buy, None) if new.kind.is_triggered() => Some(Units::ZERO),
        (SpotSide::Buy, None) => Some(market.cost_of(new.side, market.rules.lots(quantity)?)?.1),
    }
}
