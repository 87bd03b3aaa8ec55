//! Read model writer thread: one transaction for all waiting events, so it is the faster the more there is to do.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::{Event, Fill, Order, OrderId, OrderStatus, PublishedEvent, Transaction};
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::checksum::{self, integer};
use super::file;
use super::payload;
use super::progress::ApplyProgress;
use super::queue::{EventBatch, EventQueue};
use super::search::SearchColumns;

/// Inputs without events are noted no more often than this: a start may have to replay that much more.
const APPLIED_SAVE_INTERVAL: Duration = Duration::from_secs(1);
/// What is written survives a power cut after this time, so that the older of two snapshots is of use after one.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(60);

const INSERT_EVENT: &str = "INSERT INTO events (payload, sequence, ordinal, at, class, checksum)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
const INSERT_ORDER_EVENT: &str = "INSERT INTO order_events VALUES (?1, ?2, ?3, ?4)";
const INSERT_FILL: &str = "INSERT INTO fills VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
const INSERT_TRANSACTION: &str = "INSERT OR REPLACE INTO transactions VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
// Of what is indexed the names of an order can change: the venue gives it one, and its note may be another. A claim changes its
// strategy.
const UPSERT_ORDER: &str = "INSERT INTO orders
    (id, payload, int_id, strategy, account, security, at, status, source, words, checksum)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
    ON CONFLICT (id) DO UPDATE SET
        payload = excluded.payload, strategy = excluded.strategy, status = excluded.status, words = excluded.words,
        checksum = excluded.checksum";
const UPDATE_APPLIED: &str = "UPDATE model SET applied = ?1, checksum = ?2";

pub(crate) struct ReadModelWriter {
    path: PathBuf,
    connection: Connection,
    queue: Arc<EventQueue>,
    progress: Arc<ApplyProgress>,
    payload: Vec<u8>,
    /// Whether inputs were applied that the file does not know of.
    is_save_due: bool,
    saved_at: Instant,
    checkpointed: Instant,
}

impl ReadModelWriter {
    pub(crate) fn new(
        path: PathBuf,
        connection: Connection,
        queue: Arc<EventQueue>,
        progress: Arc<ApplyProgress>,
    ) -> Self {
        let now = Instant::now();
        Self {
            path,
            connection,
            queue,
            progress,
            payload: Vec::new(),
            is_save_due: false,
            saved_at: now,
            checkpointed: now,
        }
    }

    pub(crate) fn run(mut self) {
        if let Err(error) = self.run_until_closed() {
            tracing::error!(%error, "read model failed; history is stale until the next start");
            file::mark_if_damaged(&self.path, &error);
            self.progress.fail(format!("the read model cannot be written: {error}"));
        }
    }

    fn run_until_closed(&mut self) -> rusqlite::Result<()> {
        while let Some(taken) = self.queue.take_batch(APPLIED_SAVE_INTERVAL) {
            self.apply(&taken)?;
            self.progress.advance(taken.through);
        }
        self.save_applied(self.progress.applied())?;
        self.checkpoint()
    }

    fn apply(&mut self, taken: &EventBatch) -> rusqlite::Result<()> {
        self.is_save_due |= taken.through > self.progress.applied();
        if !taken.events.is_empty() {
            self.write(taken)?;
        } else if self.saved_at.elapsed() >= APPLIED_SAVE_INTERVAL {
            self.save_applied(taken.through)?;
        }
        if self.checkpointed.elapsed() >= CHECKPOINT_INTERVAL {
            self.checkpoint()?;
        }
        Ok(())
    }

    /// Rows and applied sequence in one transaction: after any crash they fit.
    fn write(&mut self, taken: &EventBatch) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        let mut commit = ReadModelCommit::new(&transaction, &mut self.payload);
        taken.events.iter().try_for_each(|published| commit.add(published))?;
        commit.finish(taken.through)?;
        transaction.commit()?;
        (self.is_save_due, self.saved_at) = (false, Instant::now());
        Ok(())
    }

    fn save_applied(&mut self, applied: u64) -> rusqlite::Result<()> {
        if self.is_save_due {
            checksum::execute(&self.connection, UPDATE_APPLIED, &[integer(applied)?])?;
        }
        (self.is_save_due, self.saved_at) = (false, Instant::now());
        Ok(())
    }

    /// Readers are not disturbed; what they still look at stays in the log until the next time.
    fn checkpoint(&mut self) -> rusqlite::Result<()> {
        self.checkpointed = Instant::now();
        self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
    }
}

