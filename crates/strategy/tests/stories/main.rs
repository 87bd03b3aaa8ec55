//! Strategy tests on virtual time, with a simple paper market.

#![allow(clippy::unwrap_used, reason = "a failing step ends the test")]

/// The moving-average cross.
mod cross;
/// Phases, refusals, timers, generic events, floods.
mod life;
/// A bid and an offer.
mod maker;
/// Breakouts.
mod breakout;
mod market;
mod memory;
/// What settings may be.
mod parameters;
/// Two that belong together.
mod pairs;
mod script;
