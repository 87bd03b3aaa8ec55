//! Property tests: any sequence of inputs, the engine against a slow and plain model, through the public interface
//! alone.

// A law that cannot be put to the test is a failed test.
#![allow(clippy::unwrap_used)]

mod engine_fixture;
mod steps;
mod model;
mod model_reports;
mod books;
mod gate;
mod waiting_orders;
mod sums;
mod rate_limits;
mod trial;
mod commands;
mod venue;
mod visible_state;
mod published_output;
mod agreement;
mod probe;
mod replay;
mod shuffle;
mod reserves;
mod reducing;
mod self_trade;
mod limits;
mod invalid_inputs;
mod invalid_input_rules;
mod nonsense;
mod expiry;
