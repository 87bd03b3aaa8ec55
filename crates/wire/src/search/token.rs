//! Search tokens: words, quoted texts, operators and parentheses, each with its position; text patterns, and where a search
//! is wrong.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SearchToken {
    /// Of its first character, counted from 1.
    pub(super) at: usize,
    pub(super) kind: TokenKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TokenKind {
    Open,
    Close,
    Word(String),
    Quoted(String),
    Operator(SearchOperator),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchOperator {
    Is,
    Below,
    AtMost,
    Above,
    AtLeast,
}

impl SearchOperator {
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Is => ":",
            Self::Below => "<",
            Self::AtMost => "<=",
            Self::Above => ">",
            Self::AtLeast => ">=",
        }
    }
}

pub(super) fn tokens(text: &str) -> Result<Vec<SearchToken>, BadSearch> {
    let mut letters = CharReader { rest: text.chars().peekable(), read: 0 };
    let mut tokens = Vec::new();
    while let Some(letter) = letters.next() {
        let at = letters.read;
        let what = match letter {
            letter if letter.is_whitespace() => continue,
            '(' => TokenKind::Open,
            ')' => TokenKind::Close,
            ':' | '=' => TokenKind::Operator(SearchOperator::Is),
            '<' => TokenKind::Operator(if letters.take_equal_sign() {
                SearchOperator::AtMost
            } else {
                SearchOperator::Below
            }),
            '>' => TokenKind::Operator(if letters.take_equal_sign() {
                SearchOperator::AtLeast
            } else {
                SearchOperator::Above
            }),
            '"' => TokenKind::Quoted(letters.quoted()?),
            letter => TokenKind::Word(letters.word(letter)),
        };
        tokens.push(SearchToken { at, kind: what });
    }
    Ok(tokens)
}

struct CharReader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    read: usize,
}

impl CharReader<'_> {
    fn next(&mut self) -> Option<char> {
        let letter = self.rest.next()?;
        self.read += 1;
        Some(letter)
    }

    fn take_equal_sign(&mut self) -> bool {
        let is_there = self.rest.next_if_eq(&'=').is_some();
        self.read += usize::from(is_there);
        is_there
    }

    fn word(&mut self, first: char) -> String {
        let mut word = String::from(first);
        while let Some(letter) = self.rest.next_if(|letter| !is_end_of_word(*letter)) {
            self.read += 1;
            word.push(letter);
        }
        word
    }

    /// A backslash escapes the next character.
    fn quoted(&mut self) -> Result<String, BadSearch> {
        let opened_at = self.read;
        let unclosed = || BadSearch { at: opened_at, reason: "this quote is never closed".into() };
        let mut text = String::new();
        loop {
            match self.next().ok_or_else(unclosed)? {
                '"' => return Ok(text),
                '\\' => text.push(self.next().ok_or_else(unclosed)?),
                letter => text.push(letter),
            }
        }
    }
}

fn is_end_of_word(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '(' | ')' | ':' | '=' | '<' | '>' | '"')
}

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
