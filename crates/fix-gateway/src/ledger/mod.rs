//! Session store over the Ledger: sequence numbers, sent messages, and how far the client has received its reports.
//! Records become durable in groups, one per write.

mod place;
mod page;
mod pen;
mod store;

#[cfg(test)]
mod tests;

pub(crate) use page::Cursor;
pub(crate) use pen::{Handing, Pen};
pub(crate) use store::LedgerStore;
