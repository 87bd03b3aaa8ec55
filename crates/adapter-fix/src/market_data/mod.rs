//! Market data of a venue over FIX.

mod entries;
mod entry_book;
mod feed;
mod venue_prices;

pub(crate) use feed::is_market_data;
pub use feed::{FeedStep, MarketDataFeed, RESTARTS_MAX};
pub(crate) use venue_prices::{PriceSource, VenuePrices};
