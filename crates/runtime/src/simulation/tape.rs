//! The newest prices, and which of them trading has not seen. It says what the engine's market half would say, without
//! forming bars that nobody asked for: a simulation plays millions of prices a second.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::{BarSize, Event, Index, Mark, OrderBook, Price, Published, SecurityId, Text, Tick, Timestamp};

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
    /// The newest tick, ready to be told.
    newest: Published,
    /// The tick before, whose memory is used again where nobody holds it any more.
    spare: Published,
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
            let [newest, spare] = [(), ()].map(|()| untold(security));
            tape.listings.push(Listing { newest, spare, is_changed: false, feeds_engine: false });
        }
        tape
    }

    /// Where a security stands; nothing where nobody trades it.
    #[inline]
    pub(super) fn place(&self, security: SecurityId) -> Option<usize> {
        self.places.get(&security).copied()
    }

    /// Takes a tick in and gives the whole of what is known, as it is told. What a feed leaves out keeps the last value.
    #[inline]
    pub(super) fn take(&mut self, place: usize, tick: &Tick, sequence: u64, at: Timestamp) -> &Published {
        let listing = &mut self.listings[place];
        listing.put(tick);
        (listing.newest.sequence, listing.newest.at) = (sequence, at);
        if !std::mem::replace(&mut listing.is_changed, true) {
            self.changed.push(place);
        }
        &self.listings[place].newest
    }

    /// A price at which the security traded, where nothing else is known.
    pub(super) fn mark_last(&mut self, security: SecurityId, last: Price, at: Timestamp) {
        let Some(place) = self.place(security) else { return };
        let listing = &mut self.listings[place];
        let known = tick_of(&listing.newest);
        let (feed, nothing) = (known.feed.clone(), nothing_of(security));
        let tick = Tick { at, feed, last: Some(last), last_at: Some(at), ..nothing };
        listing.put(&tick);
        if !std::mem::replace(&mut listing.is_changed, true) {
            self.changed.push(place);
        }
    }

    /// The best of a book; a side that it does not have is not known any more.
    pub(super) fn mark_book(&mut self, book: &OrderBook) {
        let Some(place) = self.place(book.security) else { return };
        let listing = &mut self.listings[place];
        let (bid, ask) = (book.bids.first(), book.asks.first());
        let newest = Tick {
            at: book.at,
            feed: book.feed.clone(),
            bid: bid.map(|level| level.price),
            vol_bid: bid.map(|level| level.quantity),
            ask: ask.map(|level| level.price),
            vol_ask: ask.map(|level| level.quantity),
            ..Tick::clone(tick_of(&listing.newest))
        };
        listing.newest.event = Event::Tick(Arc::new(newest));
        if !std::mem::replace(&mut listing.is_changed, true) {
            self.changed.push(place);
        }
    }

    /// The newest prices that trading has not seen.
    pub(super) fn changed_marks(&mut self) -> Vec<Mark> {
        let mut marks = Vec::with_capacity(self.changed.len());
        for place in self.changed.drain(..) {
            let listing = &mut self.listings[place];
            listing.is_changed = false;
            marks.push(Mark::from(&**tick_of(&listing.newest)));
        }
        marks
    }

    #[inline]
    pub(super) fn feeds_engine(&self, place: usize) -> bool {
        self.listings[place].feeds_engine
    }

    /// Asks for each security whether anybody wants bars of a size that the data does not have.
    pub(super) fn feed_engine(&mut self, wants: impl Fn(SecurityId, BarSize) -> bool) {
        for listing in &mut self.listings {
            let security = tick_of(&listing.newest).security;
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
    #[inline]
    fn put(&mut self, tick: &Tick) {
        let known = tick_of(&self.newest);
        let Event::Tick(spare) = &mut self.spare.event else { unreachable!("only ticks stand here") };
        match Arc::get_mut(spare) {
            Some(spare) => merge(spare, known, tick),
            None => {
                let mut fresh = Tick::clone(known);
                merge(&mut fresh, known, tick);
                *spare = Arc::new(fresh);
            }
        }
        std::mem::swap(&mut self.newest, &mut self.spare);
    }
}

/// Field by field into memory that is there already: a tick has two hundred bytes.
#[inline]
fn merge(into: &mut Tick, known: &Tick, tick: &Tick) {
    if into.feed != tick.feed {
        into.feed.clone_from(&tick.feed);
    }
    into.at = tick.at;
    into.last = tick.last.or(known.last);
    into.last_at = tick.last.and(tick.last_at.or(Some(tick.at))).or(known.last_at);
    into.vol_last = tick.vol_last.or(known.vol_last);
    into.bid = tick.bid.or(known.bid);
    into.ask = tick.ask.or(known.ask);
    into.vol_bid = tick.vol_bid.or(known.vol_bid);
    into.vol_ask = tick.vol_ask.or(known.vol_ask);
    into.vol = tick.vol.or(known.vol);
}

#[inline]
fn tick_of(published: &Published) -> &Arc<Tick> {
    match &published.event {
        Event::Tick(tick) => tick,
        _ => unreachable!("only ticks stand here"),
    }
}

fn untold(security: SecurityId) -> Published {
    Published { sequence: 0, at: Timestamp::default(), event: Event::Tick(Arc::new(nothing_of(security))) }
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
