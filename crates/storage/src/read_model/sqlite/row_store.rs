//! Writes rows into SQLite. Any error ends the read model until the next start: the file is then opened, checked and, if
//! need be, built again.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use domain::{Fill, Order, OrderStatus, PublishedEvent, Transaction, ValueSample};
use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, ValueRef};

use super::checksum::{self, integer};
use super::file;
use crate::read_model::batch_rows::{EventPlace, RowWriter, write_rows};
use crate::read_model::search_columns::{SearchColumns, transaction_words};
use crate::read_model::store::{EventBatch, RowStore, StoreProblem};

/// What is written survives a power cut after this time, so that the older of two snapshots is of use after one.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(60);

const INSERT_EVENT: &str = "INSERT INTO events (payload, sequence, ordinal, at, class, checksum)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
const INSERT_ORDER_EVENT: &str = "INSERT INTO order_events VALUES (?1, ?2, ?3, ?4)";
const INSERT_FILL: &str = "INSERT INTO fills VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
const INSERT_TRANSACTION: &str = "INSERT OR REPLACE INTO transactions
    (id, sequence, ordinal, strategy, account, security, words, checksum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
// Of what is indexed the names of an order can change: the venue gives it one, and its note may be another. A claim changes its
// strategy.
const UPSERT_ORDER: &str = "INSERT INTO orders
    (id, payload, int_id, strategy, account, security, at, status, source, words, changed_at, has_fills,
        checksum)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
    ON CONFLICT (id) DO UPDATE SET
        payload = excluded.payload, strategy = excluded.strategy, status = excluded.status, words = excluded.words,
        changed_at = excluded.changed_at, has_fills = excluded.has_fills, checksum = excluded.checksum";
const ORDER_ROW: &str =
    "SELECT id, payload, int_id, strategy, account, security, at, status, source, words, changed_at, has_fills,
    checksum FROM orders WHERE id = ?1";
/// Where it stands in that row.
const HAS_FILLS: usize = 11;
const INSERT_VALUE_SAMPLE: &str = "INSERT INTO value_samples (payload, scope, sequence, at, day, checksum)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
const UPDATE_APPLIED: &str = "UPDATE model SET applied = ?1, checksum = ?2";

pub(crate) struct SqliteRowStore {
    path: PathBuf,
    connection: Connection,
    /// The sequence that the file had when it was opened.
    applied: u64,
    payload: Vec<u8>,
    checkpointed: Instant,
}

impl SqliteRowStore {
    pub(crate) fn new(path: PathBuf, connection: Connection, applied: u64) -> Self {
        Self { path, connection, applied, payload: Vec::new(), checkpointed: Instant::now() }
    }

    /// Damage is remembered beside the file.
    fn check<T>(&self, result: rusqlite::Result<T>) -> Result<T, StoreProblem> {
        result.map_err(|error| {
            file::mark_if_damaged(&self.path, &error);
            StoreProblem::Failed(format!("the read model cannot be written: {error}"))
        })
    }

    fn write_batch(&mut self, batch: &EventBatch) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        write_rows(batch, &mut self.payload, &mut SqliteRowWriter { connection: &transaction })?;
        checksum::execute(&transaction, UPDATE_APPLIED, &[integer(batch.through)?])?;
        transaction.commit()
    }

    /// Readers are not disturbed; what they still look at stays in the log until the next time.
    fn checkpoint(&mut self) -> rusqlite::Result<()> {
        self.checkpointed = Instant::now();
        self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
    }
}

impl RowStore for SqliteRowStore {
    /// The file was opened before the engine was recovered.
    fn connect(&mut self) -> Result<u64, StoreProblem> {
        Ok(self.applied)
    }

    fn write(&mut self, batch: &EventBatch) -> Result<(), StoreProblem> {
        let written = self.write_batch(batch);
        self.check(written)
    }

    fn save_applied(&mut self, applied: u64) -> Result<(), StoreProblem> {
        let saved =
            integer(applied).and_then(|applied| checksum::execute(&self.connection, UPDATE_APPLIED, &[applied]));
        self.check(saved)
    }

    fn maintain(&mut self, is_last: bool) -> Result<(), StoreProblem> {
        if !is_last && self.checkpointed.elapsed() < CHECKPOINT_INTERVAL {
            return Ok(());
        }
        let done = self.checkpoint();
        self.check(done)
    }
}

struct SqliteRowWriter<'a> {
    connection: &'a Connection,
}

