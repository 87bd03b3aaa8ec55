//! The half that answers queries. Each row is checked against its checksum before it is decoded.

use std::sync::Arc;

use bus::history::{
    ChangePage, Found, HistoryError, OrderSearch, PageRequest, SortOrder, StoredEvent, StoredSample, Stretch,
    TradedSearch, TransactionSearch, ValueSearch,
};
use domain::query::Filter;
use domain::{Fill, Order, OrderStatus, Timestamp, Transaction, TransactionId};
use minicbor::Decode;
use storage::read_model::HISTORY_WAIT_MAX;
use storage::read_model::store::HistoryRows;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

use crate::cell::{bound, storable};
use crate::checksum;
use crate::connection::Database;
use crate::failure::DatabaseFailure;
use crate::readers::PostgresReaders;
use crate::search::SearchQuery;
use crate::value_samples::{self, ValueQuery};

const ORDERS: &str = "SELECT id, payload, checksum, int_id, status, source, words, strategy, account, security, at,
    changed_at, filled > 0 FROM orders WHERE";
// The columns of an event come first; then the key and the checksum of the row that leads to it, and what that row is found by.
const FILLS: &str = "SELECT e.sequence, e.ordinal, e.at, e.class, e.payload, e.checksum,
    l.sequence, l.sequence, l.ordinal, l.checksum, l.strategy, l.account, l.security
    FROM fills l LEFT JOIN events e USING (sequence, ordinal) WHERE";
const TRANSACTIONS: &str = "SELECT e.sequence, e.ordinal, e.at, e.class, e.payload, e.checksum,
    l.id, l.sequence, l.ordinal, l.checksum, l.strategy, l.account, l.security, l.words
    FROM transactions l LEFT JOIN events e USING (sequence, ordinal) WHERE";
const ORDER_EVENTS: &str = "SELECT e.sequence, e.ordinal, e.at, e.class, e.payload, e.checksum,
    l.order_id, l.sequence, l.ordinal, l.checksum
    FROM orders o JOIN order_events l ON l.order_id = o.id LEFT JOIN events e USING (sequence, ordinal)
    WHERE o.int_id = $1 ORDER BY l.order_id, l.sequence, l.ordinal";
/// Where strategy, account and security stand in a row that leads to an event.
const OWNERS_AT: usize = 10;
/// Where what it is searched by stands behind them.
const WORDS_AT: usize = 13;
const EVENTS: &str = "SELECT sequence, ordinal, at, class, payload, checksum FROM events WHERE";
// So many events, and of those as many as begin before the last octet that is wanted, but one at least: it has the count that says
// whether some are left.
const EVENTS_BEHIND: &str = "SELECT * FROM (
        SELECT page.*, count(*) OVER () AS found,
            sum(octet_length(payload)) OVER (ORDER BY sequence, ordinal) - octet_length(payload) AS before
        FROM (SELECT sequence, ordinal, at, class, payload, checksum FROM events
            WHERE (sequence, ordinal) > ($1, $2) ORDER BY sequence, ordinal LIMIT $3) page) counted
    WHERE before < greatest($4, 1) ORDER BY sequence, ordinal";

#[derive(Clone)]
pub struct PostgresRows {
    readers: PostgresReaders,
}

impl PostgresRows {
    pub fn new(database: Arc<Database>) -> Self {
        Self { readers: PostgresReaders::new(database, HISTORY_WAIT_MAX) }
    }

    /// The rows of a statement, each read after its checksum was compared.
    fn select<T>(
        &self,
        statement: &SearchQuery,
        read: impl Fn(&Row) -> Result<T, DatabaseFailure>,
    ) -> Result<Vec<T>, HistoryError> {
        self.readers.query(async |client: &Client| {
            let rows = client.query_typed(statement.text(), &statement.values()).await?;
            rows.iter().map(&read).collect()
        })
    }
}

impl HistoryRows for PostgresRows {
    fn at(self: Arc<Self>, needed: u64) -> Arc<dyn HistoryRows> {
        Arc::new(Self { readers: self.readers.at(needed) })
    }

    fn orders(
        &self,
        search: &OrderSearch,
        sort: SortOrder,
        page: PageRequest,
    ) -> Result<Vec<Arc<Order>>, HistoryError> {
        let statement = SearchQuery::new(ORDERS, "id", sort, page).search(search).finish("id", sort, page);
        self.select(&statement, |row| decode_order(row).map(Arc::new))
    }

