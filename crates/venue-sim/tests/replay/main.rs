//! Orders meet recorded prices, rule by rule.

// The lint knows test functions only, not what they share.
#![allow(clippy::unwrap_used)]

/// A venue, told what happens line by line.
mod transcript;
/// What each rule fills, when and at what price.
mod rules;
/// The life of an order that no rule is about.
mod orders;
