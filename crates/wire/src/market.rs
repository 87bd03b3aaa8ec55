//! Ticks, trades, books, bars.

use domain::market::BookLevel;
use domain::{Bar, OrderBook, Tick, Trade};
use serde::Serialize;

use crate::json::{ExactDecimal, Millis, exact};
use crate::order::side;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TickVO<'a> {
    object_type: &'static str,
    security_id: u64,
    feed: &'a str,
    date_time: Millis,
    last: Option<ExactDecimal>,
    last_date_time: Option<Millis>,
    vol_last: Option<ExactDecimal>,
    bid: Option<ExactDecimal>,
    ask: Option<ExactDecimal>,
    vol_bid: Option<ExactDecimal>,
    vol_ask: Option<ExactDecimal>,
    vol: Option<ExactDecimal>,
}

impl<'a> TickVO<'a> {
    pub fn from_domain(tick: &'a Tick) -> Self {
        Self {
            object_type: "Tick",
            security_id: tick.security.0,
            feed: &tick.feed,
            date_time: tick.at.into(),
            last: exact(tick.last),
            last_date_time: tick.last_at.map(Into::into),
            vol_last: exact(tick.vol_last),
            bid: exact(tick.bid),
            ask: exact(tick.ask),
            vol_bid: exact(tick.vol_bid),
            vol_ask: exact(tick.vol_ask),
            vol: exact(tick.vol),
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BarVO<'a> {
    object_type: &'static str,
    security_id: u64,
    feed: &'a str,
    date_time: Millis,
    bar_size: &'static str,
    open: ExactDecimal,
    high: ExactDecimal,
    low: ExactDecimal,
    close: ExactDecimal,
    vol: ExactDecimal,
    vwap: Option<ExactDecimal>,
}

impl<'a> BarVO<'a> {
    pub fn from_domain(bar: &'a Bar) -> Self {
        Self {
            object_type: "Bar",
            security_id: bar.security.0,
            feed: &bar.feed,
            date_time: bar.at.into(),
            bar_size: bar.size.name(),
            open: bar.open.into(),
            high: bar.high.into(),
            low: bar.low.into(),
            close: bar.close.into(),
            vol: bar.vol.into(),
            vwap: exact(bar.vwap),
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TradeVO<'a> {
    object_type: &'static str,
    security_id: u64,
    feed: &'a str,
    date_time: Millis,
    price: ExactDecimal,
    quantity: ExactDecimal,
    aggressor_side: Option<&'static str>,
    ext_id: Option<&'a str>,
}

impl<'a> TradeVO<'a> {
    pub fn from_domain(trade: &'a Trade) -> Self {
        Self {
            object_type: "Trade",
            security_id: trade.security.0,
            feed: &trade.feed,
            date_time: trade.at.into(),
            price: trade.price.into(),
            quantity: trade.quantity.into(),
            aggressor_side: trade.aggressor.map(side),
            ext_id: trade.ext_id.as_deref(),
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderBookVO<'a> {
    object_type: &'static str,
    security_id: u64,
    feed: &'a str,
    date_time: Millis,
    bids: Vec<LevelVO>,
    asks: Vec<LevelVO>,
}

#[derive(Debug, Serialize)]
struct LevelVO {
    price: ExactDecimal,
    quantity: ExactDecimal,
}

impl<'a> OrderBookVO<'a> {
    pub fn from_domain(book: &'a OrderBook) -> Self {
        Self {
            object_type: "OrderBook",
            security_id: book.security.0,
            feed: &book.feed,
            date_time: book.at.into(),
            bids: book.bids.iter().map(LevelVO::from_domain).collect(),
            asks: book.asks.iter().map(LevelVO::from_domain).collect(),
        }
    }
}

impl LevelVO {
    fn from_domain(level: &BookLevel) -> Self {
        Self { price: level.price.into(), quantity: level.quantity.into() }
    }
}
