//! Last prices of a simulation, and which of them trading has not seen. It gives the same as the engine's market half,
//! without building unused bars: a simulation plays millions of prices a second.

use std::collections::BTreeSet;

use domain::{Bar, BarSize, Mark, OrderBook, Price, SecurityId, SecurityMap, Tick, Timestamp};

#[derive(Debug, Default)]
pub(super) struct LastPrices {
    listings: Vec<LastPrice>,
    index: SecurityMap<usize>,
    /// Places whose mark trading has not seen, each once.
    changed: Vec<usize>,
    /// Recorded bars: the engine's own bars of the same size are not delivered.
    recorded_bars: BTreeSet<(SecurityId, BarSize)>,
    /// Bars built from them, likewise.
    made_bars: BTreeSet<(SecurityId, BarSize)>,
}

#[derive(Debug)]
struct LastPrice {
    newest: Tick,
    is_changed: bool,
    /// Since when, where a strategy wants bars that the engine must make.
    engine_fed_since: Option<Timestamp>,
}

impl LastPrices {
    pub(super) fn new(
        securities: impl Iterator<Item = SecurityId>,
        recorded_bars: BTreeSet<(SecurityId, BarSize)>,
    ) -> Self {
        let mut tape = Self { recorded_bars, ..Self::default() };
        for security in securities {
            tape.index.insert(security, tape.listings.len());
            let newest = Tick::empty(security);
            tape.listings.push(LastPrice { newest, is_changed: false, engine_fed_since: None });
        }
        tape
    }

    /// Index of a security; none where it is not traded.
    #[inline]
    pub(super) fn index_of(&self, security: SecurityId) -> Option<usize> {
        self.index.get(security)
    }

    /// The last values of a security.
    pub(super) fn newest(&self, security: SecurityId) -> Option<&Tick> {
        self.index_of(security).map(|place| &self.listings[place].newest)
    }

    /// Applies a tick and returns the whole state. Absent fields keep their value.
    #[inline]
    pub(super) fn update(&mut self, place: usize, tick: &Tick) -> &Tick {
        let newest = self.change(place);
        newest.update(tick);
        newest
    }

    /// A last trade price, where nothing else is known.
    pub(super) fn mark_last(&mut self, security: SecurityId, last: Price, at: Timestamp) {
        let Some(place) = self.index_of(security) else { return };
        let newest = self.change(place);
        (newest.at, newest.last, newest.last_at) = (at, Some(last), Some(at));
    }

    /// The best levels of a book; a missing side is cleared.
    pub(super) fn mark_book(&mut self, book: &OrderBook) {
        let Some(place) = self.index_of(book.security) else { return };
        self.change(place).set_quote(book);
    }

    /// The newest tick of a security, which changes now.
    #[inline]
    fn change(&mut self, place: usize) -> &mut Tick {
        let listing = &mut self.listings[place];
        if !std::mem::replace(&mut listing.is_changed, true) {
            self.changed.push(place);
        }
        &mut listing.newest
    }

    /// The newest prices that trading has not seen.
    #[inline]
    pub(super) fn changed_marks(&mut self) -> Vec<Mark> {
        if self.changed.is_empty() {
            return Vec::new();
        }
        let mut marks = Vec::with_capacity(self.changed.len());
        for place in self.changed.drain(..) {
            let listing = &mut self.listings[place];
            listing.is_changed = false;
            marks.push(Mark::from(&listing.newest));
        }
        marks
    }

    #[inline]
    pub(super) fn feeds_engine(&self, place: usize) -> bool {
        self.listings[place].engine_fed_since.is_some()
    }

    /// For each wanted size that is not recorded: the longest recorded one that it can be built from.
    pub(super) fn plan_aggregation(
        &mut self,
        wants: impl Fn(SecurityId, BarSize) -> bool,
    ) -> Vec<(SecurityId, BarSize, BarSize)> {
        let mut made = Vec::new();
        // The longest first.
        for (security, of) in self.recorded_bars.clone().into_iter().rev() {
            for size in BarSize::ALL.into_iter().filter(|size| *size > of) {
                if !self.has_recorded(security, size) && wants(security, size) {
                    self.made_bars.insert((security, size));
                    made.push((security, size, of));
                }
            }
        }
        made
    }

    /// Finds the securities with wanted bar sizes that the data does not have.
    pub(super) fn feed_engine(&mut self, since: Timestamp, wants: impl Fn(SecurityId, BarSize) -> bool) {
        for listing in &mut self.listings {
            let security = listing.newest.security;
            let has = |size: BarSize| {
                self.recorded_bars.contains(&(security, size)) || self.made_bars.contains(&(security, size))
            };
            let is_missing = |size: &BarSize| !has(*size) && wants(security, *size);
            let is_fed = BarSize::ALL.iter().any(is_missing);
            listing.engine_fed_since = is_fed.then(|| listing.engine_fed_since.unwrap_or(since));
        }
    }

    /// Whether the engine's bar is delivered: not where the data has it, nor where its span began before the engine was
    /// fed.
    pub(super) fn is_published(&self, bar: &Bar) -> bool {
        let fed_since = self.index_of(bar.security).and_then(|place| self.listings[place].engine_fed_since);
        !self.has_recorded(bar.security, bar.size) && fed_since.is_some_and(|since| since < bar.at)
    }

    /// Whether the data has such bars, or shorter ones that they are made of.
    pub(super) fn has_recorded(&self, security: SecurityId, size: BarSize) -> bool {
        self.recorded_bars.contains(&(security, size)) || self.made_bars.contains(&(security, size))
    }
}
