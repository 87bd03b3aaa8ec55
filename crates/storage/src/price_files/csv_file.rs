//! CSV file: columns by name, one line in memory.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use csv::{ByteRecord, Reader, ReaderBuilder, Trim};
use domain::time::InvalidTimestamp;
use domain::{Date, Decimal, Price, Quantity, Timestamp};

use super::error::InvalidPriceData;

/// Bytes read from the disk at once.
const BUFFER_BYTES: usize = 256 * 1024;
/// What an instant looks like.
const TIME_FORMAT: &str =
    "epoch milliseconds such as 1735689600000, 2025-01-01T00:00:00Z, or a date such as 2025-01-01";
/// Fractions of a millisecond reach down to nanoseconds.
const FRACTION_DIGITS: usize = 6;
const NANOS_PER_MILLI: i64 = 1_000_000;
/// 1990 in epoch milliseconds. A smaller number is no time of trading but epoch seconds, taken for milliseconds.
const MILLIS_MIN: i64 = 631_152_000_000;

pub(super) struct CsvFile {
    path: PathBuf,
    name: String,
    reader: Reader<File>,
    header: Vec<String>,
    record: ByteRecord,
    total: u64,
}

/// A column that the file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Column(usize);

impl CsvFile {
    pub(super) fn open(path: &Path, name: &str) -> Result<Self, InvalidPriceData> {
        let bad = |reason: String| InvalidPriceData { file: name.to_owned(), line: None, column: None, reason };
        let file = File::open(path).map_err(|error| bad(format!("cannot be read: {error}")))?;
        let total = file.metadata().map_or(0, |about| about.len());
        let mut reader = ReaderBuilder::new().trim(Trim::All).buffer_capacity(BUFFER_BYTES).from_reader(file);
        let header = reader.headers().map_err(|error| bad(format!("has no header that can be read: {error}")))?;
        let header: Vec<String> = header.iter().map(|name| name.trim_start_matches('\u{feff}').to_owned()).collect();
        let (path, name) = (path.to_owned(), name.to_owned());
        let sheet = Self { path, name, reader, header, record: ByteRecord::new(), total };
        sheet.check_header()?;
        Ok(sheet)
    }

    /// Two columns with one name are ambiguous; columns without a name are never read.
    fn check_header(&self) -> Result<(), InvalidPriceData> {
        let named = || self.header.iter().enumerate().filter(|(_, name)| !name.is_empty());
        match named().find(|(place, name)| self.header[..*place].contains(name)) {
            Some((_, twice)) => Err(self.bad_header(twice, "stands in the header twice".into())),
            None => Ok(()),
        }
    }

    /// By its name, else by a usual name of other programs: `Date` for `dateTime`, `Volume` for `vol`, in any case.
    pub(super) fn column(&self, name: &str) -> Option<Column> {
        let exact = self.header.iter().position(|known| known == name);
        let usual = || self.header.iter().position(|known| is_alias(known, name));
        exact.or_else(usual).map(Column)
    }

    pub(super) fn required_column(&self, name: &str) -> Result<Column, InvalidPriceData> {
        let missing = || match self.header.iter().all(String::is_empty) {
            true => self.bad_header(name, "is missing: the file has no header".into()),
            false => self.bad_header(name, format!("is missing; the header has {}", self.header.join(", "))),
        };
        self.column(name).ok_or_else(missing)
    }

    fn bad_header(&self, column: &str, reason: String) -> InvalidPriceData {
        InvalidPriceData {
            file: self.name.clone(),
            line: line_from(&self.path, 0),
            column: Some(column.to_owned()),
            reason,
        }
    }

    /// The name of the file in messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Goes to the next line; false at the end.
    pub(super) fn step(&mut self) -> Result<bool, InvalidPriceData> {
        self.reader.read_byte_record(&mut self.record).map_err(|error| InvalidPriceData {
            file: self.name.clone(),
            line: error.position().and_then(|position| line_from(&self.path, position.byte())),
            column: None,
            reason: csv_error_text(&error),
        })
    }

    pub(super) fn progress(&self) -> (u64, u64) {
        (self.reader.position().byte().min(self.total), self.total)
    }

    pub(super) fn bad(&self, column: &str, reason: impl Into<String>) -> InvalidPriceData {
        InvalidPriceData {
            file: self.name.clone(),
            line: self.record.position().and_then(|position| line_from(&self.path, position.byte())),
            column: Some(column.to_owned()),
            reason: reason.into(),
        }
    }

    pub(super) fn time(&self, column: Column) -> Result<Timestamp, InvalidPriceData> {
        let text = self.text(column)?;
        let at = instant(text).map_err(|reason| match reason {
            InvalidTimestamp::OutOfRange => self.bad(&self.header[column.0], format!("'{text}': {reason}")),
            InvalidTimestamp::Unreadable(shape) => self.bad_cell(column, &shape),
        })?;
        // A date that is written out cannot be mistaken for another, however long ago it is.
        if at.millis() < MILLIS_MIN && text.bytes().all(|sign| sign.is_ascii_digit() || sign == b'.') {
            let shape =
                "in 1990 or later: a number is epoch milliseconds, not seconds; an earlier time is written as a date";
            return Err(self.bad_cell(column, shape));
        }
        Ok(at)
    }

    pub(super) fn price(&self, column: Column) -> Result<Price, InvalidPriceData> {
        self.decimal(column).map(Price)
    }

