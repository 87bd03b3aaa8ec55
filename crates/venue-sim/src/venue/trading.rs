//! Trades, auctions and triggers, and their reports.

use domain::report::{ReportKind, VenueFill};
use domain::{
    Amount, Liquidity, MarketPhase, OrderId, Overflow, Price, Quantity, SecurityId, Side, TimeInForce, WorkingPrice,
};

use super::statements::{costs, settlement};
use super::{VenueOutput, VenueSimulator};
use crate::book::{self, BookEvent, MatchOutcome};
use crate::client_orders::client_order::OrderStage;
use crate::config::VenueFees;
use crate::market::participants;
use crate::record::{VenueExecution, VenueRecord, VenueTrade};

const SELF_TRADE: &str = "self-trade: it would have met an order of its own account";
const NO_LIQUIDITY: &str = "no-liquidity: no counterparty in the book";

/// Result of a call on a book.
#[derive(Debug)]
pub(super) struct MatchResult {
    security: SecurityId,
    aggressor: Option<Side>,
    pub(super) events: Vec<BookEvent>,
    /// Of a client's order, where one came in.
    pub(super) outcome: Option<(OrderId, MatchOutcome)>,
}

impl MatchResult {
    pub(super) fn new(security: SecurityId, aggressor: Option<Side>) -> Self {
        Self { security, aggressor, events: Vec::new(), outcome: None }
    }
}

impl VenueSimulator {
    /// Reports to the clients of the trades.
    pub(super) fn apply_match(&mut self, met: MatchResult, out: &mut Vec<VenueOutput>) {
        self.changed_markets.insert(met.security);
        for event in met.events {
            match event {
                BookEvent::Traded(trade) => self.book_trade(met.security, met.aggressor, &trade, out),
                BookEvent::Prevented { key, .. } => self.on_self_trade_prevented(key, out),
            }
        }
        match met.outcome {
            Some((order, MatchOutcome::Expired { .. })) => self.end_unfilled(order, out),
            Some((order, MatchOutcome::Prevented { .. })) => {
                self.cancel_with_reason(order, Some(SELF_TRADE.into()), out);
            }
            Some((_, MatchOutcome::Filled | MatchOutcome::Resting { .. })) | None => {}
        }
    }

    fn book_trade(
        &mut self,
        security: SecurityId,
        aggressor: Option<Side>,
        trade: &book::BookTrade,
        out: &mut Vec<VenueOutput>,
    ) {
        let market = self.markets.get_mut(&security).expect("it just traded");
        market.on_trade(trade, aggressor, self.now);
        let (price, quantity) = (market.grid.price(trade.price), market.grid.quantity(trade.lots));
        let worth = quantity.value_at(price, market.security.contract_size);
        let executions = self.executions((security, price, quantity), trade, self.fees(worth, aggressor));
        if executions.is_empty() {
            return;
        }
        let deal = VenueTrade { at: self.now, security, price, quantity, aggressor, executions: executions.clone() };
        self.record(VenueRecord::Traded(deal), out);
        for VenueExecution { order, exec_id, fee, .. } in executions {
            let (at, charges, held) = (Some(self.now), vec![], self.orders.get(order));
            let ext_order = held.and_then(|held| held.ext_id.clone()).filter(|_| self.orders.names_legs);
            let side = held.map(|held| held.submission.side);
            let liquidity = side.and_then(|side| Liquidity::of_side(side, aggressor));
            let fill = VenueFill { order, exec_id, quantity, price, at, fee, charges, ext_order, liquidity };
            self.send_report(ReportKind::Filled(fill), out);
        }
    }

    /// Fees of maker and taker. A trade whose value does not fit has no fee.
    fn fees(&self, worth: Result<Amount, Overflow>, aggressor: Option<Side>) -> [Option<Amount>; 2] {
        let Some(VenueFees { maker, taker }) = self.config.fees else { return [None, None] };
        let taker = if aggressor.is_some() { taker } else { maker };
        [maker, taker].map(|rate| worth.and_then(|worth| worth.scaled(rate)).ok())
    }

