//! The trading engine: one state, one `apply()`. No clock, no lock, no file.

mod engine;
mod moment;
pub mod outbox;
mod trading;
mod orders;
mod risk;
mod portfolio;
mod bookings;
mod marks;
mod reference_index;
mod adapters;
mod subscriptions;
mod lifecycle;
mod day;
mod expiration;
mod id_generator;
mod market;
mod codec;
#[cfg(test)]
mod samples;

pub use engine::{Engine, InvalidSnapshot, StateSnapshot, security_of};
pub use outbox::Outbox;
