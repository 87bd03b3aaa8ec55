//! Types of configuration values.

pub mod setting;
pub mod names;
pub mod messaging;
pub mod history_store;
pub mod pegs;
pub mod strategies;
