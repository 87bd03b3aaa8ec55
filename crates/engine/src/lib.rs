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
mod directory;
mod desks;
mod subscriptions;
mod lifecycle;
mod day;
mod expiration;
mod minted;
mod market;
mod codec;
#[cfg(test)]
mod samples;

pub use engine::{BadSnapshot, Engine, Still, subject};
pub use outbox::Outbox;
