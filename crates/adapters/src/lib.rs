//! Venue adapters. An adapter translates one venue's protocol; the host keeps its session up and forwards reports and
//! prices to the engine. All decisions are made in the engine.

pub mod host;
pub mod kit;
pub mod simulated;
pub mod thread;
pub mod venue;

pub use host::{Backoff, Host};
pub use kit::{Harness, Outcome, check};
pub use simulated::Simulated;
pub use thread::{Clock, Doors, spawn};
pub use venue::{Adapter, Broken, MarketFeed, Sending, Sink, Trading};

/// Orders, shared with `tests`.
#[cfg(test)]
#[path = "../tests/venues/desk.rs"]
mod desk;
/// A market, shared with `tests`.
#[cfg(test)]
#[path = "../tests/venues/market.rs"]
mod market;
