//! Kinds of market streams, and the events that each of them sends.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use venue_sim::book::BookSide;

use super::klines::{self, KlineInterval, zone_offset_micros};
use super::market_data;
use super::tickers;
use crate::binance::api::encode::{TimeUnit, text};
use crate::exchange::{PublicTrade, SpotExchange, Units, VenueEvent};
use crate::sequencer::{ExchangeHandle, now_micros};

/// Best price and quantity of both sides.
type BestQuotes = [(Units, Units); 2];

/// Changes of a book since the last message.
#[derive(Debug, Default)]
pub(crate) struct PendingDepth {
    first: Option<u64>,
    last: u64,
    changes: BTreeMap<(BookSide, Units), Units>,
}

/// One subscribed stream.
#[derive(Debug)]
pub(crate) enum MarketStream {
    /// A name that the venue does not know.
    Silent,
    Trade(usize),
    AggTrade(usize),
    BookTicker(usize, Option<BestQuotes>),
    DepthDiff {
        market: usize,
        ticks: u64,
        pending: PendingDepth,
    },
    DepthLevels {
        market: usize,
        ticks: u64,
        levels: usize,
    },
    /// With the beginning of the bar that was sent last: a bar is sent once more when it is closed.
    Kline {
        market: usize,
        interval: KlineInterval,
        name: String,
        offset: i64,
        sent: Option<i64>,
    },
    MiniTicker(usize),
    Ticker(usize),
    AllMiniTickers,
    AveragePrice(usize),
}

impl MarketStream {
    /// `btcusdt@depth@100ms`; the symbol in small letters.
    pub(crate) fn parse(name: &str, symbols: &BTreeMap<String, (usize, String)>) -> Self {
        if name == "!miniTicker@arr" {
            return Self::AllMiniTickers;
        }
        let Some((symbol, kind)) = name.split_once('@') else { return Self::Silent };
        let Some((market, _)) = symbols.get(symbol) else { return Self::Silent };
        Self::parse_kind(kind, *market).unwrap_or(Self::Silent)
    }

    fn parse_kind(kind: &str, market: usize) -> Option<Self> {
        let (kind, option) = kind.split_once('@').map_or((kind, None), |(kind, option)| (kind, Some(option)));
        if let Some(interval) = kind.strip_prefix("kline_") {
            let offset = zone_offset_micros(option).ok()?;
            let name = interval.to_owned();
            let interval = KlineInterval::parse(interval)?;
            return Some(Self::Kline { market, interval, name, offset, sent: None });
        }
        let ticks = match option {
            None => 10,
            Some("100ms") if kind.starts_with("depth") => 1,
            Some(_) => return None,
        };
        Some(match kind {
            "trade" => Self::Trade(market),
            "aggTrade" => Self::AggTrade(market),
            "bookTicker" => Self::BookTicker(market, None),
            "depth" => Self::DepthDiff { market, ticks, pending: PendingDepth::default() },
            "depth5" => Self::DepthLevels { market, ticks, levels: 5 },
            "depth10" => Self::DepthLevels { market, ticks, levels: 10 },
            "depth20" => Self::DepthLevels { market, ticks, levels: 20 },
            "miniTicker" => Self::MiniTicker(market),
            "ticker" => Self::Ticker(market),
            "avgPrice" => Self::AveragePrice(market),
            _ => return None,
        })
    }

    /// The market whose events it sends, or collects until its period is over.
    pub(crate) fn market_of_events(&self) -> Option<usize> {
        match self {
            Self::Trade(market)
            | Self::AggTrade(market)
            | Self::BookTicker(market, _)
            | Self::DepthDiff { market, .. } => Some(*market),
            _ => None,
        }
    }

    /// Tenths of a second between two messages.
    pub(crate) fn period_ticks(&self) -> u64 {
        match self {
            Self::DepthDiff { ticks, .. } | Self::DepthLevels { ticks, .. } => *ticks,
            Self::Kline { interval, .. } if *interval != KlineInterval::SECOND => 20,
            _ => 10,
        }
    }
}

