//! Reconnects: pauses with jitter, log-on limits, and when to give up.

use adapter_kit::{NextConnect, ReconnectPolicy, ReconnectRule};
use domain::Timestamp;
use proptest::prelude::*;

use crate::budget::at;

fn rule() -> ReconnectRule {
    ReconnectRule { first_millis: 100, max_millis: 10_000, attempts_max: 15, attempts_seconds: 30, failures_max: None }
}

/// The pauses in milliseconds of a venue that is down.
fn pauses(seed: u64, count: usize) -> Vec<i64> {
    let mut policy = ReconnectPolicy::new(rule(), seed);
    let mut now = at(0);
    let mut pauses = Vec::new();
    for _ in 0..count {
        policy.on_attempt(now);
        policy.on_failure(now);
        let NextConnect::At(next) = policy.next(now) else { panic!("it never gives up") };
        pauses.push(next.nanos_since(now) / 1_000_000);
        now = next;
    }
    pauses
}

#[test]
fn pauses_double_with_jitter_and_a_seed_repeats_them() {
    let first = pauses(7, 12);
    for (index, pause) in first.iter().enumerate() {
        let full = (100_i64 << index).min(10_000);
        assert!((full / 2..=full).contains(pause), "{first:?}");
    }
    assert_eq!(first, pauses(7, 12));
    assert_ne!(first, pauses(8, 12));
}

#[test]
fn success_begins_again_with_the_first_pause() {
    let mut policy = ReconnectPolicy::new(rule(), 1);
    (0..8).for_each(|_| policy.on_failure(at(0)));
    policy.on_success();
    assert_eq!(policy.next(at(0)), NextConnect::At(at(0)));
    policy.on_failure(at(0));
    let NextConnect::At(next) = policy.next(at(0)) else { panic!("it never gives up") };
    assert!(next <= at(0).plus_millis(100));
}

#[test]
fn a_line_that_comes_and_goes_stays_within_the_log_on_limit() {
    let mut policy = ReconnectPolicy::new(rule(), 1);
    for _ in 0..15 {
        assert_eq!(policy.next(at(0)), NextConnect::At(at(0)));
        policy.on_attempt(at(0));
        policy.on_success();
    }
    assert_eq!(policy.next(at(1)), NextConnect::At(at(30)));
}

#[test]
fn a_venue_that_locks_accounts_is_not_tried_for_ever() {
    let mut policy = ReconnectPolicy::new(ReconnectRule { failures_max: Some(5), ..rule() }, 1);
    (0..5).for_each(|_| policy.on_failure(at(0)));
    assert_eq!(policy.next(at(1_000)), NextConnect::Never { failures: 5 });
    policy.restart();
    assert_eq!(policy.next(at(1_000)), NextConnect::At(at(1_000)));
}

proptest! {
    #[test]
    fn no_span_ever_has_more_attempts_than_the_venue_allows(
        seed in any::<u64>(),
        outcomes in prop::collection::vec((any::<bool>(), 0..3_000_i64), 1..200),
    ) {
        let mut policy = ReconnectPolicy::new(rule(), seed);
        let (mut now, mut attempts) = (at(0), Vec::<Timestamp>::new());
        for (succeeds, lived_millis) in outcomes {
            let NextConnect::At(next) = policy.next(now) else { panic!("it never gives up") };
            prop_assert!(next >= now);
            policy.on_attempt(next);
            attempts.push(next);
            now = next.plus_millis(lived_millis);
            if succeeds { policy.on_success() } else { policy.on_failure(now) }
        }
        let crowded = attempts.windows(16).find(|span| span[15].nanos_since(span[0]) < 30_000_000_000);
        prop_assert_eq!(crowded, None);
    }
}
