//! Search of orders and transactions: indexed columns for status, source, time and names. A part of a name is searched in the
//! index alone, which is small, and not in the rows.

use bus::history::{
    ChangePage, OrderSearch, PageRequest, SortOrder, SourceSearch, TextSearch, TradedSearch, TransactionSearch,
};
use domain::query::Filter;
use domain::{Order, Transaction};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, params};

use super::checksum;
use super::rows::{ORDER_COLUMNS, bound};
use crate::read_model::search_columns::{SearchColumns, source_bounds, transaction_words};

// Behind key and payload stand the values that the checksums cover, each row's with its own.
const TRANSACTION_ROWS: &str = "SELECT id, payload, sequence, ordinal, at, class, events.checksum,
    id, sequence, ordinal, strategy, account, security, words, transactions.checksum
    FROM transactions LEFT JOIN events USING (sequence, ordinal)";

/// Gives the orders of an older file what they are searched by.
pub(crate) fn backfill(connection: &Connection) -> rusqlite::Result<()> {
    let mut orders = connection.prepare("SELECT id, payload FROM orders")?;
    let mut update =
        connection.prepare("UPDATE orders SET at = ?2, status = ?3, source = ?4, words = ?5 WHERE id = ?1")?;
    let mut rows = orders.query([])?;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        let order: Order = super::rows::decode(row)?;
        let SearchColumns { at, status, source, words, .. } = SearchColumns::from_order(&order);
        update.execute(params![id, at, status, source, words])?;
    }
    Ok(())
}

/// Gives the transactions of an older file what they are searched by, and their checksums that cover it. Where rows had checksums
/// before, a row that does not match its own keeps it: it was damaged, and stays so.
pub(crate) fn backfill_transactions(connection: &Connection, had_checksums: bool) -> rusqlite::Result<()> {
    let rows = "SELECT id, payload, sequence, ordinal, at, class, events.checksum,
        id, sequence, ordinal, strategy, account, security, transactions.checksum
        FROM transactions JOIN events USING (sequence, ordinal)";
    let mut booked = connection.prepare(rows)?;
    let mut update = connection.prepare("UPDATE transactions SET words = ?2, checksum = ?3 WHERE id = ?1")?;
    let mut rows = booked.query([])?;
    while let Some(row) = rows.next()? {
        let is_damaged = checksum::check(row, 1..6).and_then(|()| checksum::check(row, 7..13)).is_err();
        if had_checksums && is_damaged {
            continue;
        }
        let transaction: Transaction = super::rows::decode(row)?;
        let words = transaction_words(&transaction);
        let mut values: Vec<_> = (7..13).map(|column| row.get_ref(column)).collect::<Result<_, _>>()?;
        values.push(ValueRef::Text(words.as_bytes()));
        update.execute(params![row.get::<_, i64>(0)?, words, checksum::checksum_of(&values)])?;
    }
    Ok(())
}

/// Gives the orders of an older file the instant of their last change.
pub(crate) fn backfill_changes(connection: &Connection, had_checksums: bool) -> rusqlite::Result<()> {
    backfill_orders(connection, had_checksums, 10, |order| order.changed_at.0)
}

/// Tells of the orders of an older file which have executions.
pub(crate) fn backfill_traded(connection: &Connection, had_checksums: bool) -> rusqlite::Result<()> {
    backfill_orders(connection, had_checksums, 11, |order| i64::from(order.filled.is_positive()))
}

/// Gives the orders of an older file, of which the checksums cover so many columns, the next one, and checksums that cover it. A row
/// that was damaged before stays so.
fn backfill_orders(
    connection: &Connection,
    had_checksums: bool,
    covered: usize,
    value: impl Fn(&Order) -> i64,
) -> rusqlite::Result<()> {
    let mut orders = connection
        .prepare(&format!("SELECT {}, checksum FROM orders", checksum::ORDER_COLUMNS[..covered].join(", ")))?;
    let update = format!("UPDATE orders SET {} = ?2, checksum = ?3 WHERE id = ?1", checksum::ORDER_COLUMNS[covered]);
    let mut update = connection.prepare(&update)?;
    let mut rows = orders.query([])?;
    while let Some(row) = rows.next()? {
        if had_checksums && checksum::check(row, 0..covered).is_err() {
            continue;
        }
        let value = value(&super::rows::decode(row)?);
        let mut values: Vec<_> = (0..covered).map(|column| row.get_ref(column)).collect::<Result<_, _>>()?;
        values.push(ValueRef::Integer(value));
        update.execute(params![row.get::<_, i64>(0)?, value, checksum::checksum_of(&values)])?;
    }
    Ok(())
}

/// A statement with the values of its parameters.
pub(crate) struct SearchStatement {
    pub(crate) text: String,
    values: Vec<Value>,
}

