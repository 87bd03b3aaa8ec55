//! Message rate limiter: a sliding window of one second.

use std::collections::VecDeque;

use fix::UtcTimestamp;

const WINDOW_TENTHS: i64 = 10;

#[derive(Debug)]
pub(crate) struct MessageRateLimiter {
    /// None: no limit.
    per_second: Option<usize>,
    accepted: VecDeque<UtcTimestamp>,
}

impl MessageRateLimiter {
    pub(crate) fn new(per_second: Option<u32>) -> Self {
        Self { per_second: per_second.map(|rate| rate as usize), accepted: VecDeque::new() }
    }

    /// Whether one more is allowed now; a rejected one does not count.
    pub(crate) fn try_accept(&mut self, now: UtcTimestamp) -> bool {
        let Some(most) = self.per_second else { return true };
        while self.accepted.front().is_some_and(|oldest| oldest.plus_tenths(WINDOW_TENTHS) <= now) {
            self.accepted.pop_front();
        }
        let admits = self.accepted.len() < most;
        if admits {
            self.accepted.push_back(now);
        }
        admits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_orders_pass_within_any_second() {
        let mut throttle = MessageRateLimiter::new(Some(2));
        let at = |tenths| UtcTimestamp::from_nanos(0).plus_tenths(tenths);
        let passed: Vec<_> = [0, 5, 6, 9, 10, 11, 15, 16].map(|tenths| throttle.try_accept(at(tenths))).into();
        assert_eq!(passed, [true, true, false, false, true, false, true, false]);
        let mut free = MessageRateLimiter::new(None);
        assert!((0..1_000).all(|_| free.try_accept(at(0))));
    }
}
