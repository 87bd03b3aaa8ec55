//! Venue adapters. An adapter translates one venue's protocol; the host keeps its session up and forwards reports and
//! prices to the engine. All decisions are made in the engine.

#![warn(missing_docs)]

pub mod host;
mod request_fence;
pub mod conformance;
pub mod simulated;
pub mod thread;
pub mod venue;

pub use conformance::{Harness, RuleOutcome, check};
pub use host::{AdapterHost, VenueBackoff};
pub use simulated::SimulatedAdapter;
pub use thread::{AdapterClock, AdapterIo, spawn};
pub use venue::{Adapter, MarketFeed, OrderSession, ReportSink, SendOutcome, SessionLost};

/// Orders, shared with `tests`.
#[cfg(test)]
#[path = "../tests/venues/fixture.rs"]
mod fixture;
/// A market, shared with `tests`.
#[cfg(test)]
#[path = "../tests/venues/market.rs"]
mod market;
