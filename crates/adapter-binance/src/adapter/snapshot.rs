//! The snapshot after a log-on: open orders of all symbols, then orders and trades of each symbol that was traded.
//!
//! It is never called complete: the venue lists neither trades nor ended orders without a symbol. What it leaves open, the
//! engine asks about by the client ids.

use std::collections::{BTreeMap, BTreeSet};

use adapter_kit::RequestLane;
use domain::report::VenueSnapshot;
use domain::{OrderId, Timestamp};

use super::state::BinanceAdapter;
use crate::fills_question::note_owner;
use crate::order_picture::{PictureGap, own_id, picture};
use crate::protocol::account_answers::BinanceTrade;
use crate::protocol::order_answers::BinanceOrder;
use crate::protocol::requests::{BinanceRequest, TradesFrom};

impl BinanceAdapter {
    pub(super) fn take_snapshot(&mut self, at: Timestamp) -> Result<VenueSnapshot, String> {
        let mut orders: Vec<BinanceOrder> = self.ask(RequestLane::Fills, &BinanceRequest::open_orders(None))?;
        let mut trades: Vec<BinanceTrade> = Vec::new();
        for symbol in self.symbols_to_list(&orders) {
            let listed: Vec<BinanceOrder> = self.ask(RequestLane::Fills, &BinanceRequest::all_orders(&symbol))?;
            orders.extend(listed);
            let request = BinanceRequest::my_trades(&symbol, TradesFrom::Newest);
            trades.extend(self.ask::<Vec<BinanceTrade>>(RequestLane::Fills, &request)?);
        }
        let mut snapshot = VenueSnapshot { as_of: Some(at), ..VenueSnapshot::default() };
        orders.iter().for_each(|order| note_owner(&mut self.order_memory(), order));
        self.add_external(at, &newest_of(&orders), &trades, &mut snapshot)?;
        for (order, legs) in own_orders(self.setup.instance, orders) {
            self.add_order(order, &legs, &mut trades, &mut snapshot)?;
        }
        Ok(snapshot)
    }

    fn symbols_to_list(&self, open: &[BinanceOrder]) -> BTreeSet<String> {
        let own = open.iter().filter(|order| own_id(self.setup.instance, &order.client_id).is_some());
        self.traded.iter().cloned().chain(own.map(|order| order.symbol.clone())).collect()
    }

    /// An order whose picture is not whole is left out; it is asked about.
    fn add_order(
        &mut self,
        order: OrderId,
        legs: &[BinanceOrder],
        trades: &mut Vec<BinanceTrade>,
        snapshot: &mut VenueSnapshot,
    ) -> Result<(), String> {
        let Some(symbol) = legs.first().map(|leg| leg.symbol.clone()) else { return Ok(()) };
        let quote = self.symbols.quote_of(&symbol);
        let mut seen = picture(order, legs, trades, quote);
        if let Err(PictureGap::Trades { .. }) = seen {
            for leg in legs.iter().filter(|leg| !leg.filled.0.is_zero()) {
                let request = BinanceRequest::order_trades(&symbol, leg.order_id.0, None);
                trades.extend(self.ask::<Vec<BinanceTrade>>(RequestLane::Fills, &request)?);
            }
            seen = picture(order, legs, trades, quote);
        }
        match seen {
            Ok((seen, fills)) => {
                self.tracker.on_picture(order, legs);
                snapshot.orders.push(seen);
                snapshot.fills.extend(fills);
            }
            Err(gap) => tracing::warn!(%order, %gap, "an order is left out of the snapshot; it is asked about"),
        }
        Ok(())
    }
}

/// Each of the venue's orders once, as the last list has it.
fn newest_of(orders: &[BinanceOrder]) -> Vec<BinanceOrder> {
    let by_id = orders.iter().map(|order| ((&order.symbol, order.order_id), order));
    by_id.collect::<BTreeMap<_, _>>().into_values().cloned().collect()
}

/// Our orders with their legs. An order of two lists has changed meanwhile, or the later list lags: what is newer counts.
fn own_orders(instance: u64, orders: Vec<BinanceOrder>) -> BTreeMap<OrderId, Vec<BinanceOrder>> {
    let mut own: BTreeMap<OrderId, BTreeMap<(String, i64), BinanceOrder>> = BTreeMap::new();
    for leg in orders {
        let Some(id) = own_id(instance, &leg.client_id) else { continue };
        let legs = own.entry(id.order).or_default();
        let key = (leg.symbol.clone(), leg.order_id.0);
        let is_newer =
            legs.get(&key).is_none_or(|known| (leg.updated, leg.filled.0) >= (known.updated, known.filled.0));
        if is_newer {
            legs.insert(key, leg);
        }
    }
    own.into_iter().map(|(order, legs)| (order, legs.into_values().collect())).collect()
}
