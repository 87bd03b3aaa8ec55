//! Durable storage: journal, snapshots, read model, ledger, checked logs, recorded prices. The journal is the system of
//! record; the rest can be rebuilt from it.
//!
//! Nothing in this crate is repaired by guessing: a torn write at the very end is cut and reported, any other mismatch
//! is an error with file and offset.

pub mod error;
pub mod lock;
pub mod file_system;
mod bytes;
mod noted_record;
mod block;
mod flipped_bit;
mod tail;
#[cfg(test)]
mod tests;
pub mod journal;
pub mod replication;
pub mod snapshot;
pub mod read_model;
pub mod retired_index;
pub mod ledger;
pub mod append_log;
pub mod price_files;
pub mod bars;

pub use bars::BarFiles;
pub use error::{Damage, Loss, StorageError, TornWrite};
pub use file_system::{FileSystem, OsFileSystem, WritableFile};
pub use ledger::{JournalLedger, LedgerStreams};
pub use read_model::ReadModel;
pub use retired_index::RetiredIndex;
pub use snapshot::{SnapshotStore, StoredSnapshot};
