//! View of the audit: its rows in SQLite, written behind the journal, with the sequence that it has in the same transaction. Where it
//! is lost or damaged it is written again from the journal.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::Timestamp;
use domain::admin::{AdminChange, AuditRecord};
use rusqlite::{Connection, Row, Transaction, TransactionBehavior, params};

use crate::admin_log::DurableAdminRecord;
use crate::audit::entry::{AUDIT_PAGE_MAX, AuditRow};
use crate::error::AccessError;

/// The file inside the data folder.
pub const AUDIT_FILE: &str = "audit.sqlite";
/// Only the owner may read it.
const OWNER_ONLY: u32 = 0o600;
/// Another version is written again from the journal.
const VERSION: usize = 1;
/// How long a reader waits for rows that are durable already.
const VIEW_WAIT_MAX: Duration = Duration::from_secs(5);
/// Records that one transaction takes.
const BATCH_RECORDS_MAX: usize = 1_024;

const SCHEMA: &str = "
    CREATE TABLE applied (
        one      INTEGER PRIMARY KEY CHECK (one = 1),
        sequence INTEGER NOT NULL
    ) STRICT;
    INSERT INTO applied VALUES (1, 0);

    CREATE TABLE audit (
        id      INTEGER PRIMARY KEY,
        at      INTEGER NOT NULL,
        user    TEXT,
        door    TEXT    NOT NULL,
        peer    TEXT,
        action  TEXT    NOT NULL,
        outcome TEXT    NOT NULL,
        detail  TEXT    NOT NULL,
        times   INTEGER NOT NULL,
        last_at INTEGER NOT NULL
    ) STRICT;
";

pub struct AuditView {
    path: PathBuf,
    connection: Mutex<Connection>,
    progress: Mutex<ViewProgress>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct ViewProgress {
    applied: u64,
    failed: Option<String>,
}

impl AuditView {
    /// A file that cannot be read, or that has more than the journal, is replaced by an empty one.
    pub fn open_for(folder: &Path, journal_end: u64) -> Result<Self, AccessError> {
        let view = Self::open(folder)?;
        if view.applied() <= journal_end {
            return Ok(view);
        }
        drop(view);
        remove(&folder.join(AUDIT_FILE))?;
        Self::open(folder)
    }

    /// A file that cannot be read is replaced by an empty one: the journal has what was in it.
    pub fn open(folder: &Path) -> Result<Self, AccessError> {
        std::fs::create_dir_all(folder).map_err(AccessError::io("create", folder))?;
        let path = folder.join(AUDIT_FILE);
        let (connection, applied) = match connect(&path) {
            Ok(opened) => opened,
            Err(problem) => {
                tracing::warn!(%problem, "the view of the audit cannot be read; it is written again from the journal");
                remove(&path)?;
                connect(&path)?
            }
        };
        let progress = Mutex::new(ViewProgress { applied, failed: None });
        Ok(Self { path, connection: Mutex::new(connection), progress, changed: Condvar::new() })
    }

    /// The sequence up to which it has all records.
    pub fn applied(&self) -> u64 {
        lock(&self.progress).applied
    }

    /// Records in their order, in one transaction. Those that it has already change nothing.
    pub fn apply(&self, records: &[DurableAdminRecord]) -> Result<(), AccessError> {
        let Some((last, _)) = records.last() else { return Ok(()) };
        self.write(|transaction| {
            records
                .iter()
                .flat_map(|(_, record)| &record.changes)
                .try_for_each(|change| apply_change(transaction, change))?;
            set_applied(transaction, *last)
        })?;
        self.reached(*last);
        Ok(())
    }

    /// There is no record between what it has and this sequence.
    pub fn note_complete(&self, through: u64) -> Result<(), AccessError> {
        self.write(|transaction| set_applied(transaction, through))?;
        self.reached(through);
        Ok(())
    }

    /// A count that is journalled later.
    pub(crate) fn count(&self, change: &AdminChange) -> Result<(), AccessError> {
        self.write(|transaction| apply_change(transaction, change))
    }

    /// Whether it lacks a record for good: it was too slow, or its disk failed.
    pub fn has_failed(&self) -> bool {
        lock(&self.progress).failed.is_some()
    }

    /// Takes records as they become durable, until there will be no more. It has all records before these.
    pub fn follow(self: &Arc<Self>, records: Receiver<DurableAdminRecord>) -> Result<(), AccessError> {
        lock(&self.progress).failed = None;
        let view = self.clone();
        let thread = std::thread::Builder::new().name("audit-view".into());
        let spawned = thread.spawn(move || view.take_all(&records)).map_err(AccessError::system);
        spawned.map(drop).inspect_err(|error| self.fail(error.to_string()))
    }

    fn take_all(&self, records: &Receiver<DurableAdminRecord>) {
        while let Ok(first) = records.recv() {
            let rest = records.try_iter().take(BATCH_RECORDS_MAX - 1);
            let batch: Vec<_> = std::iter::once(first).chain(rest).collect();
            if let Err(error) = self.apply(&batch) {
                tracing::error!(%error, "the view of the audit cannot be written; the next start reads the journal");
                return self.fail(error.to_string());
            }
        }
        self.fail("it gets no more records".to_owned());
    }

    /// Rows after an id, oldest first, once everything up to a sequence is in it.
    pub(crate) fn page(&self, has: u64, after: u64, limit: usize) -> Result<Vec<AuditRow>, AccessError> {
        self.rows(has, "id > ?1 ORDER BY id", after, limit)
    }

