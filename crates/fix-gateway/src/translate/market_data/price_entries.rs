//! The entries of a security's prices, and what changed between two of them. An entry is known by its side and price.

use domain::{BookLevel, OrderBook, Price, Quantity, StaleCause, Tick, Timestamp};

use super::price_request::PriceView;

/// MDEntryType (269) of an entry of a book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntrySide {
    Bid,
    Offer,
}

/// A price of a side, and how much is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PriceEntry {
    pub(crate) side: EntrySide,
    pub(crate) price: Price,
    /// Absent where the feed does not tell.
    pub(crate) size: Option<Quantity>,
    /// Why it may no longer be true.
    pub(crate) stale: Option<StaleCause>,
}

/// The newest trade of a security.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewestTrade {
    pub(crate) price: Price,
    /// Absent where the feed does not tell.
    pub(crate) size: Option<Quantity>,
    pub(crate) at: Timestamp,
}

impl NewestTrade {
    pub(crate) fn from_tick(tick: &Tick) -> Option<Self> {
        Some(Self { price: tick.last?, size: tick.vol_last, at: tick.last_at.unwrap_or(tick.at) })
    }
}

/// MDUpdateAction (279) of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EntryChange<'a> {
    New(&'a PriceEntry),
    Change(&'a PriceEntry),
    Delete(&'a PriceEntry),
}

/// What a view shows, best first. Where the venue sends no book, the best prices are all there is.
pub(crate) fn entries_of(tick: Option<&Tick>, book: Option<&OrderBook>, view: &PriceView) -> Vec<PriceEntry> {
    let stale = tick.and_then(|tick| tick.stale);
    let mut entries = Vec::new();
    match book.filter(|_| view.depth != 1) {
        Some(book) => {
            let levels = if view.depth == 0 { usize::MAX } else { view.depth };
            let entry = |side| {
                move |level: &BookLevel| PriceEntry { side, price: level.price, size: Some(level.quantity), stale }
            };
            entries.extend(book.bids.iter().take(levels).map(entry(EntrySide::Bid)));
            entries.extend(book.asks.iter().take(levels).map(entry(EntrySide::Offer)));
        }
        None => {
            let Some(tick) = tick else { return entries };
            let best = |side, price: Option<Price>, size| Some(PriceEntry { side, price: price?, size, stale });
            entries.extend(best(EntrySide::Bid, tick.bid, tick.vol_bid));
            entries.extend(best(EntrySide::Offer, tick.ask, tick.vol_ask));
        }
    }
    entries.retain(|entry| match entry.side {
        EntrySide::Bid => view.bids,
        EntrySide::Offer => view.offers,
    });
    entries
}

/// How one becomes the other: what leaves comes first, so that no side passes the other in between.
pub(crate) fn changes_between<'a>(before: &'a [PriceEntry], after: &'a [PriceEntry]) -> Vec<EntryChange<'a>> {
    let find = |all: &'a [PriceEntry], entry: &PriceEntry| {
        all.iter().find(|known| known.side == entry.side && known.price == entry.price)
    };
    let gone = before.iter().filter(|entry| find(after, entry).is_none()).map(EntryChange::Delete);
    let come = after.iter().filter_map(|entry| match find(before, entry) {
        None => Some(EntryChange::New(entry)),
        Some(known) if known != entry => Some(EntryChange::Change(entry)),
        Some(_) => None,
    });
    gone.chain(come).collect()
}
