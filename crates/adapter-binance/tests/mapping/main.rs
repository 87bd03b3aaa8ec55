//! Orders, executions and rate limits in the venue's words, and back.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod tickets;
mod filters;
mod listings;
mod executions;
mod rates;
mod trading_hour;
mod market_data;
