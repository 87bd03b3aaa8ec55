//! Conformance kit: rules that every adapter must keep, run against a [`Harness`]. The author of an adapter supplies
//! the harness; the kit makes a new one for every rule and returns which rules were kept.

mod conformance_client;
mod harness;
mod external_rules;
mod inquiry_rules;
mod leg_rules;
mod line_rules;
mod listing_rules;
mod received_reports;
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
    all_rules(&make).map(judge).collect()
}

/// The same while the venue or the line to it misbehaves, as `make_faulty` arranges it. A rule that is not kept then is
/// [`RuleVerdict::Admitted`] where the adapter said what it could not do, beyond what it says in the same rule without a
/// fault; one that is broken without a word has failed, and so has one with a fill that cannot be true. The same fill again is no second one, as for the engine.
pub fn check_under_fault<H: Harness>(make: impl Fn() -> H, make_faulty: impl Fn() -> H) -> Vec<RuleOutcome> {
    let judge = |(rule, kept): (&'static str, rules::Rule<H>)| {
        let mut client = ConformanceClient::under_fault(make_faulty());
        let verdict = match kept(&mut client).err().unwrap_or(RuleVerdict::Passed) {
            RuleVerdict::Failed(seen) => {
                let admitted = beyond(client.admissions(), &usual_admissions(make(), kept));
                if admitted.is_empty() { RuleVerdict::Failed(seen) } else { RuleVerdict::Admitted { seen, admitted } }
            }
            verdict => verdict,
        };
        // No word excuses it.
        let verdict = client.false_fill().map_or(verdict, RuleVerdict::Failed);
        RuleOutcome { rule, verdict }
    };
    all_rules(&make).map(judge).collect()
}

/// What an adapter says in a rule without a fault: some rules cut the line or ask for what is refused.
fn usual_admissions<H: Harness>(harness: H, kept: rules::Rule<H>) -> Vec<String> {
    let mut client = ConformanceClient::new(harness);
    // Its verdict is that of `check`.
    drop(kept(&mut client));
    client.admissions()
}

/// Those that are not among the usual ones; of one that came twice the second.
fn beyond(admitted: Vec<String>, usual: &[String]) -> Vec<String> {
    let mut usual = usual.to_vec();
    let mut beyond = Vec::new();
    for said in admitted {
        match usual.iter().position(|known| *known == said) {
            Some(place) => drop(usual.swap_remove(place)),
            None => beyond.push(said),
        }
    }
    beyond
}

fn all_rules<H: Harness>(make: &impl Fn() -> H) -> impl Iterator<Item = (&'static str, rules::Rule<H>)> {
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
}

impl fmt::Display for RuleOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.verdict {
            RuleVerdict::Passed => write!(f, "kept: {}", self.rule),
            RuleVerdict::Failed(seen) => write!(f, "BROKEN: {}: {seen}", self.rule),
            RuleVerdict::Admitted { seen, admitted } => {
                write!(f, "admitted: {}: {seen}; the adapter said: {}", self.rule, admitted.join(", "))
            }
            RuleVerdict::NotSupported(why) => write!(f, "not shown: {}: {why}", self.rule),
        }
    }
}
