//! What trading means here: one state, one `apply()`. No clock, no lock, no file.

/// Transactions recorded by hand, resets.
mod bookings;
/// Shared values on disk.
mod codec;
/// Days and deadlines.
mod day;
/// What is known of each adapter.
mod desks;
/// Reference data with calendars and routes.
mod directory;
/// The engine: both halves and the one door.
mod engine;
/// The phases of strategies.
mod lifecycle;
/// The market half: last values, books, bars.
mod market;
/// The prices that trading sees.
mod marks;
/// Ids that never repeat.
mod minted;
/// The stamp of the input that is being applied.
mod moment;
/// Orders and executions.
mod orders;
/// What one input causes.
pub mod outbox;
/// Positions, cash and their value.
mod portfolio;
/// The risk gate.
mod risk;
#[cfg(test)]
mod samples;
/// Who wants which prices.
mod subscriptions;
/// The trading half, and what it obeys.
mod trading;

pub use engine::{BadSnapshot, Engine, subject};
pub use outbox::Outbox;
