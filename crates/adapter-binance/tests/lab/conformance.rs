//! The adapter keeps the rules of the conformance kit, over sockets against the lab.

use adapters::check;
use adapters::conformance::{RuleOutcome, RuleVerdict};

use crate::harness::LabHarness;

/// What cannot be shown, and why.
const NOT_SHOWN: [&str; 3] = [
    // The lab's disk is its own.
    "not shown: nothing is reported before it is recorded: the harness has no durable view",
    // The private stream has no numbers: a loss cannot be seen there, and what an answer announces and the stream does not
    // tell ends the session.
    "not shown: a lost report is told before the next one: the harness cannot lose reports",
    // At a spot venue a position in a pair is an asset like others.
    "not shown: a statement has the positions of the account: the venue tells assets, not positions",
];

#[test]
fn the_adapter_keeps_every_rule_with_a_session_that_is_logged_on() {
    assert_eq!(not_kept("ED25519"), NOT_SHOWN);
}

#[test]
fn the_adapter_keeps_every_rule_with_signed_requests() {
    assert_eq!(not_kept("HMAC"), NOT_SHOWN);
}

fn not_kept(kind: &'static str) -> Vec<String> {
    let outcomes = check(|| LabHarness::start(kind));
    outcomes.iter().filter(|outcome| outcome.verdict != RuleVerdict::Passed).map(RuleOutcome::to_string).collect()
}
