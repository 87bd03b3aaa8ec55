//! Simulated exchange: order books with price-time priority, auctions and participants; and replay venues over recorded
//! prices. No clock, no file, no socket.

pub mod venue;
pub mod config;
pub mod faults;
pub mod record;
mod agenda;
mod crowd;
mod grid;
mod market;
mod registry;
mod reject;
mod rng;
mod sessions;
mod stops;
mod tape;
pub mod replay;
pub mod book;

pub use book::SelfTrade;
pub use config::{Activity, ConfigError, Fees, Listing, Opening, VenueConfig};
pub use faults::Faults;
pub use record::Record;
pub use venue::{Output, Venue};
