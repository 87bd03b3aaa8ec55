//! Market data in answers: the venue's time, depth snapshots and klines.

use std::fmt;

use domain::Decimal;
use serde::de::{Error, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::protocol::wire_values::{WireDecimal, WireInteger};

/// The venue's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct ServerTime {
    #[serde(rename = "serverTime")]
    pub at: WireInteger,
}

/// Price and quantity; a quantity of zero removes the level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireLevel {
    pub price: Decimal,
    pub quantity: Decimal,
}

/// A depth snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct DepthSnapshot {
    #[serde(rename = "lastUpdateId")]
    pub last_update: WireInteger,
    pub bids: Vec<WireLevel>,
    pub asks: Vec<WireLevel>,
}

/// The newest of a symbol: best quotes and last trade, among the statistics of a day.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SymbolTicker {
    pub symbol: String,
    pub bid_price: WireDecimal,
    pub bid_qty: WireDecimal,
    pub ask_price: WireDecimal,
    pub ask_qty: WireDecimal,
    /// -1 where nothing was traded for a day.
    pub last_id: WireInteger,
}

/// A bar, from its array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kline {
    pub opened: WireInteger,
    pub open: Decimal,
    pub high: Decimal,
    pub low: Decimal,
    pub close: Decimal,
    pub volume: Decimal,
    pub closed: WireInteger,
    /// Price times quantity, summed.
    pub quote_volume: Decimal,
}

impl<'de> Deserialize<'de> for WireLevel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(LevelVisitor)
    }
}

struct LevelVisitor;

impl<'de> Visitor<'de> for LevelVisitor {
    type Value = WireLevel;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("price and quantity")
    }

    /// What follows is not known; earlier versions had an empty array there.
    fn visit_seq<A: SeqAccess<'de>>(self, mut level: A) -> Result<WireLevel, A::Error> {
        let (price, quantity) = (next::<_, WireDecimal>(&mut level)?.0, next::<_, WireDecimal>(&mut level)?.0);
        skip_rest(&mut level)?;
        Ok(WireLevel { price, quantity })
    }
}

impl<'de> Deserialize<'de> for Kline {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(KlineVisitor)
    }
}

struct KlineVisitor;

impl<'de> Visitor<'de> for KlineVisitor {
    type Value = Kline;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a kline")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut row: A) -> Result<Kline, A::Error> {
        let opened = next(&mut row)?;
        let mut amount = || next::<_, WireDecimal>(&mut row).map(|amount| amount.0);
        let (open, high, low, close, volume) = (amount()?, amount()?, amount()?, amount()?, amount()?);
        let closed = next(&mut row)?;
        let quote_volume = next::<_, WireDecimal>(&mut row)?.0;
        skip_rest(&mut row)?;
        Ok(Kline { opened, open, high, low, close, volume, closed, quote_volume })
    }
}

fn next<'de, A: SeqAccess<'de>, T: Deserialize<'de>>(row: &mut A) -> Result<T, A::Error> {
    row.next_element()?.ok_or_else(|| A::Error::custom("the row is too short"))
}

fn skip_rest<'de, A: SeqAccess<'de>>(row: &mut A) -> Result<(), A::Error> {
    while row.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}
