//! Adapter of Binance spot, on the adapter kit.
//!
//! The parts that decide something are pure: they get the time and bytes from their caller. Everything is written from
//! the venue's public documentation and shares no code with the venue lab, which tests it.

pub mod protocol;
pub mod depth_book;
pub mod market_mapping;
pub mod client_id;
pub mod order_mapping;
pub mod symbol_rules;
pub mod executions;
pub mod order_picture;
pub mod leg_owners;
pub mod external_orders;
pub mod fills_question;
pub mod first_log_on;
pub mod order_tracker;
pub mod inquiry;
pub mod price_feed;
pub mod rate_rules;
pub mod request_gate;
pub mod symbol_table;
pub mod traded_symbols;
pub mod transcript;
pub mod addresses;
pub mod connection;
mod network;
pub mod adapter;
mod symbol_list;
pub mod venue_type;

pub use adapter::{BinanceAdapter, BinancePrices, BinanceSetup};
pub use venue_type::BinanceSpotType;