    fn traded_orders(&self, search: &TradedSearch, page: ChangePage) -> Result<Vec<Arc<Order>>, HistoryError> {
        self.select(&SearchQuery::of_traded(ORDERS, search, page), |row| decode_order(row).map(Arc::new))
    }

    fn order_events(&self, int_id: &str) -> Result<Vec<OrderStatus>, HistoryError> {
        let int_id = storable(int_id);
        self.readers.query(async |client: &Client| {
            let rows = client.query_typed(ORDER_EVENTS, &[(&int_id, Type::TEXT)]).await?;
            rows.iter().map(decode_linked).collect()
        })
    }

    fn fills(&self, filter: Filter, page: PageRequest) -> Result<Vec<Arc<Fill>>, HistoryError> {
        let sort = SortOrder::Oldest;
        let statement =
            SearchQuery::new(FILLS, "l.sequence", sort, page).filter(filter).finish("l.sequence", sort, page);
        let mut found = self.select(&statement, |row| Ok((row_key(row)?, decode_linked(row)?)))?;
        // Rows of one sequence come in any order.
        found.sort_by_key(|(key, _)| *key);
        Ok(found.into_iter().map(|(_, fill)| Arc::new(fill)).collect())
    }

    fn transactions(
        &self,
        search: &TransactionSearch,
        sort: SortOrder,
        page: PageRequest,
    ) -> Result<Vec<Arc<Transaction>>, HistoryError> {
        let statement = SearchQuery::new(TRANSACTIONS, "l.id", sort, page).filter(search.filter);
        let statement = statement.filter_by_text(search.text.as_ref()).finish("l.id", sort, page);
        self.select(&statement, |row| decode_linked(row).map(Arc::new))
    }

    fn transaction(&self, id: TransactionId) -> Result<Option<Arc<Transaction>>, HistoryError> {
        let text = format!("{TRANSACTIONS} l.id = $1");
        let found = self.readers.query(async |client: &Client| {
            let row = client.query_typed_opt(&text, &[(&bound(id.0), Type::INT8)]).await?;
            row.as_ref().map(decode_linked).transpose()
        })?;
        Ok(found.map(Arc::new))
    }

    fn events(&self, page: PageRequest) -> Result<Vec<StoredEvent>, HistoryError> {
        let sort = SortOrder::Oldest;
        let statement = SearchQuery::new(EVENTS, "sequence", sort, page).finish("sequence", sort, page);
        let mut found = self.select(&statement, |row| Ok((row_key(row)?, stored_event(row)?)))?;
        found.sort_by_key(|(key, _)| *key);
        Ok(found.into_iter().map(|(_, event)| event).collect())
    }

    fn value_samples(&self, search: &ValueSearch, page: PageRequest) -> Result<Vec<StoredSample>, HistoryError> {
        let statement = ValueQuery::from_search(search, page);
        let text = statement.text();
        self.readers.query(async |client: &Client| {
            let rows = client.query_typed(&text, &statement.values()).await?;
            rows.iter().map(value_samples::decode).collect()
        })
    }

    fn events_behind(&self, stretch: Stretch) -> Result<Found, HistoryError> {
        let Stretch { after: (sequence, ordinal), limit, octets } = stretch;
        let number = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let (sequence, ordinal) = (bound(sequence), i32::try_from(ordinal).unwrap_or(i32::MAX));
        // One more tells whether there are more.
        let (rows, octets) = (number(limit.saturating_add(1)), number(octets));
        let values: [(&(dyn ToSql + Sync), Type); 4] =
            [(&sequence, Type::INT8), (&ordinal, Type::INT4), (&rows, Type::INT8), (&octets, Type::INT8)];
        self.readers.query(async |client: &Client| {
            let rows = client.query_typed(EVENTS_BEHIND, &values).await?;
            found_of(&rows, limit, octets)
        })
    }
}

