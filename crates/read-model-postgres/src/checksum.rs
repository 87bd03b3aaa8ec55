//! A checksum in every row that a query answers from: over the lengths and the values of key, payload and search columns. A
//! row is checked when it is read.

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

/// Of an order.
pub(crate) fn of_order(id: i64, names: [&str; 4], payload: &[u8]) -> RowChecksum {
    names.iter().fold(RowChecksum::new().number(id), |sum, name| sum.bytes(name.as_bytes())).bytes(payload)
}

/// Of a row that leads to an event.
pub(crate) fn of_link(key: i64, sequence: i64, ordinal: i32) -> RowChecksum {
    RowChecksum::new().number(key).number(sequence).number(ordinal.into())
}
