//! Price history for PREFEED: the bars (in a simulation also ticks, trades and books) that the strategy requested in
//! INIT, as many as there are.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::{Bar, BarSize, OrderBook, SecurityId, Tick, Trade};

use crate::context::selection::PriceKind;

/// Bars that a strategy may request of one security and size; likewise ticks, trades and books.
pub const BARS_MAX: usize = 10_000;

/// The history that a strategy gets in PREFEED.
#[derive(Debug, Clone, Default)]
pub struct PriceHistory {
    bars: BTreeMap<(SecurityId, BarSize), Vec<Arc<Bar>>>,
    ticks: BTreeMap<SecurityId, Vec<Tick>>,
    trades: BTreeMap<SecurityId, Vec<Arc<Trade>>>,
    books: BTreeMap<SecurityId, Vec<Arc<OrderBook>>>,
}

/// A request for past ticks, trades or books.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriceHistoryRequest {
    /// Of which security.
    pub security: SecurityId,
    /// Of which kind.
    pub prices: PriceKind,
    /// How many, the newest.
    pub count: usize,
}

/// A request for past bars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BarHistoryRequest {
    /// Of which security.
    pub security: SecurityId,
    /// Of which size.
    pub size: BarSize,
    /// How many, the newest.
    pub bars: usize,
}

impl PriceHistory {
    /// Closed bars, oldest first; empty where there are none.
    pub fn bars(&self, security: SecurityId, size: BarSize) -> &[Arc<Bar>] {
        self.bars.get(&(security, size)).map_or(&[], Vec::as_slice)
    }

    /// Each with the full state at its time, oldest first; only in simulations.
    pub fn ticks(&self, security: SecurityId) -> &[Tick] {
        self.ticks.get(&security).map_or(&[], Vec::as_slice)
    }

    /// Oldest first; only in simulations.
    pub fn trades(&self, security: SecurityId) -> &[Arc<Trade>] {
        self.trades.get(&security).map_or(&[], Vec::as_slice)
    }

    /// Oldest first; only in simulations.
    pub fn books(&self, security: SecurityId) -> &[Arc<OrderBook>] {
        self.books.get(&security).map_or(&[], Vec::as_slice)
    }

    /// All bars, by security and size, oldest first.
    pub fn all_bars(&self) -> impl Iterator<Item = &Arc<Bar>> {
        self.bars.values().flatten()
    }

    /// Keeps the newest bars, as many as requested.
    pub fn insert_bars(&mut self, request: &BarHistoryRequest, mut bars: Vec<Arc<Bar>>) {
        bars.sort_by_key(|bar| bar.at);
        let surplus = bars.len().saturating_sub(request.bars);
        bars.drain(..surplus);
        self.bars.insert((request.security, request.size), bars);
    }

    /// Adds ticks, oldest first.
    pub fn insert_ticks(&mut self, security: SecurityId, ticks: Vec<Tick>) {
        self.ticks.insert(security, ticks);
    }

    /// Adds trades, oldest first.
    pub fn insert_trades(&mut self, security: SecurityId, trades: Vec<Arc<Trade>>) {
        self.trades.insert(security, trades);
    }

    /// Adds order books, oldest first.
    pub fn insert_books(&mut self, security: SecurityId, books: Vec<Arc<OrderBook>>) {
        self.books.insert(security, books);
    }
}

impl FromIterator<Bar> for PriceHistory {
    fn from_iter<I: IntoIterator<Item = Bar>>(bars: I) -> Self {
        let mut history = Self::default();
        for bar in bars {
            history.bars.entry((bar.security, bar.size)).or_default().push(Arc::new(bar));
        }
        history
    }
}