/// What a stream sends at once because of these events.
pub(crate) fn on_events(
    stream: &mut MarketStream,
    events: &[VenueEvent],
    symbols: &BTreeMap<usize, &str>,
    unit: TimeUnit,
) -> Vec<Value> {
    match stream {
        MarketStream::Trade(market) => {
            trades_of(events, *market).map(|trade| encode_trade(trade, symbols[market], unit)).collect()
        }
        MarketStream::AggTrade(market) => {
            let mut sent = market_data::aggregate(trades_of(events, *market), unit);
            for event in &mut sent {
                event["e"] = "aggTrade".into();
                event["E"] = unit.encode(now_micros()).into();
                event["s"] = symbols[market].into();
            }
            sent
        }
        MarketStream::BookTicker(market, last) => {
            events.iter().filter_map(|event| book_ticker(event, *market, last, symbols[market])).collect()
        }
        MarketStream::DepthDiff { market, pending, .. } => {
            events.iter().for_each(|event| pending.add(event, *market));
            Vec::new()
        }
        _ => Vec::new(),
    }
}

fn trades_of(events: &[VenueEvent], market: usize) -> impl Iterator<Item = &PublicTrade> {
    events.iter().filter_map(move |event| match event {
        VenueEvent::Trade { market: traded, trade } if *traded == market => Some(trade),
        _ => None,
    })
}

fn encode_trade(trade: &PublicTrade, symbol: &str, unit: TimeUnit) -> Value {
    json!({
        "e": "trade",
        "E": unit.encode(now_micros()),
        "s": symbol,
        "t": trade.id,
        "p": text(trade.price),
        "q": text(trade.quantity),
        "T": unit.encode(trade.time_micros),
        "m": trade.buyer_is_maker,
        "M": true,
    })
}

fn book_ticker(event: &VenueEvent, market: usize, sent: &mut Option<BestQuotes>, symbol: &str) -> Option<Value> {
    let VenueEvent::Depth { market: changed, last_update, best, .. } = event else { return None };
    if *changed != market || *sent == Some(*best) {
        return None;
    }
    *sent = Some(*best);
    let [(bid, bid_quantity), (ask, ask_quantity)] = *best;
    Some(json!({
        "u": last_update,
        "s": symbol,
        "b": text(bid),
        "B": text(bid_quantity),
        "a": text(ask),
        "A": text(ask_quantity),
    }))
}

impl PendingDepth {
    fn add(&mut self, event: &VenueEvent, market: usize) {
        if let VenueEvent::Depth { market: changed, first_update, last_update, changes, .. } = event
            && *changed == market
        {
            self.first.get_or_insert(*first_update);
            self.last = *last_update;
            self.changes.extend(changes.iter().map(|(side, price, quantity)| ((*side, *price), *quantity)));
        }
    }

    fn encode(&mut self, symbol: &str, unit: TimeUnit) -> Option<Value> {
        let first = self.first.take()?;
        let changes = std::mem::take(&mut self.changes);
        let side = |wanted: BookSide| -> Vec<Value> {
            let levels = changes.iter().filter(|((side, _), _)| *side == wanted);
            levels.map(|((_, price), quantity)| json!([text(*price), text(*quantity)])).collect()
        };
        Some(json!({
            "e": "depthUpdate",
            "E": unit.encode(now_micros()),
            "s": symbol,
            "U": first,
            "u": self.last,
            "b": side(BookSide::Buy),
            "a": side(BookSide::Sell),
        }))
    }
}

