//! Headers of a frame: one text, and the positions of names and values in it.

use std::collections::BTreeSet;
use std::fmt;

/// Names and values in the order of the frame. Of a repeated name the first entry counts.
///
/// All text lies in one string, because a frame has many short headers and an allocation for each would cost more than
/// reading them.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers {
    text: String,
    entries: Vec<Entry>,
}

/// Where a name ends and where its value ends; both begin where the previous one ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    name_end: usize,
    value_end: usize,
}

/// Headers of a typical frame, for the initial capacity.
const TYPICAL_HEADERS: usize = 6;
const TYPICAL_BYTES: usize = 120;

impl Headers {
    pub fn push(&mut self, name: &str, value: &str) {
        if self.entries.is_empty() {
            self.text.reserve(TYPICAL_BYTES.max(name.len() + value.len()));
            self.entries.reserve(TYPICAL_HEADERS);
        }
        self.text.push_str(name);
        let name_end = self.text.len();
        self.text.push_str(value);
        self.entries.push(Entry { name_end, value_end: self.text.len() });
    }

    /// The first value of that name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// All entries, repeated ones included.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let begins = std::iter::once(0).chain(self.entries.iter().map(|entry| entry.value_end));
        self.entries
            .iter()
            .zip(begins)
            .map(|(entry, begin)| (&self.text[begin..entry.name_end], &self.text[entry.name_end..entry.value_end]))
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The first entry of each name for which `keep` holds: the headers that are forwarded.
    #[must_use]
    pub fn first_of_each(&self, keep: impl Fn(&str) -> bool) -> Self {
        let mut seen = BTreeSet::new();
        self.iter().filter(|(name, _)| keep(name) && seen.insert(*name)).collect()
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Headers {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(entries: I) -> Self {
        let mut headers = Self::default();
        entries.into_iter().for_each(|(name, value)| headers.push(name, value));
        headers
    }
}

/// Prints everything but the password.
impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |(name, value)| (name, if name == "passcode" { "***" } else { value });
        f.debug_map().entries(self.iter().map(shown)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_repeated_header_the_first_counts() {
        let headers: Headers = [("a", "1"), ("b", ""), ("a", "2")].into_iter().collect();
        assert_eq!(headers.get("a"), Some("1"));
        assert_eq!(headers.get("b"), Some(""));
        assert_eq!(headers.get("c"), None);
        assert_eq!(headers.len(), 3);
        assert_eq!(headers.first_of_each(|name| name != "b"), [("a", "1")].into_iter().collect());
    }

    #[test]
    fn a_password_is_not_printed() {
        let headers: Headers = [("login", "ada"), ("passcode", "swordfish")].into_iter().collect();
        assert_eq!(format!("{headers:?}"), r#"{"login": "ada", "passcode": "***"}"#);
    }
}
