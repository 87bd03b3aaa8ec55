//! Reconciliation while a session is up: open orders, fills and statements are asked for again and again, and compared.
//!
//! What carries a venue's id is booked, as after a log-on. An order that is not listed is asked about: a list alone ends no
//! order. Orders that changed since the question are left alone.

pub(crate) mod breaks;
mod differences;
mod fills;
pub(crate) mod listings;
mod open_orders;
mod repairs;
mod schedule;
mod statements;
