//! What is measured, and of what size: the words of the command line.

use std::error::Error;

/// The longest journal of `years` where nothing else is asked for.
const JOURNAL_GIGABYTES: u64 = 2;
const JOURNAL_GIGABYTES_FLAG: &str = "--journal-gigabytes";

pub(crate) struct BenchOptions {
    /// Names of figures; all where there are none.
    figures: Vec<String>,
    /// Of the longest journal; the others have a tenth and a hundredth of it.
    pub(crate) journal_bytes: u64,
}

impl BenchOptions {
    pub(crate) fn parse(mut words: impl Iterator<Item = String>, known: &[&str]) -> Result<Self, Box<dyn Error>> {
        let mut options = Self { figures: Vec::new(), journal_bytes: JOURNAL_GIGABYTES << 30 };
        while let Some(word) = words.next() {
            if word == JOURNAL_GIGABYTES_FLAG {
                options.journal_bytes = gigabytes(words.next())? << 30;
            } else if known.contains(&word.as_str()) {
                options.figures.push(word);
            } else {
                return Err(format!(
                    "{word:?} is no figure; there are {}, and {JOURNAL_GIGABYTES_FLAG} N",
                    known.join(", ")
                )
                .into());
            }
        }
        Ok(options)
    }

    pub(crate) fn wants(&self, figure: &str) -> bool {
        self.figures.is_empty() || self.figures.iter().any(|name| name == figure)
    }
}

fn gigabytes(word: Option<String>) -> Result<u64, Box<dyn Error>> {
    let given = word.and_then(|word| word.parse().ok()).filter(|given| (1..=1_000).contains(given));
    given.ok_or_else(|| format!("{JOURNAL_GIGABYTES_FLAG} takes a whole number from 1 to 1000").into())
}
