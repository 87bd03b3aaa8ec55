//! Market data of the venue in our words: best quotes, trades, books and bars.

use domain::{
    Bar, BarSize, BookLevel, Decimal, OrderBook, Price, Quantity, SecurityId, Side, Text, Tick, Timestamp, Trade,
};

use crate::prices::depth_book::DepthBook;
use crate::protocol::answers::market_answers::{Kline, WireLevel};
use crate::protocol::market_events::{QuoteEvent, TradeEvent};

/// The security that a symbol stands for, and the name of the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedSecurity {
    pub security: SecurityId,
    pub feed: Text,
}

impl FeedSecurity {
    /// A side of the book that is empty has no price. Quotes have no time of their own.
    pub fn tick(&self, quote: &QuoteEvent, at: Timestamp) -> Tick {
        let side = |level: WireLevel| Some(level).filter(|level| !level.price.is_zero() && !level.quantity.is_zero());
        let (bid, ask) = (side(quote.bid), side(quote.ask));
        Tick {
            feed: self.feed.clone(),
            at,
            bid: bid.map(|bid| Price(bid.price)),
            vol_bid: bid.map(|bid| Quantity(bid.quantity)),
            ask: ask.map(|ask| Price(ask.price)),
            vol_ask: ask.map(|ask| Quantity(ask.quantity)),
            ..Tick::empty(self.security)
        }
    }

    /// `None` where the venue's time is out of range.
    pub fn trade(&self, trade: &TradeEvent) -> Option<Trade> {
        Some(Trade {
            security: self.security,
            feed: self.feed.clone(),
            at: trade.at.instant()?,
            price: Price(trade.price),
            quantity: Quantity(trade.quantity),
            aggressor: Some(if trade.is_buyer_maker { Side::Sell } else { Side::Buy }),
            ext_id: Some(trade.id.to_string().into()),
        })
    }

    /// The best levels; `None` while there is no book.
    pub fn book(&self, book: &DepthBook, at: Timestamp, levels: usize) -> Option<OrderBook> {
        let level = |level: WireLevel| BookLevel { price: Price(level.price), quantity: Quantity(level.quantity) };
        book.is_ready().then(|| OrderBook {
            security: self.security,
            feed: self.feed.clone(),
            at,
            bids: book.bids().take(levels).map(level).collect(),
            asks: book.asks().take(levels).map(level).collect(),
        })
    }

    /// `None` where the bar contradicts itself or its time is out of range.
    pub fn bar(&self, kline: &Kline, size: BarSize) -> Option<Bar> {
        let prices = [kline.open, kline.close];
        let is_within = |price: &Decimal| kline.low <= *price && *price <= kline.high;
        prices.iter().all(is_within).then_some(())?;
        Some(Bar {
            security: self.security,
            feed: self.feed.clone(),
            at: kline.opened.instant()?,
            size,
            open: Price(kline.open),
            high: Price(kline.high),
            low: Price(kline.low),
            close: Price(kline.close),
            vol: Quantity(kline.volume),
            vwap: vwap_of(kline),
        })
    }
}

fn vwap_of(kline: &Kline) -> Option<Price> {
    let average = Price(kline.quote_volume).over(kline.volume).ok();
    average.filter(|_| !kline.volume.is_zero())
}

/// The venue's name of a bar size.
pub fn interval_of(size: BarSize) -> &'static str {
    match size {
        BarSize::Sec1 => "1s",
        BarSize::Min1 => "1m",
        BarSize::Min5 => "5m",
        BarSize::Min15 => "15m",
        BarSize::Hour1 => "1h",
        BarSize::Day1 => "1d",
    }
}
