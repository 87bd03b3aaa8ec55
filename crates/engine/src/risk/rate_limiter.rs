//! Rate limits: token buckets, duplicate guard, reject and execution breakers. Driven by journalled time only, so a replay decides the
//! same.

use std::collections::{BTreeMap, VecDeque};

use domain::order::{Order, OrderKind, Side};
use domain::refusal::RiskControl;
use domain::risk::{BurstLimit, RiskScope};
use domain::{Caller, Quantity, Refusal, SecurityId, Source, Text, Timestamp};
use minicbor::{Decode, Encode};

use super::candidate::Candidate;
use super::scopes::ApplicableLimits;

#[derive(Debug, Clone, Default, Encode, Decode)]
pub(super) struct RiskRateLimiter {
    #[n(0)]
    buckets: BTreeMap<RiskScope, TokenBucket>,
    #[n(1)]
    recent: BTreeMap<RiskScope, VecDeque<OrderContent>>,
    #[n(2)]
    rejects: BTreeMap<RiskScope, VecDeque<Timestamp>>,
    /// Messages of each session, where the scope limits them; absent before the first.
    #[n(3)]
    sessions: Option<BTreeMap<(RiskScope, Text), TokenBucket>>,
    #[n(4)]
    executions: Option<BTreeMap<RiskScope, VecDeque<Timestamp>>>,
}

/// Sessions whose messages are counted; of more, those that have sent nothing for a second are forgotten.
const SESSIONS_KEPT: usize = 1_024;

/// Tokens in millionths, so that time refills them exactly enough without fractions.
#[derive(Debug, Clone, Copy, Encode, Decode)]
struct TokenBucket {
    #[n(0)]
    millionths: u64,
    #[n(1)]
    at: Timestamp,
}

const TOKEN: u64 = 1_000_000;

/// After this time every bucket is full.
const SECOND_NANOS: i64 = 1_000_000_000;

/// The fields that make two orders look like one sent twice.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
struct OrderContent {
    #[n(0)]
    at: Timestamp,
    #[n(1)]
    side: Side,
    #[n(2)]
    security: SecurityId,
    #[n(3)]
    quantity: Quantity,
    #[n(4)]
    kind: OrderKind,
    #[n(5)]
    source: Source,
}

impl OrderContent {
    fn is_repeated_by(&self, candidate: &Candidate<'_>) -> bool {
        let Self { at: _, side, security, quantity, kind, source } = self;
        let terms = &candidate.terms;
        *side == candidate.side
            && *security == candidate.route.security.id
            && (*quantity, *kind) == (terms.quantity, terms.kind)
            && *source == candidate.caller.source
    }
}

impl TokenBucket {
    /// The level after a refill up to `at`; a bucket holds one second's worth.
    fn level(self, at: Timestamp, per_second: u32) -> u64 {
        let nanos = u64::try_from(at.nanos_since(self.at)).unwrap_or(0).min(1_000_000_000);
        let refill = nanos * u64::from(per_second) / 1_000;
        (self.millionths + refill).min(u64::from(per_second) * TOKEN)
    }
}

impl RiskRateLimiter {
    fn level(&self, scope: RiskScope, at: Timestamp, per_second: u32) -> u64 {
        let full = u64::from(per_second) * TOKEN;
        self.buckets.get(&scope).map_or(full, |bucket| bucket.level(at, per_second))
    }

    pub(super) fn consume(&mut self, at: Timestamp, binding: &ApplicableLimits<'_>) {
        for (scope, per_second) in binding.each(|limits| limits.orders_per_second) {
            let millionths = self.level(scope, at, per_second).saturating_sub(TOKEN);
            self.buckets.insert(scope, TokenBucket { millionths, at });
        }
    }

    fn session_level(&self, key: &(RiskScope, Text), at: Timestamp, per_second: u32) -> u64 {
        let full = u64::from(per_second) * TOKEN;
        let bucket = self.sessions.as_ref().and_then(|sessions| sessions.get(key));
        bucket.map_or(full, |bucket| bucket.level(at, per_second))
    }

