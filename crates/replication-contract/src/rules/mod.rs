//! The rules of the port, each a story on a log of its own.

mod stories;
mod leading;
mod appending;
mod doubtful;
mod reading;
mod foreign;
mod trimming;

use crate::lab::{LogLab, Rule};

pub fn rules() -> Vec<Rule> {
    [leading::RULES, appending::RULES, doubtful::RULES, reading::RULES, foreign::RULES, trimming::RULES].concat()
}

/// Runs every rule on a log of its own; gives the names of those that were broken, and how.
pub fn violations(mut new_log: impl FnMut() -> Box<dyn LogLab>) -> Vec<(&'static str, String)> {
    let broken = |rule: Rule| (rule.check)(new_log().as_mut()).err().map(|how| (rule.name, how));
    rules().into_iter().filter_map(broken).collect()
}
