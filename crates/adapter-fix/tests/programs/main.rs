//! The adapter against programs of others: QuickFIX's samples `executor` and `ordermatch`, as Debian has them compiled. `make setup`
//! unpacks them into `target/quickfix-programs`.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

mod program;
#[allow(dead_code, reason = "not every program takes every request")]
mod test_adapter;

mod executor;
mod ordermatch;
