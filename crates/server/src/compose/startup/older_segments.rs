//! Segments before the newest snapshot, which a start does not read: a thread checks them while the server trades or follows.

use std::path::Path;
use std::thread;

use storage::StorageError;
use storage::journal;
use tracing::{error, info};

/// Nothing that the server does stands on these records any more, so damage in them is told and stops nothing.
pub(super) fn check(data_folder: &Path, checked_from: Option<u64>) {
    let Some(checked_from) = checked_from else { return };
    let folder = data_folder.join(journal::FOLDER);
    let check = move || match journal::verify_older(&folder, checked_from) {
        Ok(()) => info!("the journal before {checked_from} is good"),
        Err(StorageError::Damaged(damage)) => error!(
            "the journal is damaged before {checked_from}, where the newest snapshot begins: {damage}. The server goes on; bring the \
             file back from a backup, or in a cluster from another member, or history before it cannot be rebuilt"
        ),
        Err(problem) => error!(%problem, "the journal before {checked_from} could not be checked"),
    };
    if let Err(problem) = thread::Builder::new().name("journal-check".into()).spawn(check) {
        error!(%problem, "the journal before {checked_from} is not checked: there is no thread for it");
    }
}
