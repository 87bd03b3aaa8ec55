//! Warm-up: data before the start of trading becomes the history of the strategies: venues get it, indicators get it in
//! PREFEED, and nothing is traded.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use domain::{Bar, BarSize, OrderBook, SecurityId, Tick, Timestamp, Trade};
use storage::price_files::PriceRecord;
use strategy::{BarHistoryRequest, PriceHistory, PriceHistoryRequest, PriceKind, StrategyRunner};

use super::Simulation;
use super::run_input::SimulationError;

/// The newest prices of the warm-up, as many as requested.
#[derive(Debug, Default)]
pub(super) struct WarmUpHistory {
    bars: BTreeMap<(SecurityId, BarSize), RecentBuffer<Arc<Bar>>>,
    ticks: BTreeMap<SecurityId, RecentBuffer<Tick>>,
    trades: BTreeMap<SecurityId, RecentBuffer<Arc<Trade>>>,
    books: BTreeMap<SecurityId, RecentBuffer<Arc<OrderBook>>>,
}

#[derive(Debug)]
struct RecentBuffer<T> {
    kept: VecDeque<T>,
    capacity: usize,
}

impl Simulation<'_> {
    /// A bar that is open when trading begins is not history: it closes, and is delivered, in its time. The same holds
    /// for a delayed price.
    pub(super) fn warm_up(&mut self) -> Result<WarmUpHistory, SimulationError> {
        let mut memory = WarmUpHistory::for_strategies(self.strategies.runners());
        let Some(from) = self.from else { return Ok(memory) };
        while let Some(row) = self.next_row()? {
            if row.at() >= from {
                self.lookahead_row = Some(row);
                break;
            }
            self.close_bars(row.at(), &mut memory);
            self.now = self.now.max(row.at());
            self.events += 1;
            self.process_warm_up_row(row, from, &mut memory)?;
        }
        self.close_bars(from, &mut memory);
        self.now = self.now.max(from);
        self.collect_engine_bars(&mut memory);
        Ok(memory)
    }

    fn process_warm_up_row(
        &mut self,
        row: PriceRecord,
        from: Timestamp,
        memory: &mut WarmUpHistory,
    ) -> Result<(), SimulationError> {
        self.venues.on_price(self.now, &row);
        let arrives = Timestamp(self.now.0.saturating_add(self.feed_latency_nanos));
        match row {
            PriceRecord::Bar(bar) => {
                self.last_prices.mark_last(bar.security, bar.open, self.now);
                self.pending.schedule_close(Arc::new(bar));
            }
            row if arrives > from => self.pending.delay(arrives, row)?,
            row => {
                self.driver.deliver_price(self.now, &row, &mut self.last_prices, &mut self.strategies);
                let newest = self.last_prices.newest(row.security());
                memory.push_price(row, newest);
            }
        }
        Ok(())
    }

    /// Bars that are over by then.
    fn close_bars(&mut self, by: Timestamp, memory: &mut WarmUpHistory) {
        while let Some(bar) = self.pending.pop_closing(by) {
            let ends = bar.at.plus_seconds(bar.size.seconds());
            self.venues.close_bar(ends, &bar);
            self.last_prices.mark_last(bar.security, bar.close, ends);
            self.aggregator.add(&bar);
            self.record_bar(ends, bar, memory);
        }
        while let Some(made) = self.aggregator.pop_closed(by) {
            self.record_bar(by, made, memory);
        }
    }

    fn record_bar(&mut self, at: Timestamp, bar: Arc<Bar>, memory: &mut WarmUpHistory) {
        self.driver.deliver_bar(at, bar.clone(), &mut self.strategies);
        memory.push_bar(bar);
    }

    /// Bars that the engine made from ticks and trades.
    fn collect_engine_bars(&mut self, memory: &mut WarmUpHistory) {
        self.driver.close_engine_bars(self.now, &self.last_prices, &mut self.strategies);
        for ((security, size), newest) in &mut memory.bars {
            if !self.last_prices.has_recorded(*security, *size) {
                self.driver.bars(self.now, *security, *size).into_iter().for_each(|bar| newest.push(bar));
            }
        }
    }
}

