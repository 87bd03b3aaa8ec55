//! What survives a crash. The journal is the truth; everything else here can be rebuilt from it.
//!
//! Nothing in this crate is ever repaired by guessing: a write that was cut off at the very end is cut and
//! reported, anything else that does not check out is refused with its file and offset.

/// What can go wrong on disk, with the file and the place.
pub mod error;

/// One process per data folder.
pub mod lock;

/// The few things that writers ask of a disk.
mod medium;

/// Fixed fields of headers.
mod bytes;

/// The unit on disk that is either whole or not there: length, checksum, place.
mod block;

/// How a file ends: clean, torn, or damaged before its end.
mod tail;

/// The segmented, hash-chained file of everything that trading is built from.
pub mod journal;

/// The state now and then, so that a start replays little.
pub mod snapshot;

/// What has been, for those who ask.
pub mod read_model;

/// What edges must remember, over the journal.
pub mod ledger;

/// A small checked log for those who keep their own book, such as a simulated venue.
pub mod append_log;

/// Recorded prices, for simulations and for warming up.
pub mod history;

/// Bars of the live server, kept beyond its restarts.
pub mod bars;

pub use bars::BarFiles;
pub use error::{Damage, StorageError, Torn};
pub use ledger::LedgerBook;
pub use read_model::ReadModel;
pub use snapshot::{Snapshot, Snapshots};
