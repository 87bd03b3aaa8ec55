//! One CSV file: columns by name, one line in memory.

use std::fs::File;
use std::path::Path;
use std::str::FromStr;

use csv::{ByteRecord, Reader, ReaderBuilder, Trim};
use domain::{Decimal, Price, Quantity, Timestamp};

use super::error::BadData;

/// Bytes read from the disk at once.
const BUFFER_BYTES: usize = 256 * 1024;
/// Fractions of a millisecond reach down to nanoseconds.
const FRACTION_DIGITS: usize = 6;
const NANOS_PER_MILLI: i64 = 1_000_000;

pub(super) struct Sheet {
    name: String,
    reader: Reader<File>,
    header: Vec<String>,
    record: ByteRecord,
    total: u64,
}

/// A column that the file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Column(usize);

impl Sheet {
    pub(super) fn open(path: &Path, name: &str) -> Result<Self, BadData> {
        let bad = |reason: String| BadData { file: name.to_owned(), line: None, column: None, reason };
        let file = File::open(path).map_err(|error| bad(format!("cannot be read: {error}")))?;
        let total = file.metadata().map_or(0, |about| about.len());
        let mut reader = ReaderBuilder::new().trim(Trim::All).buffer_capacity(BUFFER_BYTES).from_reader(file);
        let header = reader.headers().map_err(|error| bad(format!("has no header that can be read: {error}")))?;
        let header = header.iter().map(|name| name.trim_start_matches('\u{feff}').to_owned()).collect();
        Ok(Self { name: name.to_owned(), reader, header, record: ByteRecord::new(), total })
    }

    pub(super) fn column(&self, name: &str) -> Option<Column> {
        self.header.iter().position(|known| known == name).map(Column)
    }

    pub(super) fn needed(&self, name: &str) -> Result<Column, BadData> {
        let missing = || BadData {
            file: self.name.clone(),
            line: Some(1),
            column: Some(name.to_owned()),
            reason: format!("is missing; the header has {}", self.header.join(", ")),
        };
        self.column(name).ok_or_else(missing)
    }

    /// Goes to the next line; false at the end.
    pub(super) fn step(&mut self) -> Result<bool, BadData> {
        let line = self.reader.position().line();
        self.reader.read_byte_record(&mut self.record).map_err(|error| BadData {
            file: self.name.clone(),
            line: Some(error.position().map_or(line, csv::Position::line)),
            column: None,
            reason: told(&error),
        })
    }

    pub(super) fn progress(&self) -> (u64, u64) {
        (self.reader.position().byte().min(self.total), self.total)
    }

    pub(super) fn bad(&self, column: &str, reason: impl Into<String>) -> BadData {
        BadData {
            file: self.name.clone(),
            line: self.record.position().map(csv::Position::line),
            column: Some(column.to_owned()),
            reason: reason.into(),
        }
    }

    pub(super) fn time(&self, column: Column) -> Result<Timestamp, BadData> {
        let text = self.text(column)?;
        instant(text)
            .ok_or_else(|| self.bad_cell(column, "epoch milliseconds such as 1735689600000, or 2025-01-01T00:00:00Z"))
    }

    pub(super) fn price(&self, column: Column) -> Result<Price, BadData> {
        self.decimal(column).map(Price)
    }

    pub(super) fn quantity(&self, column: Column) -> Result<Quantity, BadData> {
        let quantity = Quantity(self.decimal(column)?);
        if quantity.is_negative() { Err(self.bad_cell(column, "a quantity from 0")) } else { Ok(quantity) }
    }

    /// Absent where the file has no such column or the cell is blank.
    pub(super) fn maybe<T>(
        &self,
        column: Option<Column>,
        read: impl Fn(&Self, Column) -> Result<T, BadData>,
    ) -> Result<Option<T>, BadData> {
        match column {
            Some(column) if !self.bytes(column).is_empty() => read(self, column).map(Some),
            _ => Ok(None),
        }
    }

    pub(super) fn text(&self, column: Column) -> Result<&str, BadData> {
        std::str::from_utf8(self.bytes(column)).map_err(|_| self.bad(&self.header[column.0], "is not UTF-8"))
    }

    pub(super) fn bad_cell(&self, column: Column, shape: &str) -> BadData {
        let text = String::from_utf8_lossy(self.bytes(column));
        let reason =
            if text.is_empty() { format!("is blank, but must be {shape}") } else { format!("'{text}' is not {shape}") };
        self.bad(&self.header[column.0], reason)
    }

    fn decimal(&self, column: Column) -> Result<Decimal, BadData> {
        let text = self.text(column)?;
        Decimal::from_str_exact(text).map_err(|_| self.bad_cell(column, "a decimal number"))
    }

    fn bytes(&self, column: Column) -> &[u8] {
        self.record.get(column.0).unwrap_or_default()
    }
}

/// Milliseconds since 1970, with up to six decimals, or a date and time with zone.
fn instant(text: &str) -> Option<Timestamp> {
    let (millis, fraction) = text.split_once('.').unwrap_or((text, ""));
    if let Ok(millis) = millis.parse::<i64>() {
        return millis.checked_mul(NANOS_PER_MILLI)?.checked_add(nanos(fraction)?).map(Timestamp);
    }
    Timestamp::from_str(text).ok()
}

fn nanos(fraction: &str) -> Option<i64> {
    if fraction.len() > FRACTION_DIGITS || !fraction.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    format!("{fraction:0<FRACTION_DIGITS$}").parse().ok()
}

fn told(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("has {len} cells, but the header has {expected_len}")
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_milliseconds_or_a_date_with_zone() {
        let whole = Timestamp(1_735_689_600_000_000_000);
        assert_eq!(instant("1735689600000"), Some(whole));
        assert_eq!(instant("1735689600000.000001"), Some(Timestamp(whole.0 + 1)));
        assert_eq!(instant("1735689600000.5"), Some(Timestamp(whole.0 + 500_000)));
        assert_eq!(instant("2025-01-01T00:00:00Z"), Some(whole));
        assert_eq!(instant("2025-01-01T01:00:00+01:00"), Some(whole));
        for bad in ["", "yesterday", "2025-01-01", "1735689600000.0000001", "1735689600000.x", "9999999999999999"] {
            assert_eq!(instant(bad), None, "{bad}");
        }
    }
}
