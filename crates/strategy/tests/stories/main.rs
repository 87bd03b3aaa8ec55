//! Stories of strategies on virtual time, played on a paper market.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

/// The moving-average cross.
mod cross;
/// Phases, refusals, timers, generic events, floods.
mod life;
/// A bid and an offer.
mod maker;
/// Breakouts.
mod breakout;
/// A market on paper: every order is taken, and filled as soon as its price is there.
mod market;
/// That a call costs no memory.
mod memory;
/// What settings may be.
mod parameters;
/// Two that belong together.
mod pairs;
/// The language of the stories.
mod script;
