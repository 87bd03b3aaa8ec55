//! Warm-up: data before the start of trading becomes the history of the strategies: venues get it, indicators get it in
//! PREFEED, and nothing is traded.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use domain::{Bar, BarSize, OrderBook, SecurityId, Tick, Timestamp, Trade};
use storage::history::Recorded;
use strategy::{Past, PriceWish, Prices, Seat, Wish};

use super::Simulation;
use super::setup::SimulationError;

/// The newest prices of the warm-up, as many as requested.
#[derive(Debug, Default)]
pub(super) struct Memory {
    bars: BTreeMap<(SecurityId, BarSize), Newest<Arc<Bar>>>,
    ticks: BTreeMap<SecurityId, Newest<Tick>>,
    trades: BTreeMap<SecurityId, Newest<Arc<Trade>>>,
    books: BTreeMap<SecurityId, Newest<Arc<OrderBook>>>,
}

#[derive(Debug)]
struct Newest<T> {
    kept: VecDeque<T>,
    most: usize,
}

impl Simulation<'_> {
    /// A bar that is open when trading begins is not history: it closes, and is delivered, in its time. The same holds
    /// for a delayed price.
    pub(super) fn warm_up(&mut self) -> Result<Memory, SimulationError> {
        let mut memory = Memory::wanting(self.crew.seats());
        let Some(from) = self.from else { return Ok(memory) };
        while let Some(row) = self.next_row()? {
            if row.at() >= from {
                self.held = Some(row);
                break;
            }
            self.close_past(row.at(), &mut memory);
            self.now = self.now.max(row.at());
            self.events += 1;
            self.show_past(row, from, &mut memory)?;
        }
        self.close_past(from, &mut memory);
        self.now = self.now.max(from);
        self.recall_made_bars(&mut memory);
        Ok(memory)
    }

    fn show_past(&mut self, row: Recorded, from: Timestamp, memory: &mut Memory) -> Result<(), SimulationError> {
        self.floor.show(self.now, &row);
        let arrives = Timestamp(self.now.0.saturating_add(self.feed_latency_nanos));
        match row {
            Recorded::Bar(bar) => {
                self.tape.mark_last(bar.security, bar.open, self.now);
                self.ahead.close_later(Arc::new(bar));
            }
            row if arrives > from => self.ahead.delay(arrives, row)?,
            row => {
                self.desk.tell_price(self.now, &row, &mut self.tape, &mut self.crew);
                let newest = self.tape.newest(row.security());
                memory.keep_price(row, newest);
            }
        }
        Ok(())
    }

    /// Bars that are over by then.
    fn close_past(&mut self, by: Timestamp, memory: &mut Memory) {
        while let Some(bar) = self.ahead.take_closing(by) {
            let ends = bar.at.plus_seconds(bar.size.seconds());
            self.floor.close_bar(ends, &bar);
            self.tape.mark_last(bar.security, bar.close, ends);
            self.larger.add(&bar);
            self.remember_bar(ends, bar, memory);
        }
        while let Some(made) = self.larger.take_closed(by) {
            self.remember_bar(by, made, memory);
        }
    }

    fn remember_bar(&mut self, at: Timestamp, bar: Arc<Bar>, memory: &mut Memory) {
        self.desk.tell_bar(at, bar.clone(), &mut self.crew);
        memory.keep_bar(bar);
    }

    /// Bars that the engine made from ticks and trades.
    fn recall_made_bars(&mut self, memory: &mut Memory) {
        self.desk.close_made_bars(self.now, &self.tape, &mut self.crew);
        for ((security, size), newest) in &mut memory.bars {
            if !self.tape.has_recorded(*security, *size) {
                self.desk.bars(self.now, *security, *size).into_iter().for_each(|bar| newest.keep(bar));
            }
        }
    }
}

impl Memory {
    fn wanting(seats: &[Seat]) -> Self {
        let mut memory = Self::default();
        for Wish { security, size, bars } in seats.iter().flat_map(Seat::wishes).copied() {
            memory.bars.entry((security, size)).or_default().want(bars);
        }
        for PriceWish { security, prices, count } in seats.iter().flat_map(Seat::price_wishes).copied() {
            match prices {
                Prices::Ticks => memory.ticks.entry(security).or_default().want(count),
                Prices::Trades => memory.trades.entry(security).or_default().want(count),
                Prices::Books => memory.books.entry(security).or_default().want(count),
                Prices::Bars(size) => memory.bars.entry((security, size)).or_default().want(count),
            }
        }
        memory
    }

    fn keep_bar(&mut self, bar: Arc<Bar>) {
        if let Some(newest) = self.bars.get_mut(&(bar.security, bar.size)) {
            newest.keep(bar);
        }
    }

    /// A tick is kept as it is delivered: with the full state at its time.
    fn keep_price(&mut self, row: Recorded, whole: Option<&Tick>) {
        let security = row.security();
        match row {
            Recorded::Tick(_) => {
                if let (Some(newest), Some(tick)) = (self.ticks.get_mut(&security), whole) {
                    newest.keep(tick.clone());
                }
            }
            Recorded::Trade(trade) => {
                if let Some(newest) = self.trades.get_mut(&security) {
                    newest.keep(Arc::new(trade));
                }
            }
            Recorded::Book(book) => {
                if let Some(newest) = self.books.get_mut(&security) {
                    newest.keep(Arc::new(book));
                }
            }
            Recorded::Bar(bar) => self.keep_bar(Arc::new(bar)),
        }
    }

    /// The history that one strategy requested.
    pub(super) fn past(&self, seat: &Seat) -> Past {
        let mut past = Past::default();
        for wish in seat.wishes() {
            let bars = self.bars.get(&(wish.security, wish.size)).map(|newest| newest.last(wish.bars));
            past.fulfil(wish, bars.into_iter().flatten().collect());
        }
        for PriceWish { security, prices, count } in seat.price_wishes() {
            match prices {
                Prices::Ticks => past.give_ticks(*security, last(&self.ticks, security, *count)),
                Prices::Trades => past.give_trades(*security, last(&self.trades, security, *count)),
                Prices::Books => past.give_books(*security, last(&self.books, security, *count)),
                Prices::Bars(_) => {}
            }
        }
        past
    }
}

fn last<T: Clone>(kept: &BTreeMap<SecurityId, Newest<T>>, security: &SecurityId, count: usize) -> Vec<T> {
    kept.get(security).into_iter().flat_map(|newest| newest.last(count)).collect()
}

impl<T> Default for Newest<T> {
    fn default() -> Self {
        Self { kept: VecDeque::new(), most: 0 }
    }
}

impl<T: Clone> Newest<T> {
    fn want(&mut self, count: usize) {
        self.most = self.most.max(count);
    }

    fn keep(&mut self, item: T) {
        self.kept.push_back(item);
        if self.kept.len() > self.most {
            self.kept.pop_front();
        }
    }

    fn last(&self, count: usize) -> impl Iterator<Item = T> + '_ {
        self.kept.iter().skip(self.kept.len().saturating_sub(count)).cloned()
    }
}
