//! Audit trail: refusals, failed logins, privileged actions. Rows are only added; repeated refusals are aggregated into
//! one row with a count, so that no client can fill the disk.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::IpAddr;

use domain::{Text, Timestamp};
use rusqlite::{Connection, Row, params};

/// Rows of one page at the most.
pub const AUDIT_PAGE_MAX: usize = 1_000;
/// Equal entries within this time are one row.
const AGGREGATION_SECONDS: i64 = 60;
/// Rows whose count may still rise; with one more, all new refusals get new rows.
const AGGREGATED_ROWS_MAX: usize = 4_096;

/// The outcome of a completed action.
pub const DONE: &str = "done";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessChannel {
    Rest,
    Ui,
    /// Topics and queues over STOMP.
    Broker,
    Fix,
    CommandLine,
}

impl AccessChannel {
    pub fn name(self) -> &'static str {
        match self {
            Self::Rest => "REST",
            Self::Ui => "UI",
            Self::Broker => "STOMP",
            Self::Fix => "FIX",
            Self::CommandLine => "CLI",
        }
    }
}

/// A request to be authorised: interface, peer and action, such as `GET /rest/account`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AccessRequest {
    pub channel: AccessChannel,
    /// None on the command line.
    pub peer: Option<IpAddr>,
    pub action: Cow<'static, str>,
}

/// The user of a request; without a name the caller is anonymous.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Actor {
    pub user: Option<Text>,
    pub request: AccessRequest,
}

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    pub at: Timestamp,
    pub actor: Actor,
    /// [`DONE`], or the code of a refusal.
    pub outcome: String,
    pub detail: String,
}

impl AuditEntry {
    pub(crate) fn done(at: Timestamp, actor: &Actor, detail: String) -> Self {
        Self { at, actor: actor.clone(), outcome: DONE.into(), detail }
    }
}

/// A row of the audit as it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    pub id: u64,
    pub at: Timestamp,
    pub user: Option<String>,
    pub door: String,
    pub peer: Option<String>,
    pub action: String,
    pub outcome: String,
    pub detail: String,
    /// How often it came within the minute, and when it last did.
    pub times: u64,
    pub last_at: Timestamp,
}

/// The rows that may still be counted up.
#[derive(Debug, Default)]
pub(crate) struct AuditAggregator(BTreeMap<(Actor, String, String), (i64, Timestamp)>);

impl AuditAggregator {
    /// Writes an entry, or counts it up where it is a refusal that was written a moment ago.
    pub(crate) fn write(&mut self, connection: &Connection, entry: &AuditEntry) -> rusqlite::Result<()> {
        if entry.outcome == DONE {
            return insert(connection, entry).map(drop);
        }
        let key = (entry.actor.clone(), entry.outcome.clone(), entry.detail.clone());
        if let Some((id, since)) = self.0.get(&key)
            && entry.at.seconds_since(*since) < AGGREGATION_SECONDS
        {
            return count(connection, *id, entry.at);
        }
        let id = insert(connection, entry)?;
        if self.0.len() >= AGGREGATED_ROWS_MAX {
            self.0.clear();
        }
        self.0.insert(key, (id, entry.at));
        Ok(())
    }
}

pub(crate) fn insert(connection: &Connection, entry: &AuditEntry) -> rusqlite::Result<i64> {
    let AuditEntry { at, actor: Actor { user, request: visit }, outcome, detail } = entry;
    let peer = visit.peer.map(|peer| peer.to_string());
    let mut statement = connection.prepare_cached(
        "INSERT INTO audit (at, user, door, peer, action, outcome, detail, times, last_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, ?1)",
    )?;
    statement.insert(params![at.0, user.as_deref(), visit.channel.name(), peer, visit.action, outcome, detail])
}

fn count(connection: &Connection, id: i64, at: Timestamp) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("UPDATE audit SET times = times + 1, last_at = ?2 WHERE id = ?1")?;
    statement.execute(params![id, at.0]).map(drop)
}

/// Rows after an id, oldest first.
pub(crate) fn page(connection: &Connection, after: u64, limit: usize) -> rusqlite::Result<Vec<AuditRow>> {
    rows(connection, "id > ?1 ORDER BY id", after, limit)
}

/// Rows before an id, newest first.
pub(crate) fn page_back(connection: &Connection, before: u64, limit: usize) -> rusqlite::Result<Vec<AuditRow>> {
    rows(connection, "id < ?1 ORDER BY id DESC", before, limit)
}

fn rows(connection: &Connection, order: &str, key: u64, limit: usize) -> rusqlite::Result<Vec<AuditRow>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT id, at, user, door, peer, action, outcome, detail, times, last_at FROM audit WHERE {order} LIMIT ?2",
    ))?;
    // No row has a larger id than the file can count.
    let key = i64::try_from(key).unwrap_or(i64::MAX);
    statement.query_map(params![key, limit.min(AUDIT_PAGE_MAX)], recorded)?.collect()
}

fn recorded(row: &Row<'_>) -> rusqlite::Result<AuditRow> {
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
