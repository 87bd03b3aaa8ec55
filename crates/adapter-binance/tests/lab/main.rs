//! The connections against the venue lab, another program by other hands, which is started by the test.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod lab;
mod orders;
mod private_events;
mod market_data;
mod faults;
mod harness;
mod conformance;
mod lab_trader;
mod adapter_faults;
mod listings;
mod lists;
mod second_way;
mod rotation;
mod rules_under_faults;
mod key_rights;
mod first_contact;
mod market_streams;
mod limits;
mod self_trade;
mod past_bars;
mod lease;
