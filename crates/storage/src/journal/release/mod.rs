//! What counts, and how the owner of a journal learns of it.

pub(crate) mod durability;
pub(crate) mod release_gate;
