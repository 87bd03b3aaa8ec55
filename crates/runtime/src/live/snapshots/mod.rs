//! When the live loop writes a snapshot, and the thread that writes it.

pub(crate) mod schedule;
pub(crate) mod writer;
