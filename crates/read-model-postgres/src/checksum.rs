//! A checksum in every row that a query answers from: over the lengths and the values of key, payload and everything that a query is
//! narrowed by. A row is checked when it is read.

use std::fmt::Display;

use crate::failure::DatabaseFailure;

pub(crate) struct RowChecksum(u32);

impl RowChecksum {
    pub(crate) fn new() -> Self {
        Self(0)
    }

    pub(crate) fn number(self, number: i64) -> Self {
        Self(crc32c::crc32c_append(self.0, &number.to_le_bytes()))
    }

    pub(crate) fn numbers(self, numbers: &[i64]) -> Self {
        numbers.iter().fold(self, |sum, number| sum.number(*number))
    }

    pub(crate) fn bytes(self, bytes: &[u8]) -> Self {
        let with_length = crc32c::crc32c_append(self.0, &bytes.len().to_le_bytes());
        Self(crc32c::crc32c_append(with_length, bytes))
    }

    pub(crate) fn value(self) -> i64 {
        i64::from(self.0)
    }

    /// A row without a checksum is one that was not found under its number.
    pub(crate) fn check(self, stored: Option<i64>, row: impl Display) -> Result<(), DatabaseFailure> {
        if stored == Some(self.value()) {
            return Ok(());
        }
        Err(DatabaseFailure::DamagedRow(format!("the checksum of {row} does not match")))
    }
}

/// Of an event.
pub(crate) fn of_event(sequence: i64, ordinal: i32, at: i64, class: i16, payload: &[u8]) -> RowChecksum {
    let key = RowChecksum::new().number(sequence).number(ordinal.into());
    key.number(at).number(class.into()).bytes(payload)
}

/// Of an order: its id, strategy, account, security and time, then its texts.
pub(crate) fn of_order(numbers: [i64; 5], names: [&str; 4], payload: &[u8]) -> RowChecksum {
    let sum = RowChecksum::new().numbers(&numbers);
    names.iter().fold(sum, |sum, name| sum.bytes(name.as_bytes())).bytes(payload)
}

/// Of a row that leads to an event: its key and the event's, then what it belongs to, where that is in the row.
pub(crate) fn of_link(key: i64, sequence: i64, ordinal: i32, owners: &[i64]) -> RowChecksum {
    RowChecksum::new().numbers(&[key, sequence, ordinal.into()]).numbers(owners)
}

/// Of a transaction: as a row that leads to an event, and what it is searched by.
pub(crate) fn of_transaction(key: i64, sequence: i64, ordinal: i32, owners: &[i64], words: &str) -> RowChecksum {
    of_link(key, sequence, ordinal, owners).bytes(words.as_bytes())
}

/// A booking of cash has no security; that is told apart from every number of one.
pub(crate) fn owners([strategy, account]: [i64; 2], security: Option<i64>) -> [i64; 3] {
    [strategy, account, security.unwrap_or(-1)]
}

/// Of a sample of the value history.
pub(crate) fn of_sample(names: [&str; 2], sequence: i64, at: i64, payload: &[u8]) -> RowChecksum {
    let key = RowChecksum::new().number(sequence).number(at);
    names.iter().fold(key, |sum, name| sum.bytes(name.as_bytes())).bytes(payload)
}
