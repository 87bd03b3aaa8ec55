//! The generic dialects against the venue lab's generic FIX, 4.4 and 4.2, and the one of Binance against its FIX.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

/// An adapter and its reports, as in the tests against programs of others.
#[path = "../programs/test_adapter.rs"]
#[allow(dead_code, reason = "the lab is not lost here")]
mod test_adapter;
mod lab;
mod proxy;

mod stories;
mod prices;
mod binance;
mod drop_copy;
mod resends;
mod numbers_reset;
mod securities;
mod many_updates;
mod client_certificates;
