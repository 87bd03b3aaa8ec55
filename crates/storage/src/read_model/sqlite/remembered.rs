//! What a read model tells of its journal, without being opened for use: it stands behind the disk, so whatever it has seen was
//! in the journal.

use std::fs;
use std::path::Path;

use rusqlite::{Connection, OpenFlags, OptionalExtension};

use super::file::{self, FILE};
use super::{checksum, schema};
use crate::StorageError;
use crate::journal::InstanceId;

/// The highest numbers in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Remembered {
    /// The sequence of the newest event.
    pub event: u64,
    /// Everything up to this sequence is in it; prices have numbers too, which no journal holds.
    pub applied: u64,
    pub order: u64,
    pub transaction: u64,
}

/// None where there is no good read model of this journal; it changes nothing, and a server may run on the folder.
pub fn remembered(data_folder: &Path, instance: InstanceId) -> Option<Remembered> {
    let path = data_folder.join(FILE);
    if !path.exists() || file::is_condemned(&path) {
        return None;
    }
    read(&path, instance).unwrap_or_else(|problem| {
        tracing::debug!(%problem, file = %path.display(), "the read model cannot be asked how far the journal was");
        None
    })
}

fn read(path: &Path, instance: InstanceId) -> rusqlite::Result<Option<Remembered>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(file::BUSY_WAIT)?;
    let ours = |row: &rusqlite::Row<'_>| Ok((row.get::<_, [u8; 16]>(0)?, row.get(1)?));
    let model = connection.query_row("SELECT instance, applied FROM model", [], ours).optional()?;
    let Some((_, applied)) = model.filter(|(found, _)| *found == instance.0) else { return Ok(None) };
    let highest = |question: &str| connection.query_row(question, [], |row| row.get(0));
    Ok(Some(Remembered {
        event: newest_event(&connection)?,
        applied,
        order: highest("SELECT coalesce(max(id), 0) FROM orders")?,
        transaction: highest("SELECT coalesce(max(id), 0) FROM transactions")?,
    }))
}

/// A file of an older build has no checksums and is believed.
fn newest_event(connection: &Connection) -> rusqlite::Result<u64> {
    if schema::version(connection)? < schema::VERSION {
        return connection.query_row("SELECT coalesce(max(sequence), 0) FROM events", [], |row| row.get(0));
    }
    checksum::newest_event(connection).map(Option::unwrap_or_default)
}

/// Moves the files of a read model into another folder: the next start builds it again from the journal.
pub fn keep_aside(data_folder: &Path, aside: &Path) -> Result<bool, StorageError> {
    let path = data_folder.join(FILE);
    let was_there = path.exists();
    for ending in ["-wal", "-shm", ""] {
        let (from, to) = (file::with_ending(&path, ending), file::with_ending(&aside.join(FILE), ending));
        if from.exists() {
            fs::rename(&from, &to).map_err(StorageError::io("move aside", &from))?;
        }
    }
    Ok(was_there)
}
