//! Message rate limiter: a sliding window of one second.

use std::collections::VecDeque;

use fix::Time;

const WINDOW_TENTHS: i64 = 10;

#[derive(Debug)]
pub(crate) struct Throttle {
    /// None: no limit.
    per_second: Option<usize>,
    taken: VecDeque<Time>,
}

impl Throttle {
    pub(crate) fn new(per_second: Option<u32>) -> Self {
        Self { per_second: per_second.map(|rate| rate as usize), taken: VecDeque::new() }
    }

    /// Whether one more is allowed now; a rejected one does not count.
    pub(crate) fn admits(&mut self, now: Time) -> bool {
        let Some(most) = self.per_second else { return true };
        while self.taken.front().is_some_and(|oldest| oldest.plus_tenths(WINDOW_TENTHS) <= now) {
            self.taken.pop_front();
        }
        let admits = self.taken.len() < most;
        if admits {
            self.taken.push_back(now);
        }
        admits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_orders_pass_within_any_second() {
        let mut throttle = Throttle::new(Some(2));
        let at = |tenths| Time::from_nanos(0).plus_tenths(tenths);
        let passed: Vec<_> = [0, 5, 6, 9, 10, 11, 15, 16].map(|tenths| throttle.admits(at(tenths))).into();
        assert_eq!(passed, [true, true, false, false, true, false, true, false]);
        let mut free = Throttle::new(None);
        assert!((0..1_000).all(|_| free.admits(at(0))));
    }
}
