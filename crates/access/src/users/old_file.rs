//! The file of older versions, `access.sqlite`: users, tokens, settings and audit go into the journal, once, and the file is put
//! aside. An attempt that was cut off is repeated from its beginning, and what it has journalled does not count twice.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use domain::Text;
use domain::Timestamp;
use domain::admin::{AdminChange, AdminRecord, AuditRecord, SettingsRecord, TokenRecord, UserRecord};
use rusqlite::{Connection, Row};

use crate::admin_log::AdminLog;
use crate::error::AccessError;
use crate::users::old_schema;

/// The file inside the data folder.
pub const FILE: &str = "access.sqlite";
/// What it is called afterwards.
const ASIDE: &str = "access-before-journal";
/// Bytes of text from which a record takes no further change.
const RECORD_BYTES_MAX: usize = 256 << 10;

/// What was done with an older file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedFile {
    /// Users, tokens, settings and rows of the audit; 0 where the journal had them already.
    pub changes: usize,
    /// Where the file is now.
    pub aside: PathBuf,
}

/// Brings the older file into the journal, where there is one.
pub fn import_old_file(folder: &Path, log: &dyn AdminLog) -> Result<Option<ImportedFile>, AccessError> {
    let path = folder.join(FILE);
    if !path.exists() {
        return Ok(None);
    }
    let changes = if log.state().is_begun { 0 } else { import(&path, log)? };
    let aside = put_aside(folder, &path)?;
    Ok(Some(ImportedFile { changes, aside }))
}

/// What is to be known of an older file before it is imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OldFileSummary {
    pub has_users: bool,
    /// The highest id of its audit: a row that is written before the import comes behind.
    pub last_audit: u64,
}

/// Nothing, where there is no older file.
pub fn look_at_old_file(folder: &Path) -> Result<OldFileSummary, AccessError> {
    let path = folder.join(FILE);
    if !path.exists() {
        return Ok(OldFileSummary::default());
    }
    let sql = "SELECT (SELECT count(*) > 0 FROM users), (SELECT coalesce(max(id), 0) FROM audit)";
    let read = |row: &Row<'_>| Ok(OldFileSummary { has_users: row.get(0)?, last_audit: row.get(1)? });
    open(&path)?.query_row(sql, [], read).map_err(AccessError::sqlite("read", &path))
}

/// A copy as it is now, in a file that must not exist yet; false where there is no older file.
pub fn copy_old_file(folder: &Path, to: &Path) -> Result<bool, AccessError> {
    let path = folder.join(FILE);
    if !path.exists() {
        return Ok(false);
    }
    let copied = open(&path)?.execute("VACUUM INTO ?1", [to.to_string_lossy()]);
    copied.map(|_| true).map_err(AccessError::sqlite("copy to", to))
}

fn import(path: &Path, log: &dyn AdminLog) -> Result<usize, AccessError> {
    let connection = open(path)?;
    let changes = read(&connection).map_err(AccessError::sqlite("read", path))?;
    let count = changes.len();
    for changes in records(changes) {
        log.append(AdminRecord { changes })?;
    }
    Ok(count)
}

fn open(path: &Path) -> Result<Connection, AccessError> {
    let mut connection = Connection::open(path).map_err(AccessError::sqlite("open", path))?;
    let version = old_schema::version(&connection).map_err(AccessError::sqlite("open", path))?;
    if version > old_schema::VERSION {
        return Err(AccessError::Newer { path: path.to_owned(), version, known: old_schema::VERSION });
    }
    old_schema::migrate(&mut connection).map_err(AccessError::sqlite("prepare", path))?;
    Ok(connection)
}

/// In records of a moderate size, between a beginning and an end.
fn records(changes: Vec<AdminChange>) -> Vec<Vec<AdminChange>> {
    let (mut records, mut bytes) = (vec![vec![AdminChange::ImportBegun]], 0);
    for change in changes {
        if bytes >= RECORD_BYTES_MAX {
            records.push(Vec::new());
            bytes = 0;
        }
        bytes += text_bytes(&change);
        records.last_mut().expect("one at least").push(change);
    }
    records.last_mut().expect("one at least").push(AdminChange::Begun);
    records
}