impl WarmUpHistory {
    fn for_strategies(runners: &[StrategyRunner]) -> Self {
        let mut memory = Self::default();
        for BarHistoryRequest { security, size, bars } in
            runners.iter().flat_map(StrategyRunner::history_requests).copied()
        {
            memory.bars.entry((security, size)).or_default().reserve(bars);
        }
        for PriceHistoryRequest { security, prices, count } in
            runners.iter().flat_map(StrategyRunner::price_history_requests).copied()
        {
            match prices {
                PriceKind::Ticks => memory.ticks.entry(security).or_default().reserve(count),
                PriceKind::Trades => memory.trades.entry(security).or_default().reserve(count),
                PriceKind::Books => memory.books.entry(security).or_default().reserve(count),
                PriceKind::Bars(size) => memory.bars.entry((security, size)).or_default().reserve(count),
            }
        }
        memory
    }

    fn push_bar(&mut self, bar: Arc<Bar>) {
        if let Some(newest) = self.bars.get_mut(&(bar.security, bar.size)) {
            newest.push(bar);
        }
    }

    /// A tick is kept as it is delivered: with the full state at its time.
    fn push_price(&mut self, row: PriceRecord, whole: Option<&Tick>) {
        let security = row.security();
        match row {
            PriceRecord::Tick(_) => {
                if let (Some(newest), Some(tick)) = (self.ticks.get_mut(&security), whole) {
                    newest.push(tick.clone());
                }
            }
            PriceRecord::Trade(trade) => {
                if let Some(newest) = self.trades.get_mut(&security) {
                    newest.push(Arc::new(trade));
                }
            }
            PriceRecord::Book(book) => {
                if let Some(newest) = self.books.get_mut(&security) {
                    newest.push(Arc::new(book));
                }
            }
            PriceRecord::Bar(bar) => self.push_bar(Arc::new(bar)),
        }
    }

    /// The history that one strategy requested.
    pub(super) fn history(&self, runner: &StrategyRunner) -> PriceHistory {
        let mut history = PriceHistory::default();
        for request in runner.history_requests() {
            let bars = self.bars.get(&(request.security, request.size)).map(|newest| newest.last(request.bars));
            history.insert_bars(request, bars.into_iter().flatten().collect());
        }
        for PriceHistoryRequest { security, prices, count } in runner.price_history_requests() {
            match prices {
                PriceKind::Ticks => history.insert_ticks(*security, last(&self.ticks, security, *count)),
                PriceKind::Trades => history.insert_trades(*security, last(&self.trades, security, *count)),
                PriceKind::Books => history.insert_books(*security, last(&self.books, security, *count)),
                PriceKind::Bars(_) => {}
            }
        }
        history
    }
}

fn last<T: Clone>(kept: &BTreeMap<SecurityId, RecentBuffer<T>>, security: &SecurityId, count: usize) -> Vec<T> {
    kept.get(security).into_iter().flat_map(|newest| newest.last(count)).collect()
}

impl<T> Default for RecentBuffer<T> {
    fn default() -> Self {
        Self { kept: VecDeque::new(), capacity: 0 }
    }
}

impl<T: Clone> RecentBuffer<T> {
    fn reserve(&mut self, count: usize) {
        self.capacity = self.capacity.max(count);
    }

    fn push(&mut self, item: T) {
        self.kept.push_back(item);
        if self.kept.len() > self.capacity {
            self.kept.pop_front();
        }
    }

    fn last(&self, count: usize) -> impl Iterator<Item = T> + '_ {
        self.kept.iter().skip(self.kept.len().saturating_sub(count)).cloned()
    }
}
