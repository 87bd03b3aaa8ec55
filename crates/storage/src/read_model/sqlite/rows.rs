//! Rows of the read model: numbers and payloads.

use minicbor::Decode;
use rusqlite::Row;
use rusqlite::types::Type;

/// A row of orders, with its checksum behind it.
pub(super) const ORDER_COLUMNS: &str =
    "id, payload, int_id, strategy, account, security, at, status, source, words, changed_at, has_fills, checksum";

pub(super) fn decode<T: for<'b> Decode<'b, ()>>(row: &Row<'_>) -> rusqlite::Result<T> {
    let bytes = row.get_ref(1)?.as_blob()?;
    minicbor::decode(bytes).map_err(|error| rusqlite::Error::FromSqlConversionFailure(1, Type::Blob, Box::new(error)))
}

/// SQLite's integers end at 2^63 - 1, and nothing that is stored has so large a number.
pub(super) fn bound(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
