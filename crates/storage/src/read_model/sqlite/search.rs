//! Order search: indexed columns for status, source, time and names. A part of a name is searched in the index alone,
//! which is small, and not in the orders.

use bus::history::{OrderSearch, PageRequest, SortOrder};
use domain::Order;
use rusqlite::types::Value;
use rusqlite::{Connection, params};

use super::rows::{ORDER_COLUMNS, bound};
use crate::read_model::search_columns::{SearchColumns, source_bounds};

/// Gives the orders of an older file what they are searched by.
pub(crate) fn backfill(connection: &Connection) -> rusqlite::Result<()> {
    let mut orders = connection.prepare("SELECT id, payload FROM orders")?;
    let mut update =
        connection.prepare("UPDATE orders SET at = ?2, status = ?3, source = ?4, words = ?5 WHERE id = ?1")?;
    let mut rows = orders.query([])?;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        let order: Order = super::rows::decode(row)?;
        let SearchColumns { at, status, source, words } = SearchColumns::from_order(&order);
        update.execute(params![id, at, status, source, words])?;
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
        let (beyond, direction) = match sort {
            SortOrder::Oldest => (">", "ASC"),
            SortOrder::Newest => ("<", "DESC"),
        };
        let start = format!("SELECT {ORDER_COLUMNS} FROM orders WHERE id {beyond} ?");
        let mut statement = Self { text: start, values: vec![Value::Integer(bound(page.after))] };
        statement.filter_by_ids(search);
        statement.filter_by_time(search);
        statement.filter_by_status(search);
        statement.filter_by_source(search);
        statement.filter_by_text(search);
        statement.text.push_str(&format!(" ORDER BY id {direction}"));
        statement
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &Value> {
        self.values.iter()
    }

    fn and(&mut self, condition: &str, values: impl IntoIterator<Item = Value>) {
        self.text.push_str(" AND ");
        self.text.push_str(condition);
        self.values.extend(values);
    }

    fn filter_by_ids(&mut self, search: &OrderSearch) {
        let filter = search.filter;
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
        for (condition, at) in [("at >= ?", search.from), ("at < ?", search.to)] {
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
        if !search.sources.is_empty() {
            let any = vec!["source BETWEEN ? AND ?"; search.sources.len()].join(" OR ");
            let bounds = search.sources.iter().flat_map(source_bounds).map(Value::Text);
            self.and(&format!("({any})"), bounds);
        }
    }

    fn filter_by_text(&mut self, search: &OrderSearch) {
        let Some(text) = &search.text else { return };
        let names = "id IN (SELECT id FROM orders INDEXED BY orders_by_words WHERE instr(words, ?) > 0)";
        // Written out, because a statement takes fewer values than there may be securities.
        let securities = text.securities.iter().map(|id| bound(id.0).to_string()).collect::<Vec<_>>().join(", ");
        self.and(&format!("({names} OR security IN ({securities}))"), [Value::Text(text.part.clone())]);
    }
}

fn placeholders(count: usize) -> String {
    vec!["?"; count].join(", ")
}
