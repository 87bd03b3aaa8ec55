//! History queries in SQLite.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bus::history::{
    ChangePage, Found, HistoryError, OrderSearch, PageRequest, SortOrder, StoredEvent, StoredSample, Stretch,
    TradedSearch, TransactionSearch, ValueSearch,
};
use domain::query::Filter;
use domain::{Fill, Order, OrderStatus, Timestamp, Transaction, TransactionId};
use minicbor::Decode;
use rusqlite::{Connection, Params, Row, params, params_from_iter};

use super::checksum;
use super::readers::ReaderPool;
use super::rows::{bound, decode};
use super::search::SearchStatement;
use super::value_search::ValueStatement;
use crate::read_model::progress::ApplyProgress;
use crate::read_model::store::HistoryRows;

// Behind key and payload stand the values that the checksums cover, each row's with its own. An event that is not found
// under its number gives no checksum, and so is an error too and not a shorter list.
const FILLS: ListQuery = ListQuery {
    rows: "sequence, payload, sequence, ordinal, at, class, events.checksum,
        sequence, ordinal, strategy, account, security, fills.checksum
        FROM fills LEFT JOIN events USING (sequence, ordinal)",
    key: "sequence",
    order: &["sequence", "ordinal"],
    link: 7..12,
};
const TRANSACTION: &str = "SELECT id, payload, sequence, ordinal, at, class, events.checksum,
    id, sequence, ordinal, strategy, account, security, words, transactions.checksum
    FROM transactions LEFT JOIN events USING (sequence, ordinal) WHERE id = ?1";
const ORDER_EVENTS: &str = "SELECT orders.id, events.payload, sequence, ordinal, events.at, class, events.checksum,
    order_id, sequence, ordinal, order_events.checksum
    FROM orders
    JOIN order_events ON order_events.order_id = orders.id
    LEFT JOIN events USING (sequence, ordinal)
    WHERE int_id = ?1 ORDER BY sequence, ordinal";
const EVENTS: &str = "SELECT sequence, payload, sequence, ordinal, at, class, checksum FROM events
    WHERE sequence > ?1 ORDER BY sequence, ordinal";
const EVENTS_BEHIND: &str = "SELECT sequence, payload, sequence, ordinal, at, class, checksum FROM events
    WHERE (sequence, ordinal) > (?1, ?2) ORDER BY sequence, ordinal";

/// Where the values of a row stand that its checksum covers.
const EVENT: Range<usize> = 1..6;
const ORDER: Range<usize> = 0..12;
const VALUE_SAMPLE: Range<usize> = 1..6;
const TRANSACTION_LINK: Range<usize> = 7..14;
const ORDER_EVENT_LINK: Range<usize> = 7..10;

/// Answers queries from a pool of connections.
pub(crate) struct SqliteRows {
    readers: ReaderPool,
    /// A query waits this long for a connection.
    timeout: Duration,
}

impl SqliteRows {
    /// Damage that a query meets is reported to `progress`.
    pub(crate) fn open(
        path: &Path,
        connections: usize,
        progress: Arc<ApplyProgress>,
        timeout: Duration,
    ) -> rusqlite::Result<Self> {
        ReaderPool::open(path, connections, progress).map(|readers| Self { readers, timeout })
    }

    fn query<T>(&self, question: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, HistoryError> {
        self.readers.query(self.timeout, question)
    }

    fn select_orders(&self, statement: &SearchStatement, limit: usize) -> Result<Vec<Arc<Order>>, HistoryError> {
        let read = |row: &Row<'_>| checksum::check(row, ORDER).and_then(|()| decode(row)).map(Arc::new);
        self.query(|connection| select(connection, &statement.text, params_from_iter(statement.values()), limit, read))
    }
}

impl HistoryRows for SqliteRows {
    /// The file is locked with its folder, and both halves have it open.
    fn at(self: Arc<Self>, _: u64) -> Arc<dyn HistoryRows> {
        self
    }

    fn orders(
        &self,
        search: &OrderSearch,
        sort: SortOrder,
        page: PageRequest,
    ) -> Result<Vec<Arc<Order>>, HistoryError> {
        self.select_orders(&SearchStatement::from_search(search, sort, page), page.limit)
    }

    fn traded_orders(&self, search: &TradedSearch, page: ChangePage) -> Result<Vec<Arc<Order>>, HistoryError> {
        self.select_orders(&SearchStatement::from_traded(search, page), page.limit)
    }

    fn order_events(&self, int_id: &str) -> Result<Vec<OrderStatus>, HistoryError> {
        let read = |row: &Row<'_>| decode_event(row, ORDER_EVENT_LINK);
        self.query(|connection| select(connection, ORDER_EVENTS, [int_id], usize::MAX, read))
    }

    fn fills(&self, filter: Filter, page: PageRequest) -> Result<Vec<Arc<Fill>>, HistoryError> {
        self.query(|connection| FILLS.read(connection, filter, SortOrder::Oldest, page))
    }

    fn transactions(
        &self,
        search: &TransactionSearch,
        sort: SortOrder,
        page: PageRequest,
    ) -> Result<Vec<Arc<Transaction>>, HistoryError> {
        let statement = SearchStatement::from_transactions(search, sort, page);
        let read = |row: &Row<'_>| decode_event(row, TRANSACTION_LINK).map(Arc::new);
        self.query(|connection| {
            select(connection, &statement.text, params_from_iter(statement.values()), page.limit, read)
        })
    }

