//! The newest prices, and which of them trading has not seen. It says what the engine's market half would say, without
//! forming bars that nobody asked for: a simulation plays millions of prices a second.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::{BarSize, Index, Mark, Price, SecurityId, Text, Tick, Timestamp};

#[derive(Debug, Default)]
pub(super) struct Tape {
    listings: Vec<Listing>,
    places: Index<SecurityId, usize>,
    /// Places whose mark trading has not seen, each once.
    changed: Vec<usize>,
    /// Bars that the data has: the engine's own of that kind are not told.
    recorded_bars: BTreeSet<(SecurityId, BarSize)>,
}

#[derive(Debug)]
struct Listing {
    newest: Arc<Tick>,
    /// The tick before, whose memory is used again where nobody holds it any more.
    spare: Arc<Tick>,
    is_changed: bool,
    /// A strategy wants bars that the engine must make.
    feeds_engine: bool,
}

impl Tape {
    pub(super) fn new(
        securities: impl Iterator<Item = SecurityId>,
        recorded_bars: BTreeSet<(SecurityId, BarSize)>,
    ) -> Self {
        let mut tape = Self { recorded_bars, ..Self::default() };
        for security in securities {
            tape.places.insert(security, tape.listings.len());
            let nothing = Arc::new(nothing_of(security));
            let spare = Arc::new(nothing_of(security));
            tape.listings.push(Listing { newest: nothing, spare, is_changed: false, feeds_engine: false });
        }
        tape
    }

    /// Takes a tick in and gives the whole of what is known; nothing where nobody trades the security.
    #[inline]
    pub(super) fn take(&mut self, tick: Tick) -> Option<&Arc<Tick>> {
        let place = *self.places.get(&tick.security)?;
        let listing = &mut self.listings[place];
        listing.put(tick);
        if !std::mem::replace(&mut listing.is_changed, true) {
            self.changed.push(place);
        }
        Some(&self.listings[place].newest)
    }

    /// A price at which the security traded, where nothing else is known.
    pub(super) fn mark_last(&mut self, security: SecurityId, last: Price, at: Timestamp) {
        let tick = Tick { at, last: Some(last), last_at: Some(at), ..nothing_of(security) };
        self.take(tick);
    }

    pub(super) fn newest(&self, security: SecurityId) -> Option<&Arc<Tick>> {
        self.places.get(&security).map(|place| &self.listings[*place].newest)
    }

    /// The newest prices that trading has not seen.
    pub(super) fn changed_marks(&mut self) -> Vec<Mark> {
        let mut marks = Vec::with_capacity(self.changed.len());
        for place in self.changed.drain(..) {
            let listing = &mut self.listings[place];
            listing.is_changed = false;
            marks.push(Mark::from(&*listing.newest));
        }
        marks
    }

    #[inline]
    pub(super) fn feeds_engine(&self, security: SecurityId) -> bool {
        self.places.get(&security).is_some_and(|place| self.listings[*place].feeds_engine)
    }

    /// Asks for each security whether anybody wants bars of a size that the data does not have.
    pub(super) fn feed_engine(&mut self, wants: impl Fn(SecurityId, BarSize) -> bool) {
        for listing in &mut self.listings {
            let security = listing.newest.security;
            let is_missing =
                |size: &BarSize| !self.recorded_bars.contains(&(security, *size)) && wants(security, *size);
            listing.feeds_engine = BarSize::ALL.iter().any(is_missing);
        }
    }

    pub(super) fn has_recorded(&self, security: SecurityId, size: BarSize) -> bool {
        self.recorded_bars.contains(&(security, size))
    }
}

impl Listing {
    /// What a feed leaves out keeps the last known value.
    #[inline]
    fn put(&mut self, tick: Tick) {
        let known = &self.newest;
        let last_at = tick.last.and(tick.last_at.or(Some(tick.at))).or(known.last_at);
        let merged = Tick {
            last: tick.last.or(known.last),
            last_at,
            vol_last: tick.vol_last.or(known.vol_last),
            bid: tick.bid.or(known.bid),
            ask: tick.ask.or(known.ask),
            vol_bid: tick.vol_bid.or(known.vol_bid),
            vol_ask: tick.vol_ask.or(known.vol_ask),
            vol: tick.vol.or(known.vol),
            ..tick
        };
        match Arc::get_mut(&mut self.spare) {
            Some(spare) => *spare = merged,
            None => self.spare = Arc::new(merged),
        }
        std::mem::swap(&mut self.newest, &mut self.spare);
    }
}

fn nothing_of(security: SecurityId) -> Tick {
    Tick {
        security,
        feed: Text::from(""),
        at: Timestamp::default(),
        last: None,
        last_at: None,
        vol_last: None,
        bid: None,
        ask: None,
        vol_bid: None,
        vol_ask: None,
        vol: None,
    }
}
