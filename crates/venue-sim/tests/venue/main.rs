//! Simulated venue scenarios: requests with their time, and the reports of the venue.

// Clippy exempts the tests but not their helpers; in both a panic is the failure.
#![allow(clippy::unwrap_used)]

mod venue_client;

/// Opening and closing auctions, and what closed means.
mod auctions;
/// Replaces, cancels, and the same order twice.
mod changes;
/// What no venue can be made of.
mod configuration;
/// Faults on purpose.
mod faults;
/// What the venue charges makers and takers.
mod fees;
mod following;
/// Orders that are replaced by cancelling one and placing another.
mod legs;
mod statements;
mod laws;
/// Ticks, trades and books.
mod market_data;
/// Orders in continuous trading.
mod orders;
/// Participants that act by themselves.
mod participants;
/// Orders that only rest, that show a part, that need a minimum.
mod properties;
/// The ledger, and coming back from it.
mod restart;
/// Stops and stop-limits.
mod stops;
