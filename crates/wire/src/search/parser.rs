//! Search parser: tokens to an expression, OR of ANDs of terms that may be negated.

use super::field::Question;
use super::token::{Operator, Token, What, tokens};
use super::{BadSearch, Expression, Pattern, SEARCH_DEPTH_MAX};

pub(super) fn parse(text: &str) -> Result<Expression, BadSearch> {
    let end = text.chars().count() + 1;
    let mut parser = Parser { tokens: tokens(text)?.into_iter().peekable(), end, depth: 0 };
    if parser.tokens.peek().is_none() {
        return Ok(Expression::Everything);
    }
    let expression = parser.any()?;
    match parser.tokens.next() {
        None => Ok(expression),
        Some(Token { at, .. }) => Err(bad(at, "this ) closes nothing")),
    }
}

struct Parser {
    tokens: std::iter::Peekable<std::vec::IntoIter<Token>>,
    end: usize,
    depth: usize,
}

impl Parser {
    fn any(&mut self) -> Result<Expression, BadSearch> {
        let mut parts = vec![self.all()?];
        while self.take_word("OR") {
            parts.push(self.all()?);
        }
        Ok(joined(parts, Expression::Or))
    }

    fn all(&mut self) -> Result<Expression, BadSearch> {
        let mut parts = vec![self.part()?];
        while self.take_word("AND") || self.another_part_follows() {
            parts.push(self.part()?);
        }
        Ok(joined(parts, Expression::And))
    }

    fn part(&mut self) -> Result<Expression, BadSearch> {
        let Some(Token { at, what }) = self.tokens.next() else {
            return Err(bad(self.end, "something to look for is missing"));
        };
        match what {
            What::Open => self.deeper(at, Self::rest_of_parentheses),
            What::Word(word) if word == "NOT" => {
                self.deeper(at, |parser| Ok(Expression::Not(Box::new(parser.part()?))))
            }
            What::Word(word) if word == "AND" || word == "OR" => {
                Err(bad(at, format!("something to look for is missing before {word}")))
            }
            What::Word(word) => self.word_or_field(at, word),
            What::Quoted(text) => self.phrase(&text),
            What::Close => Err(bad(at, "something to look for is missing before this )")),
            What::Operator(operator) => Err(bad(at, format!("a field is missing before {}", operator.sign()))),
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
            Some(Token { what: What::Close, .. }) => Ok(inner),
            Some(Token { at, .. }) => Err(bad(at, "a ) is missing")),
            None => Err(bad(self.end, "a ) is missing")),
        }
    }

    fn word_or_field(&mut self, at: usize, word: String) -> Result<Expression, BadSearch> {
        match self.take_operator() {
            Some(operator) => Ok(Expression::Field(Question::new(at, &word, operator, self.value(operator)?)?)),
            None => Ok(Expression::Words(pattern(at, &word)?)),
        }
    }

    fn phrase(&mut self, text: &str) -> Result<Expression, BadSearch> {
        match self.tokens.peek() {
            Some(Token { at, what: What::Operator(operator) }) => {
                Err(bad(*at, format!("before {} stands a field, without quotes", operator.sign())))
            }
            _ => Ok(Expression::Words(Pattern::Whole(text.to_lowercase()))),
        }
    }

    fn value(&mut self, operator: Operator) -> Result<Value, BadSearch> {
        let missing = |at| bad(at, format!("a value is missing after {}", operator.sign()));
        match self.tokens.next() {
            Some(Token { at, what: What::Word(word) }) => Ok(Value { at, pattern: pattern(at, &word)?, text: word }),
            Some(Token { at, what: What::Quoted(text) }) => {
                Ok(Value { at, pattern: Pattern::Whole(text.to_lowercase()), text })
            }
            Some(Token { at, .. }) => Err(missing(at)),
            None => Err(missing(self.end)),
        }
    }

    fn take_operator(&mut self) -> Option<Operator> {
        let is_operator = |token: &Token| matches!(token.what, What::Operator(_));
        match self.tokens.next_if(is_operator)?.what {
            What::Operator(operator) => Some(operator),
            _ => None,
        }
    }

    fn take_word(&mut self, wanted: &str) -> bool {
        self.tokens.next_if(|token| matches!(&token.what, What::Word(word) if word == wanted)).is_some()
    }

    fn another_part_follows(&mut self) -> bool {
        match self.tokens.peek().map(|token| &token.what) {
            None | Some(What::Close) => false,
            Some(What::Word(word)) => word != "OR",
            Some(What::Open | What::Quoted(_) | What::Operator(_)) => true,
        }
    }
}

/// What a field is compared with.
pub(super) struct Value {
    pub(super) at: usize,
    pub(super) text: String,
    pub(super) pattern: Pattern,
}

fn pattern(at: usize, word: &str) -> Result<Pattern, BadSearch> {
    let (beginning, is_beginning) = match word.strip_suffix('*') {
        Some(beginning) => (beginning, true),
        None => (word, false),
    };
    if let Some(place) = beginning.chars().position(|letter| letter == '*') {
        return Err(bad(at + place, "a * may stand at the end only, or in quotes"));
    }
    let text = beginning.to_lowercase();
    Ok(if is_beginning { Pattern::Beginning(text) } else { Pattern::Whole(text) })
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
