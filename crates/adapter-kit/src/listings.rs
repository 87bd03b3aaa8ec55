//! Listings of a venue: what may be traded in which steps, what changed since the last list, and which open orders no
//! longer fit.
//!
//! A list that is empty or names a symbol twice is refused as a whole: it would delist what still trades.

use std::collections::BTreeMap;
use std::fmt;

use domain::report::VenueListing;
pub use domain::report::{ListingRefusal, ListingStatus};
use domain::{Amount, Decimal, Price, Quantity};

/// Symbols of one venue, delisted ones included; a list with more is refused.
pub const LISTINGS_MAX: usize = 100_000;

/// One symbol of a venue, with its filters. An absent filter does not apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    pub symbol: String,
    pub status: ListingStatus,
    pub tick: Option<Decimal>,
    pub lot: Option<Decimal>,
    pub quantity_min: Option<Quantity>,
    pub quantity_max: Option<Quantity>,
    /// Price times quantity.
    pub notional_min: Option<Amount>,
    pub notional_max: Option<Amount>,
}

impl Listing {
    /// For the engine, which knows the security by its own id.
    pub fn venue_listing(&self) -> VenueListing {
        VenueListing {
            status: self.status,
            tick: self.tick.map(Price),
            lot: self.lot.map(Quantity),
            quantity_min: self.quantity_min,
            quantity_max: self.quantity_max,
            notional_min: self.notional_min,
            notional_max: self.notional_max,
            replace: None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListingChange {
    New(Listing),
    /// The same symbol with another status or other filters. A symbol that is gone has the status `Delisted`.
    Changed {
        before: Listing,
        after: Listing,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListingsRefused {
    Empty,
    /// More than [`LISTINGS_MAX`].
    TooMany,
    Repeated {
        symbol: String,
    },
    /// A step that is zero or negative.
    NoStep {
        symbol: String,
    },
}

/// What is checked of an order. Without a price (a market order) price and notional are not checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedOrder {
    pub symbol: String,
    pub quantity: Quantity,
    pub price: Option<Price>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listings(BTreeMap<String, Listing>);

impl Listings {
    pub fn get(&self, symbol: &str) -> Option<&Listing> {
        self.0.get(symbol)
    }

    /// Takes the venue's whole list; gives what changed, in the order of symbols.
    pub fn apply(&mut self, fresh: Vec<Listing>) -> Result<Vec<ListingChange>, ListingsRefused> {
        let fresh = checked(fresh)?;
        let gone: Vec<_> = self.0.values().filter(|known| !fresh.contains_key(&known.symbol)).cloned().collect();
        let delisted = gone.into_iter().map(|known| Listing { status: ListingStatus::Delisted, ..known });
        let mut all = fresh;
        all.extend(delisted.map(|listing| (listing.symbol.clone(), listing)));
        if all.len() > LISTINGS_MAX {
            return Err(ListingsRefused::TooMany);
        }
        let changes = all.values().filter_map(|after| self.change(after)).collect();
        self.0 = all;
        Ok(changes)
    }

    fn change(&self, after: &Listing) -> Option<ListingChange> {
        match self.0.get(&after.symbol) {
            None => Some(ListingChange::New(after.clone())),
            Some(before) if before == after => None,
            Some(before) => Some(ListingChange::Changed { before: before.clone(), after: after.clone() }),
        }
    }

    /// Whether the venue would take the order.
    pub fn check(&self, order: &ListedOrder) -> Result<(), ListingRefusal> {
        let listing = self.0.get(&order.symbol).ok_or(ListingRefusal::Unlisted)?;
        listing.venue_listing().check(order.quantity, order.price, None)
    }

    /// Open orders that the venue would not take any more, after a change. Most venues keep them.
    pub fn recheck<'a, K: Copy>(
        &self,
        open: impl IntoIterator<Item = (K, &'a ListedOrder)>,
    ) -> Vec<(K, ListingRefusal)> {
        open.into_iter().filter_map(|(key, order)| self.check(order).err().map(|refusal| (key, refusal))).collect()
    }
}

fn checked(fresh: Vec<Listing>) -> Result<BTreeMap<String, Listing>, ListingsRefused> {
    let mut listings = BTreeMap::new();
    for listing in fresh {
        let symbol = listing.symbol.clone();
        if [listing.tick, listing.lot].into_iter().flatten().any(|step| step <= Decimal::ZERO) {
            return Err(ListingsRefused::NoStep { symbol });
        }
        if listings.insert(symbol.clone(), listing).is_some() {
            return Err(ListingsRefused::Repeated { symbol });
        }
    }
    if listings.is_empty() { Err(ListingsRefused::Empty) } else { Ok(listings) }
}

impl fmt::Display for ListingsRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the venue's list of symbols is empty; the list before it stays"),
            Self::TooMany => {
                write!(f, "the venue's list has more than {LISTINGS_MAX} symbols; the list before it stays")
            }
            Self::Repeated { symbol } => write!(f, "the venue's list has {symbol} twice; the list before it stays"),
            Self::NoStep { symbol } => {
                write!(f, "the venue's list has a step of zero or less for {symbol}; the list before it stays")
            }
        }
    }
}

impl std::error::Error for ListingsRefused {}
