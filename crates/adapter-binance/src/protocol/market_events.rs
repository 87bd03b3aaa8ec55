//! Events of market streams, read in one pass: best quotes, trades, depth differences and klines.
//!
//! Best quotes have no type of their own, and share the names of their fields with depth differences.

use std::borrow::Cow;
use std::fmt;

use domain::Decimal;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::answers::excerpt;
use super::answers::market_answers::WireLevel;
use super::wire_values::{WireDecimal, WireInteger, decimal_of};

/// What a frame of a market stream says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarketEvent {
    Quote(QuoteEvent),
    Trade(TradeEvent),
    Depth(DepthDifference),
    Kline(KlineEvent),
    /// The answer to a command.
    Answered {
        id: Option<i64>,
        refused: Option<String>,
    },
    ServerShutdown,
    /// An event that is not used or was not documented when this was written.
    Other(String),
    /// A frame that is none of it; an excerpt.
    Unreadable(String),
}

/// The best bid and ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuoteEvent {
    pub symbol: String,
    pub update: i64,
    pub bid: WireLevel,
    pub ask: WireLevel,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TradeEvent {
    pub symbol: String,
    pub id: i64,
    pub price: Decimal,
    pub quantity: Decimal,
    pub at: WireInteger,
    /// Then the seller took.
    pub is_buyer_maker: bool,
}

/// Changes of a book from the update `first` to the update `last`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DepthDifference {
    pub symbol: String,
    pub at: WireInteger,
    pub first: i64,
    pub last: i64,
    pub bids: Vec<WireLevel>,
    pub asks: Vec<WireLevel>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct KlineEvent {
    #[serde(rename = "s")]
    pub symbol: String,
    #[serde(rename = "i")]
    pub interval: String,
    #[serde(rename = "t")]
    pub opened: WireInteger,
    #[serde(rename = "o")]
    pub open: WireDecimal,
    #[serde(rename = "h")]
    pub high: WireDecimal,
    #[serde(rename = "l")]
    pub low: WireDecimal,
    #[serde(rename = "c")]
    pub close: WireDecimal,
    #[serde(rename = "v")]
    pub volume: WireDecimal,
    #[serde(rename = "x")]
    pub is_closed: bool,
}

/// A frame of a combined stream, an event of a raw one, or the answer to a command.
#[derive(Deserialize)]
struct WireStreamFrame<'a> {
    #[serde(borrow, default)]
    data: Option<WireEvent<'a>>,
    #[serde(default)]
    id: Option<WireInteger>,
    #[serde(default)]
    error: Option<WireStreamError>,
    #[serde(default)]
    msg: Option<String>,
}

#[derive(Deserialize)]
struct WireStreamError {
    #[serde(default)]
    msg: String,
}

/// The fields of all events.
#[derive(Deserialize)]
struct WireEvent<'a> {
    #[serde(borrow, default, rename = "e")]
    kind: Option<Cow<'a, str>>,
    #[serde(default, rename = "E")]
    event_at: Option<WireInteger>,
    #[serde(borrow, default, rename = "s")]
    symbol: Option<Cow<'a, str>>,
    #[serde(default, rename = "u")]
    last: Option<WireInteger>,
    #[serde(default, rename = "U")]
    first: Option<WireInteger>,
    #[serde(default, rename = "b")]
    bids: Option<PriceOrLevels>,
    #[serde(default, rename = "a")]
    asks: Option<PriceOrLevels>,
    #[serde(default, rename = "B")]
    bid_quantity: Option<WireDecimal>,
    #[serde(default, rename = "A")]
    ask_quantity: Option<WireDecimal>,
    #[serde(default, rename = "t")]
    trade_id: Option<WireInteger>,
    #[serde(default, rename = "p")]
    price: Option<WireDecimal>,
    #[serde(default, rename = "q")]
    quantity: Option<WireDecimal>,
    #[serde(default, rename = "T")]
    at: Option<WireInteger>,
    #[serde(default, rename = "m")]
    is_buyer_maker: Option<bool>,
    #[serde(default, rename = "k")]
    kline: Option<KlineEvent>,
}

/// `b` and `a` are a price in a best quote and levels in a depth difference.
enum PriceOrLevels {
    Price(Decimal),
    Levels(Vec<WireLevel>),
}

