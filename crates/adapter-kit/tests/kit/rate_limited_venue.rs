//! A venue with rate limits, written from what venues document and without the kit: counters that begin anew at fixed
//! times or slide, 429 with Retry-After beyond a limit, 418 for a client that goes on.

use std::collections::VecDeque;

use domain::Timestamp;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CounterStyle {
    /// Begins anew every span, this many milliseconds after a full one.
    Fixed {
        phase_millis: i64,
    },
    Sliding,
}

pub(crate) struct VenueLimit {
    pub(crate) name: &'static str,
    pub(crate) span_millis: i64,
    pub(crate) limit: u64,
    pub(crate) style: CounterStyle,
}

pub(crate) struct RateLimitedVenue {
    pub(crate) limits: Vec<VenueLimit>,
    /// Time and weight of what counts, and its sum.
    counted: Vec<(VecDeque<(i64, u64)>, u64)>,
    held_until_millis: i64,
    pub(crate) too_many: usize,
    pub(crate) bans: usize,
}

pub(crate) struct VenueReply {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<String>,
    pub(crate) used: Vec<(String, u64)>,
}

impl RateLimitedVenue {
    pub(crate) fn new(limits: Vec<VenueLimit>) -> Self {
        let counted = limits.iter().map(|_| (VecDeque::new(), 0)).collect();
        Self { limits, counted, held_until_millis: i64::MIN, too_many: 0, bans: 0 }
    }

    pub(crate) fn handle(&mut self, at: Timestamp, weights: &[u64]) -> VenueReply {
        let now = at.millis();
        if now < self.held_until_millis {
            self.bans += 1;
            self.held_until_millis = now + 120_000;
            return self.reply(now, 418, Some(120));
        }
        for ((counted, sum), weight) in self.counted.iter_mut().zip(weights) {
            counted.push_back((now, *weight));
            *sum += weight;
        }
        if self.used(now).iter().zip(&self.limits).any(|((_, used), limit)| *used > limit.limit) {
            self.too_many += 1;
            self.held_until_millis = now + 30_000;
            return self.reply(now, 429, Some(30));
        }
        self.reply(now, 200, None)
    }

    pub(crate) fn used(&mut self, now: i64) -> Vec<(String, u64)> {
        let mut used = Vec::new();
        for (limit, (counted, sum)) in self.limits.iter().zip(&mut self.counted) {
            let begins = match limit.style {
                CounterStyle::Fixed { phase_millis } => now - (now - phase_millis).rem_euclid(limit.span_millis),
                CounterStyle::Sliding => now - limit.span_millis + 1,
            };
            while let Some((_, weight)) = counted.pop_front_if(|(at, _)| *at < begins) {
                *sum -= weight;
            }
            used.push((limit.name.to_owned(), *sum));
        }
        used
    }

    fn reply(&mut self, now: i64, status: u16, retry_after: Option<u32>) -> VenueReply {
        VenueReply { status, retry_after: retry_after.map(|seconds| seconds.to_string()), used: self.used(now) }
    }
}
