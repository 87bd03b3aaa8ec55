//! Market data of one security: last tick, book and bars, and the check for impossible prices.

use std::sync::Arc;

use domain::command::MarketData;
use domain::{
    BookLevel, Decimal, Event, Mark, OrderBook, Price, Quantity, Security, SecurityId, SecurityKind, Tick, Timestamp,
    Trade,
};

use super::bars::BarBuilder;
use crate::outbox::Outbox;

#[derive(Debug, Clone)]
pub(super) struct SecurityMarketData {
    pub(super) security: SecurityId,
    floor: PriceFloor,
    pub(super) tick: Option<Arc<Tick>>,
    pub(super) book: Option<Arc<OrderBook>>,
    pub(super) bars: BarBuilder,
    pub(super) mark_changed: bool,
    /// Whether it is in the market's list of changed securities.
    pub(super) is_queued: bool,
}

/// How low the prices of a kind of security can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PriceFloor {
    AboveZero,
    /// An option can be worth nothing.
    Zero,
    /// Futures and commodities have traded below zero.
    None,
}

impl SecurityMarketData {
    pub(super) fn new(security: &Security) -> Self {
        Self {
            security: security.id,
            floor: PriceFloor::from_kind(&security.kind),
            tick: None,
            book: None,
            bars: BarBuilder::new(security.id),
            mark_changed: false,
            is_queued: false,
        }
    }

    pub(super) fn update_reference(&mut self, security: &Security) {
        self.floor = PriceFloor::from_kind(&security.kind);
    }

    /// Applies a message of a feed, or returns that it is invalid.
    pub(super) fn apply(&mut self, data: &MarketData, at: Timestamp, out: &mut Outbox) -> bool {
        match data {
            MarketData::Tick(tick) => self.is_valid_tick(tick) && self.on_tick(tick, at, out),
            MarketData::Trade(trade) => self.is_valid_trade(trade) && self.on_trade(trade, at, out),
            MarketData::Book(book) => self.is_valid_book(book) && self.on_book(book, out),
        }
    }

    /// A crossed quote is valid: consolidated feeds and auctions show them.
    fn is_valid_tick(&self, tick: &Tick) -> bool {
        let prices = [tick.last, tick.bid, tick.ask];
        let volumes = [tick.vol_last, tick.vol_bid, tick.vol_ask, tick.vol];
        prices.into_iter().flatten().all(|price| self.floor.accepts(price))
            && !volumes.into_iter().flatten().any(Quantity::is_negative)
    }

    fn is_valid_trade(&self, trade: &Trade) -> bool {
        self.floor.accepts(trade.price) && trade.quantity.is_positive()
    }

    fn is_valid_book(&self, book: &OrderBook) -> bool {
        let is_level = |level: &BookLevel| self.floor.accepts(level.price) && level.quantity.is_positive();
        book.bids.iter().chain(&book.asks).all(is_level)
            && book.bids.is_sorted_by(|better, worse| better.price > worse.price)
            && book.asks.is_sorted_by(|better, worse| better.price < worse.price)
    }

    fn on_tick(&mut self, tick: &Tick, at: Timestamp, out: &mut Outbox) -> bool {
        let known = self.tick.get_or_insert_with(|| Arc::new(Tick::empty(self.security)));
        // Updated in place, unless a reader still holds the previous one.
        Arc::make_mut(known).update(tick);
        let newest = known.clone();
        // Bars of a security that trades are built from trades, of any other from the mid of its quote.
        let price = if newest.last.is_some() { tick.last } else { mid(&newest) };
        if let Some(price) = price {
            self.bars.add(price, None, &tick.feed, at, out);
        }
        out.publish(Event::Tick(newest));
        true
    }

    fn on_trade(&mut self, trade: &Trade, at: Timestamp, out: &mut Outbox) -> bool {
        self.bars.add(trade.price, Some(trade.quantity), &trade.feed, at, out);
        out.publish(Event::Trade(Arc::new(trade.clone())));
        let newest = Tick {
            at: trade.at,
            last: Some(trade.price),
            last_at: Some(trade.at),
            vol_last: Some(trade.quantity),
            ..self.last_tick(trade.feed.clone())
        };
        self.publish_tick(newest, out)
    }

    fn on_book(&mut self, book: &OrderBook, out: &mut Outbox) -> bool {
        let book = Arc::new(book.clone());
        self.book = Some(book.clone());
        let mut newest = self.last_tick(book.feed.clone());
        newest.set_quote(&book);
        out.publish(Event::Book(book));
        self.publish_tick(newest, out)
    }

    fn last_tick(&self, feed: domain::Text) -> Tick {
        let known = self.tick.as_deref().cloned().unwrap_or_else(|| Tick::empty(self.security));
        Tick { feed, ..known }
    }

    /// A trade or a book has more information than a tick, so the derived tick is published only where the same feed
    /// has not sent it already.
    fn publish_tick(&mut self, newest: Tick, out: &mut Outbox) -> bool {
        let newest = Arc::new(newest);
        let told = self.tick.as_deref().is_some_and(|known| Tick { at: newest.at, ..known.clone() } == *newest);
        self.tick = Some(newest.clone());
        if !told {
            out.publish(Event::Tick(newest));
        }
        true
    }

    pub(super) fn changed_mark(&mut self) -> Option<Mark> {
        let has_changed = std::mem::take(&mut self.mark_changed);
        self.tick.as_deref().filter(|_| has_changed).map(Mark::from)
    }
}

impl PriceFloor {
    fn from_kind(kind: &SecurityKind) -> Self {
        match kind {
            SecurityKind::Future { .. } | SecurityKind::Commodity => Self::None,
            SecurityKind::Option { .. } => Self::Zero,
            SecurityKind::Stock
            | SecurityKind::Forex { .. }
            | SecurityKind::Index
            | SecurityKind::Bond { .. }
            | SecurityKind::Fund
            | SecurityKind::PerpetualSwap => Self::AboveZero,
        }
    }

    fn accepts(self, price: Price) -> bool {
        match self {
            Self::AboveZero => price.is_positive(),
            Self::Zero => !price.is_negative(),
            Self::None => true,
        }
    }
}

/// Multiplied by a half: a division would cost most of a tick's time.
fn mid(tick: &Tick) -> Option<Price> {
    const HALF: Decimal = Decimal::from_parts(5, 0, 0, false, 1);
    tick.bid?.plus(tick.ask?).and_then(|sum| sum.times(HALF)).ok()
}
