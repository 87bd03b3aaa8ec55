//! TOML file to entries with lines: tables become dots.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::raw::{Origin, Written};
use super::setting::BETWEEN_ITEMS;
use crate::problem::Problems;

/// Entries of a file, and its problems.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) written: Vec<Written>,
    pub(super) problems: Problems,
}

pub(super) fn read(path: &Path) -> std::io::Result<Page> {
    let text = std::fs::read_to_string(path)?;
    let mut reader = Reader { path, text: &text, page: Page::default() };
    let (table, errors) = DeTable::parse_recoverable(&text);
    for error in &errors {
        reader.complain(error.span().map_or(0, |span| span.start), error.message());
    }
    // After a syntax error a key may be read as part of another: suggestions would only confuse.
    if errors.is_empty() {
        reader.take_table("", table.get_ref());
    }
    reader.page.written.sort_by_key(|written| line_of(&written.origin));
    Ok(reader.page)
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    page: Page,
}

impl Reader<'_> {
    fn take_table(&mut self, prefix: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let name = format!("{prefix}{}", name.get_ref());
            match value.get_ref() {
                DeValue::Table(inner) => self.take_table(&format!("{name}."), inner),
                _ => self.take_value(name, value),
            }
        }
    }

    fn take_value(&mut self, name: String, value: &Spanned<DeValue<'_>>) {
        match text_of(value.get_ref()) {
            Some(text) => {
                let origin = self.place(value.span().start);
                self.page.written.push(Written { name, text, origin });
            }
            None => self.complain(value.span().start, &format!("{name}: no key holds a value of this kind")),
        }
    }

    fn complain(&mut self, offset: usize, reason: &str) {
        let place = self.place(offset);
        // The parser's messages have several lines; a problem has one.
        self.page.problems.add(place, reason.trim().replace('\n', "; "));
    }

    fn place(&self, offset: usize) -> Origin {
        let line = self.text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1;
        Origin::File { path: self.path.to_owned(), line }
    }
}

/// A value as it would be in a flag. Decimals keep their digits.
fn text_of(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(switch) => Some(switch.to_string()),
        DeValue::Array(items) => {
            let texts: Option<Vec<String>> = items.iter().map(|item| text_of(item.get_ref())).collect();
            texts.map(|texts| texts.join(&BETWEEN_ITEMS.to_string()))
        }
        DeValue::Datetime(_) | DeValue::Table(_) => None,
    }
}

fn line_of(origin: &Origin) -> usize {
    match origin {
        Origin::File { line, .. } => *line,
        _ => 0,
    }
}
