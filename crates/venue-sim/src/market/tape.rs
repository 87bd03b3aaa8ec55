//! Market data publication of one security: quotes are conflated, trades are not.

use domain::{OrderBook, Side, Tick, Timestamp};

/// Most trades of one security in one publication; further ones show in the volume only.
const TRADES_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct Tape {
    pub(crate) subscribed: bool,
    pub(crate) trades: Vec<Print>,
    pub(crate) tick: Option<Tick>,
    pub(crate) book: Option<OrderBook>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Print {
    pub(crate) price: i64,
    pub(crate) lots: u64,
    pub(crate) aggressor: Option<Side>,
    pub(crate) at: Timestamp,
}

impl Tape {
    pub(crate) fn subscribe(&mut self, wanted: bool) {
        *self = Self { subscribed: wanted, ..Self::default() };
    }

    /// Nothing was published recently, so everything is sent again.
    pub(crate) fn reset(&mut self) {
        self.subscribe(self.subscribed);
    }

    pub(crate) fn print(&mut self, price: i64, lots: u64, aggressor: Option<Side>, at: Timestamp) {
        if self.subscribed && self.trades.len() < TRADES_MAX {
            self.trades.push(Print { price, lots, aggressor, at });
        }
    }
}
