//! Venue adapters. An adapter translates one venue's protocol; the host keeps its session up and forwards reports and
//! prices to the engine. All decisions are made in the engine.

#![warn(missing_docs)]

mod adapter_records;
pub mod host;
mod overlap_record;
mod request_fence;
mod second_way;
mod send_lease;
pub mod conformance;
pub mod first_contact;
pub mod paper;
pub mod simulated;
pub mod simulated_venue;
pub mod thread;
mod told_listings;
pub mod venue;
pub mod venue_type;

pub use adapter_records::AdapterRecords;
pub use conformance::{Harness, RuleOutcome, check, check_under_fault};
pub use first_contact::{ContactOutcome, ContactPlan, ContactStep, StepOutcome, first_contact};
pub use host::{AdapterHost, VenueBackoff};
pub use overlap_record::OverlapRecord;
pub use paper::{PaperAdapter, PriceSession};
pub use second_way::SecondWay;
pub use send_lease::{NO_LEASE, SendLease};
pub use simulated::SimulatedAdapter;
pub use simulated_venue::SimulatedVenueType;
pub use thread::{AdapterClock, AdapterIo, VenueThread, spawn};
pub use told_listings::ToldListings;
pub use venue::{Adapter, MarketFeed, OrderSession, ReportSink, SendOutcome, SessionLost, VenueOrderRules};
pub use venue_type::{
    OpenVenue, OpenVenueError, RecordingSummary, VenueContext, VenueRecording, VenueSetting, VenueSettings, VenueType,
};

/// Orders, shared with `tests`.
#[cfg(test)]
#[path = "../tests/venues/fixture.rs"]
mod fixture;
/// A market, shared with `tests`.
#[cfg(test)]
#[path = "../tests/venues/market.rs"]
mod market;
