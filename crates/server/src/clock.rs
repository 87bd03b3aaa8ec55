//! The one clock of the program: the wall clock with an offset, which never goes back.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use domain::Timestamp;

/// A clock as everybody takes it.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

#[derive(Debug)]
pub struct SystemClock {
    offset_seconds: i64,
    last: AtomicI64,
}

impl SystemClock {
    pub fn new(offset_seconds: i64) -> Self {
        Self { offset_seconds, last: AtomicI64::new(i64::MIN) }
    }

    /// Everything from now on is later than this: what a journal ends with, for instance.
    pub fn start_after(&self, past: Timestamp) {
        self.last.fetch_max(past.0, Ordering::Relaxed);
    }

    pub fn now(&self) -> Timestamp {
        self.stamp(wall_nanos())
    }

    pub fn shared(self: &Arc<Self>) -> Clock {
        let clock = self.clone();
        Arc::new(move || clock.now())
    }

    /// The wall's time, or one nanosecond after the last answer where the wall stands still or goes back.
    fn stamp(&self, wall_nanos: i64) -> Timestamp {
        let wanted = Timestamp(wall_nanos).plus_seconds(self.offset_seconds).0;
        let next = |last: i64| wanted.max(last.checked_add(1).expect("the clock stands before the year 2262"));
        let last = self.last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last)));
        Timestamp(next(last.unwrap_or_else(|last| last)))
    }
}

fn wall_nanos() -> i64 {
    let nanos = |duration: std::time::Duration| {
        i64::try_from(duration.as_nanos()).expect("the wall clock stands between the years 1678 and 2262")
    };
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => nanos(since),
        Err(before) => -nanos(before.duration()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamps(clock: &SystemClock, walls: &[i64]) -> Vec<i64> {
        walls.iter().map(|wall| clock.stamp(*wall).0).collect()
    }

    #[test]
    fn time_never_goes_back_nor_stands_still() {
        let clock = SystemClock::new(0);
        assert_eq!(stamps(&clock, &[100, 100, 50, 102, 103, 200]), [100, 101, 102, 103, 104, 200]);
    }

    #[test]
    fn the_offset_is_added_in_both_directions() {
        assert_eq!(stamps(&SystemClock::new(2), &[5]), [2_000_000_005]);
        assert_eq!(stamps(&SystemClock::new(-2), &[5]), [-1_999_999_995]);
    }

    #[test]
    fn a_clock_starts_after_what_has_been() {
        let clock = SystemClock::new(0);
        clock.start_after(Timestamp(1_000));
        clock.start_after(Timestamp(10));
        assert_eq!(stamps(&clock, &[5, 2_000]), [1_001, 2_000]);
    }

    #[test]
    fn no_two_callers_get_the_same_time() {
        let clock = Arc::new(SystemClock::new(0));
        let ask = |clock: Clock| std::thread::spawn(move || (0..1_000).map(|_| clock().0).collect::<Vec<_>>());
        let asked: Vec<_> = (0..4).map(|_| ask(clock.shared())).collect();
        let mut times: Vec<i64> = asked.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        times.sort_unstable();
        times.dedup();
        assert_eq!(times.len(), 4_000);
    }
}
