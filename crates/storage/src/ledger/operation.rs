//! Operations of the Ledger, as they are in the journal.

use domain::admin::AdminRecord;
use minicbor::bytes::ByteVec;
use minicbor::{Decode, Encode};

/// As in the journal.
#[derive(Debug, Encode, Decode)]
pub(super) enum LedgerOperation {
    #[n(0)]
    Append {
        #[n(0)]
        stream: String,
        #[n(1)]
        key: u64,
        #[n(2)]
        bytes: ByteVec,
    },
    #[n(1)]
    TruncateBefore {
        #[n(0)]
        stream: String,
        #[n(1)]
        key: u64,
    },
    /// Of users, tokens, settings, audit.
    #[n(2)]
    Admin(#[n(0)] AdminRecord),
}
