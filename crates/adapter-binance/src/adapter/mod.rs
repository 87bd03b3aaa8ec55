//! The adapter of Binance spot. The host calls it on one thread; the network runs on a thread of its own, and what comes
//! from there waits in a channel until it is taken.

mod answers;
mod api_connection;
mod api_line;
mod due_work;
mod external;
mod inquiries;
mod lists;
mod log_on;
mod prices;
mod requests;
mod session_traits;
mod state;
mod waiting;

#[cfg(test)]
mod tests;

pub use prices::BinancePrices;
pub use state::{BinanceAdapter, BinanceSetup, TRADED_SYMBOLS};
