//! User store: users, tokens, audit in SQLite. A change and its audit row are one commit.

use std::fmt;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::Timestamp;
use domain::rights::{InvalidRights, TradingRights};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use crate::audit::{self, AccessChannel, Actor, AuditAggregator, AuditEntry, AuditRow};
use crate::error::AccessError;
use crate::login::password::Password;
use crate::login::secret::{Secret, SecretDigest, new_token};
use crate::users::name::PrincipalName;
use crate::users::role::UserRole;
use crate::users::schema;

/// The file inside the data folder.
pub const FILE: &str = "access.sqlite";
/// The longest lifetime of a token.
pub const TOKEN_DAYS_MAX: u32 = 3_650;
/// The server and the command line may write at the same time; one waits for the other.
const BUSY_WAIT: Duration = Duration::from_secs(5);
/// Only the owner may read the password hashes.
const OWNER_ONLY: u32 = 0o600;
const DAY_SECONDS: i64 = 24 * 60 * 60;

pub struct UserStore {
    path: PathBuf,
    writer: Mutex<Connection>,
    reader: Mutex<Connection>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub name: PrincipalName,
    pub role: UserRole,
    pub created: Timestamp,
    pub(crate) password: String,
    /// Rises with every change of the row: what was verified against an older one is void.
    pub(crate) revision: i64,
    /// What it may trade; absent: everything.
    pub rights: Option<Arc<TradingRights>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessToken {
    pub name: PrincipalName,
    /// Its public part.
    pub prefix: String,
    pub role: UserRole,
    pub created: Timestamp,
    pub expires: Timestamp,
    pub(crate) digest: SecretDigest,
    /// What it may trade; absent: everything.
    pub rights: Option<Arc<TradingRights>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
    pub name: PrincipalName,
    pub role: UserRole,
    pub days: u32,
}

/// Why nothing was changed.
#[derive(Debug)]
pub enum UserStoreError {
    /// A name belongs to one user or one token, so that an order's `submittedBy` is unambiguous.
    NameTaken {
        name: PrincipalName,
        by: &'static str,
    },
    UnknownUser(PrincipalName),
    UnknownToken(PrincipalName),
    /// There would be users without an admin, which only the command line could repair.
    NoAdminLeft,
    DaysOutOfRange,
    /// Other settings were saved meanwhile.
    SettingsChanged {
        revision: u64,
    },
    Failed(AccessError),
}

impl UserStore {
    pub fn open(folder: &Path) -> Result<Self, AccessError> {
        std::fs::create_dir_all(folder).map_err(AccessError::io("create", folder))?;
        let path = folder.join(FILE);
        let mut owned = OpenOptions::new();
        owned.create(true).append(true).mode(OWNER_ONLY).open(&path).map_err(AccessError::io("create", &path))?;
        let mut writer = connect(&path).map_err(AccessError::sqlite("open", &path))?;
        let version = schema::version(&writer).map_err(AccessError::sqlite("open", &path))?;
        if version > schema::VERSION {
            return Err(AccessError::Newer { path, version, known: schema::VERSION });
        }
        schema::migrate(&mut writer).map_err(AccessError::sqlite("prepare", &path))?;
        let reader = connect(&path).map_err(AccessError::sqlite("open", &path))?;
        Ok(Self { path, writer: Mutex::new(writer), reader: Mutex::new(reader) })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Rises with every change of a user or a token.
    pub(crate) fn revision(&self) -> Result<i64, AccessError> {
        let number =
            |reader: &Connection| reader.prepare_cached("SELECT number FROM revision")?.query_row([], |row| row.get(0));
        self.read(number)
    }

    /// By name.
    pub fn users(&self) -> Result<Vec<User>, AccessError> {
        let sql = "SELECT name, role, strategy, password, created, revision, rights FROM users ORDER BY name";
        self.read(|reader| reader.prepare(sql)?.query_map([], user)?.collect())
    }

    /// By name.
    pub fn tokens(&self) -> Result<Vec<AccessToken>, AccessError> {
        let sql = "SELECT name, role, strategy, prefix, created, expires, digest, rights FROM tokens ORDER BY name";
        self.read(|reader| reader.prepare(sql)?.query_map([], token)?.collect())
    }

    /// Rows of the audit after an id, oldest first.
    pub fn audit(&self, after: u64, limit: usize) -> Result<Vec<AuditRow>, AccessError> {
        self.read(|reader| audit::page(reader, after, limit))
    }

    /// The same from the other end: rows before an id, newest first.
    pub fn audit_back(&self, before: u64, limit: usize) -> Result<Vec<AuditRow>, AccessError> {
        self.read(|reader| audit::page_back(reader, before, limit))
    }

    /// Adds a user, or changes password and role of an existing one.
    pub fn add_user(
        &self,
        (name, role, password): (&PrincipalName, &UserRole, &Password),
        replace: bool,
        actor: &Actor,
        at: Timestamp,
    ) -> Result<(), UserStoreError> {
        let hash = password.hash().map_err(AccessError::system).map_err(UserStoreError::Failed)?;
        self.change("add a user to", |change| {
            if let Some(by) = change.name_holder(name)?.filter(|by| !replace || *by != USER) {
                return Ok(Err(UserStoreError::NameTaken { name: name.clone(), by }));
            }
            change.transaction.execute(
                "INSERT INTO users (name, role, strategy, password, created, revision) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
                 ON CONFLICT (name) DO UPDATE \
                 SET role = ?2, strategy = ?3, password = ?4, revision = ?6",
                params![name.as_str(), role.name(), role.strategy().map(|s| &**s), hash, at.0, change.revision],
            )?;
            if change.locks_out(actor)? {
                return Ok(Err(UserStoreError::NoAdminLeft));
            }
            change.write_audit(at, actor, format!("user {name}, role {role}"))
        })
    }

    pub fn remove_user(&self, name: &PrincipalName, actor: &Actor, at: Timestamp) -> Result<(), UserStoreError> {
        self.change("remove a user from", |change| {
            let sql = "DELETE FROM users WHERE name = ?1 RETURNING role";
            let role = change.transaction.query_row(sql, [name.as_str()], |row| row.get::<_, String>(0)).optional()?;
            let Some(role) = role else {
                return Ok(Err(UserStoreError::UnknownUser(name.clone())));
            };
            if role == UserRole::Admin.name() && change.locks_out(actor)? {
                return Ok(Err(UserStoreError::NoAdminLeft));
            }
            change.delete_settings(name)?;
            change.write_audit(at, actor, format!("user {name}"))
        })
    }

    /// The token itself is only returned, never stored.
    pub fn new_token(
        &self,
        wanted: NewToken,
        actor: &Actor,
        at: Timestamp,
    ) -> Result<(AccessToken, Secret), UserStoreError> {
        let NewToken { name, role, days } = wanted;
        if !(1..=TOKEN_DAYS_MAX).contains(&days) {
            return Err(UserStoreError::DaysOutOfRange);
        }
        let (prefix, secret) = new_token().map_err(AccessError::system).map_err(UserStoreError::Failed)?;
        let expires = at.plus_seconds(i64::from(days) * DAY_SECONDS);
        let token = AccessToken { name, prefix, role, created: at, expires, digest: secret.digest(), rights: None };
        self.change("add a token to", |change| {
            if let Some(by) = change.name_holder(&token.name)? {
                return Ok(Err(UserStoreError::NameTaken { name: token.name.clone(), by }));
            }
            change.insert_token(&token)?;
            change.write_audit(at, actor, format!("token {}, role {}, {days} days", token.name, token.role))
        })?;
        Ok((token, secret))
    }

    pub fn revoke_token(&self, name: &PrincipalName, actor: &Actor, at: Timestamp) -> Result<(), UserStoreError> {
        self.change("revoke a token in", |change| {
            if change.transaction.execute("DELETE FROM tokens WHERE name = ?1", [name.as_str()])? == 0 {
                return Ok(Err(UserStoreError::UnknownToken(name.clone())));
            }
            change.delete_settings(name)?;
            change.write_audit(at, actor, format!("token {name}"))
        })
    }

    /// Sets what a user may trade. Sessions and connections of the user end, so that none goes on with the old rights.
    pub fn set_user_rights(
        &self,
        name: &PrincipalName,
        rights: &TradingRights,
        actor: &Actor,
        at: Timestamp,
    ) -> Result<(), UserStoreError> {
        self.change("change a user in", |change| {
            let sql = "UPDATE users SET rights = ?2, revision = ?3 WHERE name = ?1";
            if change.transaction.execute(sql, params![name.as_str(), rights_text(rights), change.revision])? == 0 {
                return Ok(Err(UserStoreError::UnknownUser(name.clone())));
            }
            change.write_audit(at, actor, format!("user {name}, may trade {rights}"))
        })
    }

    /// The same for a token.
    pub fn set_token_rights(
        &self,
        name: &PrincipalName,
        rights: &TradingRights,
        actor: &Actor,
        at: Timestamp,
    ) -> Result<(), UserStoreError> {
        self.change("change a token in", |change| {
            let sql = "UPDATE tokens SET rights = ?2 WHERE name = ?1";
            if change.transaction.execute(sql, params![name.as_str(), rights_text(rights)])? == 0 {
                return Ok(Err(UserStoreError::UnknownToken(name.clone())));
            }
            change.write_audit(at, actor, format!("token {name}, may trade {rights}"))
        })
    }

    /// A copy of all of it as it is now, in a file that must not exist yet. Others may write meanwhile.
    pub fn copy_to(&self, path: &Path) -> Result<(), AccessError> {
        let text = path.to_string_lossy();
        let copied = lock(&self.writer).execute("VACUUM INTO ?1", params![text]);
        copied.map(drop).map_err(AccessError::sqlite("copy to", path))
    }

    /// Something was done on the data folder itself.
    pub fn note(&self, actor: &Actor, detail: String, at: Timestamp) -> Result<(), AccessError> {
        self.record(&[AuditEntry::done(at, actor, detail)], &mut AuditAggregator::default())
    }

    /// All entries in one commit.
    pub(crate) fn record(&self, entries: &[AuditEntry], folds: &mut AuditAggregator) -> Result<(), AccessError> {
        let mut writer = lock(&self.writer);
        let mut write = || {
            let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for entry in entries {
                folds.write(&transaction, entry)?;
            }
            transaction.commit()
        };
        write().map_err(AccessError::sqlite("write the audit to", &self.path))
    }

    pub(crate) fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, AccessError> {
        read(&lock(&self.reader)).map_err(AccessError::sqlite("read", &self.path))
    }

    /// A write that changes neither users nor tokens, in one transaction.
    pub(crate) fn write<T>(
        &self,
        doing: &'static str,
        write: impl FnOnce(&Connection) -> rusqlite::Result<Result<T, UserStoreError>>,
    ) -> Result<T, UserStoreError> {
        let mut writer = lock(&self.writer);
        let run = || {
            let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let outcome = write(&transaction)?;
            if outcome.is_ok() {
                transaction.commit()?;
            }
            Ok(outcome)
        };
        let outcome = run().map_err(AccessError::sqlite(doing, &self.path));
        outcome.map_err(UserStoreError::Failed)?
    }

    /// A change in one transaction.
    fn change(
        &self,
        doing: &'static str,
        change: impl FnOnce(&UserStoreChange<'_>) -> rusqlite::Result<Result<(), UserStoreError>>,
    ) -> Result<(), UserStoreError> {
        let mut writer = lock(&self.writer);
        let run = || {
            let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let sql = "UPDATE revision SET number = number + 1 RETURNING number";
            let revision = transaction.query_row(sql, [], |row| row.get(0))?;
            let begun = UserStoreChange { transaction, revision };
            let outcome = change(&begun)?;
            if outcome.is_ok() {
                begun.transaction.commit()?;
            }
            Ok(outcome)
        };
        let outcome = run().map_err(AccessError::sqlite(doing, &self.path));
        outcome.map_err(UserStoreError::Failed)?
    }
}

const USER: &str = "user";
const TOKEN: &str = "token";

struct UserStoreChange<'a> {
    transaction: Transaction<'a>,
    revision: i64,
}

impl UserStoreChange<'_> {
    /// The owner of this name, if it is used.
    fn name_holder(&self, name: &PrincipalName) -> rusqlite::Result<Option<&'static str>> {
        let is_in = |sql| self.transaction.query_row(sql, [name.as_str()], |_| Ok(())).optional();
        if is_in("SELECT 1 FROM users WHERE name = ?1")?.is_some() {
            return Ok(Some(USER));
        }
        Ok(is_in("SELECT 1 FROM tokens WHERE name = ?1")?.map(|()| TOKEN))
    }

