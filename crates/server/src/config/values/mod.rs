//! Types of configuration values.

pub mod setting;
pub mod names;
pub mod messaging;
pub mod pegs;
pub mod strategies;
