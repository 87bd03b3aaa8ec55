//! Session store over the Ledger: sequence numbers, sent messages, and how far the client has received its reports.
//! Records become durable in groups, one per write.

mod store_record;
mod session_store;
mod ledger_store;

#[cfg(test)]
mod tests;

pub(crate) use ledger_store::LedgerStore;
pub(crate) use session_store::{PendingSubmission, SessionStore};
pub(crate) use store_record::Cursor;
