//! A market in a box: orders in, trades out, without a clock, a file or a socket.

/// The venue: requests in, records, reports and market data out, all in its own time.
pub mod venue;

/// What a venue is made from.
pub mod config;
/// Faults on purpose.
pub mod faults;
/// The venue's own ledger, one record at a time.
pub mod record;

/// What is due when.
mod agenda;
/// The seeded participants of one security.
mod crowd;
/// Decimals to ticks and lots and back.
mod grid;
/// The market of one security.
mod market;
/// Clients' orders, as the ledger tells.
mod registry;
/// Why the venue does not do what it is asked.
mod reject;
/// Chance from a seed.
mod rng;
/// The exchange's day.
mod sessions;
/// Stop orders that wait for their price.
mod stops;
/// Market data of one security.
mod tape;

/// A venue driven by recorded prices.
pub mod replay;

/// Price-time-priority order book of one security, in ticks and lots.
pub mod book;

pub use book::SelfTrade;
pub use config::{Activity, ConfigError, Fees, Listing, Opening, VenueConfig};
pub use faults::Faults;
pub use record::Record;
pub use venue::{Output, Venue};
