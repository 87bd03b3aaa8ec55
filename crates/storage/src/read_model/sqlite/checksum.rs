//! A checksum in every row of the read model. SQLite trusts the bytes of a page, so one bit that flipped on the disk would be a
//! wrong price in a good answer. A row is checked when it is read, and where the file is not too large also at the start.

use rusqlite::types::{ToSqlOutput, Type, Value, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row};

/// A table, with its columns as the checksum covers them, and those that name a row.
struct Table {
    name: &'static str,
    columns: &'static [&'static str],
    key: &'static [&'static str],
}

/// Of orders; those of older files end earlier.
pub(crate) const ORDER_COLUMNS: [&str; 12] = [
    "id",
    "payload",
    "int_id",
    "strategy",
    "account",
    "security",
    "at",
    "status",
    "source",
    "words",
    "changed_at",
    "has_fills",
];

const TABLES: [Table; 7] = [
    Table { name: "model", columns: &["applied"], key: &["one"] },
    Table {
        name: "events",
        columns: &["payload", "sequence", "ordinal", "at", "class"],
        key: &["sequence", "ordinal"],
    },
    Table { name: "orders", columns: &ORDER_COLUMNS, key: &["id"] },
    Table {
        name: "order_events",
        columns: &["order_id", "sequence", "ordinal"],
        key: &["order_id", "sequence", "ordinal"],
    },
    Table {
        name: "fills",
        columns: &["sequence", "ordinal", "strategy", "account", "security"],
        key: &["sequence", "ordinal"],
    },
    Table {
        name: "transactions",
        columns: &["id", "sequence", "ordinal", "strategy", "account", "security", "words"],
        key: &["id"],
    },
    Table {
        name: "value_samples",
        columns: &["payload", "scope", "sequence", "at", "day"],
        key: &["scope", "sequence"],
    },
];

/// Over types, lengths and values.
pub(crate) fn checksum_of(row: &[ValueRef<'_>]) -> i64 {
    i64::from(row.iter().fold(0, |sum, value| append(sum, *value)))
}

fn append(sum: u32, value: ValueRef<'_>) -> u32 {
    let number;
    let (kind, bytes): (u8, &[u8]) = match value {
        ValueRef::Null => (0, &[]),
        ValueRef::Integer(integer) => {
            number = integer.to_le_bytes();
            (1, &number)
        }
        ValueRef::Real(real) => {
            number = real.to_le_bytes();
            (2, &number)
        }
        ValueRef::Text(text) => (3, text),
        ValueRef::Blob(blob) => (4, blob),
    };
    let sum = crc32c::crc32c_append(sum, &[kind]);
    crc32c::crc32c_append(crc32c::crc32c_append(sum, &bytes.len().to_le_bytes()), bytes)
}

/// Writes a row, with its checksum as the last value.
pub(crate) fn execute(connection: &Connection, statement: &str, row: &[ValueRef<'_>]) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(statement)?;
    for (index, value) in row.iter().enumerate() {
        statement.raw_bind_parameter(index + 1, ToSqlOutput::Borrowed(*value))?;
    }
    statement.raw_bind_parameter(row.len() + 1, checksum_of(row))?;
    statement.raw_execute().map(drop)
}

/// A number of ours as SQLite has it; one that is too large is refused.
pub(crate) fn integer(number: u64) -> rusqlite::Result<ValueRef<'static>> {
    let number = i64::try_from(number).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    Ok(ValueRef::Integer(number))
}

/// The values of a row from a column on, of which the last is the checksum of the others.
pub(crate) fn check(row: &Row<'_>, columns: std::ops::Range<usize>) -> rusqlite::Result<()> {
    let values: Vec<_> = columns.clone().map(|column| row.get_ref(column)).collect::<Result<_, _>>()?;
    if row.get::<_, i64>(columns.end)? == checksum_of(&values) {
        return Ok(());
    }
    Err(rusqlite::Error::FromSqlConversionFailure(
        columns.end,
        Type::Integer,
        "the checksum of a row does not match".into(),
    ))
}

/// Looks at every row.
pub(crate) fn check_all(connection: &Connection) -> rusqlite::Result<()> {
    for table in &TABLES {
        let columns = table.columns.join(", ");
        let mut statement = connection.prepare(&format!("SELECT {columns}, checksum FROM {}", table.name))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            check(row, 0..table.columns.len())?;
        }
    }
    Ok(())
}

/// The sequence of the newest event. A damaged one proves nothing, and least of all that a journal lost its end.
pub(crate) fn newest_event(connection: &Connection) -> rusqlite::Result<Option<u64>> {
    let newest = "SELECT payload, sequence, ordinal, at, class, checksum FROM events
        ORDER BY sequence DESC, ordinal DESC LIMIT 1";
    let read = |row: &Row<'_>| check(row, 0..5).and_then(|()| row.get(1));
    connection.query_row(newest, [], read).optional()
}

/// Gives the rows of an older file their checksums.
pub(crate) fn backfill(connection: &Connection) -> rusqlite::Result<()> {
    TABLES.iter().try_for_each(|table| fill_table(connection, table))
}

fn fill_table(connection: &Connection, table: &Table) -> rusqlite::Result<()> {
    let Table { name, columns, key } = table;
    let read = format!("SELECT {}, {} FROM {name}", columns.join(", "), key.join(", "));
    let named: Vec<_> = key.iter().zip(2..).map(|(column, number)| format!("{column} = ?{number}")).collect();
    let mut update = connection.prepare(&format!("UPDATE {name} SET checksum = ?1 WHERE {}", named.join(" AND ")))?;
    let mut statement = connection.prepare(&read)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let values: Vec<_> = (0..columns.len()).map(|column| row.get_ref(column)).collect::<Result<_, _>>()?;
        let sum = checksum_of(&values);
        let keys: Vec<Value> = (0..key.len()).map(|place| row.get(columns.len() + place)).collect::<Result<_, _>>()?;
        update.execute(rusqlite::params_from_iter(std::iter::once(Value::Integer(sum)).chain(keys)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_differ_have_sums_that_differ() {
        let rows: [&[ValueRef<'_>]; 8] = [
            &[],
            &[ValueRef::Null],
            &[ValueRef::Integer(1)],
            &[ValueRef::Integer(1), ValueRef::Null],
            &[ValueRef::Text(b"ab"), ValueRef::Text(b"c")],
            &[ValueRef::Text(b"a"), ValueRef::Text(b"bc")],
            &[ValueRef::Blob(b"a"), ValueRef::Text(b"bc")],
            &[ValueRef::Blob(&1_i64.to_le_bytes())],
        ];
        let sums: std::collections::BTreeSet<_> = rows.iter().map(|row| checksum_of(row)).collect();
        assert_eq!(sums.len(), rows.len());
    }
}
