//! The adapter keeps the rules of the conformance kit, with another Rialto as its venue.

use adapters::check;
use adapters::conformance::{RuleOutcome, RuleVerdict};

use crate::harness::RialtoHarness;
use crate::venue::RialtoVenue;

#[test]
fn the_adapter_keeps_every_rule_but_those_that_are_named() {
    let venue = RialtoVenue::start();
    let outcomes = check(|| RialtoHarness::new(&venue));
    let told: String = outcomes.iter().map(|outcome| format!("{outcome}\n")).collect();
    panic!("{told}");
}
