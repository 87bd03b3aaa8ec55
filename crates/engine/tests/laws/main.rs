//! Laws that hold for any history: the engine against a slow and obvious model, through its public door alone.

// A law that cannot be put to the test is a failed test.
#![allow(clippy::unwrap_used)]

/// The desk that the laws are tried on.
mod desk;
/// Random steps: what people, venues, prices and clocks may do.
mod steps;
/// The slow model: facts of orders, from which all else is worked out anew each time.
mod model;
/// How the model takes the word of a venue.
mod hearing;
/// Positions and cash as a fold over all bookings.
mod books;
/// The risk gate, restated slowly.
mod gate;
/// Orders that leave only when others are gone, restated slowly.
mod waiting;
/// The figures that it decides by.
mod sums;
/// How fast orders may come, restated slowly.
mod pace;
/// One step taken by engine and model alike, and everything compared.
mod trial;
/// What people ask of both.
mod asking;
/// What the venues of a trial say.
mod venue;
/// What outsiders see of both.
mod sight;
/// What was published and instructed must be what changed.
mod telling;

/// Any history: engine and model agree after every step.
mod agreement;
/// Questions to the gate that leave no trace.
mod probe;
/// Replays and snapshots.
mod replay;
/// Reports that come twice, late or in another order.
mod shuffle;
/// What open orders hold back, and give back.
mod reserves;
/// Orders that may only reduce.
mod reducing;
/// Orders that must not meet, and closes of protected positions.
mod standing;
/// Every control of the gate just below, at and just above its limit.
mod limits;
/// Inputs that no sane peer would send.
mod odd;
/// Rules that no sane administrator would write.
mod odd_rules;
/// Nothing that is said can bring the engine down.
mod nonsense;
/// Orders that the platform itself ends.
mod expiry;
