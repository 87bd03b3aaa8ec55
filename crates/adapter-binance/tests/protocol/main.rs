//! The protocol against the venue's documentation: signatures, requests, answers, events.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod signing;
mod requests;
mod answers;
mod cancel_replace;
mod errors;
mod user_events;
mod market_events;
mod reference_data;
