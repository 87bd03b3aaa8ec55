//! Prices of another venue that this one follows: clients trade with what that venue shows, and with its trades.
//!
//! - A client that takes gets what is shown, level by level. What it has taken stays taken until the other venue shows
//!   another quantity at that price.
//! - A client's order that rests is filled at its limit: by the other side's quotes that reach it, and by trades at its
//!   price or better, whatever waited there before it: its queue position at the other venue is not known.
//! - Stops are triggered by the other venue's trades, and by its quotes before the first of them.
//! - While prices are not known, orders rest and market orders have no counterparty. What came meanwhile takes from the
//!   first quotes; what rested before is filled at its limit where they have passed it.

use domain::command::MarketData;
use domain::{MarketPhase, OrderId, SecurityId, Side, Timestamp, Trade};

use super::trading::MatchResult;
use super::{VenueOutput, VenueSimulator};
use crate::client_orders::client_order::{ClientOrder, OrderStage};
use crate::market::{LastTrade, SecurityMarket, to_book};

impl VenueSimulator {
    /// A price of the venue that is followed.
    pub fn follow(&mut self, at: Timestamp, data: &MarketData, out: &mut Vec<VenueOutput>) {
        self.run_due(at, out);
        let (security, now) = (data.security(), self.now);
        let Some(market) = self.markets.get_mut(&security) else { return };
        match data {
            MarketData::Tick(tick) => {
                market.followed.on_tick(tick, &market.grid);
                if let Some(price) = tick.last.and_then(|last| market.grid.ticks_down(last)) {
                    market.last = Some(LastTrade { price, lots: None, at: now });
                }
            }
            MarketData::Book(book) => market.followed.on_book(book, &market.grid),
            MarketData::Trade(trade) => self.follow_trade(trade, out),
            MarketData::Gap(_) => return market.forget_prices(now),
        }
        self.show_followed(security, out);
        self.trigger_stops(security, out);
        self.publish(out);
    }

    /// Prices of the venue that is followed are not known any more.
    pub fn forget_prices(&mut self) {
        self.markets.values_mut().for_each(|market| market.forget_prices(self.now));
    }

    /// Brings the quotes of the followed venue into the book, or takes them out while this one does not trade.
    pub(super) fn show_followed(&mut self, security: SecurityId, out: &mut Vec<VenueOutput>) {
        let is_open = self.is_open(security);
        let waiting = if is_open { self.remove_unpriced(security) } else { Vec::new() };
        let Some(market) = self.markets.get_mut(&security) else { return };
        for action in market.follow_quotes(is_open) {
            let Some(market) = self.markets.get_mut(&security) else { return };
            let (events, aggressor) = market.apply_action(action);
            let mut met = MatchResult::new(security, aggressor);
            met.events = events;
            self.apply_match(met, out);
        }
        for order in waiting {
            self.activate(order, out);
        }
    }

    /// With the first prices: orders that came without any leave the book, so that they come in again behind the quotes.
    fn remove_unpriced(&mut self, security: SecurityId) -> Vec<OrderId> {
        let market = self.markets.get_mut(&security).filter(|market| !market.followed.is_empty());
        let Some(since) = market.and_then(|market| market.unpriced_since.take()) else { return Vec::new() };
        let is_late = |held: &&ClientOrder| held.security() == security && held.terms_at >= since;
        let resting = self.orders.at_stage(OrderStage::Book).into_iter();
        let late: Vec<OrderId> = resting.filter(is_late).map(|held| held.submission.order).collect();
        late.iter().for_each(|order| self.remove_from_book(*order));
        late
    }

    fn follow_trade(&mut self, trade: &Trade, out: &mut Vec<VenueOutput>) {
        let (is_open, now) = (self.is_open(trade.security), self.now);
        let Some(market) = self.markets.get_mut(&trade.security) else { return };
        let Some(price) = market.grid.ticks_down(trade.price) else { return };
        market.last = Some(LastTrade { price, lots: None, at: now });
        // Without a word about who took, it was one of the two.
        for taker in
            [Side::Buy, Side::Sell].into_iter().filter(|side| trade.aggressor.is_none_or(|taker| taker == *side))
        {
            if is_open {
                self.follow_taker(trade, taker, out);
            }
        }
    }

    fn follow_taker(&mut self, trade: &Trade, taker: Side, out: &mut Vec<VenueOutput>) {
        let Some(market) = self.markets.get_mut(&trade.security) else { return };
        let price = match taker {
            Side::Buy => market.grid.ticks_down(trade.price),
            Side::Sell => market.grid.ticks_up(trade.price),
        };
        let (Some(price), lots) = (price, market.grid.whole_lots(trade.quantity)) else { return };
        let mut met = MatchResult::new(trade.security, Some(taker));
        met.events = market.take_from_clients(to_book(taker), price, lots);
        self.apply_match(met, out);
    }

    fn is_open(&self, security: SecurityId) -> bool {
        let is_trading = |market: &SecurityMarket| market.is_trading(self.now);
        self.phase == MarketPhase::Continuous && self.markets.get(&security).is_some_and(is_trading)
    }
}

impl SecurityMarket {
    /// What the followed venue showed leaves the book.
    fn forget_prices(&mut self, now: Timestamp) {
        self.followed.clear();
        self.last = None;
        self.unpriced_since.get_or_insert(now);
        for action in self.follow_quotes(false) {
            self.apply_action(action);
        }
    }
}
