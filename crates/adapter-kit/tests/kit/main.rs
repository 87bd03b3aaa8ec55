//! Tests of the adapter kit.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod rate_limited_venue;
mod budget;
mod budget_file;
mod budget_hour;
mod budget_properties;
mod request_queue;
mod venue_clock;
mod reconnect;
mod renewal;
mod credentials;
mod live_rules;
mod planted_secret;
mod loopback;
mod http;
mod network_venue;
mod websocket;
mod system_roots;
mod recording;
mod foreign_input;
mod listings;
