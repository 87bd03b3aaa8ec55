//! Adapter kit: what an adapter of a real venue is built on, apart from the venue's own protocol.
//!
//! The parts that decide something are pure: they get the time and read no clock, so that an hour is a test of seconds.

pub mod budget;
pub mod request_queue;
pub mod venue_clock;
pub mod reconnect;
pub mod renewal;
pub mod listings;
pub mod connection;
pub mod recording;
pub mod credentials;
pub mod signing;
pub mod file_write;
pub mod kept_text;
pub mod network_venue;

pub use budget::{
    BudgetFile, BudgetRecord, BudgetRefusal, HoldKind, HoldScope, HoldSignal, LaneShares, RateRule, RequestBudget,
    RequestCost, RequestGrant, RequestLane, VenueAnswer,
};
pub use kept_text::KeptText;
pub use network_venue::{NETWORK_SETTINGS, NetworkSettings, NetworkVenue, check_first_day};
pub use reconnect::{NextConnect, ReconnectPolicy, ReconnectRule};
pub use renewal::{ConnectionNumber, ConnectionRenewal, MessageCopy, RenewalAction, RenewalRule};
pub use request_queue::{QueuedRequest, RequestQueue};
pub use venue_clock::{ClockOffset, ClockRefusal, ClockSample, VenueClock};