    /// The clients' sides of a trade, each with the next free id.
    fn executions(
        &self,
        (security, price, quantity): (SecurityId, Price, Quantity),
        trade: &book::BookTrade,
        [maker_fee, taker_fee]: [Option<Amount>; 2],
    ) -> Vec<VenueExecution> {
        let market = &self.markets[&security];
        let settled = |order: OrderId, fee| {
            let held = &self.orders.open(order).submission;
            let costs = costs(market.costs, quantity, fee)?;
            settlement((held.account, held.side), &market.security, (quantity, price), costs)
        };
        let sides = [(trade.maker, maker_fee), (trade.taker, taker_fee)];
        let clients = sides.into_iter().filter_map(|(key, fee)| Some((participants::client_order(key)?, fee)));
        (self.orders.executions() + 1..)
            .zip(clients)
            .map(|(number, (order, fee))| VenueExecution {
                order,
                exec_id: self.exec_id(number),
                fee,
                settlement: settled(order, fee),
            })
            .collect()
    }

    fn on_self_trade_prevented(&mut self, key: u64, out: &mut Vec<VenueOutput>) {
        if let Some(order) = participants::client_order(key) {
            self.cancel_with_reason(order, Some(SELF_TRADE.into()), out);
        }
    }

    /// Ends the remainder of an order that does not rest.
    fn end_unfilled(&mut self, order: OrderId, out: &mut Vec<VenueOutput>) {
        let held = self.orders.open(order);
        let terms = held.terms;
        let is_below_minimum = held.submission.properties.min_quantity.is_some_and(|least| held.filled < least);
        match (terms.tif, terms.kind) {
            (TimeInForce::Ioc, _) if is_below_minimum => {
                self.expire_with_reason(order, "IOC: less than its minimum quantity at its price", out);
            }
            (TimeInForce::Fok, _) => self.expire_with_reason(order, "FOK: not fillable in full at once", out),
            (TimeInForce::Ioc, _) => self.expire_with_reason(order, "IOC: no more at its price", out),
            _ => self.cancel_with_reason(order, Some(NO_LIQUIDITY.into()), out),
        }
    }

    /// Trades may trigger stops, and those trade again.
    pub(super) fn trigger_stops(&mut self, security: SecurityId, out: &mut Vec<VenueOutput>) {
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
        market.stops.pop_triggered(up, down)
    }

    /// Holds the auction of one security: everything executable trades at one price.
    pub(super) fn uncross(&mut self, security: SecurityId, out: &mut Vec<VenueOutput>) {
        let Some(market) = self.markets.get_mut(&security).filter(|market| !market.halted) else {
            return;
        };
        let mut met = MatchResult::new(security, None);
        if let Some(indication) = market.book.auction_price(market.reference()) {
            market.book.uncross(indication.price, &mut |event| met.events.push(event));
        }
        self.apply_match(met, out);
        self.end_auction(security, out);
    }

    /// Orders without a price and those for the auction alone end with it.
    fn end_auction(&mut self, security: SecurityId, out: &mut Vec<VenueOutput>) {
        let market = self.markets.get_mut(&security).expect("it just held an auction");
        for wish in market.participants.leave_auction() {
            market.apply_action(wish);
        }
        for order in self.auction_leftovers(security) {
            self.remove_from_book(order);
            match self.orders.open(order).terms.tif {
                TimeInForce::Ato => self.expire_with_reason(order, "ATO: the opening auction is over", out),
                TimeInForce::Atc => self.expire_with_reason(order, "ATC: the closing auction is over", out),
                _ => self.cancel_with_reason(order, Some(NO_LIQUIDITY.into()), out),
            }
        }
    }

    fn auction_leftovers(&self, security: SecurityId) -> Vec<OrderId> {
        let leaves = |order: &OrderId| {
            let held = self.orders.open(*order);
            let is_for_auction = matches!(held.terms.tif, TimeInForce::Ato | TimeInForce::Atc);
            held.stage == OrderStage::Book && (is_for_auction || held.terms.kind.working_price() == WorkingPrice::Any)
        };
        let book = &self.markets[&security].book;
        let standing = book.orders(book::BookSide::Buy).chain(book.orders(book::BookSide::Sell));
        standing.filter_map(|order| participants::client_order(order.key)).filter(leaves).collect()
    }
}
