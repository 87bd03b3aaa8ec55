//! The trading engine: one state, one `apply()`. No clock, no lock, no file.

mod engine;
mod commands;
mod reports;
mod reconciliation;
mod queries;
mod moment;
pub mod outbox;
mod trading;
mod venue_listings;
mod orders;
mod risk;
mod portfolio;
mod bookings;
mod marks;
mod reference_index;
mod adapter_states;
mod adapters;
mod entries;
mod entry_store;
mod subscription_set;
mod subscriptions;
mod lifecycle;
mod line_monitor;
mod listed_orders;
mod day;
mod expirations;
mod expiration;
mod id_generator;
mod int_ids;
mod market;
mod codec;
#[cfg(test)]
mod samples;

pub use engine::{Engine, InvalidSnapshot, StateSnapshot, security_of};
pub use orders::retired_keys::{RetiredKeyLookup, RetiredKeys};
pub use outbox::Outbox;
