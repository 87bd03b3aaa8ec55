//! What a message may look like: a dictionary in QuickFIX's format, flattened into tables, and the checks against it.

/// A dictionary as it is written: fields, and what each message consists of.
mod spec;
/// The FIX 4.4 dictionary that is in the binary.
mod builtin;
/// A dictionary file in QuickFIX's XML format.
mod xml;
/// How the values of a field look.
mod kind;
/// The flattened tables that a check looks into.
mod tables;
/// Repeating groups: where they end, how many entries they have, in which order their members stand.
mod group;
/// The checks, in the order in which QuickFIX makes them.
mod check;

pub use check::{CheckRules, Checker};
pub use tables::Dictionary;
pub use xml::DictionaryError;
