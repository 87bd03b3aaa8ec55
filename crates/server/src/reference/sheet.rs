//! One CSV file: columns are found by name, every invalid cell is reported with file, line and column.

use csv::{ReaderBuilder, StringRecord, Trim};

use super::cell::Cell;
use crate::input_problem::Problems;
use wire::nearest::hint;

/// The rows of a file.
#[derive(Debug)]
pub(super) struct SheetRows<T> {
    pub file: &'static str,
    pub rows: Vec<(u64, T)>,
    /// Every line could be read. Only then an unknown id is certainly missing.
    pub complete: bool,
}

/// A line while it is read: an invalid cell gives `None` and adds a problem.
pub(super) struct SheetRow<'a> {
    file: &'static str,
    line: u64,
    header: &'a StringRecord,
    cells: &'a StringRecord,
    problems: &'a mut Problems,
}

impl SheetRow<'_> {
    /// A cell that must hold a value.
    pub(super) fn required<T: Cell>(&mut self, column: &str) -> Option<T> {
        if self.text(column).is_empty() {
            self.add_problem(column, format!("is blank, but must be {}", T::SHAPE));
            return None;
        }
        self.optional(column)
    }

    /// A cell that may be blank.
    pub(super) fn optional<T: Cell>(&mut self, column: &str) -> Option<T> {
        let text = self.text(column).to_owned();
        let value = T::read(&text);
        if value.is_none() && !text.is_empty() {
            self.add_problem(column, format!("'{text}' is not {}", T::SHAPE));
        }
        value.filter(|_| !text.is_empty())
    }

    pub(super) fn text(&self, column: &str) -> &str {
        let place = self.header.iter().position(|name| name == column);
        place.and_then(|place| self.cells.get(place)).unwrap_or_default()
    }

    pub(super) fn add_problem(&mut self, column: &str, reason: impl std::fmt::Display) {
        self.problems.add(cell_location(self.file, self.line, column), reason);
    }
}

/// The location of a cell in a message.
pub(super) fn cell_location(file: &str, line: u64, column: &str) -> String {
    format!("{file} line {line}, column {column}")
}

/// Reads all rows of a file by `row`, which returns `None` where a cell is invalid.
pub(super) fn read<T>(
    file: &'static str,
    text: &str,
    columns: &[&str],
    problems: &mut Problems,
    row: impl Fn(&mut SheetRow<'_>) -> Option<T>,
) -> SheetRows<T> {
    read_columns(file, text, (columns, &[]), problems, row)
}

/// As [`read`]; optional columns may be missing, and are blank then.
pub(super) fn read_columns<T>(
    file: &'static str,
    text: &str,
    (columns, optional): (&[&str], &[&str]),
    problems: &mut Problems,
    row: impl Fn(&mut SheetRow<'_>) -> Option<T>,
) -> SheetRows<T> {
    let before = problems.len();
    let mut reader = ReaderBuilder::new().flexible(true).trim(Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().cloned().unwrap_or_default();
    check_header(file, &header, (columns, optional), problems);
    let mut rows = Vec::new();
    if problems.len() == before {
        for record in reader.records() {
            rows.extend(read_record(file, &header, record, problems, &row));
        }
    }
    SheetRows { file, rows, complete: problems.len() == before }
}

fn check_header(file: &str, header: &StringRecord, (columns, optional): (&[&str], &[&str]), problems: &mut Problems) {
    for (index, column) in header.iter().enumerate() {
        if !columns.contains(&column) && !optional.contains(&column) {
            let hint = hint(column, columns.iter().chain(optional).copied());
            problems.add(format_args!("{file} line 1"), format!("unknown column '{column}'{hint}"));
        } else if header.iter().take(index).any(|earlier| earlier == column) {
            problems.add(format_args!("{file} line 1"), format!("column '{column}' stands there twice"));
        }
    }
    for missing in columns.iter().filter(|column| !header.iter().any(|name| name == **column)) {
        problems.add(format_args!("{file} line 1"), format!("column '{missing}' is missing"));
    }
}

fn read_record<T>(
    file: &'static str,
    header: &StringRecord,
    record: csv::Result<StringRecord>,
    problems: &mut Problems,
    row: impl Fn(&mut SheetRow<'_>) -> Option<T>,
) -> Option<(u64, T)> {
    let cells = match record {
        Ok(cells) => cells,
        Err(error) => {
            problems.add(file, error);
            return None;
        }
    };
    let line = cells.position().map_or(0, csv::Position::line);
    if cells.len() != header.len() {
        let reason = format!("has {} cells, the header has {}", cells.len(), header.len());
        problems.add(format_args!("{file} line {line}"), reason);
        return None;
    }
    row(&mut SheetRow { file, line, header, cells: &cells, problems }).map(|value| (line, value))
}
