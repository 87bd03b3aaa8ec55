//! Adapter of Binance spot, on the adapter kit.
//!
//! The parts that decide something are pure: they get the time and bytes from their caller. Everything is written from
//! the venue's public documentation and shares no code with the venue lab, which tests it.

pub mod protocol;
mod prices;
mod symbols;
mod orders;
pub mod order_tracker;
pub mod first_log_on;
pub mod rate_rules;
pub mod request_gate;
pub mod transcript;
pub mod addresses;
pub mod connection;
mod network;
mod market_streams;
pub mod adapter;
pub mod venue_type;

pub use orders::{
    client_id, executions, external_orders, fills_question, inquiry, leg_owners, order_lists, order_mapping,
    order_picture,
};
pub use prices::{depth_book, market_mapping, price_feed};
pub use symbols::{symbol_rules, symbol_table, traded_symbols};

pub use adapter::{BinanceAdapter, BinancePrices, BinanceSetup};
pub use venue_type::BinanceSpotType;