    pub(super) fn quantity(&self, column: Column) -> Result<Quantity, InvalidPriceData> {
        let quantity = Quantity(self.decimal(column)?);
        if quantity.is_negative() { Err(self.bad_cell(column, "a quantity from 0")) } else { Ok(quantity) }
    }

    /// Absent where the file has no such column or the cell is blank.
    pub(super) fn optional<T>(
        &self,
        column: Option<Column>,
        read: impl Fn(&Self, Column) -> Result<T, InvalidPriceData>,
    ) -> Result<Option<T>, InvalidPriceData> {
        match column {
            Some(column) if !self.bytes(column).is_empty() => read(self, column).map(Some),
            _ => Ok(None),
        }
    }

    pub(super) fn text(&self, column: Column) -> Result<&str, InvalidPriceData> {
        std::str::from_utf8(self.bytes(column)).map_err(|_| self.bad(&self.header[column.0], "is not UTF-8"))
    }

    pub(super) fn bad_cell(&self, column: Column, shape: &str) -> InvalidPriceData {
        let text = String::from_utf8_lossy(self.bytes(column));
        let reason =
            if text.is_empty() { format!("is blank, but must be {shape}") } else { format!("'{text}' is not {shape}") };
        self.bad(&self.header[column.0], reason)
    }

    fn decimal(&self, column: Column) -> Result<Decimal, InvalidPriceData> {
        let text = self.text(column)?;
        Decimal::from_str_exact(text).map_err(|_| self.bad_cell(column, "a decimal number"))
    }

    fn bytes(&self, column: Column) -> &[u8] {
        self.record.get(column.0).unwrap_or_default()
    }
}

/// The number of the first line that is not blank, from a byte on. The CSV reader skips blank lines, so its own count
/// names the blank line; the file is read once more to find the right one.
fn line_from(path: &Path, byte: u64) -> Option<u64> {
    let mut file = BufReader::new(File::open(path).ok()?);
    let mut text = Vec::new();
    let (mut line, mut begins) = (1, 0_u64);
    loop {
        text.clear();
        let read = file.read_until(b'\n', &mut text).ok().filter(|read| *read > 0)?;
        let passed = usize::try_from(byte.saturating_sub(begins)).map_or(read, |passed| passed.min(read));
        if !text[passed..].trim_ascii().is_empty() {
            return Some(line);
        }
        (line, begins) = (line + 1, begins + read as u64);
    }
}

/// Names under which exports of data vendors and spreadsheets have a column of ours.
const COLUMN_ALIASES: [(&str, &[&str]); 2] = [("dateTime", &["date", "time", "timestamp"]), ("vol", &["volume"])];

fn is_alias(written: &str, name: &str) -> bool {
    let others = COLUMN_ALIASES.iter().find(|(ours, _)| *ours == name).map_or(&[][..], |(_, others)| others);
    written.eq_ignore_ascii_case(name) || others.iter().any(|other| written.eq_ignore_ascii_case(other))
}

/// Milliseconds since 1970, with up to six decimals, or a date and time with zone, or a date, which is its midnight UTC.
fn instant(text: &str) -> Result<Timestamp, InvalidTimestamp> {
    let unreadable = || InvalidTimestamp::Unreadable(TIME_FORMAT.to_owned());
    if let Ok(date) = text.parse::<Date>() {
        return Timestamp::from_str(&format!("{date}T00:00:00Z"));
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if let Ok(millis) = whole.parse::<i64>() {
        let rest = nanos(fraction).ok_or_else(unreadable)?;
        let sum = millis.checked_mul(NANOS_PER_MILLI).and_then(|nanos| nanos.checked_add(rest));
        return sum.map(Timestamp).ok_or(InvalidTimestamp::OutOfRange)?.checked_range();
    }
    Timestamp::from_str(text).map_err(|reason| match reason {
        InvalidTimestamp::OutOfRange => reason,
        InvalidTimestamp::Unreadable(_) => unreadable(),
    })
}

fn nanos(fraction: &str) -> Option<i64> {
    if fraction.len() > FRACTION_DIGITS || !fraction.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    format!("{fraction:0<FRACTION_DIGITS$}").parse().ok()
}

fn csv_error_text(error: &csv::Error) -> String {
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
        assert_eq!(instant("1735689600000"), Ok(whole));
        assert_eq!(instant("1735689600000.000001"), Ok(Timestamp(whole.0 + 1)));
        assert_eq!(instant("1735689600000.5"), Ok(Timestamp(whole.0 + 500_000)));
        assert_eq!(instant("2025-01-01T00:00:00Z"), Ok(whole));
        assert_eq!(instant("2025-01-01T01:00:00+01:00"), Ok(whole));
        assert_eq!(instant("2025-01-01"), Ok(whole));
        for bad in ["", "yesterday", "2025-13-01", "01/02/2025", "1735689600000.0000001", "1735689600000.x"] {
            assert_eq!(instant(bad), Err(InvalidTimestamp::Unreadable(TIME_FORMAT.into())), "{bad}");
        }
        for far in ["9223372036854", "9999999999999999", "1600-01-01T00:00:00Z", "9999-03-03T10:00:00Z"] {
            assert_eq!(instant(far), Err(InvalidTimestamp::OutOfRange), "{far}");
        }
    }
}
