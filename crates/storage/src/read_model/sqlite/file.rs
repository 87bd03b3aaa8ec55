//! Opens the read model file. A bad file is moved aside and rebuilt from the journal. Only a failure of the operating
//! system is an error.
//!
//! A small file is checked completely, every page and every row. A large one would delay the start, so its damage is found when it is read: the
//! file is then marked as damaged, and the next start rebuilds it.

use std::fs;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, ffi, params};

use super::{checksum, schema};
use crate::file_system::{FileSystem, OsFileSystem, parent};
use crate::journal::InstanceId;
use crate::{Loss, StorageError};

/// The file of the read model inside a data folder.
pub const FILE: &str = "read-model.sqlite";

/// This process is the only writer, so only another program that opens the file can make us wait.
pub(super) const BUSY_WAIT: Duration = Duration::from_secs(5);
/// The write-ahead log is copied into the file when it has this many pages of 4 KiB.
const CHECKPOINT_PAGES: u32 = 4_096;
/// Where a file says by which versions of the format it is written and read: 1 is rollback, 2 is a write-ahead log.
const FORMAT_AT: Range<usize> = 18..20;
/// Marker beside a damaged file.
const DAMAGED_MARKER: &str = ".condemned";

enum ReadModelFileError {
    /// The file is not a good read model of this journal.
    Unusable(String),
    System(rusqlite::Error),
    /// It has an event that the journal lacks.
    Ahead(u64),
}

/// The writing connection and the sequence up to which the file is complete.
pub(crate) fn open_or_create(
    path: &Path,
    instance: InstanceId,
    journal_end: u64,
    check_bytes_max: u64,
) -> Result<(Connection, u64), StorageError> {
    let open = || open(path, instance, journal_end, check_bytes_max);
    let reason = match open() {
        Ok(opened) => return Ok(opened),
        Err(ReadModelFileError::Unusable(reason)) => reason,
        Err(other) => return Err(refused(path, journal_end, other)),
    };
    let aside = move_aside(path)?;
    tracing::warn!(
        file = %path.display(), %reason, moved_to = %aside.display(),
        "read model is unusable and is rebuilt from the journal"
    );
    open().map_err(|trouble| refused(path, journal_end, trouble))
}

fn refused(path: &Path, journal_end: u64, trouble: ReadModelFileError) -> StorageError {
    match trouble {
        ReadModelFileError::System(error) => StorageError::sqlite("open", path)(error),
        ReadModelFileError::Unusable(reason) => StorageError::damaged(path, 0, reason),
        ReadModelFileError::Ahead(newest) => StorageError::Lost(Loss {
            folder: parent(path).to_owned(),
            end: journal_end,
            known: vec![has_event(parent(path), newest)],
        }),
    }
}

/// As the operator is told.
pub fn has_event(data_folder: &Path, newest: u64) -> String {
    format!("the read model {} has event {newest}", data_folder.join(FILE).display())
}

pub(crate) fn is_condemned(path: &Path) -> bool {
    with_ending(path, DAMAGED_MARKER).exists()
}

/// Damage was found: the next start rebuilds the file.
pub(crate) fn mark_if_damaged(path: &Path, error: &rusqlite::Error) {
    if is_damage(error)
        && let Err(problem) = fs::write(with_ending(path, DAMAGED_MARKER), error.to_string())
    {
        tracing::warn!(%problem, file = %path.display(), "read model is damaged and not marked; delete the file");
    }
}

/// What SQLite itself finds, and what we find in a row that it gave us.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    match error.sqlite_error_code() {
        Some(code) => matches!(code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase),
        None => true,
    }
}

fn open(
    path: &Path,
    instance: InstanceId,
    journal_end: u64,
    check_bytes_max: u64,
) -> Result<(Connection, u64), ReadModelFileError> {
    if let Ok(reason) = fs::read_to_string(with_ending(path, DAMAGED_MARKER)) {
        return Err(ReadModelFileError::Unusable(format!("damage was met while it was in use: {reason}")));
    }
    check_format(path)?;
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_WAIT)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // A power cut may cost the last commits, but leaves the file consistent, and the journal has what is lost.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    let is_small = fs::metadata(path).is_ok_and(|found| found.len() <= check_bytes_max);
    if is_small {
        check_pages(&connection)?;
    }
    let version = schema::version(&connection)?;
    if version > schema::VERSION {
        return Err(ReadModelFileError::Unusable(format!("version {version} is newer than {}", schema::VERSION)));
    }
    if version == schema::VERSION && !schema::is_unchanged(&connection)? {
        return Err(ReadModelFileError::Unusable("its tables are not those of this version".to_owned()));
    }
    schema::migrate(&mut connection)?;
    if is_small {
        checksum::check_all(&connection)?;
    }
    let applied = check_identity(&connection, instance)?;
    check_not_ahead(&connection, journal_end)?;
    Ok((connection, applied))
}

