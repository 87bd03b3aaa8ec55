//! Engine scenarios: scripts of one line a step, compared with the whole output.

// A script that cannot be run is a failed test.
#![allow(clippy::unwrap_used)]

mod world;

mod external;
mod gaps;
mod identity;
mod inferred_fill_parts;
mod inferred_fills;
mod inquiries;
mod missing_fills;
mod taken_back;
mod unclear_reports;
mod intake;
mod kills;
mod lines;
mod breaks;
mod twelve_breaks;
mod listings;
mod listings_by_security;
mod venue_listings;
mod memory;
mod retired;
mod orders;
mod recovery;
mod snapshot_age;
mod risk;
mod stale_prices;
mod controls;
mod dead_man;
mod rights;
mod expiration;
mod expiries;
mod bookings;
mod charges;
mod statements;
mod statement_breaks;
mod entries;
mod changes;
mod replaces;
mod leg_inquiries;
mod leg_terms;
mod legs;
mod names;
mod no_cancels;
mod overtaken;
mod properties;
mod reserves;
mod self_trade;
mod waiting;
mod closing;
mod second_reduces;
mod fix_matrix;
mod value_samples;