/// What a stream with a period sends when it is over.
pub(crate) async fn on_period(stream: &mut MarketStream, exchange: &ExchangeHandle, unit: TimeUnit) -> Option<Value> {
    if let MarketStream::DepthDiff { market, pending, .. } = stream {
        pending.first?;
        let market = *market;
        let symbol = exchange.query(move |exchange| exchange.markets[market].rules.name.clone()).await.ok()?;
        return pending.encode(&symbol, unit);
    }
    if let MarketStream::Kline { market, interval, name, offset, sent } = stream {
        let (market, interval, name, offset, before) = (*market, *interval, name.clone(), *offset, *sent);
        let bar = move |exchange: &SpotExchange| kline(exchange, market, (interval, &name, offset), before, unit);
        let (start, event) = exchange.query(bar).await.ok()??;
        *sent = Some(start);
        return Some(event);
    }
    let encode: Box<dyn FnOnce(&SpotExchange) -> Value + Send> = match stream {
        MarketStream::DepthLevels { market, levels, .. } => {
            let (market, levels) = (*market, *levels);
            Box::new(move |exchange| partial_depth(exchange, market, levels))
        }
        MarketStream::MiniTicker(market) => {
            let market = *market;
            Box::new(move |exchange| tickers::mini_event(exchange, &exchange.markets[market], unit))
        }
        MarketStream::Ticker(market) => {
            let market = *market;
            Box::new(move |exchange| tickers::full_event(exchange, &exchange.markets[market], unit))
        }
        MarketStream::AllMiniTickers => Box::new(move |exchange| {
            exchange.markets.iter().map(|market| tickers::mini_event(exchange, market, unit)).collect()
        }),
        MarketStream::AveragePrice(market) => {
            let market = *market;
            Box::new(move |exchange| average_price(exchange, market, unit))
        }
        _ => return None,
    };
    exchange.query(encode).await.ok()
}

fn partial_depth(exchange: &SpotExchange, market: usize, levels: usize) -> Value {
    let market = &exchange.markets[market];
    json!({
        "lastUpdateId": market.update_id,
        "bids": market_data::levels(market, BookSide::Buy, levels),
        "asks": market_data::levels(market, BookSide::Sell, levels),
    })
}

/// The current bar; where another was sent last, that one once more, closed. With the beginning of the current bar.
fn kline(
    exchange: &SpotExchange,
    market: usize,
    bar: (KlineInterval, &str, i64),
    sent: Option<i64>,
    unit: TimeUnit,
) -> Option<(i64, Value)> {
    let (market, (interval, name, offset)) = (&exchange.markets[market], bar);
    let now = now_micros().max(exchange.now_micros);
    let bars = klines::bars(market, interval, offset, (None, None), 2, now);
    let current = bars.last()?;
    let bar = bars.iter().find(|bar| Some(bar.start) == sent).unwrap_or(current);
    let (first_id, last_id) = bar.ids.map_or((-1, -1), |(first, last)| (first.cast_signed(), last.cast_signed()));
    let event = json!({
        "e": "kline",
        "E": unit.encode(now),
        "s": market.rules.name,
        "k": {
            "t": unit.encode(bar.start),
            "T": unit.encode(bar.end - 1),
            "s": market.rules.name,
            "i": name,
            "f": first_id,
            "L": last_id,
            "o": text(bar.open),
            "c": text(bar.close),
            "h": text(bar.high),
            "l": text(bar.low),
            "v": text(bar.volume),
            "n": bar.trades,
            "x": now >= bar.end,
            "q": text(bar.quote),
            "V": text(bar.bought),
            "Q": text(bar.bought_quote),
            "B": "0",
        },
    });
    Some((current.start, event))
}

fn average_price(exchange: &SpotExchange, market: usize, unit: TimeUnit) -> Value {
    let market = &exchange.markets[market];
    json!({
        "e": "avgPrice",
        "E": unit.encode(now_micros()),
        "s": market.rules.name,
        "i": "5m",
        "w": text(market.average_price(exchange.now_micros)),
        "T": unit.encode(market.trades.back().map_or(0, |trade| trade.time_micros)),
    })
}
