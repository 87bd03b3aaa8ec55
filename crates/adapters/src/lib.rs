//! Venues and their prices. An adapter translates between one venue's words and ours; the host gives it a thread,
//! keeps its session up and carries what it says to the bus. The engine decides, nothing here does.

/// One session at a venue, over and over: connect, compare, subscribe, serve.
pub mod host;
/// Rules that any adapter can be run through.
pub mod kit;
/// A market in a box as a venue, with a ledger of its own.
pub mod simulated;
/// The host's thread.
pub mod thread;
/// What every venue implements: trading and prices.
pub mod venue;

pub use host::{Backoff, Host};
pub use kit::{Harness, Outcome, check};
pub use simulated::Simulated;
pub use thread::{Clock, Doors, spawn};
pub use venue::{Adapter, Broken, MarketFeed, Sending, Sink, Trading};

/// Orders, shared with the stories in `tests`.
#[cfg(test)]
#[path = "../tests/venues/desk.rs"]
mod desk;
/// A market, shared with the stories in `tests`.
#[cfg(test)]
#[path = "../tests/venues/market.rs"]
mod market;
