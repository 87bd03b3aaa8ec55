//! Engine scenarios: scripts of one line a step, compared with the whole output.

// A script that cannot be run is a failed test.
#![allow(clippy::unwrap_used)]

#[path = "stories/world.rs"]
mod world;

#[path = "stories/intake.rs"]
mod intake;
#[path = "stories/orders.rs"]
mod orders;
#[path = "stories/recovery.rs"]
mod recovery;
#[path = "stories/risk.rs"]
mod risk;
#[path = "stories/controls.rs"]
mod controls;
#[path = "stories/dead_man.rs"]
mod dead_man;
#[path = "stories/rights.rs"]
mod rights;
#[path = "stories/expiration.rs"]
mod expiration;
#[path = "stories/bookings.rs"]
mod bookings;
#[path = "stories/charges.rs"]
mod charges;
#[path = "stories/changes.rs"]
mod changes;
#[path = "stories/names.rs"]
mod names;
#[path = "stories/overtaken.rs"]
mod overtaken;
#[path = "stories/reserves.rs"]
mod reserves;
#[path = "stories/self_trade.rs"]
mod self_trade;
#[path = "stories/waiting.rs"]
mod waiting;
#[path = "stories/closing.rs"]
mod closing;
#[path = "stories/fix_matrix.rs"]
mod fix_matrix;
