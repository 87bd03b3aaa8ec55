//! User store: users, tokens, audit in SQLite. A change and its audit row are one commit.

use std::fmt;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use crate::audit::{self, Actor, Door, Entry, Folds, Recorded};
use crate::error::AccessError;
use crate::name::Name;
use crate::password::Password;
use crate::role::Role;
use crate::schema;
use crate::secret::{Digest, Secret, new_token};

/// The file inside the data folder.
pub const FILE: &str = "access.sqlite";
/// The longest lifetime of a token.
pub const TOKEN_DAYS_MAX: u32 = 3_650;
/// The server and the command line may write at the same time; one waits for the other.
const BUSY_WAIT: Duration = Duration::from_secs(5);
/// Only the owner may read the password hashes.
const OWNER_ONLY: u32 = 0o600;
const DAY_SECONDS: i64 = 24 * 60 * 60;

pub struct Register {
    path: PathBuf,
    writer: Mutex<Connection>,
    reader: Mutex<Connection>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub name: Name,
    pub role: Role,
    pub created: Timestamp,
    pub(crate) password: String,
    /// Rises with every change of the row: what was verified against an older one is void.
    pub(crate) revision: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub name: Name,
    /// Its public part.
    pub prefix: String,
    pub role: Role,
    pub created: Timestamp,
    pub expires: Timestamp,
    pub(crate) digest: Digest,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
    pub name: Name,
    pub role: Role,
    pub days: u32,
}

/// Why nothing was changed.
#[derive(Debug)]
pub enum Refused {
    /// A name belongs to one user or one token, so that an order's `submittedBy` is unambiguous.
    NameTaken {
        name: Name,
        by: &'static str,
    },
    UnknownUser(Name),
    UnknownToken(Name),
    /// There would be users without an admin, which only the command line could repair.
    NoAdminLeft,
    DaysOutOfRange,
    /// Other settings were saved meanwhile.
    SettingsChanged {
        revision: u64,
    },
    Failed(AccessError),
}

impl Register {
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
        schema::bring_up_to_date(&mut writer).map_err(AccessError::sqlite("prepare", &path))?;
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
        let sql = "SELECT name, role, strategy, password, created, revision FROM users ORDER BY name";
        self.read(|reader| reader.prepare(sql)?.query_map([], user)?.collect())
    }

    /// By name.
    pub fn tokens(&self) -> Result<Vec<Token>, AccessError> {
        let sql = "SELECT name, role, strategy, prefix, created, expires, digest FROM tokens ORDER BY name";
        self.read(|reader| reader.prepare(sql)?.query_map([], token)?.collect())
    }

    /// Rows of the audit after an id, oldest first.
    pub fn audit(&self, after: u64, limit: usize) -> Result<Vec<Recorded>, AccessError> {
        self.read(|reader| audit::page(reader, after, limit))
    }

    /// The same from the other end: rows before an id, newest first.
    pub fn audit_back(&self, before: u64, limit: usize) -> Result<Vec<Recorded>, AccessError> {
        self.read(|reader| audit::page_back(reader, before, limit))
    }

    /// Adds a user, or changes password and role of an existing one.
    pub fn add_user(
        &self,
        (name, role, password): (&Name, &Role, &Password),
        replace: bool,
        actor: &Actor,
        at: Timestamp,
    ) -> Result<(), Refused> {
        let hash = password.hash().map_err(AccessError::system).map_err(Refused::Failed)?;
        self.change("add a user to", |change| {
            if let Some(by) = change.holder(name)?.filter(|by| !replace || *by != USER) {
                return Ok(Err(Refused::NameTaken { name: name.clone(), by }));
            }
            change.transaction.execute(
                "INSERT INTO users VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (name) DO UPDATE \
                 SET role = ?2, strategy = ?3, password = ?4, revision = ?6",
                params![name.as_str(), role.name(), role.strategy().map(|s| &**s), hash, at.0, change.revision],
            )?;
            if change.locks_out(actor)? {
                return Ok(Err(Refused::NoAdminLeft));
            }
            change.tell(at, actor, format!("user {name}, role {role}"))
        })
    }

    pub fn remove_user(&self, name: &Name, actor: &Actor, at: Timestamp) -> Result<(), Refused> {
        self.change("remove a user from", |change| {
            let sql = "DELETE FROM users WHERE name = ?1 RETURNING role";
            let role = change.transaction.query_row(sql, [name.as_str()], |row| row.get::<_, String>(0)).optional()?;
            let Some(role) = role else {
                return Ok(Err(Refused::UnknownUser(name.clone())));
            };
            if role == Role::Admin.name() && change.locks_out(actor)? {
                return Ok(Err(Refused::NoAdminLeft));
            }
            change.forget_settings(name)?;
            change.tell(at, actor, format!("user {name}"))
        })
    }

    /// The token itself is only returned, never stored.
    pub fn new_token(&self, wanted: NewToken, actor: &Actor, at: Timestamp) -> Result<(Token, Secret), Refused> {
        let NewToken { name, role, days } = wanted;
        if !(1..=TOKEN_DAYS_MAX).contains(&days) {
            return Err(Refused::DaysOutOfRange);
        }
        let (prefix, secret) = new_token().map_err(AccessError::system).map_err(Refused::Failed)?;
        let expires = at.plus_seconds(i64::from(days) * DAY_SECONDS);
        let token = Token { name, prefix, role, created: at, expires, digest: secret.digest() };
        self.change("add a token to", |change| {
            if let Some(by) = change.holder(&token.name)? {
                return Ok(Err(Refused::NameTaken { name: token.name.clone(), by }));
            }
            change.keep(&token)?;
            change.tell(at, actor, format!("token {}, role {}, {days} days", token.name, token.role))
        })?;
        Ok((token, secret))
    }

    pub fn revoke_token(&self, name: &Name, actor: &Actor, at: Timestamp) -> Result<(), Refused> {
        self.change("revoke a token in", |change| {
            if change.transaction.execute("DELETE FROM tokens WHERE name = ?1", [name.as_str()])? == 0 {
                return Ok(Err(Refused::UnknownToken(name.clone())));
            }
            change.forget_settings(name)?;
            change.tell(at, actor, format!("token {name}"))
        })
    }

    /// Something was done on the data folder itself.
    pub fn note(&self, actor: &Actor, detail: String, at: Timestamp) -> Result<(), AccessError> {
        self.record(&[Entry::done(at, actor, detail)], &mut Folds::default())
    }

    /// All entries in one commit.
    pub(crate) fn record(&self, entries: &[Entry], folds: &mut Folds) -> Result<(), AccessError> {
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
        write: impl FnOnce(&Connection) -> rusqlite::Result<Result<T, Refused>>,
    ) -> Result<T, Refused> {
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
        outcome.map_err(Refused::Failed)?
    }

    /// A change in one transaction.
    fn change(
        &self,
        doing: &'static str,
        change: impl FnOnce(&Change<'_>) -> rusqlite::Result<Result<(), Refused>>,
    ) -> Result<(), Refused> {
        let mut writer = lock(&self.writer);
        let run = || {
            let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let sql = "UPDATE revision SET number = number + 1 RETURNING number";
            let revision = transaction.query_row(sql, [], |row| row.get(0))?;
            let begun = Change { transaction, revision };
            let outcome = change(&begun)?;
            if outcome.is_ok() {
                begun.transaction.commit()?;
            }
            Ok(outcome)
        };
        let outcome = run().map_err(AccessError::sqlite(doing, &self.path));
        outcome.map_err(Refused::Failed)?
    }
}

