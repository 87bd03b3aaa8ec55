//! Conformance kit: rules that every adapter must keep, run against a [`Harness`]. The author of an adapter supplies
//! the harness; the kit makes a new one for every rule and returns which rules were kept.

mod conformance_client;
mod harness;
mod external_rules;
mod inquiry_rules;
mod leg_rules;
mod line_rules;
mod listing_rules;
mod rules;
mod statement_rules;
mod venue_listing_rules;

use std::fmt;

use conformance_client::ConformanceClient;

pub use harness::{DurableView, FailedHalf, Harness, OrderIntent, RuleVerdict};

/// A rule and whether it was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleOutcome {
    /// The rule, as a sentence.
    pub rule: &'static str,
    /// Whether it was kept.
    pub verdict: RuleVerdict,
}

/// Runs every rule in a harness of its own; those about legs where the venue replaces an order by cancelling it and placing
/// another one.
pub fn check<H: Harness>(make: impl Fn() -> H) -> Vec<RuleOutcome> {
    let judge = |(rule, kept): (&'static str, rules::Rule<H>)| {
        let verdict = kept(&mut ConformanceClient::new(make())).err().unwrap_or(RuleVerdict::Passed);
        RuleOutcome { rule, verdict }
    };
    let replace = make().adapter().capabilities().replace;
    rules::all()
        .into_iter()
        .chain(inquiry_rules::all())
        .chain(listing_rules::all())
        .chain(statement_rules::all())
        .chain(line_rules::all())
        .chain(external_rules::all())
        .chain(venue_listing_rules::all())
        .chain(leg_rules::all(replace))
        .map(judge)
        .collect()
}

impl fmt::Display for RuleOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.verdict {
            RuleVerdict::Passed => write!(f, "kept: {}", self.rule),
            RuleVerdict::Failed(seen) => write!(f, "BROKEN: {}: {seen}", self.rule),
            RuleVerdict::NotSupported(why) => write!(f, "not shown: {}: {why}", self.rule),
        }
    }
}