/// A format that SQLite does not know would count as a file that may not be written, which is no damage.
fn check_format(path: &Path) -> Result<(), ReadModelFileError> {
    let mut header = [0; FORMAT_AT.end];
    let is_read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut header)).is_ok();
    match header[FORMAT_AT] {
        [1 | 2, 1 | 2] => Ok(()),
        // A file that is missing or too short is found by what follows.
        _ if !is_read => Ok(()),
        ref other => Err(ReadModelFileError::Unusable(format!("it is of format {other:?}"))),
    }
}

fn check_pages(connection: &Connection) -> Result<(), ReadModelFileError> {
    let found: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if found == "ok" { Ok(()) } else { Err(ReadModelFileError::Unusable(found)) }
}

fn check_identity(connection: &Connection, instance: InstanceId) -> Result<u64, ReadModelFileError> {
    let nothing = checksum::checksum_of(&[ValueRef::Integer(0)]);
    connection.execute("INSERT OR IGNORE INTO model VALUES (1, ?1, 0, ?2)", params![instance.0, nothing])?;
    let read = |row: &rusqlite::Row<'_>| {
        checksum::check(row, 1..2)?;
        Ok((row.get(0)?, row.get(1)?))
    };
    let (found, applied) = connection.query_row("SELECT instance, applied, checksum FROM model", [], read)?;
    if found != instance.0 {
        let found = InstanceId(found);
        return Err(ReadModelFileError::Unusable(format!("it belongs to instance {found}, not {instance}")));
    }
    Ok(applied)
}

/// Only what was in the journal happened, so a journal that has less lost its end.
fn check_not_ahead(connection: &Connection, journal_end: u64) -> Result<(), ReadModelFileError> {
    match checksum::newest_event(connection)? {
        Some(newest) if newest > journal_end => Err(ReadModelFileError::Ahead(newest)),
        _ => Ok(()),
    }
}

impl From<rusqlite::Error> for ReadModelFileError {
    fn from(error: rusqlite::Error) -> Self {
        let is_short = |code: i32| code == ffi::SQLITE_IOERR_SHORT_READ;
        match error.sqlite_error() {
            Some(failed) if is_short(failed.extended_code) => Self::Unusable(error.to_string()),
            Some(failed) if is_system_error(failed.code) => Self::System(error),
            _ => Self::Unusable(error.to_string()),
        }
    }
}

fn is_system_error(code: ErrorCode) -> bool {
    use ErrorCode::*;
    matches!(
        code,
        PermissionDenied
            | DatabaseBusy
            | DatabaseLocked
            | OutOfMemory
            | ReadOnly
            | SystemIoFailure
            | DiskFull
            | CannotOpen
    )
}

/// Keeps the bad file for inspection; an earlier one is replaced.
fn move_aside(path: &Path) -> Result<PathBuf, StorageError> {
    let aside = with_ending(path, ".damaged");
    // The log is moved first: without it the file is still found bad or old, never inconsistent.
    rename_if_there(&with_ending(path, "-wal"), &with_ending(&aside, "-wal"))?;
    rename_if_there(path, &aside)?;
    remove_if_there(&with_ending(path, "-shm"))?;
    remove_if_there(&with_ending(path, DAMAGED_MARKER))?;
    Ok(aside)
}

fn rename_if_there(from: &Path, to: &Path) -> Result<(), StorageError> {
    remove_if_there(to)?;
    let renamed = if from.exists() { OsFileSystem.rename(from, to) } else { Ok(()) };
    renamed.map_err(StorageError::io("move aside", from))
}

fn remove_if_there(path: &Path) -> Result<(), StorageError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StorageError::io("delete", path)(error)),
        _ => Ok(()),
    }
}

pub(super) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
