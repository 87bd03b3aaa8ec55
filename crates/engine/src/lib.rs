//! What trading means here: one state, one `apply()`. No clock, no lock, no file.

/// The engine: both halves and the one door.
mod engine;
/// The stamp of the input that is being applied.
mod moment;
/// What one input causes.
pub mod outbox;
/// The trading half, and what it obeys.
mod trading;
/// Orders and executions.
mod orders;
/// The risk gate.
mod risk;
/// Positions, cash and their value.
mod portfolio;
/// Transactions recorded by hand, resets.
mod bookings;
/// The prices that trading sees.
mod marks;
/// Reference data with calendars and routes.
mod directory;
/// What is known of each adapter.
mod desks;
/// Who wants which prices.
mod subscriptions;
/// The phases of strategies.
mod lifecycle;
/// Days and deadlines.
mod day;
/// Futures and options that expire.
mod expiration;
/// Ids that never repeat.
mod minted;
/// The market half: last values, books, bars.
mod market;
/// Shared values on disk.
mod codec;
#[cfg(test)]
mod samples;

pub use engine::{BadSnapshot, Engine, Still, subject};
pub use outbox::Outbox;
