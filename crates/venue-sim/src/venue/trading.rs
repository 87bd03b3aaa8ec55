//! Trades, auctions and triggers, and their reports.

use domain::report::{Said, VenueFill};
use domain::{Amount, MarketPhase, OrderId, OrderKind, Overflow, SecurityId, Side, TimeInForce};

use super::{Output, Venue};
use crate::book::{self, Event, Outcome};
use crate::config::Fees;
use crate::crowd;
use crate::record::{Deal, Execution, Record};
use crate::registry::Stage;

const SELF_TRADE: &str = "self-trade: it would have met an order of its own account";
const NO_LIQUIDITY: &str = "no-liquidity: no counterparty in the book";

/// Result of a call on a book.
#[derive(Debug)]
pub(super) struct Met {
    security: SecurityId,
    aggressor: Option<Side>,
    pub(super) events: Vec<Event>,
    /// Of a client's order, where one came in.
    pub(super) outcome: Option<(OrderId, Outcome)>,
}

impl Met {
    pub(super) fn new(security: SecurityId, aggressor: Option<Side>) -> Self {
        Self { security, aggressor, events: Vec::new(), outcome: None }
    }
}

impl Venue {
    /// Reports to the clients of the trades.
    pub(super) fn settle(&mut self, met: Met, out: &mut Vec<Output>) {
        self.touched.insert(met.security);
        for event in met.events {
            match event {
                Event::Traded(trade) => self.book_trade(met.security, met.aggressor, &trade, out),
                Event::Prevented { key, .. } => self.prevent(key, out),
            }
        }
        match met.outcome {
            Some((order, Outcome::Expired { .. })) => self.end_rest(order, out),
            Some((order, Outcome::Prevented { .. })) => self.cancel_for(order, Some(SELF_TRADE.into()), out),
            Some((_, Outcome::Filled | Outcome::Resting { .. })) | None => {}
        }
    }

    fn book_trade(
        &mut self,
        security: SecurityId,
        aggressor: Option<Side>,
        trade: &book::Trade,
        out: &mut Vec<Output>,
    ) {
        let market = self.markets.get_mut(&security).expect("it just traded");
        market.traded(trade, aggressor, self.now);
        let (price, quantity) = (market.grid.price(trade.price), market.grid.quantity(trade.lots));
        let worth = quantity.value_at(price, market.security.contract_size);
        let executions = self.executions(trade, self.fees(worth, aggressor));
        if executions.is_empty() {
            return;
        }
        let deal = Deal { at: self.now, security, price, quantity, aggressor, executions: executions.clone() };
        self.record(Record::Traded(deal), out);
        for Execution { order, exec_id, fee } in executions {
            let (at, charges) = (Some(self.now), vec![]);
            let fill = VenueFill { order, exec_id, quantity, price, at, fee, charges };
            self.say(Said::Filled(fill), out);
        }
    }

    /// Fees of maker and taker. A trade whose value does not fit has no fee.
    fn fees(&self, worth: Result<Amount, Overflow>, aggressor: Option<Side>) -> [Option<Amount>; 2] {
        let Some(Fees { maker, taker }) = self.config.fees else { return [None, None] };
        let taker = if aggressor.is_some() { taker } else { maker };
        [maker, taker].map(|rate| worth.and_then(|worth| worth.scaled(rate)).ok())
    }

    /// The clients' sides of a trade, each with the next free id.
    fn executions(&self, trade: &book::Trade, [maker_fee, taker_fee]: [Option<Amount>; 2]) -> Vec<Execution> {
        let sides = [(trade.maker, maker_fee), (trade.taker, taker_fee)];
        let clients = sides.into_iter().filter_map(|(key, fee)| Some((crowd::client(key)?, fee)));
        (self.registry.executions() + 1..)
            .zip(clients)
            .map(|(number, (order, fee))| Execution { order, exec_id: self.exec_id(number), fee })
            .collect()
    }

    fn prevent(&mut self, key: u64, out: &mut Vec<Output>) {
        if let Some(order) = crowd::client(key) {
            self.cancel_for(order, Some(SELF_TRADE.into()), out);
        }
    }

    /// Ends the remainder of an order that does not rest.
    fn end_rest(&mut self, order: OrderId, out: &mut Vec<Output>) {
        let terms = self.registry.open(order).terms;
        match (terms.tif, terms.kind) {
            (TimeInForce::Fok, _) => self.expire_for(order, "FOK: not fillable in full at once", out),
            (TimeInForce::Ioc, _) => self.expire_for(order, "IOC: no more at its price", out),
            _ => self.cancel_for(order, Some(NO_LIQUIDITY.into()), out),
        }
    }

    /// Trades may trigger stops, and those trade again.
    pub(super) fn after_trading(&mut self, security: SecurityId, out: &mut Vec<Output>) {
        while let Some(order) = self.next_triggered(security) {
            self.activate(order, out);
        }
    }

    fn next_triggered(&mut self, security: SecurityId) -> Option<OrderId> {
        let market = self.markets.get_mut(&security)?;
        if self.phase != MarketPhase::Continuous || market.halted {
            return None;
        }
        let (up, down) = market.stop_prices();
        market.stops.take_triggered(up, down)
    }

    /// Holds the auction of one security: everything executable trades at one price.
    pub(super) fn uncross(&mut self, security: SecurityId, out: &mut Vec<Output>) {
        let Some(market) = self.markets.get_mut(&security).filter(|market| !market.halted) else {
            return;
        };
        let mut met = Met::new(security, None);
        if let Some(indication) = market.book.auction_price(market.reference()) {
            market.book.uncross(indication.price, &mut |event| met.events.push(event));
        }
        self.settle(met, out);
        self.end_auction(security, out);
    }

    /// Orders without a price and those for the auction alone end with it.
    fn end_auction(&mut self, security: SecurityId, out: &mut Vec<Output>) {
        let market = self.markets.get_mut(&security).expect("it just held an auction");
        for wish in market.crowd.leave_auction() {
            market.grant(wish);
        }
        for order in self.auction_leftovers(security) {
            self.leave_book(order);
            match self.registry.open(order).terms.tif {
                TimeInForce::Ato => self.expire_for(order, "ATO: the opening auction is over", out),
                TimeInForce::Atc => self.expire_for(order, "ATC: the closing auction is over", out),
                _ => self.cancel_for(order, Some(NO_LIQUIDITY.into()), out),
            }
        }
    }

    fn auction_leftovers(&self, security: SecurityId) -> Vec<OrderId> {
        let leaves = |order: &OrderId| {
            let held = self.registry.open(*order);
            let is_for_auction = matches!(held.terms.tif, TimeInForce::Ato | TimeInForce::Atc);
            held.stage == Stage::Book && (is_for_auction || has_no_price(&held.terms.kind))
        };
        let book = &self.markets[&security].book;
        let standing = book.orders(book::Side::Buy).chain(book.orders(book::Side::Sell));
        standing.filter_map(|order| crowd::client(order.key)).filter(leaves).collect()
    }
}

/// A triggered stop is a market order.
fn has_no_price(kind: &OrderKind) -> bool {
    kind.limit().is_none()
}
