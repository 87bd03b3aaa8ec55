//! What a session remembers, over the Ledger of the platform: its numbers, what it sent, and how far its client has been
//! told. Messages become durable in pages, one for all that leaves with a write.

/// Which message, in which life of the session.
mod place;
/// Messages and numbers as they stand in the Ledger.
mod page;
/// What is being written, shared by the session's two sides.
mod pen;
/// The store that `fix` and `fix-net` work with.
mod store;

#[cfg(test)]
mod tests;

pub(crate) use page::Cursor;
pub(crate) use pen::{Handing, Pen};
pub(crate) use store::LedgerStore;
