//! All planted faults against all rules: which rule has a fault that only this rule catches.

use std::collections::{BTreeMap, BTreeSet};

use adapters::check;
use adapters::conformance::{RuleOutcome, RuleVerdict};
use expect_test::expect;

use crate::faulty_adapter::{FaultKind, FaultyAdapter};
use crate::harness::SimulatedHarness;
use crate::narrow_faults::{NarrowFault, NarrowlyFaulty};

fn broken(outcomes: &[RuleOutcome]) -> BTreeSet<&'static str> {
    outcomes.iter().filter(|outcome| outcome.verdict != RuleVerdict::Passed).map(|outcome| outcome.rule).collect()
}

/// Each fault with the rules that it breaks.
fn matrix() -> BTreeMap<String, BTreeSet<&'static str>> {
    let known = FaultKind::ALL.into_iter().map(|fault| {
        let outcomes = check(|| SimulatedHarness::around(move |honest| FaultyAdapter::new(honest, fault)));
        (format!("{fault:?}"), broken(&outcomes))
    });
    let narrow = NarrowFault::ALL.into_iter().map(|fault| {
        let outcomes = check(|| SimulatedHarness::around(move |honest| NarrowlyFaulty::new(honest, fault)));
        (format!("{fault:?}"), broken(&outcomes))
    });
    known.chain(narrow).collect()
}

#[test]
fn every_fault_is_caught_and_nearly_every_rule_catches_one_that_no_other_catches() {
    let matrix = matrix();
    let missed: Vec<_> = matrix.iter().filter(|(_, rules)| rules.is_empty()).map(|(fault, _)| fault).collect();
    assert!(missed.is_empty(), "no rule catches {missed:?}");
    let alone: BTreeSet<_> =
        matrix.values().filter(|rules| rules.len() == 1).flat_map(|rules| rules.iter().copied()).collect();
    let all: Vec<_> = check(|| SimulatedHarness::around(|honest| honest)).iter().map(|outcome| outcome.rule).collect();
    let shared: Vec<_> = all.iter().filter(|rule| !alone.contains(*rule)).copied().collect();
    // What these rules look at is the ground of others: a fault in it breaks those too.
    expect![[r#"
        an order that rests is accepted
        an order that trades is filled in full
        the snapshot has every reported order and fill"#]]
    .assert_eq(&shared.join("\n"));
    assert!(matrix.values().all(|rules| rules.iter().all(|rule| all.contains(rule))));
}
