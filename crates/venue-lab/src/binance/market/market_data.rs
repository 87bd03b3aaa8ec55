//! Market data methods: book, trades, average price.

use serde_json::{Value, json};
use venue_sim::book::BookSide;

use super::super::ApiCall;
use crate::binance::api::encode::{TimeUnit, text};
use crate::binance::api::error::ApiError;
use crate::exchange::{AVERAGE_MINUTES, PublicTrade, SpotExchange, SpotMarket, SpotReject};

const DEPTH_USUAL: usize = 100;
const DEPTH_MAX: usize = 5_000;
const TRADES_USUAL: usize = 500;
const TRADES_MAX: usize = 1_000;

impl ApiCall<'_> {
    pub(crate) async fn depth(&self) -> Result<Value, ApiError> {
        let (symbol, limit) = (self.symbol()?, self.params.limit(DEPTH_USUAL, DEPTH_MAX)?);
        self.check_symbol_status()?;
        let answer = move |exchange: &SpotExchange| {
            let market = exchange.market(&symbol)?;
            Ok::<_, SpotReject>(json!({
                "lastUpdateId": market.update_id,
                "bids": levels(market, BookSide::Buy, limit),
                "asks": levels(market, BookSide::Sell, limit),
            }))
        };
        Ok(self.state.exchange.query(answer).await??)
    }

    /// Recent trades; with `fromId` those from there on.
    pub(crate) async fn trades(&self) -> Result<Value, ApiError> {
        let (symbol, limit) = (self.symbol()?, self.params.limit(TRADES_USUAL, TRADES_MAX)?);
        let (from_id, unit) = (self.params.id("fromId")?, self.unit);
        let answer = move |exchange: &SpotExchange| {
            let trades = &exchange.market(&symbol)?.trades;
            let first = match from_id {
                Some(id) => trades.partition_point(|trade| trade.id < id),
                None => trades.len().saturating_sub(limit),
            };
            Ok::<_, SpotReject>(trades.range(first..).take(limit).map(|trade| public_trade(trade, unit)).collect())
        };
        Ok(self.state.exchange.query(answer).await??)
    }

    pub(crate) async fn aggregate_trades(&self) -> Result<Value, ApiError> {
        let (symbol, limit) = (self.symbol()?, self.params.limit(TRADES_USUAL, TRADES_MAX)?);
        let (from_id, unit) = (self.params.id("fromId")?, self.unit);
        let (start, end) = (self.params.time("startTime")?, self.params.time("endTime")?);
        let answer = move |exchange: &SpotExchange| {
            let is_wanted = |trade: &&PublicTrade| {
                from_id.is_none_or(|id| trade.aggregate_id >= id)
                    && start.is_none_or(|start| trade.time_micros >= start)
                    && end.is_none_or(|end| trade.time_micros <= end)
            };
            let trades = exchange.market(&symbol)?.trades.iter().filter(is_wanted);
            let mut aggregates = aggregate(trades, unit);
            if from_id.is_some() || start.is_some() {
                aggregates.truncate(limit);
            } else {
                aggregates.drain(..aggregates.len().saturating_sub(limit));
            }
            Ok::<_, SpotReject>(Value::Array(aggregates))
        };
        Ok(self.state.exchange.query(answer).await??)
    }

    pub(crate) async fn average_price(&self) -> Result<Value, ApiError> {
        let (symbol, unit) = (self.symbol()?, self.unit);
        let answer = move |exchange: &SpotExchange| {
            let market = exchange.market(&symbol)?;
            let last = market.trades.back().map_or(0, |trade| trade.time_micros);
            Ok::<_, SpotReject>(json!({
                "mins": AVERAGE_MINUTES,
                "price": text(market.average_price(exchange.now_micros)),
                "closeTime": unit.encode(last),
            }))
        };
        Ok(self.state.exchange.query(answer).await??)
    }

    /// Every symbol of the lab trades.
    fn check_symbol_status(&self) -> Result<(), ApiError> {
        match self.params.text("symbolStatus")? {
            None | Some("TRADING") => Ok(()),
            Some("HALT" | "BREAK") => {
                let text = "The symbol's status does not match the requested symbolStatus.";
                Err(ApiError::bad_request(-1220, text))
            }
            Some(_) => Err(ApiError::bad_request(-1122, "Invalid symbolStatus.")),
        }
    }
}

pub(crate) fn levels(market: &SpotMarket, side: BookSide, limit: usize) -> Value {
    let level = |level: venue_sim::book::DepthLevel| {
        json!([text(market.rules.price(level.price)), text(market.rules.quantity(level.lots))])
    };
    market.book.depth(side).take(limit).map(level).collect()
}

fn public_trade(trade: &PublicTrade, unit: TimeUnit) -> Value {
    json!({
        "id": trade.id,
        "price": text(trade.price),
        "qty": text(trade.quantity),
        "quoteQty": text(trade.quote),
        "time": unit.encode(trade.time_micros),
        "isBuyerMaker": trade.buyer_is_maker,
        "isBestMatch": true,
    })
}

pub(crate) fn aggregate<'a>(trades: impl Iterator<Item = &'a PublicTrade>, unit: TimeUnit) -> Vec<Value> {
    let mut groups: Vec<(PublicTrade, u64)> = Vec::new();
    for trade in trades {
        match groups.last_mut() {
            Some((group, last_id)) if group.aggregate_id == trade.aggregate_id => {
                group.quantity.0 += trade.quantity.0;
                *last_id = trade.id;
            }
            _ => groups.push((*trade, trade.id)),
        }
    }
    let encode = |(group, last_id): (PublicTrade, u64)| {
        json!({
            "a": group.aggregate_id,
            "p": text(group.price),
            "q": text(group.quantity),
            "f": group.id,
            "l": last_id,
            "T": unit.encode(group.time_micros),
            "m": group.buyer_is_maker,
            "M": true,
        })
    };
    groups.into_iter().map(encode).collect()
}
