//! The toy adapter keeps the rules of the conformance kit, over real connections.

use adapters::check;
use adapters::conformance::{RuleOutcome, RuleVerdict};

use crate::harness::ToyHarness;

#[test]
fn the_toy_adapter_keeps_every_rule_that_can_be_shown() {
    let outcomes = check(|| ToyHarness::start(None));
    let not_kept: Vec<_> = outcomes.iter().filter(|outcome| outcome.verdict != RuleVerdict::Passed).collect();
    let told: Vec<_> = not_kept.iter().map(ToString::to_string).collect();
    // What the venue has on its disk cannot be seen from outside, its stream loses nothing, it gives no statements, nobody
    // else trades there, and it never changes what it takes.
    let not_shown = [
        "not shown: nothing is reported before it is recorded: the harness has no durable view",
        "not shown: a lost report is told before the next one: the harness cannot lose reports",
        "not shown: a statement says what open orders hold: the venue gives no statements",
        "not shown: a statement has the positions of the account: the venue gives no statements",
        "not shown: the cash of a statement changes by the value and the charges of a fill: the venue gives no statements",
        "not shown: a statement is as of its question, not later: the venue gives no statements",
        "not shown: without a session no statement is asked for: the venue gives no statements",
        "not shown: an order that was placed elsewhere is reported: the harness cannot place orders elsewhere",
        "not shown: an order that was placed elsewhere is reported with its fills: the harness cannot place orders elsewhere",
        "not shown: the snapshot has orders that were placed elsewhere: the harness cannot place orders elsewhere",
        "not shown: an order that was placed elsewhere can be cancelled: the harness cannot place orders elsewhere",
        "not shown: an inquiry finds an order that was placed elsewhere: the harness cannot place orders elsewhere",
        "not shown: a listing that changes is told: the harness cannot change a listing",
        "not shown: a listing that changed without a session is told after the log-on: the harness cannot change a listing",
        "not shown: a listing that did not change is not told again: the harness cannot change a listing",
    ];
    assert_eq!(told, not_shown);
    assert!(outcomes.iter().map(RuleOutcome::to_string).all(|text| !text.is_empty()));
}
