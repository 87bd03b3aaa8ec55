//! Message dictionary in QuickFIX's format, flattened into tables, and the checks against it.

mod spec;
mod builtin;
mod xml;
mod tables;
mod group;
mod check;

pub use check::{CheckRules, DictionaryChecker};
pub use tables::Dictionary;
pub use xml::DictionaryError;
