//! TOML file to entries with lines: tables become dots.

use std::collections::BTreeSet;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::entry::{ConfigEntry, ConfigOrigin};
use crate::config::values::setting::BETWEEN_ITEMS;
use crate::input_problem::Problems;

/// Keys that may be written as a table of pairs.
const PAIRS: [&str; 1] = ["portfolio.pegs"];

/// Entries of a file, and its problems.
#[derive(Debug, Default)]
pub(crate) struct FileEntries {
    pub(crate) written: Vec<ConfigEntry>,
    pub(crate) problems: Problems,
}

pub(crate) fn read(path: &Path) -> std::io::Result<FileEntries> {
    let text = std::fs::read_to_string(path)?;
    let mut reader = Reader { path, text: &text, entries: FileEntries::default() };
    let (table, errors) = DeTable::parse_recoverable(&text);
    for error in &errors {
        reader.add_problem(error.span().map_or(0, |span| span.start), error.message());
    }
    // After a syntax error a key may be read as part of another: suggestions would only confuse.
    if errors.is_empty() {
        reader.read_table("", table.get_ref());
    }
    reader.entries.written.sort_by_key(|written| line_of(&written.origin));
    Ok(reader.entries)
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    entries: FileEntries,
}

impl Reader<'_> {
    fn read_table(&mut self, prefix: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let name = format!("{prefix}{}", name.get_ref());
            match value.get_ref() {
                DeValue::Table(inner) if PAIRS.contains(&name.as_str()) => {
                    self.read_pairs(name, inner, value.span().start);
                }
                DeValue::Table(inner) => self.read_table(&format!("{name}."), inner),
                DeValue::Array(venues) if name == "venues" => self.read_venues(venues),
                _ => self.read_value(name, value),
            }
        }
    }

    /// `[[venues]]`: the settings of each become `venues.NAME.key`.
    fn read_venues(&mut self, venues: &[Spanned<DeValue<'_>>]) {
        let mut names = BTreeSet::new();
        for venue in venues {
            let DeValue::Table(table) = venue.get_ref() else {
                self.add_problem(venue.span().start, "venues: each venue is a table, [[venues]]");
                continue;
            };
            match table.get("name").map(Spanned::get_ref) {
                Some(DeValue::String(name)) if names.insert(name.to_string()) => {
                    self.read_table(&format!("venues.{name}."), table);
                }
                Some(DeValue::String(name)) => {
                    self.add_problem(venue.span().start, &format!("venues.{name}: another venue has this name"));
                }
                Some(_) => self.add_problem(venue.span().start, "venues: the name of a venue is a text"),
                None => self.add_problem(venue.span().start, "venues: a venue has no name"),
            }
        }
    }

    /// `{ a = "b" }` as it would be in a flag: `a=b`.
    fn read_pairs(&mut self, name: String, pairs: &DeTable<'_>, offset: usize) {
        let pair = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
            Some(format!("{}={}", key.get_ref(), text_of(value.get_ref())?))
        };
        match pairs.iter().map(|(key, value)| pair((key, value))).collect::<Option<Vec<String>>>() {
            Some(texts) => {
                let (text, origin) = (texts.join(&BETWEEN_ITEMS.to_string()), self.origin_at(offset));
                self.entries.written.push(ConfigEntry { name, text, origin });
            }
            None => self.add_problem(offset, &format!("{name}: no key holds a value of this kind")),
        }
    }

    fn read_value(&mut self, name: String, value: &Spanned<DeValue<'_>>) {
        match text_of(value.get_ref()) {
            Some(text) => {
                let origin = self.origin_at(value.span().start);
                self.entries.written.push(ConfigEntry { name, text, origin });
            }
            None => self.add_problem(value.span().start, &format!("{name}: no key holds a value of this kind")),
        }
    }

    fn add_problem(&mut self, offset: usize, reason: &str) {
        let place = self.origin_at(offset);
        // The parser's messages have several lines; a problem has one.
        self.entries.problems.add(place, reason.trim().replace('\n', "; "));
    }

    fn origin_at(&self, offset: usize) -> ConfigOrigin {
        let line = self.text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1;
        ConfigOrigin::File { path: self.path.to_owned(), line }
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

fn line_of(origin: &ConfigOrigin) -> usize {
    match origin {
        ConfigOrigin::File { line, .. } => *line,
        _ => 0,
    }
}
