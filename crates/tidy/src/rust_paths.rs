//! Paths that a Rust file uses: in `use` declarations and wherever they are written in full.

use crate::rust_text::blanked;

/// A path, with the names of a `use` tree spelled out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UsedPath {
    pub(crate) segments: Vec<String>,
    /// Declared by `pub use`, with any visibility.
    pub(crate) is_reexport: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    PathSeparator,
    Sign(char),
}

/// The paths outside of tests, and the names of the modules that are declared for tests alone.
pub(crate) fn used_paths(source: &str) -> (Vec<UsedPath>, Vec<String>) {
    let mut reader = PathReader { tokens: tokens(&blanked(source)), at: 0, paths: vec![], test_modules: vec![] };
    reader.read();
    (reader.paths, reader.test_modules)
}

fn tokens(text: &[char]) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let is_word = |place: &char| place.is_alphanumeric() || *place == '_';
        let word: String = text[at..].iter().take_while(|place| is_word(place)).collect();
        if !word.is_empty() {
            at += word.chars().count();
            tokens.push(Token::Word(word));
        } else if text[at..].starts_with(&[':', ':']) {
            at += 2;
            tokens.push(Token::PathSeparator);
        } else {
            if !text[at].is_whitespace() {
                tokens.push(Token::Sign(text[at]));
            }
            at += 1;
        }
    }
    tokens
}

struct PathReader {
    tokens: Vec<Token>,
    at: usize,
    paths: Vec<UsedPath>,
    test_modules: Vec<String>,
}

impl PathReader {
    fn read(&mut self) {
        while self.at < self.tokens.len() {
            if self.is_test_attribute() {
                self.at += 7;
                if self.skip_test_item() {
                    return;
                }
            } else if self.word() == Some("use") {
                let is_reexport = self.at > 0 && matches!(&self.tokens[self.at - 1], token if is_visibility(token));
                self.at += 1;
                self.read_use_tree(&[], is_reexport);
            } else if self.word().is_some() {
                self.read_written_path();
            } else {
                self.at += 1;
            }
        }
    }

    fn word(&self) -> Option<&str> {
        match self.tokens.get(self.at)? {
            Token::Word(word) => Some(word),
            _ => None,
        }
    }

    fn is_sign(&self, at: usize, sign: char) -> bool {
        self.tokens.get(at) == Some(&Token::Sign(sign))
    }

    /// `#[cfg(test)]`.
    fn is_test_attribute(&self) -> bool {
        let text: Vec<String> = self.tokens.iter().skip(self.at).take(7).map(shown).collect();
        text.concat() == "#[cfg(test)]"
    }

    /// A test module with its tests inside ends the file; returns whether it does.
    fn skip_test_item(&mut self) -> bool {
        match self.word() {
            Some("use") => {
                while self.at < self.tokens.len() && !self.is_sign(self.at, ';') {
                    self.at += 1;
                }
                false
            }
            Some("mod") => {
                let name = self.tokens.get(self.at + 1).map(shown);
                self.test_modules.extend(name.filter(|_| self.is_sign(self.at + 2, ';')));
                self.is_sign(self.at + 2, '{')
            }
            _ => false,
        }
    }

    /// `a::{b, c::d as e}`: one path for each name; stops behind the tree.
    fn read_use_tree(&mut self, prefix: &[String], is_reexport: bool) {
        let mut segments = prefix.to_vec();
        while let Some(token) = self.tokens.get(self.at).cloned() {
            self.at += 1;
            match token {
                Token::Word(word) if word == "as" => self.at += 1,
                Token::Word(word) if word == "self" && !prefix.is_empty() => {}
                Token::Word(word) => segments.push(word),
                Token::Sign('*') => segments.push("*".to_owned()),
                Token::PathSeparator => {}
                Token::Sign('{') => return self.read_group(&segments, is_reexport),
                Token::Sign(_) => {
                    self.at -= 1;
                    break;
                }
            }
        }
        self.paths.push(UsedPath { segments, is_reexport });
    }

    fn read_group(&mut self, prefix: &[String], is_reexport: bool) {
        while self.at < self.tokens.len() && !self.is_sign(self.at, '}') {
            if self.is_sign(self.at, ',') {
                self.at += 1;
            } else {
                self.read_use_tree(prefix, is_reexport);
            }
        }
        self.at += 1;
    }

    fn read_written_path(&mut self) {
        let mut segments = Vec::new();
        while let Some(word) = self.word() {
            segments.push(word.to_owned());
            self.at += 1;
            if self.tokens.get(self.at) != Some(&Token::PathSeparator) {
                break;
            }
            self.at += 1;
        }
        if segments.len() > 1 {
            self.paths.push(UsedPath { segments, is_reexport: false });
        }
    }
}

/// `pub` or the end of `pub(crate)`.
fn is_visibility(token: &Token) -> bool {
    matches!(token, Token::Word(word) if word == "pub") || *token == Token::Sign(')')
}

fn shown(token: &Token) -> String {
    match token {
        Token::Word(word) => word.clone(),
        Token::PathSeparator => "::".to_owned(),
        Token::Sign(sign) => sign.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(source: &str) -> Vec<String> {
        let shown =
            |path: UsedPath| format!("{}{}", if path.is_reexport { "pub " } else { "" }, path.segments.join("::"));
        used_paths(source).0.into_iter().map(shown).collect()
    }

    #[test]
    fn a_use_tree_is_spelled_out() {
        let source = "use a::{self, b::{C, D as E}, f};\npub(crate) use super::*;\npub use g::H;";
        assert_eq!(paths(source), ["a", "a::b::C", "a::b::D", "a::f", "pub super::*", "pub g::H"]);
    }

    #[test]
    fn paths_in_the_code_count_and_those_in_comments_texts_and_tests_do_not() {
        let source = "/// crate::a\nfn f() { crate::b::g(\"crate::c\"); }\n#[cfg(test)]\nuse crate::d;\n#[cfg(test)]\nmod tests { use crate::e; }";
        assert_eq!(paths(source), ["crate::b::g"]);
        assert_eq!(used_paths("#[cfg(test)]\nmod tests;\nuse super::a;").1, ["tests"]);
    }
}
