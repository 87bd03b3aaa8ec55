//! A table of a dialect file, read key by key. A wrong value is noted, with the field, its line, and why, and reading goes on
//! with the default.

use std::fmt;
use std::ops::RangeInclusive;

use fix::tag::Tag;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(super) const TAG_MAX: Tag = 999_999_999;

pub(super) struct Section<'a> {
    /// Empty for the file itself, else with a dot at its end.
    path: String,
    /// Absent where the file does not have the table.
    table: Option<&'a DeTable<'a>>,
    offset: usize,
}

impl<'a> Section<'a> {
    pub(super) fn root(table: &'a DeTable<'a>) -> Self {
        Self { path: String::new(), table: Some(table), offset: 0 }
    }

    pub(super) fn is_present(&self) -> bool {
        self.table.is_some()
    }

    /// The keys that the file has, in its order, with their places.
    pub(super) fn keys(&self) -> Vec<(String, usize)> {
        let keys = self.table.into_iter().flat_map(|table| table.iter());
        keys.map(|(key, _)| (key.get_ref().to_string(), key.span().start)).collect()
    }

    pub(super) fn field(&self, key: &str) -> String {
        format!("{}{key}", self.path)
    }

    pub(super) fn offset(&self, key: &str) -> usize {
        self.get(key).map_or(self.offset, |value| value.span().start)
    }

    fn get(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table.and_then(|table| table.get(key))
    }

    /// Every key must be one of these.
    pub(super) fn check_keys(&self, known: &[&str], problems: &mut Problems<'_>) {
        for (key, offset) in self.keys() {
            if !known.contains(&key.as_str()) {
                problems.add(offset, &self.field(&key), format!("is no key (known: {})", known.join(", ")));
            }
        }
    }

    pub(super) fn section(&self, key: &str, problems: &mut Problems<'_>) -> Section<'a> {
        let table = match self.get(key).map(Spanned::get_ref) {
            Some(DeValue::Table(table)) => Some(table),
            Some(_) => {
                problems.add(self.offset(key), &self.field(key), "is not a table");
                None
            }
            None => None,
        };
        Section { path: format!("{}.", self.field(key)), table, offset: self.offset(key) }
    }

    /// The tables of `[[key]]`.
    pub(super) fn sections(&self, key: &str, problems: &mut Problems<'_>) -> Vec<Section<'a>> {
        self.get(key).map_or_else(Vec::new, |value| tables(value, &self.field(key), problems))
    }

    /// The tables of a list of lists; nothing where one of them is none, which is noted.
    pub(super) fn section_lists(&self, key: &str, problems: &mut Problems<'_>) -> Option<Vec<Vec<Section<'a>>>> {
        let Some(value) = self.get(key) else { return Some(Vec::new()) };
        let known = problems.found.len();
        let lists = items(value, &self.field(key), "is not a list of lists of tables", problems);
        let lists = lists.into_iter().map(|(path, list)| tables(list, &path, problems)).collect();
        (problems.found.len() == known).then_some(lists)
    }

    /// A text that is not empty.
    pub(super) fn text(&self, key: &str, problems: &mut Problems<'_>) -> Option<String> {
        match self.get(key).map(Spanned::get_ref)? {
            DeValue::String(text) if !text.is_empty() && !text.chars().any(char::is_control) => Some(text.to_string()),
            _ => self.refuse(key, "is not a text of printable characters", problems),
        }
    }

    pub(super) fn required_text(&self, key: &str, problems: &mut Problems<'_>) -> Option<String> {
        if self.get(key).is_none() {
            return self.refuse(key, "is missing", problems);
        }
        self.text(key, problems)
    }

    pub(super) fn texts(&self, key: &str, problems: &mut Problems<'_>) -> Option<Vec<String>> {
        let DeValue::Array(items) = self.get(key).map(Spanned::get_ref)? else {
            return self.refuse(key, "is not a list of texts", problems);
        };
        let text = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
            DeValue::String(text) => Some(text.to_string()),
            _ => None,
        };
        let texts = items.iter().map(text).collect::<Option<Vec<_>>>();
        texts.or_else(|| self.refuse(key, "is not a list of texts", problems))
    }

    pub(super) fn flag(&self, key: &str, default: bool, problems: &mut Problems<'_>) -> bool {
        match self.get(key).map(Spanned::get_ref) {
            None => default,
            Some(DeValue::Boolean(flag)) => *flag,
            Some(_) => self.refuse(key, "is not true or false", problems).unwrap_or(default),
        }
    }

    pub(super) fn whole<N>(&self, key: &str, range: RangeInclusive<N>, problems: &mut Problems<'_>) -> Option<N>
    where
        N: std::str::FromStr + PartialOrd + fmt::Display,
    {
        let number = match self.get(key).map(Spanned::get_ref)? {
            DeValue::Integer(number) => number.to_string().parse().ok(),
            _ => None,
        };
        let reason = format!("is not a whole number from {} to {}", range.start(), range.end());
        number.filter(|number| range.contains(number)).or_else(|| self.refuse(key, &reason, problems))
    }

    pub(super) fn required_whole<N>(
        &self,
        key: &str,
        range: RangeInclusive<N>,
        problems: &mut Problems<'_>,
    ) -> Option<N>
    where
        N: std::str::FromStr + PartialOrd + fmt::Display,
    {
        if self.get(key).is_none() {
            return self.refuse(key, "is missing", problems);
        }
        self.whole(key, range, problems)
    }

    /// Tags of fields.
    pub(super) fn tags(&self, key: &str, problems: &mut Problems<'_>) -> Option<Vec<Tag>> {
        let DeValue::Array(items) = self.get(key).map(Spanned::get_ref)? else {
            return self.refuse(key, "is not a list of tags", problems);
        };
        let tag = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
            DeValue::Integer(number) => number.to_string().parse::<Tag>().ok().filter(|tag| *tag > 0),
            _ => None,
        };
        let tags = items.iter().map(tag).collect::<Option<Vec<_>>>();
        tags.or_else(|| self.refuse(key, "is not a list of tags", problems))
    }

    pub(super) fn choice<T: Copy>(&self, key: &str, words: &[(&str, T)], problems: &mut Problems<'_>) -> Option<T> {
        let word = match self.get(key).map(Spanned::get_ref)? {
            DeValue::String(word) => word.to_string(),
            _ => String::new(),
        };
        let found = words.iter().find(|(known, _)| *known == word).map(|(_, value)| *value);
        let known: Vec<&str> = words.iter().map(|(known, _)| *known).collect();
        found.or_else(|| self.refuse(key, &format!("is not one of {}", known.join(", ")), problems))
    }

    pub(super) fn refuse<T>(&self, key: &str, reason: &str, problems: &mut Problems<'_>) -> Option<T> {
        problems.add(self.offset(key), &self.field(key), reason);
        None
    }
}

fn tables<'a>(value: &'a Spanned<DeValue<'a>>, path: &str, problems: &mut Problems<'_>) -> Vec<Section<'a>> {
    let mut sections = Vec::new();
    for (path, item) in items(value, path, "is not a list of tables", problems) {
        let offset = item.span().start;
        match item.get_ref() {
            DeValue::Table(table) => sections.push(Section { path: path + ".", table: Some(table), offset }),
            _ => problems.add(offset, &path, "is not a table"),
        }
    }
    sections
}

