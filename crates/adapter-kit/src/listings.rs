//! Listings of a venue: what may be traded in which steps, what changed since the last list, and which open orders no
//! longer fit.
//!
//! A list that is empty or names a symbol twice is refused as a whole: it would delist what still trades.

use std::collections::BTreeMap;
use std::fmt;

use domain::{Amount, Decimal, Price, Quantity};

/// Symbols of one venue, delisted ones included; a list with more is refused.
pub const LISTINGS_MAX: usize = 100_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListingStatus {
    Trading,
    /// Nothing is taken for now.
    Halted,
    /// Orders can be cancelled, new ones are refused.
    CancelOnly,
    /// The venue does not list it any more.
    Delisted,
}

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

/// Why an order does not fit its listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListingRefusal {
    Unlisted,
    Status(ListingStatus),
    Tick { price: Price, tick: Decimal },
    Lot { quantity: Quantity, lot: Decimal },
    Quantity { quantity: Quantity, min: Option<Quantity>, max: Option<Quantity> },
    Notional { min: Option<Amount>, max: Option<Amount> },
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
        if listing.status != ListingStatus::Trading {
            return Err(ListingRefusal::Status(listing.status));
        }
        check_steps(listing, order)?;
        check_sizes(listing, order)
    }

    /// Open orders that the venue would not take any more, after a change. What to do with them is the engine's business:
    /// most venues keep them.
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

fn check_steps(listing: &Listing, order: &ListedOrder) -> Result<(), ListingRefusal> {
    if let (Some(price), Some(tick)) = (order.price, listing.tick)
        && !price.is_multiple_of(tick)
    {
        return Err(ListingRefusal::Tick { price, tick });
    }
    match listing.lot {
        Some(lot) if !order.quantity.is_multiple_of(lot) => Err(ListingRefusal::Lot { quantity: order.quantity, lot }),
        _ => Ok(()),
    }
}

fn check_sizes(listing: &Listing, order: &ListedOrder) -> Result<(), ListingRefusal> {
    let Listing { quantity_min: min, quantity_max: max, .. } = *listing;
    if !is_within(order.quantity, min, max) {
        return Err(ListingRefusal::Quantity { quantity: order.quantity, min, max });
    }
    let Listing { notional_min: min, notional_max: max, .. } = *listing;
    let notional = order.price.map(|price| order.quantity.value_at(price, Decimal::ONE));
    match notional {
        // A value that is too large for a number is too large for any venue.
        Some(Err(_)) => Err(ListingRefusal::Notional { min, max }),
        Some(Ok(notional)) if !is_within(notional, min, max) => Err(ListingRefusal::Notional { min, max }),
        _ => Ok(()),
    }
}

fn is_within<T: PartialOrd>(value: T, min: Option<T>, max: Option<T>) -> bool {
    min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max)
}

impl ListingStatus {
    pub fn name(self) -> &'static str {
        match self {
            Self::Trading => "trading",
            Self::Halted => "halted",
            Self::CancelOnly => "cancel-only",
            Self::Delisted => "delisted",
        }
    }
}

impl ListingRefusal {
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unlisted => "venue-unlisted",
            Self::Status(ListingStatus::Trading | ListingStatus::Halted) => "venue-halted",
            Self::Status(ListingStatus::CancelOnly) => "venue-cancel-only",
            Self::Status(ListingStatus::Delisted) => "venue-delisted",
            Self::Tick { .. } => "venue-tick",
            Self::Lot { .. } => "venue-lot",
            Self::Quantity { .. } => "venue-quantity",
            Self::Notional { .. } => "venue-notional",
        }
    }
}

impl fmt::Display for ListingRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.code())?;
        match self {
            Self::Unlisted => f.write_str("the venue does not list the symbol"),
            Self::Status(status) => write!(f, "the symbol is {}", status.name()),
            Self::Tick { price, tick } => write!(f, "the price {price} is no multiple of {tick}"),
            Self::Lot { quantity, lot } => write!(f, "the quantity {quantity} is no multiple of {lot}"),
            Self::Quantity { quantity, min, max } => {
                write!(f, "the quantity {quantity} is not from {} to {}", shown(*min), shown(*max))
            }
            Self::Notional { min, max } => {
                write!(f, "price times quantity is not from {} to {}", shown(*min), shown(*max))
            }
        }
    }
}

fn shown<T: fmt::Display>(bound: Option<T>) -> String {
    bound.map_or_else(|| "any".to_owned(), |bound| bound.to_string())
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

impl std::error::Error for ListingRefusal {}
impl std::error::Error for ListingsRefused {}