    /// From the first user on all callers must log in, so one of the users must be an admin. The command line can
    /// always repair it, and may add users in any order.
    fn locks_out(&self, actor: &Actor) -> rusqlite::Result<bool> {
        let sql = "SELECT count(*) > 0 AND total(role = ?1) = 0 FROM users";
        let has_no_admin = self.transaction.query_row(sql, [UserRole::Admin.name()], |row| row.get(0))?;
        Ok(has_no_admin && actor.request.channel != AccessChannel::CommandLine)
    }

    fn insert_token(&self, token: &AccessToken) -> rusqlite::Result<()> {
        let AccessToken { name, prefix, role, created, expires, digest, .. } = token;
        let strategy = role.strategy().map(|strategy| &**strategy);
        let sql = "INSERT INTO tokens (name, prefix, digest, role, strategy, created, expires) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let row = params![name.as_str(), prefix, digest.as_bytes(), role.name(), strategy, created.0, expires.0];
        self.transaction.execute(sql, row).map(drop)
    }

    /// The next owner of the name begins without settings.
    fn delete_settings(&self, name: &PrincipalName) -> rusqlite::Result<()> {
        self.transaction.execute("DELETE FROM settings WHERE owner = ?1", [name.as_str()]).map(drop)
    }

    fn write_audit(
        &self,
        at: Timestamp,
        actor: &Actor,
        detail: String,
    ) -> rusqlite::Result<Result<(), UserStoreError>> {
        audit::insert(&self.transaction, &AuditEntry::done(at, actor, detail)).map(|_| Ok(()))
    }
}

