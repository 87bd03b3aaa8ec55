//! Start of a server: the engine as it was when it stopped, and what it is told first.

pub(crate) mod following_core;
pub(crate) mod older_segments;
pub(crate) mod recovered_core;
pub(crate) mod startup_commands;
pub(crate) mod demo_history;
