//! Market data of one security: last tick, book and bars, and the check for impossible prices.

use std::sync::Arc;

use domain::command::MarketData;
use domain::{
    BookLevel, Decimal, Event, ExchangeId, Mark, OrderBook, Price, PriceGap, Quantity, Security, SecurityId,
    SecurityKind, StaleCause, Tick, Timestamp, Trade,
};

use super::bars::BarBuilder;
use super::pause_monitor::PauseMonitor;
use crate::outbox::Outbox;

#[derive(Debug, Clone)]
pub(super) struct SecurityMarketData {
    pub(super) security: SecurityId,
    pub(super) exchange: ExchangeId,
    floor: PriceFloor,
    pub(super) tick: Option<Arc<Tick>>,
    pub(super) book: Option<Arc<OrderBook>>,
    pub(super) bars: BarBuilder,
    /// The mark of before the start, until a price comes.
    recovered: Option<Mark>,
    /// Why the known prices may no longer be true.
    stale: Option<StaleCause>,
    pauses: PauseMonitor,
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
            exchange: security.exchange,
            floor: PriceFloor::from_kind(&security.kind),
            tick: None,
            book: None,
            bars: BarBuilder::new(security.id),
            recovered: None,
            stale: None,
            pauses: PauseMonitor::default(),
            mark_changed: false,
            is_queued: false,
        }
    }

    pub(super) fn update_reference(&mut self, security: &Security) {
        self.exchange = security.exchange;
        self.floor = PriceFloor::from_kind(&security.kind);
    }

    /// The process has started: no feed stands behind the prices that it recovered.
    pub(super) fn recover(&mut self, mark: Option<&Mark>) -> bool {
        if self.tick.is_none() && mark.is_none() {
            return false;
        }
        self.recovered = mark.copied();
        self.stale = Some(StaleCause::Unsubscribed);
        if let Some(known) = &mut self.tick {
            Arc::make_mut(known).stale = self.stale;
        }
        true
    }

    /// Applies a message of a feed, or returns that it is invalid.
    pub(super) fn apply(&mut self, data: &MarketData, at: Timestamp, out: &mut Outbox) -> bool {
        let is_valid = match data {
            MarketData::Tick(tick) => self.is_valid_tick(tick),
            MarketData::Trade(trade) => self.is_valid_trade(trade),
            MarketData::Book(book) => self.is_valid_book(book),
            MarketData::Gap(gap) => return self.on_gap(gap, out),
        };
        if !is_valid {
            return false;
        }
        self.pauses.on_price(at);
        self.recovered = None;
        if self.stale.is_some() && self.is_whole(data) {
            self.stale = None;
        }
        match data {
            MarketData::Tick(tick) => self.on_tick(tick, at, out),
            MarketData::Trade(trade) => self.on_trade(trade, at, out),
            MarketData::Book(book) => self.on_book(book, out),
            MarketData::Gap(_) => false,
        }
    }

    /// Of another feed than that of the known prices it means nothing.
    fn on_gap(&mut self, gap: &PriceGap, out: &mut Outbox) -> bool {
        if self.tick.as_ref().is_none_or(|tick| tick.feed == gap.feed) {
            self.pauses.on_gap();
            self.set_stale(gap.cause, out);
        }
        true
    }

    /// Advances the clock of the pauses; whether the prices are stale since now.
    pub(super) fn flag_silence(&mut self, at: Timestamp, is_open: bool, out: &mut Outbox) -> bool {
        let is_silent = self.pauses.advance(at, is_open) && self.stale.is_none();
        if is_silent {
            self.set_stale(StaleCause::Silent, out);
        }
        is_silent
    }

    fn set_stale(&mut self, cause: StaleCause, out: &mut Outbox) {
        if self.stale.replace(cause) == Some(cause) {
            return;
        }
        if let Some(known) = &mut self.tick {
            Arc::make_mut(known).stale = Some(cause);
            out.publish(Event::Tick(known.clone()));
        }
    }

    /// Whether it replaces everything that a gap has made doubtful: the book where there is one, else the quote. After a
    /// mere silence any price shows that nothing was lost.
    fn is_whole(&self, data: &MarketData) -> bool {
        let is_quoted = |tick: &Tick| tick.bid.is_some() || tick.ask.is_some();
        let has_quote = self.tick.as_deref().is_some_and(is_quoted);
        match data {
            _ if self.stale == Some(StaleCause::Silent) => true,
            MarketData::Book(_) => true,
            MarketData::Tick(tick) => self.book.is_none() && (is_quoted(tick) || !has_quote),
            MarketData::Trade(_) => self.book.is_none() && !has_quote,
            MarketData::Gap(_) => false,
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
        let newest = Arc::make_mut(known);
        newest.update(tick);
        newest.stale = self.stale;
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
        // A trade has the venue's clock, a quote may have ours: a tick is never older than the one before it.
        let quoted_at = self.tick.as_ref().map_or(trade.at, |known| known.at);
        let newest = Tick {
            at: trade.at.max(quoted_at),
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
        Tick { feed, stale: self.stale, ..known }
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
        let recovered = || self.recovered.map(|mark| Mark { stale: self.stale, ..mark });
        if has_changed { self.tick.as_deref().map(Mark::from).or_else(recovered) } else { None }
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