/// The items of a list with their paths.
fn items<'a>(
    value: &'a Spanned<DeValue<'a>>,
    path: &str,
    reason: &str,
    problems: &mut Problems<'_>,
) -> Vec<(String, &'a Spanned<DeValue<'a>>)> {
    let DeValue::Array(items) = value.get_ref() else {
        problems.add(value.span().start, path, reason);
        return Vec::new();
    };
    items.iter().enumerate().map(|(place, item)| (format!("{path}[{}]", place + 1), item)).collect()
}

/// The standard's table with what the dialect says otherwise.
pub(super) fn table<T: Copy>(
    parent: &Section<'_>,
    key: &str,
    words: &[(&str, T)],
    standard: &[(&str, T)],
    problems: &mut Problems<'_>,
) -> Vec<(String, T)> {
    let section = parent.section(key, problems);
    let own = section.keys().into_iter().filter_map(|(code, _)| {
        let meaning = section.choice(&code, words, problems)?;
        Some((code, meaning))
    });
    let own: Vec<(String, T)> = own.collect();
    let standard = standard.iter().map(|(code, meaning)| ((*code).to_owned(), *meaning));
    own.into_iter().chain(standard).collect()
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DialectProblem {
    pub line: usize,
    /// With dots between tables; empty where the file is no TOML.
    pub field: String,
    pub reason: String,
}

impl fmt::Display for DialectProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.field.is_empty() { "" } else { ": " };
        write!(f, "line {}: {}{separator}{}", self.line, self.field, self.reason)
    }
}

/// All problems of a file, in the order of its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialectError(pub Vec<DialectProblem>);

impl fmt::Display for DialectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for DialectError {}

impl DialectError {
    /// Problems that are found when the file has been read: keys and reasons.
    pub(crate) fn at_keys(text: &str, found: &[(String, String)]) -> Self {
        let (root, _) = DeTable::parse_recoverable(text);
        let mut problems = Problems::new(text);
        for (key, reason) in found {
            problems.add(offset_of(root.get_ref(), key), key, reason.clone());
        }
        problems.found.sort();
        Self(problems.found)
    }
}

/// Where a key such as `groups[1].entries` stands; where the file does not have it, the place of the table that it would stand in.
fn offset_of(root: &DeTable<'_>, key: &str) -> usize {
    let (mut table, mut offset) = (Some(root), 0);
    for part in key.split('.') {
        let (name, place) = part.split_once('[').unwrap_or((part, ""));
        let place = place.trim_end_matches(']').parse::<usize>().ok();
        let value = table.and_then(|table| table.get(name));
        let value = match (value.map(Spanned::get_ref), place) {
            (Some(DeValue::Array(items)), Some(place)) => items.get(place.wrapping_sub(1)),
            _ => value,
        };
        let Some(value) = value else { return offset };
        offset = value.span().start;
        table = match value.get_ref() {
            DeValue::Table(table) => Some(table),
            _ => None,
        };
    }
    offset
}

/// Collects problems of a text.
pub(super) struct Problems<'a> {
    text: &'a str,
    found: Vec<DialectProblem>,
}

impl<'a> Problems<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, found: Vec::new() }
    }

    pub(super) fn add(&mut self, offset: usize, field: &str, reason: impl Into<String>) {
        let line = self.text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1;
        self.found.push(DialectProblem { line, field: field.to_owned(), reason: reason.into() });
    }

    pub(super) fn into_result<T>(mut self, value: Option<T>) -> Result<T, DialectError> {
        self.found.sort();
        match value {
            Some(value) if self.found.is_empty() => Ok(value),
            _ => Err(DialectError(self.found)),
        }
    }
}
