//! A state that was recovered, with users, tokens and settings.

use std::path::Path;

use bus::inbox::inbox;
use domain::PublishedEvent;
use engine::Engine;
use runtime::{RecoveredState, recover};
use storage::journal::InstanceId;
use storage::{JournalLedger, SnapshotStore};

pub(crate) struct ReplayedState {
    pub(crate) engine: Engine,
    pub(crate) recovered: RecoveredState,
    pub(crate) ledger: JournalLedger,
}

impl ReplayedState {
    /// From the newest snapshot that the reader is not behind, up to the end of the journal.
    pub(super) fn replay(
        (folder, instance): (&Path, InstanceId),
        end: u64,
        reader_has: u64,
        reader: &mut dyn FnMut(u64, &[PublishedEvent]),
    ) -> Result<Self, String> {
        let (snapshots, ledger) = (SnapshotStore::look(folder, instance), JournalLedger::new(inbox().0));
        let (engine, recovered) = recover(folder, end, &snapshots, &ledger, reader_has, reader, &mut |_| {})
            .map_err(|error| error.to_string())?;
        Ok(Self { engine, recovered, ledger })
    }
}
