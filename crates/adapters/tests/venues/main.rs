//! Adapter host and venue tests.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod desk;
mod market;
mod puppet;
mod liar;
mod world;
mod conformance;
mod host;
mod simulated;
mod thread;
