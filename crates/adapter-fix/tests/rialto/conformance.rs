//! The adapter keeps the rules of the conformance kit, with another Rialto as its venue.

use std::collections::BTreeSet;

use adapters::check;
use adapters::conformance::{RuleOutcome, RuleVerdict};

use crate::harness::RialtoHarness;
use crate::venue::RialtoVenue;

/// Rules that the adapter does not keep, and why.
const NOT_KEPT: [(&str, &str); 11] = [
    ("a cancel is reported", NO_SNAPSHOT),
    ("a replaced order has the new terms", NO_SNAPSHOT),
    ("the snapshot has every reported order and fill", NO_SNAPSHOT),
    ("a reconnect does not change the snapshot", NO_SNAPSHOT),
    ("the snapshot after a disconnect has what was missed", NO_SNAPSHOT),
    ("a restart loses nothing and uses no id again", NO_SNAPSHOT),
    ("a subscription brings prices", NO_PRICES),
    ("a security that is not subscribed is silent", NO_PRICES),
    ("an order for an unlisted security is rejected", "it is refused before it is sent"),
    (
        "an order sent twice is one order",
        "the venue refuses the second one, and the first is in doubt until it is asked",
    ),
    ("an inquiry finds every fill of an order", "a status (H) has quantities; executions come again by a resend"),
];

/// Each of these rules also looks at the snapshot.
const NO_SNAPSHOT: &str = "FIX has no picture of an account: after a log-on every open order is asked about";
const NO_PRICES: &str = "a Rialto sends no prices over FIX";

#[test]
fn the_adapter_keeps_every_rule_but_those_that_are_named() {
    let venue = RialtoVenue::start();
    let outcomes = check(|| RialtoHarness::new(&venue));
    let failed = |outcome: &&RuleOutcome| matches!(outcome.verdict, RuleVerdict::Failed(_));
    let failed: Vec<_> = outcomes.iter().filter(failed).collect();
    let rules: BTreeSet<_> = failed.iter().map(|outcome| outcome.rule).collect();
    let told: String = failed.iter().map(|outcome| format!("{outcome}\n")).collect();
    assert_eq!(rules, NOT_KEPT.map(|(rule, _)| rule).into(), "{told}");
}
