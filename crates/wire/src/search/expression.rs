//! Expression of a search: conditions and how they are joined.

use domain::Security;

use super::field::{FieldCondition, free_texts};
use super::pattern::TextPattern;

/// Maximum nesting of a search.
pub const SEARCH_DEPTH_MAX: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Expression {
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

impl Expression {
    pub(super) fn matches(&self, security: &Security) -> bool {
        match self {
            Self::Everything => true,
            Self::Words(pattern) => free_texts(security).any(|text| pattern.occurs_in(text)),
            Self::Field(question) => question.matches(security),
            Self::Not(other) => !other.matches(security),
            Self::And(parts) => parts.iter().all(|part| part.matches(security)),
            Self::Or(parts) => parts.iter().any(|part| part.matches(security)),
        }
    }
}
