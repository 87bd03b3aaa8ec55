//! What is measured, and of what size: the words of the command line.

use std::error::Error;

use crate::durable::Flow;

/// The longest journal of `years` where nothing else is asked for.
const JOURNAL_GIGABYTES: u64 = 2;
const GIGABYTES_MAX: u64 = 1_000;
const ORDERS_MAX: u64 = 1_000_000;
const JOURNAL_GIGABYTES_FLAG: &str = "--journal-gigabytes";
const ONE_BY_ONE_FLAG: &str = "--one-by-one";
const IN_FLIGHT_FLAG: &str = "--in-flight";

pub(crate) struct BenchOptions {
    /// Names of figures; all where there are none.
    figures: Vec<String>,
    /// Of the longest journal; the others have a tenth and a hundredth of it.
    pub(crate) journal_bytes: u64,
    /// Instead of all figures, so many durable orders for a program that counts instructions.
    pub(crate) exactly: Option<(Flow, u64)>,
}

impl BenchOptions {
    pub(crate) fn parse(mut words: impl Iterator<Item = String>, known: &[&str]) -> Result<Self, Box<dyn Error>> {
        let mut options = Self { figures: Vec::new(), journal_bytes: JOURNAL_GIGABYTES << 30, exactly: None };
        while let Some(word) = words.next() {
            if word == JOURNAL_GIGABYTES_FLAG {
                options.journal_bytes = number(&word, words.next(), GIGABYTES_MAX)? << 30;
            } else if let Some(flow) = flow(&word) {
                options.exactly = Some((flow, number(&word, words.next(), ORDERS_MAX)?));
            } else if known.contains(&word.as_str()) {
                options.figures.push(word);
            } else {
                return Err(format!(
                    "{word:?} is no figure; there are {}, {JOURNAL_GIGABYTES_FLAG} N, {ONE_BY_ONE_FLAG} N and {IN_FLIGHT_FLAG} N",
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

fn flow(word: &str) -> Option<Flow> {
    match word {
        ONE_BY_ONE_FLAG => Some(Flow::OneByOne),
        IN_FLIGHT_FLAG => Some(Flow::InFlight),
        _ => None,
    }
}

fn number(flag: &str, word: Option<String>, most: u64) -> Result<u64, Box<dyn Error>> {
    let given = word.and_then(|word| word.parse().ok()).filter(|given| (1..=most).contains(given));
    given.ok_or_else(|| format!("{flag} takes a whole number from 1 to {most}").into())
}