fn rights_text(rights: &TradingRights) -> Option<String> {
    (!rights.is_unlimited()).then(|| rights.to_string())
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_WAIT)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // Unlike the read model, this file cannot be rebuilt.
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}

fn lock(connection: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    // A transaction that did not end was rolled back when it was dropped.
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

fn user(row: &Row<'_>) -> rusqlite::Result<User> {
    let (name, role) = name_and_role(row)?;
    let (created, rights) = (Timestamp(row.get(4)?), rights(row, 6)?);
    Ok(User { name, role, password: row.get(3)?, created, revision: row.get(5)?, rights })
}

fn token(row: &Row<'_>) -> rusqlite::Result<AccessToken> {
    let (name, role) = name_and_role(row)?;
    let (created, expires) = (Timestamp(row.get(4)?), Timestamp(row.get(5)?));
    let (digest, rights) = (SecretDigest::from_bytes(row.get(6)?), rights(row, 7)?);
    Ok(AccessToken { name, role, prefix: row.get(3)?, created, expires, digest, rights })
}

/// No text stands for all rights.
fn rights(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Arc<TradingRights>>> {
    let text: Option<String> = row.get(column)?;
    let rights = text.map(|text| text.parse().map(Arc::new).map_err(|error: InvalidRights| unreadable(column, error)));
    rights.transpose()
}

fn name_and_role(row: &Row<'_>) -> rusqlite::Result<(PrincipalName, UserRole)> {
    let (name, role, strategy): (String, String, Option<String>) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let name = name.parse().map_err(|error| unreadable(0, error))?;
    let role = UserRole::new(&role, strategy.as_deref()).map_err(|error| unreadable(1, error))?;
    Ok((name, role))
}

fn unreadable(column: usize, error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
}

impl From<AccessError> for UserStoreError {
    fn from(error: AccessError) -> Self {
        Self::Failed(error)
    }
}

impl fmt::Display for UserStoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NameTaken { name, by } => write!(f, "there is a {by} called {name} already"),
            Self::UnknownUser(name) => write!(f, "there is no user called {name}"),
            Self::UnknownToken(name) => write!(f, "there is no token called {name}"),
            Self::NoAdminLeft => {
                write!(f, "one user must be an admin, and so the first: from then on everybody logs in")
            }
            Self::DaysOutOfRange => write!(f, "a token lives from 1 to {TOKEN_DAYS_MAX} days"),
            Self::SettingsChanged { revision } => {
                write!(f, "other settings were kept meanwhile, read them first: they have revision {revision}")
            }
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for UserStoreError {}
