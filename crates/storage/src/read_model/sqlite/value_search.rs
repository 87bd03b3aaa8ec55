//! Statement of a value history. Instants are turned into sequences by an index, because both grow together.

use bus::history::{PageRequest, ValueRows, ValueSearch};
use domain::Timestamp;
use rusqlite::types::Value;

use super::rows::bound;

/// A row of samples with its checksum behind it; the key comes first.
const ROWS: &str = "SELECT sequence, payload, scope, sequence, at, day, checksum FROM value_samples";
/// The first sample of a scope at an instant or later.
const FIRST_AT: &str = "(SELECT sequence FROM value_samples WHERE scope = ? AND at >= ? ORDER BY at, sequence LIMIT 1)";

pub(super) struct ValueStatement {
    pub(super) text: String,
    values: Vec<Value>,
}

impl ValueStatement {
    pub(super) fn from_search(search: &ValueSearch, page: PageRequest) -> Self {
        let scope = search.scope.to_string();
        let mut statement = Self { text: "scope = ?".into(), values: vec![Value::Text(scope.clone())] };
        if let Some(from) = search.from {
            statement.and(&format!("sequence >= {FIRST_AT}"), at(&scope, from));
        }
        if let Some(to) = search.to {
            statement.and(&format!("sequence < coalesce({FIRST_AT}, {})", i64::MAX), at(&scope, to));
        }
        if let Some(through) = search.through {
            statement.and("sequence <= ?", [Value::Integer(bound(through))]);
        }
        let after = Value::Integer(bound(page.after));
        match search.rows {
            ValueRows::All => statement.and("sequence > ?", [after]),
            ValueRows::DayEnds => statement.keep_day_ends(scope, after),
        }
        statement.text = format!("{ROWS} WHERE {} ORDER BY sequence", statement.text);
        statement
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Value> {
        self.values.iter()
    }

    /// The last sample of each day, among those of the conditions so far.
    fn keep_day_ends(&mut self, scope: String, after: Value) {
        self.text = format!(
            "scope = ? AND sequence > ? AND sequence IN
                (SELECT max(sequence) FROM value_samples WHERE {} GROUP BY day)",
            self.text
        );
        self.values.splice(0..0, [Value::Text(scope), after]);
    }

    fn and(&mut self, condition: &str, values: impl IntoIterator<Item = Value>) {
        self.text.push_str(" AND ");
        self.text.push_str(condition);
        self.values.extend(values);
    }
}

fn at(scope: &str, at: Timestamp) -> [Value; 2] {
    [Value::Text(scope.to_owned()), Value::Integer(at.0)]
}