impl SearchStatement {
    /// Orders by id, with what narrows them and nothing else, so that SQLite takes an index where there is one.
    pub(crate) fn from_search(search: &OrderSearch, sort: SortOrder, page: PageRequest) -> Self {
        let mut statement = Self::after(&format!("SELECT {ORDER_COLUMNS} FROM orders"), sort, page);
        statement.filter_by_ids(search.filter);
        statement.filter_by_time(search);
        statement.filter_by_status(search);
        statement.filter_by_source(search);
        statement.filter_by_text("orders", search.text.as_ref());
        statement.sorted(sort)
    }

    /// Orders with executions by their last change. Named is the index that has them in this order, so that a page costs what it has, and
    /// what the client has besides costs nothing.
    pub(crate) fn from_traded(search: &TradedSearch, page: ChangePage) -> Self {
        let (at, id) = page.after;
        let (at, id) = (Value::Integer(at.0), Value::Integer(bound(id)));
        let rows = "orders INDEXED BY traded_orders_by_change WHERE has_fills = 1 AND source = ?";
        let text = format!("SELECT {ORDER_COLUMNS} FROM {rows}");
        let mut statement = Self { text, values: vec![Value::Text(search.source.clone())] };
        // The first condition is the one that finds the place in the index.
        statement.and("changed_at >= ? AND (changed_at, id) > (?, ?)", [at.clone(), at, id]);
        statement.filter_by_ids(Filter { security: search.security, ..Filter::default() });
        statement.text.push_str(" ORDER BY changed_at, id LIMIT ?");
        statement.values.push(Value::Integer(i64::try_from(page.limit).unwrap_or(i64::MAX)));
        statement
    }

    /// Transactions by id, as orders.
    pub(crate) fn from_transactions(search: &TransactionSearch, sort: SortOrder, page: PageRequest) -> Self {
        let mut statement = Self::after(TRANSACTION_ROWS, sort, page);
        statement.filter_by_ids(search.filter);
        statement.filter_by_text("transactions", search.text.as_ref());
        statement.sorted(sort)
    }

    fn after(rows: &str, sort: SortOrder, page: PageRequest) -> Self {
        let beyond = match sort {
            SortOrder::Oldest => ">",
            SortOrder::Newest => "<",
        };
        Self { text: format!("{rows} WHERE id {beyond} ?"), values: vec![Value::Integer(bound(page.after))] }
    }

    fn sorted(mut self, sort: SortOrder) -> Self {
        self.text.push_str(match sort {
            SortOrder::Oldest => " ORDER BY id ASC",
            SortOrder::Newest => " ORDER BY id DESC",
        });
        self
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &Value> {
        self.values.iter()
    }

    fn and(&mut self, condition: &str, values: impl IntoIterator<Item = Value>) {
        self.text.push_str(" AND ");
        self.text.push_str(condition);
        self.values.extend(values);
    }

    fn filter_by_ids(&mut self, filter: Filter) {
        let ids = [
            ("strategy = ?", filter.strategy.map(|id| id.0)),
            ("account = ?", filter.account.map(|id| id.0)),
            ("security = ?", filter.security.map(|id| id.0)),
        ];
        for (condition, id) in ids {
            if let Some(id) = id {
                self.and(condition, [Value::Integer(bound(id))]);
            }
        }
    }

    fn filter_by_time(&mut self, search: &OrderSearch) {
        let bounds = [("at >= ?", search.from), ("at < ?", search.to)];
        for (condition, at) in bounds {
            if let Some(at) = at {
                self.and(condition, [Value::Integer(at.0)]);
            }
        }
    }

    fn filter_by_status(&mut self, search: &OrderSearch) {
        if !search.statuses.is_empty() {
            let wanted = search.statuses.iter().map(|status| Value::Text(status.name().into()));
            self.and(&format!("status IN ({})", placeholders(search.statuses.len())), wanted);
        }
    }

    fn filter_by_source(&mut self, search: &OrderSearch) {
        if search.exclude_strategies {
            self.and("(source < 'STRATEGY' OR source > 'STRATEGY')", []);
        }
        if let [SourceSearch::Exactly(source)] = &search.sources[..] {
            self.and("source = ?", [Value::Text(source.clone())]);
        } else if !search.sources.is_empty() {
            let any = vec!["source BETWEEN ? AND ?"; search.sources.len()].join(" OR ");
            let bounds = search.sources.iter().flat_map(source_bounds).map(Value::Text);
            self.and(&format!("({any})"), bounds);
        }
    }

    fn filter_by_text(&mut self, table: &str, text: Option<&TextSearch>) {
        let Some(text) = text else { return };
        let names = format!("id IN (SELECT id FROM {table} INDEXED BY {table}_by_words WHERE instr(words, ?) > 0)");
        // Written out, because a statement takes fewer values than there may be securities.
        let securities = text.securities.iter().map(|id| bound(id.0).to_string()).collect::<Vec<_>>().join(", ");
        self.and(&format!("({names} OR security IN ({securities}))"), [Value::Text(text.part.clone())]);
    }
}

fn placeholders(count: usize) -> String {
    vec!["?"; count].join(", ")
}
