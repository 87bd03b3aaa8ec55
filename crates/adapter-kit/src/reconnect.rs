//! Reconnects with jitter, within the venue's log-on limits.
//!
//! Pauses double up to a maximum and are spread by a seeded generator, so that clients that were cut together do not come
//! back together, and a test gets the same pauses again.

use std::collections::VecDeque;

use domain::{SeededRng, Timestamp};

const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// What a venue allows, and how patient the adapter is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReconnectRule {
    pub first_millis: u64,
    pub max_millis: u64,
    /// At most so many attempts in so many seconds, such as 300 in 300 or 15 in 30.
    pub attempts_max: usize,
    pub attempts_seconds: i64,
    /// After so many failures in a row the adapter stops until an operator starts it again; some venues lock the account.
    pub failures_max: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextConnect {
    At(Timestamp),
    /// Too many failures in a row.
    Never {
        failures: u32,
    },
}

#[derive(Debug, Clone)]
pub struct ReconnectPolicy {
    rule: ReconnectRule,
    attempts: VecDeque<Timestamp>,
    failures: u32,
    not_before: Option<Timestamp>,
    random: SeededRng,
}

impl ReconnectPolicy {
    pub fn new(rule: ReconnectRule, seed: u64) -> Self {
        Self { rule, attempts: VecDeque::new(), failures: 0, not_before: None, random: SeededRng::from_seed(seed) }
    }

    /// When the next attempt is allowed; not before `now`.
    pub fn next(&mut self, now: Timestamp) -> NextConnect {
        if self.rule.failures_max.is_some_and(|max| self.failures >= max) {
            return NextConnect::Never { failures: self.failures };
        }
        self.forget_old(now);
        let pause_ends = self.not_before.unwrap_or(now);
        let surplus = (self.attempts.len() + 1).saturating_sub(self.rule.attempts_max.max(1));
        let allowed = surplus.checked_sub(1).and_then(|index| self.attempts.get(index));
        let limit_ends = allowed.map_or(now, |attempt| attempt.plus_seconds(self.rule.attempts_seconds));
        NextConnect::At(now.max(pause_ends).max(limit_ends))
    }

    /// An attempt begins. It counts at the venue, whether it succeeds or not.
    pub fn on_attempt(&mut self, now: Timestamp) {
        self.forget_old(now);
        self.attempts.push_back(now);
    }

    /// The attempt failed, or its session was lost before it was of use.
    pub fn on_failure(&mut self, now: Timestamp) {
        let pause = self.pause_nanos();
        self.failures = self.failures.saturating_add(1);
        self.not_before = Some(Timestamp(now.0.saturating_add(pause)));
    }

    /// Logged on and reconciled: the next pause is the first one again.
    pub fn on_success(&mut self) {
        self.failures = 0;
        self.not_before = None;
    }

    /// An operator starts the venue again.
    pub fn restart(&mut self) {
        self.on_success();
    }

    fn forget_old(&mut self, now: Timestamp) {
        let span = self.rule.attempts_seconds.saturating_mul(NANOS_PER_SECOND);
        while self.attempts.front().is_some_and(|attempt| now.nanos_since(*attempt) >= span) {
            self.attempts.pop_front();
        }
    }

    /// Between half of the pause and all of it.
    fn pause_nanos(&mut self) -> i64 {
        let factor = 1_u64.checked_shl(self.failures).filter(|factor| *factor > 0).unwrap_or(u64::MAX);
        let millis = self.rule.first_millis.saturating_mul(factor).min(self.rule.max_millis);
        let nanos = millis.saturating_mul(1_000_000);
        let half = nanos / 2;
        i64::try_from(half + self.random.below(nanos - half + 1)).unwrap_or(i64::MAX)
    }
}