impl Drop for ReadModelWriter {
    /// Also after a failure or a panic: no producer may wait for a queue that is not emptied any more.
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// What one transaction writes.
struct ReadModelCommit<'a> {
    connection: &'a Connection,
    payload: &'a mut Vec<u8>,
    /// Of the event before.
    sequence: u64,
    ordinal: u32,
    /// The newest state of each order that changed: only that is written.
    orders: BTreeMap<OrderId, &'a Order>,
}

impl<'a> ReadModelCommit<'a> {
    fn new(connection: &'a Connection, payload: &'a mut Vec<u8>) -> Self {
        Self { connection, payload, sequence: 0, ordinal: 0, orders: BTreeMap::new() }
    }

    fn add(&mut self, published: &'a PublishedEvent) -> rusqlite::Result<()> {
        if let Event::Order(order) = &published.event {
            self.orders.insert(order.id, order);
            return Ok(());
        }
        if !payload::encode_event(&published.event, self.payload) {
            return Ok(());
        }
        self.ordinal = if published.sequence == self.sequence { self.ordinal + 1 } else { 0 };
        self.sequence = published.sequence;
        self.add_event(published)?;
        match &published.event {
            Event::OrderStatus(status) => self.add_order_event(status),
            Event::Fill(fill) => self.add_fill(fill),
            Event::Transaction(transaction) => self.add_transaction(transaction),
            _ => Ok(()),
        }
    }

    fn finish(mut self, through: u64) -> rusqlite::Result<()> {
        for order in std::mem::take(&mut self.orders).into_values() {
            self.upsert_order(order)?;
        }
        self.execute(UPDATE_APPLIED, &[integer(through)?])
    }

    fn add_event(&self, published: &PublishedEvent) -> rusqlite::Result<()> {
        let (at, class) = (ValueRef::Integer(published.at.0), integer(u64::from(published.event.class() as u8))?);
        let [sequence, ordinal] = self.place()?;
        self.execute(INSERT_EVENT, &[ValueRef::Blob(self.payload), sequence, ordinal, at, class])
    }

    fn add_order_event(&self, status: &OrderStatus) -> rusqlite::Result<()> {
        let [sequence, ordinal] = self.place()?;
        self.execute(INSERT_ORDER_EVENT, &[integer(status.order.0)?, sequence, ordinal])
    }

    fn add_fill(&self, fill: &Fill) -> rusqlite::Result<()> {
        let [sequence, ordinal] = self.place()?;
        let (strategy, account) = (integer(fill.strategy.0)?, integer(fill.account.0)?);
        self.execute(INSERT_FILL, &[sequence, ordinal, strategy, account, integer(fill.security.0)?])
    }

    fn add_transaction(&self, transaction: &Transaction) -> rusqlite::Result<()> {
        let security = transaction.security.map_or(Ok(ValueRef::Null), |security| integer(security.0))?;
        let (strategy, account) = (integer(transaction.strategy.0)?, integer(transaction.account.0)?);
        let [sequence, ordinal] = self.place()?;
        let id = integer(transaction.id.0)?;
        self.execute(INSERT_TRANSACTION, &[id, sequence, ordinal, strategy, account, security])
    }

    fn upsert_order(&mut self, order: &Order) -> rusqlite::Result<()> {
        payload::encode(order, self.payload);
        let (strategy, account) = (integer(order.strategy.0)?, integer(order.account.0)?);
        let (id, security) = (integer(order.id.0)?, integer(order.security.0)?);
        let (payload, int_id) = (ValueRef::Blob(self.payload), ValueRef::Text(order.int_id.as_str().as_bytes()));
        let SearchColumns { at, status, source, words } = SearchColumns::from_order(order);
        let [status, source, words] = [status, &source, &words].map(|text| ValueRef::Text(text.as_bytes()));
        let at = ValueRef::Integer(at);
        let row = [id, payload, int_id, strategy, account, security, at, status, source, words];
        self.execute(UPSERT_ORDER, &row)
    }

    /// Where the event is found.
    fn place(&self) -> rusqlite::Result<[ValueRef<'static>; 2]> {
        Ok([integer(self.sequence)?, integer(u64::from(self.ordinal))?])
    }

    fn execute(&self, statement: &str, row: &[ValueRef<'_>]) -> rusqlite::Result<()> {
        checksum::execute(self.connection, statement, row)
    }
}