fn found_of(rows: &[Row], limit: usize, octets: i64) -> Result<Found, DatabaseFailure> {
    let total = rows.first().map_or(Ok(0), |row| row.try_get::<_, i64>(6))?;
    let place = |row: &Row| Ok((u32::try_from(row.try_get::<_, i32>(1)?).unwrap_or(0), stored_event(row)?));
    let rows = if octets == 0 { &[] } else { rows };
    let events: Vec<_> = rows.iter().take(limit).map(place).collect::<Result<_, DatabaseFailure>>()?;
    let is_cut = usize::try_from(total).unwrap_or(usize::MAX) > events.len();
    Ok(Found { events, is_cut })
}

/// The order of rows that share a sequence.
fn row_key(row: &Row) -> Result<(Option<i64>, Option<i32>), DatabaseFailure> {
    Ok((row.try_get(0)?, row.try_get(1)?))
}

fn decode_order(row: &Row) -> Result<Order, DatabaseFailure> {
    let (id, payload): (i64, &[u8]) = (row.try_get(0)?, row.try_get(1)?);
    let names = [row.try_get(3)?, row.try_get(4)?, row.try_get(5)?, row.try_get(6)?];
    let numbers = [id, row.try_get(7)?, row.try_get(8)?, row.try_get(9)?, row.try_get(10)?];
    checksum::of_order(numbers, names, payload).check(row.try_get(2)?, format!("order {id}"))?;
    let order: Order = decode(payload)?;
    // The checksum covers both in the payload alone.
    if (order.changed_at.0, order.filled.is_positive()) != (row.try_get(11)?, row.try_get(12)?) {
        return Err(DatabaseFailure::DamagedRow(format!(
            "the last change of order {id}, or what it has filled, does not match"
        )));
    }
    Ok(order)
}

/// An event, and the row that leads to it. One that is not found under its number has no checksum.
fn decode_linked<T: for<'b> Decode<'b, ()>>(row: &Row) -> Result<T, DatabaseFailure> {
    let (key, sequence, ordinal): (i64, i64, i32) = (row.try_get(6)?, row.try_get(7)?, row.try_get(8)?);
    let link = format!("the row that leads to event {sequence}");
    let sum = match words(row)? {
        Some(words) => checksum::of_transaction(key, sequence, ordinal, &owners(row)?, words),
        None => checksum::of_link(key, sequence, ordinal, &owners(row)?),
    };
    sum.check(row.try_get(9)?, link)?;
    let Some(payload) = row.try_get::<_, Option<&[u8]>>(4)? else {
        return Err(DatabaseFailure::DamagedRow(format!("event {sequence} is missing")));
    };
    check_event(row, payload)?;
    decode(payload)
}

/// What a fill or a transaction is found by. The events of an order have none: they are found by their key.
fn owners(row: &Row) -> Result<Vec<i64>, DatabaseFailure> {
    if row.len() <= OWNERS_AT {
        return Ok(vec![]);
    }
    let owners = [row.try_get(OWNERS_AT)?, row.try_get(OWNERS_AT + 1)?];
    Ok(checksum::owners(owners, row.try_get(OWNERS_AT + 2)?).into())
}

/// Only transactions are searched by them.
fn words(row: &Row) -> Result<Option<&str>, DatabaseFailure> {
    if row.len() <= WORDS_AT { Ok(None) } else { Ok(row.try_get(WORDS_AT)?) }
}

fn stored_event(row: &Row) -> Result<StoredEvent, DatabaseFailure> {
    let payload: &[u8] = row.try_get(4)?;
    check_event(row, payload)?;
    let (sequence, class): (i64, i16) = (row.try_get(0)?, row.try_get(3)?);
    Ok(StoredEvent {
        sequence: u64::try_from(sequence).unwrap_or(0),
        at: Timestamp(row.try_get(2)?),
        class: u8::try_from(class).unwrap_or(u8::MAX),
        payload: payload.to_vec(),
    })
}

fn check_event(row: &Row, payload: &[u8]) -> Result<(), DatabaseFailure> {
    let (sequence, ordinal): (i64, i32) = (row.try_get(0)?, row.try_get(1)?);
    let sum = checksum::of_event(sequence, ordinal, row.try_get(2)?, row.try_get(3)?, payload);
    sum.check(row.try_get(5)?, format!("event {sequence}"))
}

fn decode<T: for<'b> Decode<'b, ()>>(payload: &[u8]) -> Result<T, DatabaseFailure> {
    minicbor::decode(payload)
        .map_err(|reason| DatabaseFailure::DamagedRow(format!("a row cannot be decoded: {reason}")))
}