/// Reads a frame of a combined or a raw stream.
pub fn decode_market_event(text: &str) -> MarketEvent {
    let frame = serde_json::from_str::<WireStreamFrame<'_>>(text);
    match frame {
        Ok(WireStreamFrame { data: Some(event), .. }) => event.decoded().unwrap_or_else(|| unreadable(text)),
        Ok(WireStreamFrame { data: None, id, error, msg }) => {
            let refused = error.map(|error| error.msg).or(msg);
            if id.is_some() || refused.is_some() {
                return MarketEvent::Answered { id: id.map(|id| id.0), refused };
            }
            let raw = serde_json::from_str::<WireEvent<'_>>(text).ok();
            raw.and_then(WireEvent::decoded).unwrap_or_else(|| unreadable(text))
        }
        Err(_) => unreadable(text),
    }
}

fn unreadable(text: &str) -> MarketEvent {
    MarketEvent::Unreadable(excerpt(text))
}

impl WireEvent<'_> {
    /// `None` where something is missing.
    fn decoded(self) -> Option<MarketEvent> {
        match self.kind.as_deref() {
            None => self.quote().map(MarketEvent::Quote),
            Some("trade") => self.trade().map(MarketEvent::Trade),
            Some("depthUpdate") => self.difference().map(MarketEvent::Depth),
            Some("kline") => self.kline.map(MarketEvent::Kline),
            Some("bookTicker") => self.quote().map(MarketEvent::Quote),
            Some("serverShutdown") => Some(MarketEvent::ServerShutdown),
            Some(other) => Some(MarketEvent::Other(other.to_owned())),
        }
    }

    fn quote(self) -> Option<QuoteEvent> {
        let side = |price: Option<PriceOrLevels>, quantity: Option<WireDecimal>| match price? {
            PriceOrLevels::Price(price) => Some(WireLevel { price, quantity: quantity?.0 }),
            PriceOrLevels::Levels(_) => None,
        };
        Some(QuoteEvent {
            symbol: self.symbol?.into_owned(),
            update: self.last?.0,
            bid: side(self.bids, self.bid_quantity)?,
            ask: side(self.asks, self.ask_quantity)?,
        })
    }

    fn trade(self) -> Option<TradeEvent> {
        Some(TradeEvent {
            symbol: self.symbol?.into_owned(),
            id: self.trade_id?.0,
            price: self.price?.0,
            quantity: self.quantity?.0,
            at: self.at?,
            is_buyer_maker: self.is_buyer_maker?,
        })
    }

    fn difference(self) -> Option<DepthDifference> {
        let levels = |side: Option<PriceOrLevels>| match side? {
            PriceOrLevels::Levels(levels) => Some(levels),
            PriceOrLevels::Price(_) => None,
        };
        Some(DepthDifference {
            symbol: self.symbol?.into_owned(),
            at: self.event_at?,
            first: self.first?.0,
            last: self.last?.0,
            bids: levels(self.bids)?,
            asks: levels(self.asks)?,
        })
    }
}

impl<'de> Deserialize<'de> for PriceOrLevels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PriceOrLevelsVisitor)
    }
}

struct PriceOrLevelsVisitor;

impl<'de> Visitor<'de> for PriceOrLevelsVisitor {
    type Value = PriceOrLevels;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a price or levels")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<PriceOrLevels, E> {
        decimal_of(text).map(PriceOrLevels::Price).ok_or_else(|| E::custom("not a price"))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<PriceOrLevels, E> {
        Ok(PriceOrLevels::Price(number.into()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<PriceOrLevels, E> {
        Ok(PriceOrLevels::Price(number.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut levels: A) -> Result<PriceOrLevels, A::Error> {
        let mut read = Vec::with_capacity(levels.size_hint().unwrap_or(0));
        while let Some(level) = levels.next_element()? {
            read.push(level);
        }
        Ok(PriceOrLevels::Levels(read))
    }

    /// The exact digits of a number, as serde_json hands them over.
    fn visit_map<A: MapAccess<'de>>(self, digits: A) -> Result<PriceOrLevels, A::Error> {
        let number = serde_json::Number::deserialize(MapAccessDeserializer::new(digits))?;
        self.visit_str(number.as_str())
    }
}