impl RowWriter for SqliteRowWriter<'_> {
    type Error = rusqlite::Error;

    fn event(&mut self, place: EventPlace, published: &PublishedEvent, payload: &[u8]) -> rusqlite::Result<()> {
        let (at, class) = (ValueRef::Integer(published.at.0), integer(u64::from(published.event.class() as u8))?);
        let [sequence, ordinal] = values(place)?;
        self.execute(INSERT_EVENT, &[ValueRef::Blob(payload), sequence, ordinal, at, class])
    }

    fn order_event(&mut self, place: EventPlace, status: &OrderStatus) -> rusqlite::Result<()> {
        let [sequence, ordinal] = values(place)?;
        self.execute(INSERT_ORDER_EVENT, &[integer(status.order.0)?, sequence, ordinal])
    }

    fn fill(&mut self, place: EventPlace, fill: &Fill) -> rusqlite::Result<()> {
        let [sequence, ordinal] = values(place)?;
        let (strategy, account) = (integer(fill.strategy.0)?, integer(fill.account.0)?);
        self.execute(INSERT_FILL, &[sequence, ordinal, strategy, account, integer(fill.security.0)?])
    }

    fn transaction(&mut self, place: EventPlace, transaction: &Transaction) -> rusqlite::Result<()> {
        let security = transaction.security.map_or(Ok(ValueRef::Null), |security| integer(security.0))?;
        let (strategy, account) = (integer(transaction.strategy.0)?, integer(transaction.account.0)?);
        let [sequence, ordinal] = values(place)?;
        let id = integer(transaction.id.0)?;
        let words = transaction_words(transaction);
        let words = ValueRef::Text(words.as_bytes());
        self.execute(INSERT_TRANSACTION, &[id, sequence, ordinal, strategy, account, security, words])
    }

    fn order(&mut self, order: &Order, is_traded: bool, payload: &[u8]) -> rusqlite::Result<()> {
        let (strategy, account) = (integer(order.strategy.0)?, integer(order.account.0)?);
        let (id, security) = (integer(order.id.0)?, integer(order.security.0)?);
        let (payload, int_id) = (ValueRef::Blob(payload), ValueRef::Text(order.int_id.as_str().as_bytes()));
        let SearchColumns { at, changed_at, has_fills, status, source, words } = SearchColumns::from_order(order);
        let [status, source, words] = [status, &source, &words].map(|text| ValueRef::Text(text.as_bytes()));
        let has_fills = has_fills || is_traded || self.had_fills(id)?;
        let [at, changed_at, has_fills] = [at, changed_at, i64::from(has_fills)].map(ValueRef::Integer);
        let row = [id, payload, int_id, strategy, account, security, at, status, source, words, changed_at, has_fills];
        self.execute(UPSERT_ORDER, &row)
    }

    fn value_sample(&mut self, sequence: u64, sample: &ValueSample, payload: &[u8]) -> rusqlite::Result<()> {
        let (scope, day) = (sample.scope.to_string(), sample.date.to_string());
        let [scope, day] = [&scope, &day].map(|text| ValueRef::Text(text.as_bytes()));
        let at = ValueRef::Integer(sample.at.0);
        self.execute(INSERT_VALUE_SAMPLE, &[ValueRef::Blob(payload), scope, integer(sequence)?, at, day])
    }
}

impl SqliteRowWriter<'_> {
    /// As the row says that is replaced. Of a damaged one it may be so: an order too many is looked through, and none is passed over.
    fn had_fills(&self, id: ValueRef<'_>) -> rusqlite::Result<bool> {
        let mut statement = self.connection.prepare_cached(ORDER_ROW)?;
        statement.raw_bind_parameter(1, ToSqlOutput::Borrowed(id))?;
        let mut rows = statement.raw_query();
        let Some(row) = rows.next()? else { return Ok(false) };
        let is_damaged = checksum::check(row, 0..checksum::ORDER_COLUMNS.len()).is_err();
        Ok(is_damaged || row.get(HAS_FILLS)?)
    }

    fn execute(&self, statement: &str, row: &[ValueRef<'_>]) -> rusqlite::Result<()> {
        checksum::execute(self.connection, statement, row)
    }
}

fn values(place: EventPlace) -> rusqlite::Result<[ValueRef<'static>; 2]> {
    Ok([integer(place.sequence)?, integer(u64::from(place.ordinal))?])
}
