//! Adapter host and venue tests.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod fixture;
mod market;
mod scripted_adapter;
mod scripted_prices;
mod faulty_adapter;
mod narrow_faults;
mod harness;
mod ledger;
mod leg_faults;
mod paper;
mod paper_harness;
mod conformance;
mod conformance_matrix;
mod first_contact;
mod host;
mod host_lease;
mod second_way;
mod simulated;
mod thread;
