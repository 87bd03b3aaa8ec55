//! Prices of the venue in our words: quotes, trades, bars, and order books built from differences.

pub mod depth_book;
pub mod market_mapping;
pub mod price_feed;
mod stream_watch;
pub(crate) mod past_bars;
