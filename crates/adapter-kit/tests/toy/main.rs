//! A complete small adapter over REST and WebSocket, against a toy venue: the example of `docs/adapters.md`.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod toy_venue;
mod toy_server;
mod toy_protocol;
mod toy_lanes;
mod toy_adapter;
mod harness;
mod conformance;
mod replayed;