const USER: &str = "user";
const TOKEN: &str = "token";

struct Change<'a> {
    transaction: Transaction<'a>,
    revision: i64,
}

impl Change<'_> {
    /// The owner of this name, if it is used.
    fn holder(&self, name: &Name) -> rusqlite::Result<Option<&'static str>> {
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
        let has_no_admin = self.transaction.query_row(sql, [Role::Admin.name()], |row| row.get(0))?;
        Ok(has_no_admin && actor.visit.door != Door::CommandLine)
    }

    fn keep(&self, token: &Token) -> rusqlite::Result<()> {
        let Token { name, prefix, role, created, expires, digest } = token;
        let strategy = role.strategy().map(|strategy| &**strategy);
        let sql = "INSERT INTO tokens VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let row = params![name.as_str(), prefix, digest.as_bytes(), role.name(), strategy, created.0, expires.0];
        self.transaction.execute(sql, row).map(drop)
    }

    /// The next owner of the name begins without settings.
    fn forget_settings(&self, name: &Name) -> rusqlite::Result<()> {
        self.transaction.execute("DELETE FROM settings WHERE owner = ?1", [name.as_str()]).map(drop)
    }

    fn tell(&self, at: Timestamp, actor: &Actor, detail: String) -> rusqlite::Result<Result<(), Refused>> {
        audit::insert(&self.transaction, &Entry::done(at, actor, detail)).map(|_| Ok(()))
    }
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
    Ok(User { name, role, password: row.get(3)?, created: Timestamp(row.get(4)?), revision: row.get(5)? })
}

fn token(row: &Row<'_>) -> rusqlite::Result<Token> {
    let (name, role) = name_and_role(row)?;
    let (created, expires) = (Timestamp(row.get(4)?), Timestamp(row.get(5)?));
    Ok(Token { name, role, prefix: row.get(3)?, created, expires, digest: Digest::from_bytes(row.get(6)?) })
}

fn name_and_role(row: &Row<'_>) -> rusqlite::Result<(Name, Role)> {
    let (name, role, strategy): (String, String, Option<String>) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let name = name.parse().map_err(|error| unreadable(0, error))?;
    let role = Role::new(&role, strategy.as_deref()).map_err(|error| unreadable(1, error))?;
    Ok((name, role))
}

fn unreadable(column: usize, error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
}

impl From<AccessError> for Refused {
    fn from(error: AccessError) -> Self {
        Self::Failed(error)
    }
}

impl fmt::Display for Refused {
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

impl std::error::Error for Refused {}