    /// Rows before an id, newest first.
    pub(crate) fn page_back(&self, has: u64, before: u64, limit: usize) -> Result<Vec<AuditRow>, AccessError> {
        self.rows(has, "id < ?1 ORDER BY id DESC", before, limit)
    }

    fn rows(&self, has: u64, order: &str, key: u64, limit: usize) -> Result<Vec<AuditRow>, AccessError> {
        self.wait_for(has)?;
        let sql = format!(
            "SELECT id, at, user, door, peer, action, outcome, detail, times, last_at FROM audit WHERE {order} LIMIT ?2"
        );
        // No row has a larger id than the file can count.
        let key = i64::try_from(key).unwrap_or(i64::MAX);
        let connection = lock(&self.connection);
        let read = || {
            let mut statement = connection.prepare_cached(&sql)?;
            statement.query_map(params![key, limit.min(AUDIT_PAGE_MAX)], row)?.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(AccessError::sqlite("read", &self.path))
    }

    /// Returns when it has all records up to a sequence.
    pub fn wait_for(&self, sequence: u64) -> Result<(), AccessError> {
        let is_behind = |progress: &mut ViewProgress| progress.applied < sequence && progress.failed.is_none();
        let waited = self.changed.wait_timeout_while(lock(&self.progress), VIEW_WAIT_MAX, is_behind);
        let (progress, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if progress.applied >= sequence {
            return Ok(());
        }
        let reason = progress.failed.as_deref().unwrap_or("its disk does not answer");
        Err(AccessError::System(format!("the view of the audit is behind the journal: {reason}")))
    }

    fn write(&self, write: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>) -> Result<(), AccessError> {
        let mut connection = lock(&self.connection);
        let run = || {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            write(&transaction)?;
            transaction.commit()
        };
        run().map_err(AccessError::sqlite("write the audit to", &self.path))
    }

    fn reached(&self, sequence: u64) {
        let mut progress = lock(&self.progress);
        progress.applied = progress.applied.max(sequence);
        self.changed.notify_all();
    }

    fn fail(&self, reason: String) {
        lock(&self.progress).failed = Some(reason);
        self.changed.notify_all();
    }
}

fn connect(path: &Path) -> Result<(Connection, u64), AccessError> {
    let mut owned = OpenOptions::new();
    owned.create(true).append(true).mode(OWNER_ONLY).open(path).map_err(AccessError::io("create", path))?;
    let mut connection = Connection::open(path).map_err(AccessError::sqlite("open", path))?;
    prepare(&mut connection).map_err(AccessError::sqlite("open", path))?;
    let version = version(&connection).map_err(AccessError::sqlite("open", path))?;
    if version != VERSION {
        return Err(AccessError::Damaged { path: path.to_owned(), reason: format!("it has version {version}") });
    }
    let applied = connection.query_row("SELECT sequence FROM applied", [], |row| row.get(0));
    let applied = applied.map_err(AccessError::sqlite("read", path))?;
    Ok((connection, applied))
}

fn prepare(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // What a power cut takes is read from the journal again.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    if version(connection)? > 0 {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(SCHEMA)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}

fn version(connection: &Connection) -> rusqlite::Result<usize> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// With the two files that SQLite has beside it.
fn remove(path: &Path) -> Result<(), AccessError> {
    for end in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        let file = PathBuf::from(name);
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(AccessError::io("remove", &file)(error));
            }
            _ => {}
        }
    }
    Ok(())
}

fn set_applied(transaction: &Transaction<'_>, sequence: u64) -> rusqlite::Result<()> {
    transaction.execute("UPDATE applied SET sequence = max(sequence, ?1)", params![sequence]).map(drop)
}

fn apply_change(transaction: &Transaction<'_>, change: &AdminChange) -> rusqlite::Result<()> {
    match change {
        AdminChange::Audit(row) => insert(transaction, row),
        AdminChange::CountAudit { id, times, last_at } => {
            let sql = "UPDATE audit SET times = max(times, ?2), last_at = max(last_at, ?3) WHERE id = ?1";
            transaction.prepare_cached(sql)?.execute(params![id, times, last_at.0]).map(drop)
        }
        _ => Ok(()),
    }
}

/// A row that is there may have been counted up since.
fn insert(transaction: &Transaction<'_>, row: &AuditRecord) -> rusqlite::Result<()> {
    let AuditRecord { id, at, user, channel, peer, action, outcome, detail, times, last_at } = row;
    let sql = "INSERT INTO audit (id, at, user, door, peer, action, outcome, detail, times, last_at) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (id) DO NOTHING";
    let (user, peer) = (user.as_deref(), peer.as_deref());
    let values = params![id, at.0, user, &**channel, peer, &**action, &**outcome, &**detail, times, last_at.0];
    transaction.prepare_cached(sql)?.execute(values).map(drop)
}

fn row(row: &Row<'_>) -> rusqlite::Result<AuditRow> {
    Ok(AuditRow {
        id: row.get(0)?,
        at: Timestamp(row.get(1)?),
        user: row.get(2)?,
        door: row.get(3)?,
        peer: row.get(4)?,
        action: row.get(5)?,
        outcome: row.get(6)?,
        detail: row.get(7)?,
        times: row.get(8)?,
        last_at: Timestamp(row.get(9)?),
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What it guards is consistent between any two statements; a transaction that did not end was rolled back.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
