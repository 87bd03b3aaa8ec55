//! Translation: orders as messages of a dialect, and messages of the venue as reports.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

mod story;

mod requests;
mod executions;
mod contradictions;
mod ends;
mod answers;
mod refusals;
mod account;
mod market_data;
mod venues;
