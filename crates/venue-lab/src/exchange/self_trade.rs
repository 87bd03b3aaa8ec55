//! Self-trade prevention: what becomes of two orders of one account that would have traded with each other.

use super::SpotExchange;
use super::event::ExecutionType;
use super::order::{AccountTrade, PreventedMatch, PreventionMode, SpotOrder, SpotSide, SpotStatus};
use super::units::Units;

impl SpotExchange {
    /// The book has stopped before an order of the same account. Returns the trades that follow.
    pub(super) fn on_taker_prevented(&mut self, market: usize, order: &SpotOrder, at: i64) -> Vec<AccountTrade> {
        let maker = self.markets[market].book.orders(order.side.book().opposite()).next();
        match (maker, order.prevention) {
            (Some(maker), PreventionMode::Decrement) => return self.decrement(market, order.id, maker.key, at),
            (Some(maker), mode) => {
                let takes_both = mode == PreventionMode::ExpireBoth;
                self.on_prevented(market, order.id, maker.key, mode, takes_both, at);
            }
            (None, _) => {}
        }
        self.end_order(market, order.id, SpotStatus::ExpiredInMatch, None, at);
        Vec::new()
    }

    /// Notes the prevented match; where the maker ends by it, it leaves the book.
    pub(super) fn on_prevented(
        &mut self,
        market: usize,
        taker: u64,
        maker: u64,
        mode: PreventionMode,
        ends: bool,
        at: i64,
    ) {
        let Some(quantity) = self.open_quantity(market, maker) else { return };
        let id = self.note_prevented(market, (taker, maker), (mode, quantity), at);
        let ended = [Some(taker), ends.then_some(maker)].into_iter().flatten();
        for id_ended in ended {
            if let Some(order) = self.markets[market].orders.get_mut(&id_ended) {
                order.prevented_match = Some(id);
            }
        }
        if ends {
            self.end_order(market, maker, SpotStatus::ExpiredInMatch, None, at);
        }
    }

    /// Both lose what would have traded. One with nothing left ends, and a taker with something left goes on.
    fn decrement(&mut self, market: usize, taker: u64, maker: u64, at: i64) -> Vec<AccountTrade> {
        let open = [taker, maker].map(|id| self.open_quantity(market, id));
        let [Some(of_taker), Some(of_maker)] = open else { return Vec::new() };
        let quantity = of_taker.min(of_maker);
        let id = self.note_prevented(market, (taker, maker), (PreventionMode::Decrement, quantity), at);
        for order in [maker, taker] {
            self.reduce_prevented(market, order, id, quantity, at);
        }
        if of_taker > quantity { self.execute(market, taker, at) } else { Vec::new() }
    }

    fn reduce_prevented(&mut self, market: usize, id: u64, matched: u64, quantity: Units, at: i64) {
        let Some(order) = self.markets[market].orders.get_mut(&id) else { return };
        order.prevented_match = Some(matched);
        order.update_micros = at;
        if order.open_quantity() == quantity {
            return self.end_order(market, id, SpotStatus::ExpiredInMatch, None, at);
        }
        order.prevented.0 += quantity.0;
        let order = order.clone();
        self.shrink_resting(market, &order);
        let released = match order.side {
            SpotSide::Sell => quantity,
            SpotSide::Buy if order.kind.has_limit() => order.price.times(quantity).unwrap_or_default(),
            // What a market order has reserved is an estimate; the rest is free when it ends.
            SpotSide::Buy => Units::ZERO,
        };
        self.lock(market, id, Units(-released.0.min(order.locked.0)));
        self.report(market, id, ExecutionType::TradePrevention, None, None, at);
    }

    /// Fewer lots in the book, at the same place in the queue.
    fn shrink_resting(&mut self, market: usize, order: &SpotOrder) {
        let state = &mut self.markets[market];
        let Some(resting) = state.book.get(order.id) else { return };
        state.touch(&resting);
        let left = state.rules.lots(order.open_quantity()).unwrap_or(0);
        if left > 0 {
            let _ = state.book.requeue(order.id, resting.limit, left);
        }
    }

    fn open_quantity(&self, market: usize, id: u64) -> Option<Units> {
        self.markets[market].orders.get(&id).map(SpotOrder::open_quantity)
    }

    /// Its number. `taker` and `maker` in this order, and what the maker loses by which mode.
    fn note_prevented(
        &mut self,
        market: usize,
        (taker, maker): (u64, u64),
        (mode, maker_quantity): (PreventionMode, Units),
        at: i64,
    ) -> u64 {
        let state = &mut self.markets[market];
        let id = state.prevented.len() as u64;
        let order = &state.orders[&maker];
        let (account, price) = (order.account, order.price);
        let noted = PreventedMatch { id, account, taker, maker, mode, price, maker_quantity, time_micros: at };
        state.prevented.push(noted);
        id
    }
}
