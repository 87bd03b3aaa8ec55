//! A key of the configuration.

use crate::config::values::setting::{Literal, Setting};

#[derive(Debug)]
pub struct Key {
    pub name: &'static str,
    /// As it would be written; blank where there is none.
    pub default: &'static str,
    /// One line each, beginning with the blank that follows the slashes.
    doc: &'static [&'static str],
    pub literal: Literal,
    pub secret: bool,
    shape: fn() -> String,
}

impl Key {
    pub(crate) const fn of<T: Setting>(
        name: &'static str,
        default: &'static str,
        doc: &'static [&'static str],
    ) -> Self {
        Self { name, default, doc, literal: T::LITERAL, secret: T::SECRET, shape: T::shape }
    }

    pub fn doc(&self) -> impl Iterator<Item = &'static str> {
        self.doc.iter().map(|line| line.trim())
    }

    pub fn shape(&self) -> String {
        (self.shape)()
    }

    /// The environment variable: `RIALTO_` and the name in upper snake case, humps split too.
    pub fn variable(&self) -> String {
        format!("RIALTO_{}", upper_snake(self.name))
    }
}

/// `LATENCY_MICROS` for `latencyMicros`; a dot is an underscore.
pub(crate) fn upper_snake(name: &str) -> String {
    let mut variable = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter {
            '.' => variable.push('_'),
            hump if hump.is_ascii_uppercase() => variable.extend(['_', hump]),
            other => variable.push(other.to_ascii_uppercase()),
        }
    }
    variable
}
