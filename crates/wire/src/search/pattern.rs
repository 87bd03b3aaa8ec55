//! Text patterns of a search, and where a search is wrong.

/// A search that cannot be parsed, with the position of the first wrong character, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadSearch {
    pub at: usize,
    pub reason: String,
}

/// A text to look for, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TextPattern {
    Whole(String),
    Beginning(String),
}

impl TextPattern {
    pub(super) fn occurs_in(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        match self {
            Self::Whole(wanted) => text.contains(wanted.as_str()),
            Self::Beginning(wanted) => word_beginnings(&text).any(|word| word.starts_with(wanted.as_str())),
        }
    }

    pub(super) fn is(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        match self {
            Self::Whole(wanted) => text == *wanted,
            Self::Beginning(wanted) => text.starts_with(wanted.as_str()),
        }
    }
}

/// What a field is compared with.
pub(super) struct SearchValue {
    pub(super) at: usize,
    pub(super) text: String,
    pub(super) pattern: TextPattern,
}

/// The rest of the text from each word on; the text itself is one, whatever it begins with.
fn word_beginnings(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.char_indices().filter_map(move |(place, letter)| {
        let begins = place == 0 || letter.is_alphanumeric() && !inside;
        inside = letter.is_alphanumeric();
        begins.then(|| &text[place..])
    })
}
