//! User settings: one opaque document per user, with a revision for optimistic locking.

use domain::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use crate::error::AccessError;
use crate::users::user_store::{UserStore, UserStoreError};

/// The owner of the settings of anonymous callers. No user and no token can have this name.
const LOCAL: &str = "";

/// A document with its revision: 1 when it was first saved, and one more each time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserSettings {
    pub document: String,
    pub revision: u64,
}

impl UserStore {
    /// The settings of a user or a token; anonymous callers share one document.
    pub fn settings(&self, owner: Option<&str>) -> Result<Option<UserSettings>, AccessError> {
        self.read(|reader| load_settings(reader, owner))
    }

    /// Saves a document in place of the one that the writer has read, where that is still the current one. Returns the
    /// new revision.
    pub fn save_settings(
        &self,
        owner: Option<&str>,
        document: &str,
        seen: Option<u64>,
        at: Timestamp,
    ) -> Result<u64, UserStoreError> {
        self.write("keep settings in", |transaction| {
            let revision = load_settings(transaction, owner)?.map_or(0, |settings| settings.revision);
            if seen.is_some_and(|seen| seen != revision) {
                return Ok(Err(UserStoreError::SettingsChanged { revision }));
            }
            let sql = "INSERT INTO settings VALUES (?1, ?2, ?3, ?4) ON CONFLICT (owner) DO UPDATE \
                       SET document = ?2, revision = ?3, changed = ?4";
            transaction.execute(sql, params![owner.unwrap_or(LOCAL), document, revision + 1, at.0])?;
            Ok(Ok(revision + 1))
        })
    }
}

fn load_settings(connection: &Connection, owner: Option<&str>) -> rusqlite::Result<Option<UserSettings>> {
    let mut statement = connection.prepare_cached("SELECT document, revision FROM settings WHERE owner = ?1")?;
    let read = |row: &rusqlite::Row<'_>| Ok(UserSettings { document: row.get(0)?, revision: row.get(1)? });
    statement.query_row([owner.unwrap_or(LOCAL)], read).optional()
}
