//! Search parser: tokens to an expression, OR of ANDs of terms that may be negated; and whether a security matches it.

use domain::Security;

use super::field::{FieldCondition, free_texts};
use super::token::{BadSearch, SearchOperator, SearchToken, SearchValue, TextPattern, TokenKind, tokens};

pub(super) fn parse(text: &str) -> Result<Expression, BadSearch> {
    let end = text.chars().count() + 1;
    let mut parser = Parser { tokens: tokens(text)?.into_iter().peekable(), end, depth: 0 };
    if parser.tokens.peek().is_none() {
        return Ok(Expression::Everything);
    }
    let expression = parser.any()?;
    match parser.tokens.next() {
        None => Ok(expression),
        Some(SearchToken { at, .. }) => Err(bad(at, "this ) closes nothing")),
    }
}

struct Parser {
    tokens: std::iter::Peekable<std::vec::IntoIter<SearchToken>>,
    end: usize,
    depth: usize,
}

impl Parser {
    fn any(&mut self) -> Result<Expression, BadSearch> {
        let mut parts = vec![self.all()?];
        while self.next_keyword("OR") {
            parts.push(self.all()?);
        }
        Ok(joined(parts, Expression::Or))
    }

    fn all(&mut self) -> Result<Expression, BadSearch> {
        let mut parts = vec![self.part()?];
        while self.next_keyword("AND") || self.another_part_follows() {
            parts.push(self.part()?);
        }
        Ok(joined(parts, Expression::And))
    }

    fn part(&mut self) -> Result<Expression, BadSearch> {
        let Some(SearchToken { at, kind: what }) = self.tokens.next() else {
            return Err(bad(self.end, "something to look for is missing"));
        };
        match what {
            TokenKind::Open => self.deeper(at, Self::rest_of_parentheses),
            TokenKind::Word(word) if word == "NOT" => {
                self.deeper(at, |parser| Ok(Expression::Not(Box::new(parser.part()?))))
            }
            TokenKind::Word(word) if word == "AND" || word == "OR" => {
                Err(bad(at, format!("something to look for is missing before {word}")))
            }
            TokenKind::Word(word) => self.word_or_field(at, word),
            TokenKind::Quoted(text) => self.phrase(&text),
            TokenKind::Close => Err(bad(at, "something to look for is missing before this )")),
            TokenKind::Operator(operator) => Err(bad(at, format!("a field is missing before {}", operator.sign()))),
        }
    }

    fn deeper(
        &mut self,
        at: usize,
        inside: impl FnOnce(&mut Self) -> Result<Expression, BadSearch>,
    ) -> Result<Expression, BadSearch> {
        self.depth += 1;
        if self.depth > SEARCH_DEPTH_MAX {
            return Err(bad(at, format!("more than {SEARCH_DEPTH_MAX} questions stand inside each other")));
        }
        let expression = inside(self)?;
        self.depth -= 1;
        Ok(expression)
    }

    fn rest_of_parentheses(&mut self) -> Result<Expression, BadSearch> {
        let inner = self.any()?;
        match self.tokens.next() {
            Some(SearchToken { kind: TokenKind::Close, .. }) => Ok(inner),
            Some(SearchToken { at, .. }) => Err(bad(at, "a ) is missing")),
            None => Err(bad(self.end, "a ) is missing")),
        }
    }

    fn word_or_field(&mut self, at: usize, word: String) -> Result<Expression, BadSearch> {
        match self.next_operator() {
            Some(operator) => Ok(Expression::Field(FieldCondition::new(at, &word, operator, self.value(operator)?)?)),
            None => Ok(Expression::Words(pattern(at, &word)?)),
        }
    }

    fn phrase(&mut self, text: &str) -> Result<Expression, BadSearch> {
        match self.tokens.peek() {
            Some(SearchToken { at, kind: TokenKind::Operator(operator) }) => {
                Err(bad(*at, format!("before {} stands a field, without quotes", operator.sign())))
            }
            _ => Ok(Expression::Words(TextPattern::Whole(text.to_lowercase()))),
        }
    }

    fn value(&mut self, operator: SearchOperator) -> Result<SearchValue, BadSearch> {
        let missing = |at| bad(at, format!("a value is missing after {}", operator.sign()));
        match self.tokens.next() {
            Some(SearchToken { at, kind: TokenKind::Word(word) }) => {
                Ok(SearchValue { at, pattern: pattern(at, &word)?, text: word })
            }
            Some(SearchToken { at, kind: TokenKind::Quoted(text) }) => {
                Ok(SearchValue { at, pattern: TextPattern::Whole(text.to_lowercase()), text })
            }
            Some(SearchToken { at, .. }) => Err(missing(at)),
            None => Err(missing(self.end)),
        }
    }

    fn next_operator(&mut self) -> Option<SearchOperator> {
        let is_operator = |token: &SearchToken| matches!(token.kind, TokenKind::Operator(_));
        match self.tokens.next_if(is_operator)?.kind {
            TokenKind::Operator(operator) => Some(operator),
            _ => None,
        }
    }

    fn next_keyword(&mut self, wanted: &str) -> bool {
        self.tokens.next_if(|token| matches!(&token.kind, TokenKind::Word(word) if word == wanted)).is_some()
    }

    fn another_part_follows(&mut self) -> bool {
        match self.tokens.peek().map(|token| &token.kind) {
            None | Some(TokenKind::Close) => false,
            Some(TokenKind::Word(word)) => word != "OR",
            Some(TokenKind::Open | TokenKind::Quoted(_) | TokenKind::Operator(_)) => true,
        }
    }
}

fn pattern(at: usize, word: &str) -> Result<TextPattern, BadSearch> {
    let (beginning, is_beginning) = match word.strip_suffix('*') {
        Some(beginning) => (beginning, true),
        None => (word, false),
    };
    if let Some(place) = beginning.chars().position(|letter| letter == '*') {
        return Err(bad(at + place, "a * may stand at the end only, or in quotes"));
    }
    let text = beginning.to_lowercase();
    Ok(if is_beginning { TextPattern::Beginning(text) } else { TextPattern::Whole(text) })
}

fn joined(mut parts: Vec<Expression>, join: fn(Vec<Expression>) -> Expression) -> Expression {
    match parts.len() {
        1 => parts.remove(0),
        _ => join(parts),
    }
}

fn bad(at: usize, reason: impl Into<String>) -> BadSearch {
    BadSearch { at, reason: reason.into() }
}

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