/// About as many as it will have.
fn text_bytes(change: &AdminChange) -> usize {
    const FIXED: usize = 128;
    FIXED
        + match change {
            AdminChange::PutSettings(settings) => settings.document.len(),
            AdminChange::Audit(row) => row.action.len() + row.detail.len(),
            _ => 0,
        }
}

fn read(connection: &Connection) -> rusqlite::Result<Vec<AdminChange>> {
    let mut changes = Vec::new();
    let users = "SELECT name, role, strategy, password, created, revision, rights FROM users ORDER BY revision";
    changes.extend(rows(connection, users, |row| Ok(AdminChange::PutUser(user(row)?)))?);
    let tokens = "SELECT name, prefix, digest, role, strategy, created, expires, rights FROM tokens ORDER BY name";
    changes.extend(rows(connection, tokens, |row| Ok(AdminChange::PutToken(token(row)?)))?);
    let settings = "SELECT owner, document, revision, changed FROM settings ORDER BY owner";
    changes.extend(rows(connection, settings, |row| Ok(AdminChange::PutSettings(document(row)?)))?);
    let audit = "SELECT id, at, user, door, peer, action, outcome, detail, times, last_at FROM audit ORDER BY id";
    changes.extend(rows(connection, audit, |row| Ok(AdminChange::Audit(audit_row(row)?)))?);
    Ok(changes)
}

fn rows(
    connection: &Connection,
    sql: &str,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<AdminChange>,
) -> rusqlite::Result<Vec<AdminChange>> {
    connection.prepare(sql)?.query_map([], read)?.collect()
}

fn user(row: &Row<'_>) -> rusqlite::Result<UserRecord> {
    Ok(UserRecord {
        name: text(row, 0)?,
        role: text(row, 1)?,
        strategy: optional(row, 2)?,
        password: text(row, 3)?,
        created: Timestamp(row.get(4)?),
        revision: row.get(5)?,
        rights: optional(row, 6)?,
    })
}

fn token(row: &Row<'_>) -> rusqlite::Result<TokenRecord> {
    Ok(TokenRecord {
        name: text(row, 0)?,
        prefix: text(row, 1)?,
        digest: row.get(2)?,
        role: text(row, 3)?,
        strategy: optional(row, 4)?,
        created: Timestamp(row.get(5)?),
        expires: Timestamp(row.get(6)?),
        rights: optional(row, 7)?,
    })
}

fn document(row: &Row<'_>) -> rusqlite::Result<SettingsRecord> {
    Ok(SettingsRecord {
        owner: text(row, 0)?,
        document: text(row, 1)?,
        revision: row.get(2)?,
        changed: Timestamp(row.get(3)?),
    })
}

fn audit_row(row: &Row<'_>) -> rusqlite::Result<AuditRecord> {
    Ok(AuditRecord {
        id: row.get(0)?,
        at: Timestamp(row.get(1)?),
        user: optional(row, 2)?,
        channel: text(row, 3)?,
        peer: optional(row, 4)?,
        action: text(row, 5)?,
        outcome: text(row, 6)?,
        detail: text(row, 7)?,
        times: row.get(8)?,
        last_at: Timestamp(row.get(9)?),
    })
}

fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<Text> {
    row.get::<_, String>(column).map(Text::from)
}

fn optional(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Text>> {
    row.get::<_, Option<String>>(column).map(|text| text.map(Text::from))
}

/// As one file, without what SQLite has beside it. A second one of the same name gets a number.
fn put_aside(folder: &Path, path: &Path) -> Result<PathBuf, AccessError> {
    let connection = open(path)?;
    let whole = connection.pragma_update(None, "journal_mode", "DELETE");
    whole.map_err(AccessError::sqlite("complete", path))?;
    drop(connection);
    let name = |number: u32| match number {
        1 => folder.join(format!("{ASIDE}.sqlite")),
        _ => folder.join(format!("{ASIDE}-{number}.sqlite")),
    };
    let aside = (1..).map(name).find(|aside| !aside.exists()).expect("there are always more numbers");
    fs::rename(path, &aside).map_err(AccessError::io("rename", path))?;
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(AccessError::io("sync", folder))?;
    Ok(aside)
}
