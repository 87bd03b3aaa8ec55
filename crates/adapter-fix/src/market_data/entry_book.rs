//! The book of a security from its entries. Entries with an MDEntryID are known by it; all others are a level that is known by
//! side and price. A book that contradicts itself is discarded at once: it is never shown.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use domain::{BookLevel, Decimal, Price, Quantity};

use super::entries::{EntryAction, EntryType, MarketEntry};

/// Entries with an id that a book may have; a venue that sends more is not followed.
pub(crate) const NAMED_ENTRIES_MAX: usize = 100_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BookSide {
    Bids,
    Asks,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NamedEntry {
    side: BookSide,
    price: Decimal,
    size: Decimal,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct EntryBook {
    named: HashMap<String, NamedEntry>,
    bids: BTreeMap<Decimal, Decimal>,
    asks: BTreeMap<Decimal, Decimal>,
}

/// Why a book cannot be continued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BookGap {
    /// An entry was changed or deleted that never came.
    UnknownEntry(String),
    Incomplete(&'static str),
    Crossed {
        bid: Decimal,
        ask: Decimal,
    },
    TooMany,
}

impl EntryBook {
    /// All entries at once; trades are not part of a book.
    pub(crate) fn from_entries(entries: &[&MarketEntry]) -> Result<Self, BookGap> {
        let mut book = Self::default();
        book.apply(entries)?;
        Ok(book)
    }

    /// The entries of one message, in its order. After an error the book is of no use.
    pub(crate) fn apply(&mut self, entries: &[&MarketEntry]) -> Result<(), BookGap> {
        entries.iter().try_for_each(|entry| self.apply_entry(entry))?;
        match (self.bids.last_key_value(), self.asks.first_key_value()) {
            (Some((bid, _)), Some((ask, _))) if bid >= ask => Err(BookGap::Crossed { bid: *bid, ask: *ask }),
            _ => Ok(()),
        }
    }

    /// Best first.
    pub(crate) fn bids(&self, levels: usize) -> Vec<BookLevel> {
        self.bids.iter().rev().take(levels).map(level).collect()
    }

    /// Best first.
    pub(crate) fn asks(&self, levels: usize) -> Vec<BookLevel> {
        self.asks.iter().take(levels).map(level).collect()
    }

    fn apply_entry(&mut self, entry: &MarketEntry) -> Result<(), BookGap> {
        match (&entry.id, entry.action) {
            (Some(id), EntryAction::New) => self.set_named(id, None, entry),
            (Some(id), EntryAction::Change) => {
                let known = entry.previous_id.as_ref().unwrap_or(id);
                let before = self.remove_named(known)?;
                self.set_named(id, Some(before), entry)
            }
            (Some(id), EntryAction::Delete) => self.remove_named(id).map(drop),
            (None, action) => self.set_level(entry, action),
        }
    }

    /// What a change does not have stays as it was.
    fn set_named(&mut self, id: &str, before: Option<NamedEntry>, entry: &MarketEntry) -> Result<(), BookGap> {
        if self.named.contains_key(id) {
            self.remove_named(id)?;
        }
        if self.named.len() >= NAMED_ENTRIES_MAX {
            return Err(BookGap::TooMany);
        }
        let missing = BookGap::Incomplete;
        let side = entry.entry_type.and_then(side_of).or(before.map(|before| before.side));
        let named = NamedEntry {
            side: side.ok_or(missing("MDEntryType (269)"))?,
            price: entry.price.or(before.map(|before| before.price)).ok_or(missing("MDEntryPx (270)"))?,
            size: positive(entry.size.or(before.map(|before| before.size)))?,
        };
        self.named.insert(id.to_owned(), named);
        let size = self.side(named.side).entry(named.price).or_default();
        *size = size.checked_add(named.size).ok_or(missing("a sum of MDEntrySize (271)"))?;
        Ok(())
    }

    fn remove_named(&mut self, id: &str) -> Result<NamedEntry, BookGap> {
        let entry = self.named.remove(id).ok_or_else(|| BookGap::UnknownEntry(id.to_owned()))?;
        let side = self.side(entry.side);
        match side.get(&entry.price).and_then(|size| size.checked_sub(entry.size)) {
            Some(rest) if rest > Decimal::ZERO => drop(side.insert(entry.price, rest)),
            _ => drop(side.remove(&entry.price)),
        }
        Ok(entry)
    }

    /// A level that is deleted and not known was beyond the depth that was sent.
    fn set_level(&mut self, entry: &MarketEntry, action: EntryAction) -> Result<(), BookGap> {
        let side = entry.entry_type.and_then(side_of).ok_or(BookGap::Incomplete("MDEntryType (269)"))?;
        let price = entry.price.ok_or(BookGap::Incomplete("MDEntryPx (270)"))?;
        if action == EntryAction::Delete || entry.size == Some(Decimal::ZERO) {
            self.side(side).remove(&price);
            return Ok(());
        }
        let size = positive(entry.size)?;
        self.side(side).insert(price, size);
        Ok(())
    }

    fn side(&mut self, side: BookSide) -> &mut BTreeMap<Decimal, Decimal> {
        match side {
            BookSide::Bids => &mut self.bids,
            BookSide::Asks => &mut self.asks,
        }
    }
}

fn side_of(entry_type: EntryType) -> Option<BookSide> {
    match entry_type {
        EntryType::Bid => Some(BookSide::Bids),
        EntryType::Offer => Some(BookSide::Asks),
        EntryType::Trade => None,
    }
}

fn positive(size: Option<Decimal>) -> Result<Decimal, BookGap> {
    size.filter(|size| *size > Decimal::ZERO).ok_or(BookGap::Incomplete("a positive MDEntrySize (271)"))
}

fn level((price, quantity): (&Decimal, &Decimal)) -> BookLevel {
    BookLevel { price: Price(*price), quantity: Quantity(*quantity) }
}

impl fmt::Display for BookGap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownEntry(id) => write!(f, "the entry {id} never came"),
            Self::Incomplete(field) => write!(f, "an entry lacks {field}"),
            Self::Crossed { bid, ask } => write!(f, "the best bid {bid} is not below the best ask {ask}"),
            Self::TooMany => write!(f, "there are more than {NAMED_ENTRIES_MAX} entries"),
        }
    }
}
