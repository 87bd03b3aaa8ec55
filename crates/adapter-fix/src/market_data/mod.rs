//! Market data of a venue over FIX.

mod entries;
mod entry_book;
mod feed;
mod venue_prices;

pub use entries::{BadEntry, EntryAction, EntryType, MarketEntry, entries_of};
pub use entry_book::{BookGap, EntryBook, NAMED_ENTRIES_MAX};
pub(crate) use feed::is_market_data;
pub use feed::{FeedProblem, FeedStep, KNOWN_TRADES_MAX, MarketDataFeed, PUBLISHED_LEVELS, RESTARTS_MAX};
pub(crate) use venue_prices::{PriceSource, VenuePrices};
