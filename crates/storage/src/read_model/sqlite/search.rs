//! Search of orders and transactions: indexed columns for status, source, time and names. A part of a name is searched in the
//! index alone, which is small, and not in the rows.

use bus::history::{OrderSearch, PageRequest, SortOrder, SourceSearch, TextSearch, TransactionSearch};
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

/// Gives the orders of an older file the instant of their last change, and their checksums that cover it. A row that was damaged
/// before stays so.
pub(crate) fn backfill_changes(connection: &Connection, had_checksums: bool) -> rusqlite::Result<()> {
    let rows =
        "SELECT id, payload, int_id, strategy, account, security, at, status, source, words, checksum FROM orders";
    let mut orders = connection.prepare(rows)?;
    let mut update = connection.prepare("UPDATE orders SET changed_at = ?2, checksum = ?3 WHERE id = ?1")?;
    let mut rows = orders.query([])?;
    while let Some(row) = rows.next()? {
        if had_checksums && checksum::check(row, 0..10).is_err() {
            continue;
        }
        let order: Order = super::rows::decode(row)?;
        let mut values: Vec<_> = (0..10).map(|column| row.get_ref(column)).collect::<Result<_, _>>()?;
        values.push(ValueRef::Integer(order.changed_at.0));
        update.execute(params![row.get::<_, i64>(0)?, order.changed_at.0, checksum::checksum_of(&values)])?;
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
        let index = if is_by_change(search) { " INDEXED BY orders_by_change" } else { "" };
        let mut statement = Self::after(&format!("SELECT {ORDER_COLUMNS} FROM orders{index}"), sort, page);
        statement.filter_by_ids(search.filter);
        statement.filter_by_time(search);
        statement.filter_by_status(search);
        statement.filter_by_source(search);
        statement.filter_by_text("orders", search.text.as_ref());
        statement.sorted(sort)
    }

    /// The same of transactions.
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
        let bounds = [("at >= ?", search.from), ("at < ?", search.to), ("changed_at >= ?", search.changed_from)];
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

/// What one client's orders did lately is found without a look at the others, however many they are.
fn is_by_change(search: &OrderSearch) -> bool {
    search.changed_from.is_some() && matches!(search.sources[..], [SourceSearch::Exactly(_)])
}

fn placeholders(count: usize) -> String {
    vec!["?"; count].join(", ")
}
