//! Read model writer thread: one transaction for all waiting events, so it is the faster the more there is to do.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::{Event, Fill, Order, OrderId, OrderStatus, Published, Transaction};
use rusqlite::{Connection, params};

use super::file;
use super::payload;
use super::progress::Progress;
use super::queue::{Queue, Taken};
use super::search::Columns;

/// Inputs without events are noted no more often than this: a start may have to replay that much more.
const NOTE_EVERY: Duration = Duration::from_secs(1);
/// What is written survives a power cut after this time, so that the older of two snapshots is of use after one.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(60);

const INSERT_EVENT: &str = "INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5)";
const INSERT_ORDER_EVENT: &str = "INSERT INTO order_events VALUES (?1, ?2, ?3)";
const INSERT_FILL: &str = "INSERT INTO fills VALUES (?1, ?2, ?3, ?4, ?5)";
const INSERT_TRANSACTION: &str = "INSERT OR REPLACE INTO transactions VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
// Of what is indexed only the names of an order can change: the venue gives it one, and its note may be another.
const UPSERT_ORDER: &str = "INSERT INTO orders VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
    ON CONFLICT (id) DO UPDATE SET payload = excluded.payload, status = excluded.status, words = excluded.words";
const UPDATE_APPLIED: &str = "UPDATE model SET applied = ?1";

pub(crate) struct Writer {
    path: PathBuf,
    connection: Connection,
    queue: Arc<Queue>,
    progress: Arc<Progress>,
    payload: Vec<u8>,
    /// Whether inputs were applied that the file does not know of.
    is_note_due: bool,
    noted: Instant,
    checkpointed: Instant,
}

impl Writer {
    pub(crate) fn new(path: PathBuf, connection: Connection, queue: Arc<Queue>, progress: Arc<Progress>) -> Self {
        let now = Instant::now();
        Self {
            path,
            connection,
            queue,
            progress,
            payload: Vec::new(),
            is_note_due: false,
            noted: now,
            checkpointed: now,
        }
    }

    pub(crate) fn run(mut self) {
        if let Err(error) = self.keep_up() {
            tracing::error!(%error, "read model failed; history is stale until the next start");
            file::condemn_if_damaged(&self.path, &error);
            self.progress.fail(format!("the read model cannot be written: {error}"));
        }
    }

    fn keep_up(&mut self) -> rusqlite::Result<()> {
        while let Some(taken) = self.queue.take(NOTE_EVERY) {
            self.apply(&taken)?;
            self.progress.advance(taken.through);
        }
        self.note(self.progress.applied())?;
        self.checkpoint()
    }

    fn apply(&mut self, taken: &Taken) -> rusqlite::Result<()> {
        self.is_note_due |= taken.through > self.progress.applied();
        if !taken.events.is_empty() {
            self.write(taken)?;
        } else if self.noted.elapsed() >= NOTE_EVERY {
            self.note(taken.through)?;
        }
        if self.checkpointed.elapsed() >= CHECKPOINT_EVERY {
            self.checkpoint()?;
        }
        Ok(())
    }

    /// Rows and applied sequence in one transaction: after any crash they fit.
    fn write(&mut self, taken: &Taken) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        let mut commit = Commit::new(&transaction, &mut self.payload);
        taken.events.iter().try_for_each(|published| commit.add(published))?;
        commit.finish(taken.through)?;
        transaction.commit()?;
        (self.is_note_due, self.noted) = (false, Instant::now());
        Ok(())
    }

    fn note(&mut self, applied: u64) -> rusqlite::Result<()> {
        if self.is_note_due {
            self.connection.prepare_cached(UPDATE_APPLIED)?.execute([applied])?;
        }
        (self.is_note_due, self.noted) = (false, Instant::now());
        Ok(())
    }

    /// Readers are not disturbed; what they still look at stays in the log until the next time.
    fn checkpoint(&mut self) -> rusqlite::Result<()> {
        self.checkpointed = Instant::now();
        self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
    }
}

impl Drop for Writer {
    /// Also after a failure or a panic: no producer may wait for a queue that is not emptied any more.
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// What one transaction writes.
struct Commit<'a> {
    connection: &'a Connection,
    payload: &'a mut Vec<u8>,
    /// Of the event before.
    sequence: u64,
    ordinal: u32,
    /// The newest state of each order that changed: only that is written.
    orders: BTreeMap<OrderId, &'a Order>,
}

impl<'a> Commit<'a> {
    fn new(connection: &'a Connection, payload: &'a mut Vec<u8>) -> Self {
        Self { connection, payload, sequence: 0, ordinal: 0, orders: BTreeMap::new() }
    }

    fn add(&mut self, published: &'a Published) -> rusqlite::Result<()> {
        if let Event::Order(order) = &published.event {
            self.orders.insert(order.id, order);
            return Ok(());
        }
        if !payload::encode_happening(&published.event, self.payload) {
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
            self.put_order(order)?;
        }
        self.execute(UPDATE_APPLIED, [through])
    }

    fn add_event(&self, published: &Published) -> rusqlite::Result<()> {
        let class = published.event.class() as u8;
        let row = params![self.sequence, self.ordinal, published.at.0, class, self.payload.as_slice()];
        self.execute(INSERT_EVENT, row)
    }

    fn add_order_event(&self, status: &OrderStatus) -> rusqlite::Result<()> {
        self.execute(INSERT_ORDER_EVENT, params![status.order.0, self.sequence, self.ordinal])
    }

    fn add_fill(&self, fill: &Fill) -> rusqlite::Result<()> {
        let (strategy, account, security) = (fill.strategy.0, fill.account.0, fill.security.0);
        self.execute(INSERT_FILL, params![self.sequence, self.ordinal, strategy, account, security])
    }

    fn add_transaction(&self, transaction: &Transaction) -> rusqlite::Result<()> {
        let security = transaction.security.map(|security| security.0);
        let (id, strategy, account) = (transaction.id.0, transaction.strategy.0, transaction.account.0);
        self.execute(INSERT_TRANSACTION, params![id, self.sequence, self.ordinal, strategy, account, security])
    }

    fn put_order(&mut self, order: &Order) -> rusqlite::Result<()> {
        payload::encode(order, self.payload);
        let (strategy, account, security) = (order.strategy.0, order.account.0, order.security.0);
        let (id, int_id, payload) = (order.id.0, order.int_id.as_str(), self.payload.as_slice());
        let Columns { at, status, source, words } = Columns::of(order);
        let row = params![id, int_id, strategy, account, security, payload, at, status, source, words];
        self.execute(UPSERT_ORDER, row)
    }

    fn execute(&self, statement: &str, row: impl rusqlite::Params) -> rusqlite::Result<()> {
        self.connection.prepare_cached(statement)?.execute(row).map(drop)
    }
}
