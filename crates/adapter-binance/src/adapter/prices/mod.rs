//! Prices of the adapter: the line of the market streams, and the adapter without a key.

pub(super) mod price_connection;
mod price_line;
mod public_prices;

pub use public_prices::BinancePrices;
