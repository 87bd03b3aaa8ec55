//! Security search language of `/security.search`: words, fields and comparisons.
//!
//! ```text
//! apple                    a word anywhere in symbol, description, isin, ric or bbgid
//! "apple inc"  app*        a phrase; the beginning of a word
//! currency:USD  ric:AA*    a field that is so, or begins so; any key of a SecurityVO
//! strike>100  expiration<=2027-03-19
//! future (ES OR NQ) NOT tradeable:false
//! ```
//!
//! Terms side by side must all be true; NOT binds before AND, AND before OR. Case is ignored, except in AND, OR and
//! NOT.

mod field;
mod parser;
mod token;

#[cfg(test)]
mod tests;

use domain::Security;

use field::FieldCondition;

/// Maximum nesting of a search.
pub const SEARCH_DEPTH_MAX: usize = 32;

/// A parsed search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecuritySearch(Expression);

/// A search that cannot be parsed, with the position of the first wrong character, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadSearch {
    pub at: usize,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Expression {
    /// No condition.
    Everything,
    Words(TextPattern),
    Field(FieldCondition),
    Not(Box<Expression>),
    /// All are true.
    And(Vec<Expression>),
    /// At least one is.
    Or(Vec<Expression>),
}

/// A text to look for, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
enum TextPattern {
    Whole(String),
    Beginning(String),
}

impl SecuritySearch {
    /// A text without words matches everything.
    pub fn parse(text: &str) -> Result<Self, BadSearch> {
        parser::parse(text).map(Self)
    }

    pub fn matches(&self, security: &Security) -> bool {
        self.0.matches(security)
    }
}

impl Expression {
    fn matches(&self, security: &Security) -> bool {
        match self {
            Self::Everything => true,
            Self::Words(pattern) => field::free_texts(security).any(|text| pattern.occurs_in(text)),
            Self::Field(question) => question.matches(security),
            Self::Not(other) => !other.matches(security),
            Self::And(parts) => parts.iter().all(|part| part.matches(security)),
            Self::Or(parts) => parts.iter().any(|part| part.matches(security)),
        }
    }
}

impl TextPattern {
    fn occurs_in(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        match self {
            Self::Whole(wanted) => text.contains(wanted.as_str()),
            Self::Beginning(wanted) => word_beginnings(&text).any(|word| word.starts_with(wanted.as_str())),
        }
    }

    fn is(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        match self {
            Self::Whole(wanted) => text == *wanted,
            Self::Beginning(wanted) => text.starts_with(wanted.as_str()),
        }
    }
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
