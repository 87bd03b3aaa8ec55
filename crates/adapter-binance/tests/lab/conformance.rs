//! The adapter keeps the rules of the conformance kit, over sockets against the lab.

use adapters::check;
use adapters::conformance::{RuleOutcome, RuleVerdict};

use crate::harness::LabHarness;

/// What cannot be shown, and why.
const NOT_SHOWN: [&str; 15] = [
    // The lab's disk is its own.
    "not shown: nothing is reported before it is recorded: the harness has no durable view",
    // The private stream has no numbers: a loss cannot be seen there, and what an answer announces and the stream does not
    // tell ends the session.
    "not shown: a lost report is told before the next one: the harness cannot lose reports",
    // Orders are asked about one by one.
    "not shown: the list of open orders has every open order with its terms: the venue does not list open orders",
    "not shown: the list of open orders has none that ended: the venue does not list open orders",
    "not shown: the pages of a list are numbered, and one is the last: the venue does not list open orders",
    "not shown: a list is as of its question, not later: the venue does not list open orders",
    "not shown: the list of fills has every fill once: the venue does not list fills",
    "not shown: a cursor goes on where the last list ended: the venue does not list fills",
    "not shown: without a session nothing is listed: the venue does not list open orders",
    // At a spot venue a position in a pair is an asset like others.
    "not shown: a statement has the positions of the account: the venue tells assets, not positions",
    // The adapter leaves out what was placed elsewhere.
    "not shown: an order that was placed elsewhere is reported: the harness cannot place orders elsewhere",
    "not shown: an order that was placed elsewhere is reported with its fills: the harness cannot place orders elsewhere",
    "not shown: the snapshot has orders that were placed elsewhere: the harness cannot place orders elsewhere",
    "not shown: an order that was placed elsewhere can be cancelled: the harness cannot place orders elsewhere",
    "not shown: an inquiry finds an order that was placed elsewhere: the harness cannot place orders elsewhere",
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
