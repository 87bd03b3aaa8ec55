//! The adapter against a venue that does what a test says: it refuses, skips numbers, sends late, and hangs up.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

/// An adapter and its reports, as in the tests against programs of others.
#[path = "../programs/test_adapter.rs"]
#[allow(dead_code, reason = "not every request is needed here")]
mod test_adapter;
mod captured_log;
mod scripted_venue;

mod fail_over;
mod fill_lists;
mod header_fields;
mod isin;
mod lost_messages;
mod lost_sessions;
mod message_log;
mod security_status;
mod session_hours;
mod session_rejects;
mod unfit_messages;
mod unproven;
