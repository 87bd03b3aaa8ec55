//! Market half of the engine: last values, books and bars. Not journalled, not in the digest.

mod bars;
mod pause_monitor;
mod security_market_data;

use std::sync::Arc;

use domain::command::MarketData;
use domain::query::Filter;
use domain::{Bar, BarSize, ExchangeId, LookupMap, Mark, OrderBook, ReferenceData, SecurityId, Tick, Timestamp};

use self::security_market_data::SecurityMarketData;
use crate::outbox::Outbox;

#[derive(Debug, Clone)]
pub(crate) struct MarketState {
    /// One slot per security, found without a search: millions of ticks a second pass here.
    securities: Vec<SecurityMarketData>,
    positions: LookupMap<SecurityId, usize>,
    /// Slots whose mark changed since all marks were read, each once.
    changed: Vec<usize>,
    /// When the first of all open bars ends.
    bars_due: Timestamp,
    dropped: u64,
}

impl Default for MarketState {
    fn default() -> Self {
        Self {
            securities: Vec::new(),
            positions: LookupMap::default(),
            changed: Vec::new(),
            bars_due: Timestamp(i64::MAX),
            dropped: 0,
        }
    }
}

impl MarketState {
    /// Adds a slot for every security; prices of others are dropped. Needed at start and when reference data changed.
    pub(crate) fn register_securities(&mut self, reference: &ReferenceData) {
        for security in reference.securities.values() {
            match self.positions.get(&security.id) {
                Some(place) => self.securities[*place].update_reference(security),
                None => {
                    self.positions.insert(security.id, self.securities.len());
                    self.securities.push(SecurityMarketData::new(security));
                }
            }
        }
    }

    /// The process has started: prices of before it are stale until a feed sends new ones.
    pub(crate) fn recover<'a>(&mut self, mark_of: impl Fn(SecurityId) -> Option<&'a Mark>) {
        for place in 0..self.securities.len() {
            let listing = &mut self.securities[place];
            if listing.recover(mark_of(listing.security)) {
                self.queue_mark(place);
            }
        }
    }

    /// Applies a message of a feed; an invalid one is counted and dropped.
    pub(crate) fn apply(&mut self, data: &MarketData, at: Timestamp, out: &mut Outbox) {
        let Some(place) = self.positions.get(&data.security()).copied() else {
            self.dropped += 1;
            return;
        };
        let listing = &mut self.securities[place];
        if !listing.apply(data, at, out) {
            self.dropped += 1;
            return;
        }
        self.bars_due = self.bars_due.min(listing.bars.next_close());
        self.queue_mark(place);
    }

    fn queue_mark(&mut self, place: usize) {
        let listing = &mut self.securities[place];
        listing.mark_changed = true;
        if !std::mem::replace(&mut listing.is_queued, true) {
            self.changed.push(place);
        }
    }

    /// Flags the prices of feeds that pause for longer than usual while their exchange is open.
    pub(crate) fn flag_silent_feeds(&mut self, at: Timestamp, is_open: impl Fn(ExchangeId) -> bool, out: &mut Outbox) {
        // Securities of an exchange mostly follow each other.
        let mut known: Option<(ExchangeId, bool)> = None;
        for place in 0..self.securities.len() {
            let listing = &mut self.securities[place];
            let exchange = listing.exchange;
            let open = known.filter(|(of, _)| *of == exchange).map_or_else(|| is_open(exchange), |(_, open)| open);
            known = Some((exchange, open));
            if listing.flag_silence(at, open, out) {
                self.queue_mark(place);
            }
        }
    }

    /// Advances the clock: closes bars whose span is over, also where nothing trades any more.
    pub(crate) fn advance(&mut self, at: Timestamp, out: &mut Outbox) {
        if at < self.bars_due {
            return;
        }
        for listing in &mut self.securities {
            listing.bars.close_until(at, out);
        }
        self.bars_due =
            self.securities.iter().map(|listing| listing.bars.next_close()).min().unwrap_or(Timestamp(i64::MAX));
    }

    /// The newest marks that changed since the last call. An irrelevant one is checked again only when it changes
    /// again, so the cost depends only on what has changed.
    pub(crate) fn changed_marks(&mut self, wanted: impl Fn(SecurityId) -> bool) -> Vec<Mark> {
        let mut marks = Vec::new();
        for place in self.changed.drain(..) {
            let listing = &mut self.securities[place];
            listing.is_queued = false;
            if listing.mark_changed && wanted(listing.security) {
                marks.extend(listing.changed_mark());
            }
        }
        marks
    }

    /// Of all securities, also those that changed before they became relevant.
    pub(crate) fn all_changed_marks(&mut self, wanted: impl Fn(SecurityId) -> bool) -> Vec<Mark> {
        for place in self.changed.drain(..) {
            self.securities[place].is_queued = false;
        }
        let changed = self.securities.iter_mut().filter(|listing| listing.mark_changed && wanted(listing.security));
        changed.filter_map(SecurityMarketData::changed_mark).collect()
    }

    /// The newest mark of one security where it changed since the last call; costs no walk over all changes.
    pub(crate) fn changed_mark(&mut self, security: SecurityId) -> Option<Mark> {
        let place = self.positions.get(&security)?;
        self.securities[*place].changed_mark()
    }

    pub(crate) fn tick(&self, security: SecurityId) -> Option<Arc<Tick>> {
        self.listing(security)?.tick.clone()
    }

    pub(crate) fn ticks(&self, filter: Filter) -> Vec<Arc<Tick>> {
        if let Some(security) = filter.security {
            return self.tick(security).into_iter().collect();
        }
        let mut ticks: Vec<_> = self.securities.iter().filter_map(|listing| listing.tick.clone()).collect();
        ticks.sort_by_key(|tick| tick.security);
        ticks
    }

    pub(crate) fn book(&self, security: SecurityId) -> Option<Arc<OrderBook>> {
        self.listing(security)?.book.clone()
    }

    /// Closed bars, oldest first.
    pub(crate) fn bars(&self, security: SecurityId, size: BarSize) -> Vec<Arc<Bar>> {
        self.listing(security).map_or(Vec::new(), |listing| listing.bars.closed(size))
    }

    /// How many messages of feeds were invalid.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    fn listing(&self, security: SecurityId) -> Option<&SecurityMarketData> {
        self.positions.get(&security).map(|place| &self.securities[*place])
    }
}

#[cfg(test)]
mod tests;
