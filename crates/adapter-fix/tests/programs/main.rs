//! The adapter against programs of others: QuickFIX's samples `executor` and `ordermatch`, as Debian has them compiled, and a venue in
//! Python with QuickFIX. `make setup` unpacks the first two into `target/quickfix-programs` and installs the package for the third.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

mod program;
#[allow(dead_code, reason = "not every program takes every request")]
mod test_adapter;

mod executor;
mod ordermatch;
mod venue_50sp2;
