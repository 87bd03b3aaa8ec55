//! Property tests: any sequence of inputs, the engine against a slow and plain model, through the public interface
//! alone.

// A law that cannot be put to the test is a failed test.
#![allow(clippy::unwrap_used)]

mod desk;
mod steps;
mod model;
mod hearing;
mod books;
mod gate;
mod waiting;
mod sums;
mod pace;
mod trial;
mod asking;
mod venue;
mod sight;
mod telling;
mod agreement;
mod probe;
mod replay;
mod shuffle;
mod reserves;
mod reducing;
mod standing;
mod limits;
mod odd;
mod odd_rules;
mod nonsense;
mod expiry;
