//! What is wrong with something a person wrote: where it stands and why it can't be. All of it is told at once.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputProblem {
    /// A file with line and column, a variable or a flag.
    pub location: String,
    pub reason: String,
}

/// At least one problem where it is an error; in the order in which a reader meets them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Problems(Vec<InputProblem>);

impl Problems {
    pub fn add(&mut self, place: impl fmt::Display, reason: impl fmt::Display) {
        self.0.push(InputProblem { location: place.to_string(), reason: reason.to_string() });
    }

    pub fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value where nothing is wrong.
    pub fn none_or<T>(self, value: T) -> Result<T, Self> {
        if self.is_empty() { Ok(value) } else { Err(self) }
    }
}

impl fmt::Display for InputProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.location, self.reason)
    }
}

/// Each on a line of its own.
impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(InputProblem::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}
