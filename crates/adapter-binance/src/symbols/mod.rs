//! Symbols of the venue: their list, their rules, which securities they are, and which were traded.

pub mod symbol_rules;
pub mod symbol_table;
pub mod traded_symbols;
pub(crate) mod public_calls;
pub(crate) mod symbol_list;
