//! Orders against recorded prices, rule by rule.

// The lint exempts test functions only, not their helpers.
#![allow(clippy::unwrap_used)]

mod transcript;
mod rules;
mod orders;
