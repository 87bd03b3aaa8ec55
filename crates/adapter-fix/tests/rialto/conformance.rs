//! The adapter keeps the rules of the conformance kit, with another Rialto as its venue.

use adapters::check;
use adapters::conformance::RuleVerdict;
use expect_test::expect;

use crate::harness::RialtoHarness;
use crate::venue::RialtoVenue;

/// What is not kept or cannot be shown is named with its reason.
#[test]
fn the_adapter_keeps_every_rule_that_the_venue_lets_it_keep() {
    let venue = RialtoVenue::start();
    let outcomes = check(|| RialtoHarness::new(&venue));
    let kept = outcomes.iter().filter(|outcome| outcome.verdict == RuleVerdict::Passed).count();
    let others = outcomes.iter().filter(|outcome| outcome.verdict != RuleVerdict::Passed);
    let others: String = others.map(|outcome| format!("{outcome}\n")).collect();
    expect![[r#""#]].assert_eq(&format!("{kept} kept\n{others}"));
}
