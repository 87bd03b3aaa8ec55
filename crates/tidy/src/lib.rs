//! Repository checks, run as tests.
//!
//! A rule is a function from the tree of files to violations. The rules do not read the disk, so each is tested beside
//! its code on a tree of two or three lines; `tests/repository.rs` runs them all over this repository.

mod tree;
mod violation;
mod rust_text;
mod rust_paths;
mod module_graph;
mod markdown;
mod manifest;
pub mod rules;

pub use tree::{TextFile, Tree};
pub use violation::{Violation, report};
