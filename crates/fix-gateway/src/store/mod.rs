//! Session store over the Ledger: sequence numbers, sent messages, and how far the client has received its reports.
//! Records become durable in groups, one per write.

mod store_record;
mod session_store;
mod ledger_store;
mod volatile_store;

#[cfg(test)]
mod tests;

pub(crate) use ledger_store::LedgerStore;
pub(crate) use session_store::{PendingSubmission, SessionStore};
pub(crate) use store_record::Cursor;
pub(crate) use volatile_store::VolatileStore;

use fix::SeqNum;

/// Where a session has its numbers, by what it offers.
#[derive(Clone)]
pub(crate) enum GatewayStore {
    /// Orders and reports survive a crash.
    Durable(SessionStore),
    /// Market data does not.
    Volatile(VolatileStore),
}

impl GatewayStore {
    /// Next incoming and next outgoing.
    pub(crate) fn sequence_numbers(&self) -> (SeqNum, SeqNum) {
        match self {
            Self::Durable(store) => store.sequence_numbers(),
            Self::Volatile(store) => store.sequence_numbers(),
        }
    }
}
