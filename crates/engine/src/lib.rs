//! The trading engine: one state, one `apply()`. No clock, no lock, no file.

mod engine;
mod commands;
mod reports;
mod reconciliation;
mod queries;
pub mod outbox;
mod trading;
mod orders;
mod risk;
mod portfolio;
mod bookings;
mod marks;
mod reference_index;
mod adapters;
mod strategies;
mod day;
mod id_generator;
mod shared;
mod market;
mod codec;
#[cfg(test)]
mod samples;

pub use engine::{Engine, InvalidSnapshot, StateSnapshot, security_of};
pub use orders::registry::retired_keys::{RetiredKeyLookup, RetiredKeys};
pub use orders::transitions::{OrderEvent, PendingState, RequestEvent, next_pending, next_state};
pub use outbox::Outbox;

/// Why an order ended that its venue certainly does not have.
pub const NEVER_ARRIVED: &str = orders::reconciliation::NEVER_ARRIVED;
