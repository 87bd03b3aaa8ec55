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

mod token;
mod field;
mod parser;

#[cfg(test)]
mod tests;

use domain::Security;

use parser::Expression;

pub use parser::SEARCH_DEPTH_MAX;
pub use token::BadSearch;

/// A parsed search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecuritySearch(Expression);

impl SecuritySearch {
    /// A text without words matches everything.
    pub fn parse(text: &str) -> Result<Self, BadSearch> {
        parser::parse(text).map(Self)
    }

    pub fn matches(&self, security: &Security) -> bool {
        self.0.matches(security)
    }
}
