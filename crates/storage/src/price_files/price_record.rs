//! A recorded price, and the description of a file of them.

use std::path::PathBuf;

use domain::{Bar, BarSize, OrderBook, SecurityId, Text, Tick, Timestamp, Trade};

/// The content of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PriceRecord {
    Tick(Tick),
    Trade(Trade),
    Book(OrderBook),
    Bar(Bar),
}

impl PriceRecord {
    /// When it was so; of a bar, when its span began.
    #[inline]
    pub fn at(&self) -> Timestamp {
        match self {
            Self::Tick(tick) => tick.at,
            Self::Trade(trade) => trade.at,
            Self::Book(book) => book.at,
            Self::Bar(bar) => bar.at,
        }
    }

    #[inline]
    pub fn security(&self) -> SecurityId {
        match self {
            Self::Tick(tick) => tick.security,
            Self::Trade(trade) => trade.security,
            Self::Book(book) => book.security,
            Self::Bar(bar) => bar.security,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriceFileKind {
    Tick,
    Trade,
    Book,
    Bar(BarSize),
}

/// A price file and its security.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceFileSpec {
    pub path: PathBuf,
    /// How messages call it.
    pub name: String,
    pub kind: PriceFileKind,
    pub security: SecurityId,
    /// The name that the prices carry.
    pub feed: Text,
    /// Futures and commodities have traded below zero; of others such a price is nonsense.
    pub may_be_negative: bool,
}