    /// Counts a message of the caller's session.
    pub(super) fn record_message(&mut self, at: Timestamp, caller: &Caller, binding: &ApplicableLimits<'_>) {
        for (scope, per_second) in binding.each(|limits| limits.messages_per_second) {
            let Some(session) = caller.message_source() else { return };
            let key = (scope, session);
            let millionths = self.session_level(&key, at, per_second).saturating_sub(TOKEN);
            let sessions = self.sessions.get_or_insert_default();
            if sessions.len() >= SESSIONS_KEPT {
                sessions.retain(|_, bucket| at.nanos_since(bucket.at) < SECOND_NANOS);
            }
            sessions.insert(key, TokenBucket { millionths, at });
        }
    }

    pub(super) fn record_order(
        &mut self,
        at: Timestamp,
        order: &Order,
        caller: &Caller,
        binding: &ApplicableLimits<'_>,
    ) {
        for (scope, guard) in binding.each(|limits| limits.duplicate_guard) {
            let recent = self.recent.entry(scope).or_default();
            drop_older(recent, at, guard, |content| content.at);
            recent.push_back(OrderContent {
                at,
                side: order.side,
                security: order.security,
                quantity: order.terms.quantity,
                kind: order.terms.kind,
                source: caller.source.clone(),
            });
        }
    }

    /// Counts a reject of the venue; returns whether the limit is exceeded.
    pub(super) fn record_reject(&mut self, at: Timestamp, scope: RiskScope, breaker: BurstLimit) -> bool {
        let rejects = self.rejects.entry(scope).or_default();
        drop_older(rejects, at, breaker, |at| *at);
        rejects.push_back(at);
        rejects.len() >= breaker.count as usize
    }

    /// Counts an executed order; returns whether the limit is reached. A halt begins the count anew, so that trading can
    /// be resumed.
    pub(super) fn record_execution(&mut self, at: Timestamp, scope: RiskScope, breaker: BurstLimit) -> bool {
        let executions = self.executions.get_or_insert_default().entry(scope).or_default();
        drop_older(executions, at, breaker, |at| *at);
        executions.push_back(at);
        let is_reached = executions.len() >= breaker.count as usize;
        if is_reached {
            executions.clear();
        }
        is_reached
    }

    pub(super) fn check_rate(&self, at: Timestamp, binding: &ApplicableLimits<'_>) -> Result<(), Refusal> {
        for (scope, per_second) in binding.each(|limits| limits.orders_per_second) {
            if self.level(scope, at, per_second) < TOKEN {
                let (value, limit) = ((u64::from(per_second) + 1).into(), per_second.into());
                return Err(Refusal::Limit { control: RiskControl::OrderRate, scope, value, limit });
            }
        }
        Ok(())
    }

    /// A session that sends too much is refused its orders and modifications. Cancels are never checked.
    pub(super) fn check_messages(
        &self,
        at: Timestamp,
        caller: &Caller,
        binding: &ApplicableLimits<'_>,
    ) -> Result<(), Refusal> {
        for (scope, per_second) in binding.each(|limits| limits.messages_per_second) {
            let Some(session) = caller.message_source() else { return Ok(()) };
            if self.session_level(&(scope, session), at, per_second) < TOKEN {
                let (value, limit) = ((u64::from(per_second) + 1).into(), per_second.into());
                return Err(Refusal::Limit { control: RiskControl::MessageRate, scope, value, limit });
            }
        }
        Ok(())
    }

    pub(super) fn check_repetition(
        &self,
        at: Timestamp,
        candidate: &Candidate<'_>,
        binding: &ApplicableLimits<'_>,
    ) -> Result<(), Refusal> {
        for (scope, guard) in binding.each(|limits| limits.duplicate_guard) {
            let within = |known: &&OrderContent| is_within(known.at, at, guard) && known.is_repeated_by(candidate);
            let alike = self.recent.get(&scope).map_or(0, |recent| recent.iter().filter(within).count());
            if alike >= guard.count as usize {
                let (value, limit) = ((alike + 1).into(), guard.count.into());
                return Err(Refusal::Limit { control: RiskControl::DuplicateContent, scope, value, limit });
            }
        }
        Ok(())
    }
}

fn is_within(earlier: Timestamp, at: Timestamp, burst: BurstLimit) -> bool {
    earlier.plus_millis(burst.millis.into()) > at
}

fn drop_older<T>(queue: &mut VecDeque<T>, at: Timestamp, burst: BurstLimit, when: impl Fn(&T) -> Timestamp) {
    while queue.front().is_some_and(|oldest| !is_within(when(oldest), at, burst)) {
        queue.pop_front();
    }
}
