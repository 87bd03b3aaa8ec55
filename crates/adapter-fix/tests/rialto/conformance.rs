//! The adapter keeps the rules of the conformance kit, with another Rialto as its venue.

use adapters::check;
use adapters::conformance::{RuleOutcome, RuleVerdict};

use crate::harness::RialtoHarness;
use crate::venue::RialtoVenue;

/// Rules that cannot be shown, and why.
const NOT_SHOWN: [(&str, &[&str]); 3] = [
    (
        "the files of another process show what it has written, not what is synced; that nothing is told too early is shown by kills of the venue (`make kill-fix`)",
        &["nothing is reported before it is recorded"],
    ),
    (
        "an answer about positions (AN) has no cash, and so neither what open orders hold of it",
        &[
            "a statement says what open orders hold",
            "the cash of a statement changes by the value and the charges of a fill",
        ],
    ),
    (
        "a session is told of its own orders alone: of those of other clients it gets no reports, no status and no executions",
        &[
            "an order that was placed elsewhere is reported",
            "an order that was placed elsewhere is reported with its fills",
            "the snapshot has orders that were placed elsewhere",
            "an order that was placed elsewhere can be cancelled",
            "an inquiry finds an order that was placed elsewhere",
        ],
    ),
];

#[test]
fn the_adapter_keeps_every_rule_but_those_that_are_named() {
    let venue = RialtoVenue::start();
    let outcomes = check(|| RialtoHarness::new(&venue));
    let of = |is_meant: fn(&RuleVerdict) -> bool| {
        let mut rules: Vec<_> =
            outcomes.iter().filter(|outcome| is_meant(&outcome.verdict)).map(|one| one.rule).collect();
        rules.sort_unstable();
        rules
    };
    let sorted = |mut rules: Vec<&'static str>| {
        rules.sort_unstable();
        rules
    };
    let told: String = outcomes.iter().map(|outcome: &RuleOutcome| format!("{outcome}\n")).collect();
    let not_kept = of(|verdict| !matches!(verdict, RuleVerdict::Passed | RuleVerdict::NotSupported(_)));
    assert_eq!(not_kept, Vec::<&str>::new(), "{told}");
    let not_shown = of(|verdict| matches!(verdict, RuleVerdict::NotSupported(_)));
    assert_eq!(not_shown, sorted(NOT_SHOWN.iter().flat_map(|(_, rules)| rules.iter().copied()).collect()), "{told}");
}
