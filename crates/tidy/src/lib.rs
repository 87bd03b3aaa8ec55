//! The house rules, kept by a program.
//!
//! A rule is a function from the tree of files to complaints. The rules know nothing of disks, so each is tested
//! beside its code on a tree of two or three lines; `tests/house.rs` runs them all over this repository.

/// The files of the repository, read once.
mod tree;

/// What a rule says when it is broken, and where.
mod complaint;

/// Rust text with its comments and strings blanked, so that braces and words can be counted.
mod rust_text;

/// Markdown: tables, links, headings.
mod markdown;

/// Cargo manifests, as far as the rules need them.
mod manifest;

/// The rules.
pub mod rules;

pub use complaint::{Complaint, report};
pub use tree::{TextFile, Tree};