    fn transaction(&self, id: TransactionId) -> Result<Option<Arc<Transaction>>, HistoryError> {
        let read = |row: &Row<'_>| decode_event(row, TRANSACTION_LINK);
        let found = self.query(|connection| select(connection, TRANSACTION, [bound(id.0)], 1, read));
        Ok(found?.pop().map(Arc::new))
    }

    fn events(&self, page: PageRequest) -> Result<Vec<StoredEvent>, HistoryError> {
        self.query(|connection| select(connection, EVENTS, [bound(page.after)], page.limit, stored_event))
    }

    fn events_behind(&self, stretch: Stretch) -> Result<Found, HistoryError> {
        self.query(|connection| select_stretch(connection, stretch))
    }

    fn value_samples(&self, search: &ValueSearch, page: PageRequest) -> Result<Vec<StoredSample>, HistoryError> {
        let statement = ValueStatement::from_search(search, page);
        self.query(|connection| {
            select(connection, &statement.text, params_from_iter(statement.values()), page.limit, stored_sample)
        })
    }
}

/// A table that can be narrowed by a filter.
struct ListQuery {
    rows: &'static str,
    key: &'static str,
    order: &'static [&'static str],
    /// Where the values of its own row stand.
    link: Range<usize>,
}

impl ListQuery {
    fn read<T>(
        &self,
        connection: &Connection,
        filter: Filter,
        sort: SortOrder,
        page: PageRequest,
    ) -> rusqlite::Result<Vec<Arc<T>>>
    where
        T: for<'b> Decode<'b, ()>,
    {
        let [strategy, account, security] = [
            filter.strategy.map(|strategy| strategy.0),
            filter.account.map(|account| account.0),
            filter.security.map(|security| security.0),
        ];
        let ids = [strategy, account, security].map(|id| id.map(bound));
        let row = params![bound(page.after), ids[0], ids[1], ids[2]];
        let read = |row: &Row<'_>| decode_event(row, self.link.clone()).map(Arc::new);
        select(connection, &self.statement(filter, sort), row, page.limit, read)
    }

    /// Only what narrows stands in it, so that SQLite takes the index of it. What does not is named all the same,
    /// because each parameter must be.
    fn statement(&self, filter: Filter, sort: SortOrder) -> String {
        let narrowed = |is_given: bool, column: &'static str, number: u8| match is_given {
            true => format!("{column} = ?{number}"),
            false => format!("?{number} IS NULL"),
        };
        let Self { rows, key, order, .. } = self;
        let strategy = narrowed(filter.strategy.is_some(), "strategy", 2);
        let account = narrowed(filter.account.is_some(), "account", 3);
        let security = narrowed(filter.security.is_some(), "security", 4);
        let (beyond, direction) = match sort {
            SortOrder::Oldest => (">", "ASC"),
            SortOrder::Newest => ("<", "DESC"),
        };
        let narrowed = format!("{strategy} AND {account} AND {security}");
        let order: Vec<_> = order.iter().map(|column| format!("{column} {direction}")).collect();
        format!("SELECT {rows} WHERE {key} {beyond} ?1 AND {narrowed} ORDER BY {}", order.join(", "))
    }
}

/// Reads so many rows, and then those that share the key of the last one. The first column is the key.
fn select<T>(
    connection: &Connection,
    statement: &str,
    parameters: impl Params,
    limit: usize,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    let mut statement = connection.prepare_cached(statement)?;
    let mut rows = statement.query(parameters)?;
    let (mut found, mut last_key) = (Vec::new(), None);
    while let Some(row) = rows.next()? {
        let key: u64 = row.get(0)?;
        if found.len() >= limit && last_key != Some(key) {
            break;
        }
        found.push(read(row)?);
        last_key = Some(key);
    }
    Ok(found)
}

fn select_stretch(connection: &Connection, stretch: Stretch) -> rusqlite::Result<Found> {
    let Stretch { after: (sequence, place), limit, octets } = stretch;
    let mut statement = connection.prepare_cached(EVENTS_BEHIND)?;
    let mut rows = statement.query(params![bound(sequence), place])?;
    let (mut events, mut read) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        if events.len() >= limit || read >= octets {
            return Ok(Found { events, is_cut: true });
        }
        let event = stored_event(row)?;
        read += event.payload.len();
        events.push((row.get(3)?, event));
    }
    Ok(Found { events, is_cut: false })
}

/// An event; `link` is the row by which it was found.
fn decode_event<T: for<'b> Decode<'b, ()>>(row: &Row<'_>, link: Range<usize>) -> rusqlite::Result<T> {
    checksum::check(row, EVENT)?;
    checksum::check(row, link)?;
    decode(row)
}

fn stored_event(row: &Row<'_>) -> rusqlite::Result<StoredEvent> {
    checksum::check(row, EVENT)?;
    Ok(StoredEvent { sequence: row.get(0)?, payload: row.get(1)?, at: Timestamp(row.get(4)?), class: row.get(5)? })
}

fn stored_sample(row: &Row<'_>) -> rusqlite::Result<StoredSample> {
    checksum::check(row, VALUE_SAMPLE)?;
    Ok(StoredSample { sequence: row.get(0)?, sample: decode(row)? })
}
